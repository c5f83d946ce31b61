/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fitting/aggregate_runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "run/config_key.h"
#include "run/run_columns.h"

enum { MOST_COLUMNS = 64 };

/* Sums of one column in one configuration (Welford's recurrence). */
struct sum {
  size_t n;
  double mean, squares;
  char *text; /* of the first row, owned */
};

struct means {
  struct dl_frame *f;
  size_t n_columns;
  const struct dl_run_column *column[MOST_COLUMNS];
  struct dl_key_maker *key;
  struct dl_intern configs;
  struct sum *sum; /* configs x n_columns */
  size_t *runs;
  size_t cap_sums, cap_runs;
};

static enum dl_status bind_columns(struct means *m, struct dl_diag *d) {
  struct dl_row_ref ignored; /* members of the run */
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < DL_N_RUN_COLUMNS && status == DL_OK; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    bool wanted = c->role != DL_ROLE_NAME || strcmp(c->name, "boundary") == 0 ||
                  strcmp(c->name, "source") == 0;
    if (!wanted || !dl_frame_has(m->f, c->name) || m->n_columns == MOST_COLUMNS)
      continue;
    m->column[m->n_columns++] = c;
    status = dl_frame_quantity(m->f, c->name, false, &ignored, d);
  }
  if (status == DL_OK)
    status = dl_key_maker_new(&m->key, m->f, d);
  if (status == DL_OK)
    status = dl_frame_quantity(m->f, "config", false, &ignored, d);
  return status == DL_OK ? dl_frame_want_descriptors(m->f, d) : status;
}

static bool room(struct means *m) {
  void *sum = m->sum, *runs = m->runs;
  size_t want = m->configs.n * m->n_columns, had = m->cap_sums;
  if (!dl_grow(&sum, &m->cap_sums, want, sizeof *m->sum))
    return false;
  m->sum = sum;
  memset(m->sum + had, 0, (m->cap_sums - had) * sizeof *m->sum);
  had = m->cap_runs;
  if (!dl_grow(&runs, &m->cap_runs, m->configs.n, sizeof *m->runs))
    return false;
  m->runs = runs;
  memset(m->runs + had, 0, (m->cap_runs - had) * sizeof *m->runs);
  return true;
}

static const char *text_of(enum dl_run_id id, const struct dl_row *row) {
  if (id == DL_RUN_arch && row->found.arch)
    return row->found.arch->head.id;
  if (id == DL_RUN_gpu && row->found.gpu)
    return row->found.gpu->head.id;
  return dl_run_text(&row->run, id);
}

static bool add_cell(struct sum *s, const struct dl_run_column *c,
                     const struct dl_row *row) {
  enum dl_run_id id = c->id;
  if (c->is_text) {
    const char *text = text_of(id, row);
    if (!s->text && text)
      s->text = dl_strdup(text);
    return !text || s->text;
  }
  double x = dl_run_number(&row->run, id);
  if (isnan(x))
    return true;
  double delta = x - s->mean;
  s->n++;
  s->mean += delta / (double)s->n;
  s->squares += delta * (x - s->mean);
  return true;
}

static enum dl_status add_row(struct means *m, const struct dl_row *row,
                              struct dl_diag *d) {
  struct dl_text key = {0};
  dl_text_add(&key, row->run.config ? row->run.config : "");
  if (key.len == 0 && m->key)
    dl_key_make(m->key, row, &key);
  long config = key.failed ? -1 : dl_intern(&m->configs, dl_text_str(&key));
  dl_text_free(&key);
  bool ok = config >= 0 && room(m);
  for (size_t i = 0; i < m->n_columns && ok; i++)
    ok =
        add_cell(&m->sum[(size_t)config * m->n_columns + i], m->column[i], row);
  if (!ok)
    return dl_fail_memory(d);
  m->runs[config]++;
  return DL_OK;
}

static enum dl_status read_rows(struct means *m, struct dl_csv *csv,
                                struct dl_diag *d) {
  const struct dl_csv_block *block;
  struct dl_row *row = dl_frame_rows(m->f, 1);
  enum dl_status status = row ? DL_OK : dl_fail_memory(d);
  while (status == DL_OK && (status = dl_csv_next(csv, &block, d)) == DL_OK &&
         block) {
    status = dl_frame_block(m->f, block, d);
    for (size_t i = 0; i < block->n_rows && status == DL_OK; i++) {
      dl_frame_row(m->f, block, i, row);
      if (row->fault.kind != DL_FAULT_NONE)
        status =
            dl_frame_complain(m->f, row, dl_csv_path(csv), block->line[i], d);
      else
        status = add_row(m, row, d);
    }
  }
  free(row);
  return status;
}

static void write_head(const struct means *m, FILE *f) {
  fputs("config", f);
  for (size_t i = 0; i < m->n_columns; i++) {
    fprintf(f, ",%s", m->column[i]->name);
    if (m->column[i]->role == DL_ROLE_MEASURED)
      fprintf(f, ",%s_sd", m->column[i]->name);
  }
  fputs(",n\n", f);
}

/* Ten digits: more than any meter has, and no rounding noise. */
static void write_number(FILE *f, double x) {
  char buf[DL_NUMBER_SIZE];
  double rounded;
  if (!isnan(x) && dl_parse_double(dl_format_digits(buf, x, 10), &rounded))
    fputs(dl_format_short(buf, rounded), f);
}

static void write_config(const struct means *m, size_t config, FILE *f) {
  dl_csv_write_cell(f, m->configs.s[config]);
  for (size_t i = 0; i < m->n_columns; i++) {
    const struct sum *s = &m->sum[config * m->n_columns + i];
    fputc(',', f);
    if (m->column[i]->is_text) {
      dl_csv_write_cell(f, s->text ? s->text : "");
      continue;
    }
    write_number(f, s->n > 0 ? s->mean : NAN);
    if (m->column[i]->role != DL_ROLE_MEASURED)
      continue;
    fputc(',', f);
    write_number(f, s->n > 1 ? sqrt(s->squares / (double)(s->n - 1)) : NAN);
  }
  fprintf(f, ",%zu\n", m->runs[config]);
}

static enum dl_status write_table(const struct means *m, const char *path,
                                  struct dl_diag *d) {
  struct dl_output out;
  enum dl_status status = dl_output_open(&out, path, false, d);
  if (status != DL_OK)
    return status;
  write_head(m, out.f);
  for (size_t i = 0; i < m->configs.n; i++)
    write_config(m, i, out.f);
  return dl_output_commit(&out, d);
}

enum dl_status dl_means_write(struct dl_csv *csv, struct dl_frame *f,
                              const char *path, struct dl_diag *d) {
  struct means m = {.f = f};
  enum dl_status status = bind_columns(&m, d);
  if (status == DL_OK)
    status = read_rows(&m, csv, d);
  if (status == DL_OK && m.configs.n == 0)
    status = dl_fail_at(d, DL_EINPUT, dl_csv_path(csv), 0, "no usable row");
  if (status == DL_OK)
    status = write_table(&m, path, d);
  for (size_t i = 0; i < m.configs.n * m.n_columns; i++)
    free(m.sum[i].text);
  free(m.sum);
  free(m.runs);
  dl_key_maker_free(m.key);
  dl_intern_free(&m.configs);
  return status;
}
