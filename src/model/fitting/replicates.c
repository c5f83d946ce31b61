/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repeated runs of a configuration as one: their means. */

#include "model/fitting/replicates.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "run/config_key.h"
#include "run/run_columns.h"

/* A running mean and sum of squared deviations (Welford 1962,
 * doi 10.1080/00401706.1962.10490022). */
struct mean {
  size_t n;
  double x, squares;
};

static void add(struct mean *m, double x) {
  if (isnan(x))
    return;
  double delta = x - m->x;
  m->n++;
  m->x += delta / (double)m->n;
  m->squares += delta * (x - m->x);
}

static double mean_of(const struct mean *m) {
  return m->n > 0 ? m->x : (double)NAN;
}

static double variance_of(const struct mean *m) {
  return m->n > 1 ? m->squares / (double)(m->n - 1) : (double)NAN;
}

/* A table that is read by configuration. */
struct reading {
  struct dl_frame *f;
  struct dl_key_maker *key;
  struct dl_intern configs;
  struct dl_row *row;
  void *ctx;
  /* Takes the row, of a configuration by number. */
  enum dl_status (*take)(void *ctx, const struct dl_row *row, size_t config,
                         struct dl_diag *d);
  /* Whether the row at a line is to be skipped, which is reported; or NULL. */
  bool (*is_bad)(const void *ctx, const struct dl_row *row, const char *path,
                 size_t line, struct dl_diag *d);
};

static enum dl_status bind_configs(struct reading *w, struct dl_diag *d) {
  struct dl_row_ref ignored; /* a member of the run */
  enum dl_status status = dl_frame_quantity(w->f, "config", false, &ignored, d);
  if (status == DL_OK)
    status = dl_key_maker_new(&w->key, w->f, d);
  if (status == DL_OK)
    status = dl_frame_want_descriptors(w->f, d);
  if (status == DL_OK && !(w->row = dl_frame_rows(w->f, 1)))
    status = dl_fail_memory(d);
  return status;
}

static enum dl_status take_row(struct reading *w, struct dl_diag *d) {
  struct dl_text key = {0};
  dl_text_add(&key, w->row->run.config ? w->row->run.config : "");
  if (key.len == 0 && w->key)
    dl_key_make(w->key, w->row, &key);
  long config = key.failed ? -1 : dl_intern(&w->configs, dl_text_str(&key));
  dl_text_free(&key);
  return config < 0 ? dl_fail_memory(d)
                    : w->take(w->ctx, w->row, (size_t)config, d);
}

/* Error: no usable row. */
static enum dl_status read_configs(struct reading *w, struct dl_csv *csv,
                                   struct dl_diag *d) {
  const struct dl_csv_block *block;
  enum dl_status status;
  while ((status = dl_csv_next(csv, &block, d)) == DL_OK && block) {
    status = dl_frame_block(w->f, block, d);
    for (size_t i = 0; i < block->n_rows && status == DL_OK; i++) {
      dl_frame_row(w->f, block, i, w->row);
      if (w->row->fault.kind != DL_FAULT_NONE)
        status = dl_frame_complain(w->f, w->row, dl_csv_path(csv),
                                   block->line[i], d);
      else if (!w->is_bad ||
               !w->is_bad(w->ctx, w->row, dl_csv_path(csv), block->line[i], d))
        status = take_row(w, d);
    }
    if (status != DL_OK)
      return status;
  }
  if (status == DL_OK && w->configs.n == 0)
    status = dl_fail_at(d, DL_EINPUT, dl_csv_path(csv), 0, "no usable row");
  return status;
}

static void free_reading(struct reading *w) {
  dl_key_maker_free(w->key);
  dl_intern_free(&w->configs);
  free(w->row);
}

/* Measured means of a configuration. */
struct sums {
  struct mean energy, duration, accuracy;
};

struct repeats {
  struct dl_repeats *l;
  struct sums *sums; /* l->n, owned */
  size_t cap, cap_sums;
  struct dl_row_ref accuracy; /* no column of the runs table */
};

void dl_repeats_free(struct dl_repeats *l) {
  for (size_t i = 0; i < l->n; i++) {
    free(l->r[i].arch);
    free(l->r[i].gpu);
    free(l->r[i].boundary);
  }
  free(l->r);
  *l = (struct dl_repeats){0};
}

