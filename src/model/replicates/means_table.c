/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/replicates/means_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/number.h"
#include "io/same_tables.h"

void dl_mean_add(struct dl_mean *m, double x) {
  if (isnan(x))
    return;
  double delta = x - m->x;
  m->n++;
  m->x += delta / (double)m->n;
  m->squares += delta * (x - m->x);
}

double dl_mean_of(const struct dl_mean *m) {
  return m->n > 0 ? m->x : (double)NAN;
}

double dl_mean_variance(const struct dl_mean *m) {
  return m->n > 1 ? m->squares / (double)(m->n - 1) : (double)NAN;
}

/* Adds the values of b to a. */
static void join(struct dl_mean *a, const struct dl_mean *b) {
  if (b->n == 0)
    return;
  double n = (double)(a->n + b->n), delta = b->x - a->x;
  double share = (double)b->n / n;
  a->squares += b->squares + delta * delta * (double)a->n * share;
  a->x += delta * share;
  a->n += b->n;
}

static bool is_measured(const struct dl_run_column *c) {
  return c->role == DL_ROLE_MEASURED;
}

void dl_means_free(struct dl_means *m) {
  for (size_t i = 0; i < m->n * m->n_columns; i++)
    free(m->cell[i].text);
  free(m->cell);
  free(m->runs);
  dl_intern_free(&m->rows);
  *m = (struct dl_means){0};
}

static void room(struct dl_means *m, size_t rows) {
  size_t had = m->cap_cells;
  DL_GROW(m->cell, m->cap_cells, rows * m->n_columns);
  if (m->cap_cells > had)
    memset(m->cell + had, 0, (m->cap_cells - had) * sizeof *m->cell);
  had = m->cap_runs;
  DL_GROW(m->runs, m->cap_runs, rows);
  if (m->cap_runs > had)
    memset(m->runs + had, 0, (m->cap_runs - had) * sizeof *m->runs);
  m->n = rows;
}

struct dl_means_cell *dl_means_row(struct dl_means *m, const char *key,
                                   size_t *row) {
  *row = (size_t)dl_intern(&m->rows, key);
  if (*row >= m->n)
    room(m, *row + 1);
  return &m->cell[*row * m->n_columns];
}

/* --- writing */

static void write_number(FILE *f, double x) {
  fputc(',', f);
  if (isnan(x))
    return;
  char buf[DL_NUMBER_SIZE];
  fputs(dl_format_short(buf, x), f);
}

/* The configuration of a row is its key's beginning. */
static void write_config(const struct dl_means *m, size_t row, FILE *f) {
  const char *key = m->rows.s[row];
  DL_FREED char *config = dl_strndup(key, strcspn(key, DL_MEANS_KEY));
  dl_csv_write_cell(f, config);
}

/* The cell of a setting. */
static void write_setting(const struct dl_means_cell *c, bool is_text,
                          FILE *f) {
  if (!is_text) {
    write_number(f, dl_mean_of(&c->x));
    return;
  }
  fputc(',', f);
  dl_csv_write_cell(f, c->text ? c->text : "");
}

static void write_row(const struct dl_means *m, size_t row, FILE *f) {
  write_config(m, row, f);
  for (size_t i = 0; i < m->n_columns; i++) {
    const struct dl_means_cell *c = &m->cell[row * m->n_columns + i];
    write_setting(c, m->column[i]->is_text, f);
    if (!is_measured(m->column[i]))
      continue;
    write_number(f, sqrt(dl_mean_variance(&c->x)));
    write_number(f, dl_mean_of(&c->log));
    write_number(f, sqrt(dl_mean_variance(&c->log)));
  }
  fprintf(f, ",%zu\n", m->runs[row]);
}

enum dl_status dl_means_save(const struct dl_means *m, const char *path,
                             struct dl_diag *d) {
  struct dl_output out;
  DL_TRY(dl_output_open(&out, path, false, d));
  fputs("config", out.f);
  for (size_t i = 0; i < m->n_columns; i++) {
    const char *name = m->column[i]->name;
    fprintf(out.f, ",%s", name);
    if (is_measured(m->column[i]))
      fprintf(out.f, ",%s_sd,%s_log,%s_log_sd", name, name, name);
  }
  fputs(",n\n", out.f);
  for (size_t i = 0; i < m->n; i++)
    write_row(m, i, out.f);
  return dl_output_commit(&out, d);
}