/* Half the interval of a mean. */
static double half_width(const struct mean *m, double coverage) {
  if (m->n < 2)
    return NAN;
  double n = (double)m->n, t = gsl_cdf_tdist_Pinv((1 + coverage) / 2, n - 1);
  return t * sqrt(variance_of(m) / n);
}

static bool copy(char **to, const char *text) {
  *to = text ? dl_strdup(text) : NULL;
  return !text || *to;
}

/* Settings of the first run of a configuration. */
static bool begin(struct repeats *w, const struct dl_row *row) {
  void *list = w->l->r, *sums = w->sums;
  const struct dl_run *run = &row->run;
  if (!dl_grow(&list, &w->cap, w->l->n + 1, sizeof *w->l->r))
    return false;
  w->l->r = list;
  if (!dl_grow(&sums, &w->cap_sums, w->l->n + 1, sizeof *w->sums))
    return false;
  w->sums = sums;
  w->sums[w->l->n] = (struct sums){0};
  struct dl_repeat *r = &w->l->r[w->l->n++];
  *r = (struct dl_repeat){.arch_known = row->found.arch,
                          .gpu_known = row->found.gpu,
                          .n_gpus = run->n_gpus,
                          .image_px = run->image_px,
                          .seq_len = run->seq_len,
                          .batch_size = run->batch_size};
  return copy(&r->arch, run->arch) && copy(&r->gpu, run->gpu) &&
         copy(&r->boundary, run->boundary);
}

static enum dl_status take_repeat(void *ctx, const struct dl_row *row,
                                  size_t config, struct dl_diag *d) {
  struct repeats *w = ctx;
  if (config == w->l->n && !begin(w, row))
    return dl_fail_memory(d);
  add(&w->sums[config].energy, row->run.energy_j);
  add(&w->sums[config].duration, row->run.duration_s);
  add(&w->sums[config].accuracy, dl_row_number(row, &w->accuracy));
  return DL_OK;
}

/* Accuracy is no column of the runs table, which would see to it. */
static bool has_bad_accuracy(const void *ctx, const struct dl_row *row,
                             const char *path, size_t line, struct dl_diag *d) {
  const struct repeats *w = ctx;
  const char *text = dl_row_text(row, &w->accuracy);
  if (!text || !isnan(dl_row_number(row, &w->accuracy)))
    return false;
  dl_skip_at(d, path, line, "column 'accuracy': invalid number '%.64s'", text);
  return true;
}

static enum dl_status bind_repeats(struct repeats *w, struct dl_frame *f,
                                   struct dl_diag *d) {
  static const char *const columns[] = {
      "arch",    "gpu",        "boundary", "n_gpus",     "image_px",
      "seq_len", "batch_size", "energy_j", "duration_s", "accuracy"};
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < sizeof columns / sizeof *columns && status == DL_OK;
       i++) /* the last is the accuracy */
    status = dl_frame_quantity(
        f, columns[i], strcmp(columns[i], "energy_j") == 0, &w->accuracy, d);
  return status;
}

enum dl_status dl_repeats_read(struct dl_repeats *l, struct dl_csv *csv,
                               struct dl_frame *f, double coverage,
                               struct dl_diag *d) {
  struct repeats w = {.l = l};
  struct reading read = {
      .f = f, .ctx = &w, .take = take_repeat, .is_bad = has_bad_accuracy};
  enum dl_status status = bind_repeats(&w, f, d);
  if (status == DL_OK)
    status = bind_configs(&read, d);
  if (status == DL_OK)
    status = read_configs(&read, csv, d);
  for (size_t i = 0; i < l->n; i++) {
    struct dl_repeat *r = &l->r[i];
    double half = half_width(&w.sums[i].energy, coverage);
    r->n = w.sums[i].energy.n;
    r->energy_j = mean_of(&w.sums[i].energy);
    r->low_j = r->energy_j - half;
    r->high_j = r->energy_j + half;
    r->duration_s = mean_of(&w.sums[i].duration);
    r->accuracy = mean_of(&w.sums[i].accuracy);
  }
  free_reading(&read);
  free(w.sums);
  return status;
}

enum { MOST_COLUMNS = 64 };

/* One column in one configuration. */
struct cell {
  struct mean mean;
  char *text; /* of the first row, owned */
};

struct means {
  size_t n_columns;
  const struct dl_run_column *column[MOST_COLUMNS];
  struct cell *cell; /* configurations x n_columns */
  size_t *runs;
  size_t n, cap_cells, cap_runs;
};

static enum dl_status bind_means(struct means *m, struct dl_frame *f,
                                 struct dl_diag *d) {
  struct dl_row_ref ignored; /* members of the run */
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < DL_N_RUN_COLUMNS && status == DL_OK; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    bool wanted = c->role != DL_ROLE_NAME || strcmp(c->name, "boundary") == 0 ||
                  strcmp(c->name, "source") == 0;
    if (!wanted || !dl_frame_has(f, c->name) || m->n_columns == MOST_COLUMNS)
      continue;
    m->column[m->n_columns++] = c;
    status = dl_frame_quantity(f, c->name, false, &ignored, d);
  }
  return status;
}

static bool room(struct means *m, size_t configs) {
  void *cell = m->cell, *runs = m->runs;
  size_t had = m->cap_cells;
  if (!dl_grow(&cell, &m->cap_cells, configs * m->n_columns, sizeof *m->cell))
    return false;
  m->cell = cell;
  memset(m->cell + had, 0, (m->cap_cells - had) * sizeof *m->cell);
  had = m->cap_runs;
  if (!dl_grow(&runs, &m->cap_runs, configs, sizeof *m->runs))
    return false;
  m->runs = runs;
  memset(m->runs + had, 0, (m->cap_runs - had) * sizeof *m->runs);
  m->n = configs;
  return true;
}

static const char *text_of(enum dl_run_id id, const struct dl_row *row) {
  if (id == DL_RUN_arch && row->found.arch)
    return row->found.arch->head.id;
  if (id == DL_RUN_gpu && row->found.gpu)
    return row->found.gpu->head.id;
  return dl_run_text(&row->run, id);
}

static bool add_cell(struct cell *c, const struct dl_run_column *column,
                     const struct dl_row *row) {
  enum dl_run_id id = column->id;
  if (!column->is_text) {
    add(&c->mean, dl_run_number(&row->run, id));
    return true;
  }
  return c->text || copy(&c->text, text_of(id, row));
}

static enum dl_status take_run(void *ctx, const struct dl_row *row,
                               size_t config, struct dl_diag *d) {
  struct means *m = ctx;
  bool ok = config < m->n || room(m, config + 1);
  for (size_t i = 0; i < m->n_columns && ok; i++)
    ok = add_cell(&m->cell[config * m->n_columns + i], m->column[i], row);
  if (!ok)
    return dl_fail_memory(d);
  m->runs[config]++;
  return DL_OK;
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

static void write_config(const struct means *m, const char *name, size_t config,
                         FILE *f) {
  dl_csv_write_cell(f, name);
  for (size_t i = 0; i < m->n_columns; i++) {
    const struct cell *c = &m->cell[config * m->n_columns + i];
    fputc(',', f);
    if (m->column[i]->is_text) {
      dl_csv_write_cell(f, c->text ? c->text : "");
      continue;
    }
    write_number(f, mean_of(&c->mean));
    if (m->column[i]->role != DL_ROLE_MEASURED)
      continue;
    fputc(',', f);
    write_number(f, sqrt(variance_of(&c->mean)));
  }
  fprintf(f, ",%zu\n", m->runs[config]);
}

static enum dl_status write_table(const struct means *m,
                                  const struct dl_intern *configs,
                                  const char *path, struct dl_diag *d) {
  struct dl_output out;
  enum dl_status status = dl_output_open(&out, path, false, d);
  if (status != DL_OK)
    return status;
  write_head(m, out.f);
  for (size_t i = 0; i < m->n; i++)
    write_config(m, configs->s[i], i, out.f);
  return dl_output_commit(&out, d);
}

enum dl_status dl_means_write(struct dl_csv *csv, struct dl_frame *f,
                              const char *path, struct dl_diag *d) {
  struct means m = {0};
  struct reading read = {.f = f, .ctx = &m, .take = take_run};
  enum dl_status status = bind_means(&m, f, d);
  if (status == DL_OK)
    status = bind_configs(&read, d);
  if (status == DL_OK)
    status = read_configs(&read, csv, d);
  if (status == DL_OK)
    status = write_table(&m, &read.configs, path, d);
  for (size_t i = 0; i < m.n * m.n_columns; i++)
    free(m.cell[i].text);
  free(m.cell);
  free(m.runs);
  free_reading(&read);
  return status;
}