static void write_as_run(const struct dl_means *m, size_t row, bool logs,
                         FILE *f) {
  write_config(m, row, f);
  for (size_t i = 0; i < m->n_columns; i++) {
    const struct dl_means_cell *c = &m->cell[row * m->n_columns + i];
    bool by_log = logs && c->log.n > 0;
    if (!is_measured(m->column[i])) {
      write_setting(c, m->column[i]->is_text, f);
      continue;
    }
    write_number(f, by_log ? exp(c->log.x) : dl_mean_of(&c->x));
    double within = by_log ? c->log.squares : c->x.squares;
    write_number(f, c->x.n == 0 ? (double)NAN : within);
  }
  fprintf(f, ",%zu\n", m->runs[row]);
}

enum dl_status dl_means_as_runs(const struct dl_means *m, bool logs, FILE **f,
                                struct dl_diag *d) {
  *f = tmpfile();
  if (!*f)
    return dl_fail_errno(d, "temporary file", "cannot open", errno);
  fputs("config", *f);
  for (size_t i = 0; i < m->n_columns; i++) {
    fprintf(*f, ",%s", m->column[i]->name);
    if (is_measured(m->column[i]))
      fprintf(*f, ",%s_within", m->column[i]->name);
  }
  fputs(",n\n", *f);
  for (size_t i = 0; i < m->n; i++)
    write_as_run(m, i, logs, *f);
  if (fflush(*f) == 0 && !ferror(*f) && fseek(*f, 0, SEEK_SET) == 0)
    return DL_OK;
  enum dl_status status =
      dl_fail_errno(d, "temporary file", "cannot write", errno);
  fclose(*f);
  *f = NULL;
  return status;
}

/* --- reading */

/* Whether column i is NAME and a suffix. */
static bool is_named(const struct dl_csv *csv, size_t i, const char *name,
                     const char *suffix) {
  size_t n = strlen(name);
  return i < dl_csv_n_cols(csv) && strncmp(dl_csv_name(csv, i), name, n) == 0 &&
         strcmp(dl_csv_name(csv, i) + n, suffix) == 0;
}

/* The run columns of a table of means; false where it is none. */
static bool read_header(struct dl_means *m, const struct dl_csv *csv) {
  size_t n = dl_csv_n_cols(csv), i = 1;
  bool any = false;
  if (n < 3 || !is_named(csv, 0, "config", "") ||
      !is_named(csv, n - 1, "n", ""))
    return false;
  while (i < n - 1) {
    const char *name = dl_csv_name(csv, i);
    const struct dl_run_column *c = dl_run_column_find(name);
    if (!c || m->n_columns == DL_MOST_MEANS_COLUMNS)
      return false;
    m->column[m->n_columns++] = c;
    if (is_measured(c) && !(is_named(csv, i + 1, name, "_sd") &&
                            is_named(csv, i + 2, name, "_log") &&
                            is_named(csv, i + 3, name, "_log_sd")))
      return false;
    any = any || is_measured(c);
    i += is_measured(c) ? 4 : 1;
  }
  return any && i == n - 1;
}

bool dl_means_is_table(const struct dl_csv *csv) {
  struct dl_means m = {0};
  return read_header(&m, csv);
}

bool dl_means_is_like(const struct dl_csv *csv) {
  static const char *const parts[] = {"", "_sd", "_log", "_log_sd"};
  bool any = false;
  for (size_t i = 0; i < DL_N_RUN_COLUMNS && !any; i++) {
    any = is_measured(&dl_run_columns[i]);
    for (size_t k = 0; k < 4 && any; k++) {
      char name[64];
      snprintf(name, sizeof name, "%s%s", dl_run_columns[i].name, parts[k]);
      any = dl_csv_find(csv, name) >= 0;
    }
  }
  return any && dl_csv_find(csv, "n") >= 0;
}

static enum dl_status bad_cell(const struct dl_csv_row *s, size_t i,
                               struct dl_diag *d) {
  return dl_fail_at(d, DL_EINPUT, dl_csv_path(s->csv), s->line,
                    "column '%s': invalid number '%.64s'",
                    dl_csv_name(s->csv, i), s->cell[i]);
}

/* A mean and a standard deviation of n values; both empty: none. */
static enum dl_status read_mean(struct dl_mean *m, const struct dl_csv_row *s,
                                size_t at, size_t sd_at, size_t n,
                                struct dl_diag *d) {
  double sd = 0;
  *m = (struct dl_mean){0};
  if (s->cell[at][0] == '\0')
    return s->cell[sd_at][0] == '\0' ? DL_OK : bad_cell(s, sd_at, d);
  if (!dl_parse_double(s->cell[at], &m->x))
    return bad_cell(s, at, d);
  if (n > 1 && (!dl_parse_double(s->cell[sd_at], &sd) || sd < 0))
    return bad_cell(s, sd_at, d);
  m->n = n;
  m->squares = sd * sd * (double)(n - 1);
  return DL_OK;
}

/* The key of a row: the configuration, then all but the statistics. */
static void make_key(const struct dl_means *m, const struct dl_csv_row *s,
                     struct dl_text *key) {
  dl_text_clear(key);
  dl_text_add(key, s->cell[0]);
  for (size_t i = 0, at = 1; i < m->n_columns; i++) {
    bool measured = is_measured(m->column[i]);
    const char *part = s->cell[at];
    if (measured && !part[0])
      part = "-"; /* none */
    else if (measured)
      part = s->cell[at + 2][0] ? "+" : "0"; /* above 0, others */
    dl_text_add(key, DL_MEANS_KEY);
    dl_text_add(key, part);
    at += measured ? 4 : 1;
  }
}

static enum dl_status take_cell(struct dl_means_cell *c,
                                const struct dl_run_column *column,
                                const struct dl_csv_row *s, size_t at, size_t n,
                                struct dl_diag *d) {
  struct dl_mean x, log;
  if (column->is_text) {
    if (!c->text)
      c->text = dl_strdup(s->cell[at]);
    return DL_OK;
  }
  if (!is_measured(column)) {
    c->x = (struct dl_mean){0};
    if (s->cell[at][0] == '\0')
      return DL_OK;
    c->x.n = 1;
    return dl_parse_double(s->cell[at], &c->x.x) ? DL_OK : bad_cell(s, at, d);
  }
  DL_TRY(read_mean(&x, s, at, at + 1, n, d));
  DL_TRY(read_mean(&log, s, at + 2, at + 3, n, d));
  join(&c->x, &x);
  join(&c->log, &log);
  return DL_OK;
}

static enum dl_status take_row(struct dl_means *m, const struct dl_csv_row *s,
                               struct dl_text *key, struct dl_diag *d) {
  size_t last = dl_csv_n_cols(s->csv) - 1, n, row;
  if (!dl_parse_count(s->cell[last], &n) || n < 1)
    return bad_cell(s, last, d);
  make_key(m, s, key);
  struct dl_means_cell *cell = dl_means_row(m, key->s, &row);
  enum dl_status status = DL_OK;
  for (size_t i = 0, at = 1; i < m->n_columns && status == DL_OK; i++) {
    status = take_cell(&cell[i], m->column[i], s, at, n, d);
    at += is_measured(m->column[i]) ? 4 : 1;
  }
  m->runs[row] += n;
  return status;
}

/* Takes the columns of the first table, which the others must have too. */
static enum dl_status check_header(struct dl_means *m, const struct dl_csv *csv,
                                   const char *first, struct dl_diag *d) {
  struct dl_means own = {0};
  if (!read_header(&own, csv))
    return dl_fail_at(d, DL_EINPUT, dl_csv_path(csv), 0,
                      "not a table of means, and only these are joined: make "
                      "it with dlest fit --means");
  if (m->n_columns == 0) {
    memcpy(m->column, own.column, sizeof m->column);
    m->n_columns = own.n_columns;
  }
  if (m->n_columns != own.n_columns ||
      memcmp(m->column, own.column, own.n_columns * sizeof *m->column) != 0)
    return dl_fail_at(d, DL_EINPUT, dl_csv_path(csv), 0,
                      "its columns differ from those of %s", first);
  return DL_OK;
}

static enum dl_status read_table(struct dl_means *m, struct dl_csv *csv,
                                 const char *first, struct dl_diag *d) {
  const struct dl_csv_block *block;
  DL_TEXT(key);
  enum dl_status status = check_header(m, csv, first, d);
  while (status == DL_OK && (status = dl_csv_next(csv, &block, d)) == DL_OK &&
         block)
    for (size_t i = 0; i < block->n_rows && status == DL_OK; i++)
      status =
          take_row(m,
                   &(struct dl_csv_row){csv, block->cell + i * block->n_cols,
                                        block->line[i]},
                   &key, d);
  return status;
}

enum dl_status dl_means_read(struct dl_means *m, char *const *path, size_t n,
                             struct dl_diag *d) {
  DL_SCOPED(dl_same_tables_free) struct dl_same_tables same = {.path = path};
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < n && status == DL_OK; i++) {
    struct dl_csv *csv;
    status = dl_csv_open(&csv, path[i], 0, d);
    if (status == DL_OK)
      status = read_table(m, csv, path[0], d);
    if (status == DL_OK)
      dl_same_tables_add(&same, csv, d);
    dl_csv_free(csv);
  }
  return status;
}
