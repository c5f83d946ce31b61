/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Repeated runs of a configuration as one: their means. */

#include "model/replicates/replicates.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "base/number.h"
#include "io/same_tables.h"
#include "run/config_key.h"
#include "quantities/quantities.h"
#include "run/setup/training_setup.h"

/* A table that is read by configuration. */
struct config_reading {
  struct dl_row_plan *f;
  struct dl_key_maker *key;
  struct dl_intern configs;
  const struct dl_row *row;
  void *ctx;
  /* Takes the row, of a configuration by key and number. */
  void (*take)(void *ctx, const struct dl_row *row, const char *key,
               size_t config);
  /* Adds what further distinguishes rows of a configuration, or NULL. */
  void (*distinguish)(const void *ctx, const struct dl_row *row,
                      struct dl_text *key);
  /* Whether a row is none of those that are read; or NULL. */
  bool (*is_other)(const void *ctx, const struct dl_row *row);
  /* Whether the row at a line is to be skipped, which is reported; or NULL. */
  bool (*is_bad)(const void *ctx, const struct dl_row *row, const char *path,
                 size_t line, struct dl_diag *d);
};

static enum dl_status bind_configs(struct config_reading *w,
                                   struct dl_diag *d) {
  struct dl_row_ref ignored; /* a member of the run */
  DL_TRY(dl_plan_quantity(w->f, "config", false, &ignored, d));
  DL_TRY(dl_key_maker_new(&w->key, w->f, d));
  DL_TRY(dl_plan_want_descriptors(w->f, d));
  return DL_OK;
}

/* The number of the configuration of w->row, and its key. */
static size_t config_of(struct config_reading *w, struct dl_text *key) {
  dl_text_add(key, w->row->run.config ? w->row->run.config : "");
  if (key->len == 0 && w->key)
    dl_key_make(w->key, w->row, key);
  if (w->distinguish)
    w->distinguish(w->ctx, w->row, key);
  return (size_t)dl_intern(&w->configs, dl_text_str(key));
}

static void take_row(struct config_reading *w) {
  DL_TEXT(key);
  size_t config = config_of(w, &key);
  w->take(w->ctx, w->row, dl_text_str(&key), config);
}

/* Error: no usable row. */
static enum dl_status read_configs(struct config_reading *w, struct dl_csv *csv,
                                   struct dl_diag *d) {
  const struct dl_csv_block *block;
  DL_SCOPED(dl_repeated_rows_free) struct dl_repeated_rows repeated = {0};
  const char *path = dl_csv_path(csv);
  for (;;) {
    DL_TRY(dl_plan_next(w->f, csv, &block, d));
    if (!block)
      break;
    dl_repeated_rows_add(&repeated, block);
    for (size_t i = 0; i < block->n_rows; i++) {
      w->row = dl_plan_row(w->f, i);
      if (w->is_other && w->is_other(w->ctx, w->row))
        continue;
      if (w->row->fault.kind != DL_FAULT_NONE)
        DL_TRY(dl_plan_complain(w->f, w->row, path, block->line[i], d));
      else if (!w->is_bad ||
               !w->is_bad(w->ctx, w->row, path, block->line[i], d))
        take_row(w);
    }
  }
  dl_repeated_rows_warn(&repeated, path, d);
  return w->configs.n > 0 ? DL_OK
                          : dl_fail_at(d, DL_EINPUT, path, 0, "no usable row");
}

static void free_reading(struct config_reading *w) {
  free(w->key);
  dl_intern_free(&w->configs);
}

/* Means of a configuration: measured, or estimates with their intervals. */
struct run_means {
  struct dl_mean energy, duration, accuracy, low, high;
};

struct dl_repeats_reader {
  struct config_reading read;
  struct dl_repeats l;
  struct run_means *sums; /* l.n, owned */
  size_t cap, cap_sums;
  struct dl_row_ref accuracy; /* no column of the runs table */
  struct dl_row_ref recommended, low, high, covers; /* of estimates */
  double coverage;
  const struct dl_run_column *given[DL_N_RUN_COLUMNS]; /* that rows have */
  size_t n_given;
};

void dl_repeats_free(struct dl_repeats *l) {
  for (size_t i = 0; i < l->n; i++) {
    free(l->r[i].beyond);
    free(l->r[i].arch);
    free(l->r[i].gpu);
    free(l->r[i].boundary);
  }
  free(l->r);
  *l = (struct dl_repeats){0};
}

/* Half the interval of a mean. */
static double half_width(const struct dl_mean *m, double coverage) {
  if (m->n < 2)
    return NAN;
  double n = (double)m->n, t = gsl_cdf_tdist_Pinv((1 + coverage) / 2, n - 1);
  return t * sqrt(dl_mean_variance(m) / n);
}

static char *copy(const char *text) {
  return text ? dl_strdup(text) : NULL;
}

static double work_of(const struct dl_run *run) {
  double samples =
      dl_or(run->train_tokens, dl_batched_samples(run, run->train_samples)) *
      run->epochs;
  return dl_run_is_inference(run) ? run->requests : dl_or(run->tokens, samples);
}

/* Settings of the first run of a configuration. */
static void begin(struct dl_repeats_reader *w, const struct dl_row *row) {
  const struct dl_run *run = &row->run;
  DL_GROW(w->l.r, w->cap, w->l.n + 1);
  DL_GROW(w->sums, w->cap_sums, w->l.n + 1);
  w->sums[w->l.n] = (struct run_means){0};
  struct dl_repeat *r = &w->l.r[w->l.n++];
  *r = (struct dl_repeat){.arch = copy(run->arch),
                          .gpu = copy(run->gpu),
                          .boundary = copy(run->boundary),
                          .arch_known = row->found.arch,
                          .gpu_known = row->found.gpu,
                          .n_gpus = run->n_gpus,
                          .image_px = run->image_px,
                          .seq_len = run->seq_len,
                          .batch_size = run->batch_size,
                          .work = work_of(run),
                          .memory_need_gb = NAN};
}

/* The sums of a configuration, whose first run this may be. */
static struct run_means *sums_of(struct dl_repeats_reader *w,
                                 const struct dl_row *row, size_t config) {
  if (config == w->l.n)
    begin(w, row);
  dl_mean_add(&w->sums[config].accuracy, dl_row_number(row, &w->accuracy));
  return &w->sums[config];
}

static void take_repeat(void *ctx, const struct dl_row *row, const char *key,
                        size_t config) {
  struct dl_repeats_reader *w = ctx;
  struct run_means *to = sums_of(w, row, config);
  (void)key;
  dl_mean_add(&to->energy, row->run.energy_j);
  dl_mean_add(&to->duration, row->run.duration_s);
  if (w->l.estimated) {
    dl_mean_add(&to->low, dl_row_number(row, &w->low));
    dl_mean_add(&to->high, dl_row_number(row, &w->high));
  }
}

/* Whether an estimate is not the recommended one of a run's methods. */
static bool is_other_estimate(const void *ctx, const struct dl_row *row) {
  const struct dl_repeats_reader *w = ctx;
  const char *text = w->l.estimated ? dl_row_text(row, &w->recommended) : NULL;
  return text && strcasecmp(text, "true") != 0 && strcmp(text, "1") != 0;
}

/* Accuracy is no column of the runs table, which would see to it. */
static bool has_bad_accuracy(const struct dl_repeats_reader *w,
                             const struct dl_row *row, const char *path,
                             size_t line, struct dl_diag *d) {
  const char *text = dl_row_text(row, &w->accuracy);
  if (!text || !isnan(dl_row_number(row, &w->accuracy)))
    return false;
  dl_skip_at(d, path, line, "column 'accuracy': invalid number '%.64s'", text);
  return true;
}

/* True if a value is out of range or the energy is 0 J (meter not read). */
static bool is_bad(const void *ctx, const struct dl_row *row, const char *path,
                   size_t line, struct dl_diag *d) {
  const struct dl_repeats_reader *w = ctx;
  double covers = w->l.estimated ? dl_row_number(row, &w->covers) : NAN;
  if (fabs(covers - w->coverage) > 1e-9) {
    dl_skip_at(d, path, line,
               "its interval covers %g %%; give --coverage %g, or estimate it "
               "at %g",
               100 * covers, 100 * covers, 100 * w->coverage);
    return true;
  }
  if (row->run.energy_j == 0) {
    dl_skip_at(d, path, line, "column '%s': %s is not above 0", "energy_j",
               "0");
    return true;
  }
  return has_bad_accuracy(w, row, path, line, d);
}

/* Other settings that a run is given make another choice, too, unless a column
 * names the configurations. Measured runs may end at convergence. */
static void distinguish_given(const void *ctx, const struct dl_row *row,
                              struct dl_text *key) {
  const struct dl_repeats_reader *w = ctx;
  char buf[DL_NUMBER_SIZE];
  for (size_t i = 0; i < w->n_given && !row->run.config; i++) {
    const struct dl_run_column *c = w->given[i];
    const char *text =
        c->is_text ? dl_run_text(&row->run, c->id)
                   : dl_format_short(buf, dl_run_number(&row->run, c->id));
    bool sized = c->id == DL_RUN_epochs || c->id == DL_RUN_train_samples;
    if (!sized || w->l.estimated)
      dl_text_printf(key, "|%s", text ? text : "");
  }
}

static enum dl_status bind_given(struct dl_repeats_reader *w,
                                 struct dl_row_plan *f, struct dl_diag *d) {
  struct dl_row_ref ignored; /* members of the run */
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    bool size = c->id == DL_RUN_train_samples;
    if ((c->role != DL_ROLE_GIVEN && !size) || !dl_plan_has(f, c->name))
      continue;
    w->given[w->n_given++] = c;
    DL_TRY(dl_plan_quantity(f, c->name, false, &ignored, d));
  }
  return DL_OK;
}

/* Binds what a configuration shows, but energies. */
static enum dl_status bind_settings(struct dl_repeats_reader *w,
                                    struct dl_row_plan *f, struct dl_diag *d) {
  static const char *const columns[] = {
      "arch",         "gpu",        "boundary",   "n_gpus",  "image_px",
      "seq_len",      "batch_size", "epochs",     "tokens",  "train_samples",
      "train_tokens", "requests",   "duration_s", "accuracy"};
  for (size_t i = 0; i < DL_LENGTH(columns); i++) /* the last: accuracy */
    DL_TRY(dl_plan_quantity(f, columns[i], false, &w->accuracy, d));
  DL_TRY(bind_given(w, f, d));
  return bind_configs(&w->read, d);
}

static enum dl_status bind_energies(struct dl_repeats_reader *w,
                                    struct dl_row_plan *f, struct dl_diag *d) {
  struct dl_row_ref ignored; /* a member of the run */
  static const char *const of_estimates[] = {"recommended", "low_j", "high_j",
                                             "coverage"};
  struct dl_row_ref *const to[] = {&w->recommended, &w->low, &w->high,
                                   &w->covers};
  DL_TRY(dl_plan_quantity(f, "energy_j", true, &ignored, d));
  w->l.estimated = true;
  for (size_t i = 0; i < DL_LENGTH(of_estimates); i++)
    w->l.estimated = w->l.estimated && dl_plan_has(f, of_estimates[i]);
  for (size_t i = 0; w->l.estimated && i < DL_LENGTH(of_estimates); i++)
    DL_TRY(dl_plan_quantity(f, of_estimates[i], true, to[i], d));
  if (w->l.estimated)
    dl_plan_take_estimates(f);
  return DL_OK;
}

/* Means, with the intervals of those that were measured or estimated. */
static void take_means(struct dl_repeats_reader *w) {
  for (size_t i = 0; i < w->l.n; i++) {
    struct dl_repeat *r = &w->l.r[i];
    const struct run_means *of = &w->sums[i];
    double half = half_width(&of->energy, w->coverage);
    r->n = of->energy.n;
    r->energy_j = dl_mean_of(&of->energy);
    /* Few runs that differ say nothing but that energies are above 0. */
    r->low_j = isnan(half) ? half : fmax(r->energy_j - half, 0);
    r->high_j = r->energy_j + half;
    if (w->l.estimated) {
      r->low_j = dl_mean_of(&of->low);
      r->high_j = dl_mean_of(&of->high);
    }
    r->duration_s = dl_mean_of(&of->duration);
    r->accuracy = dl_mean_of(&of->accuracy);
  }
}

enum dl_status dl_repeats_begin(struct dl_repeats_reader **at,
                                struct dl_row_plan *f, struct dl_diag *d) {
  struct dl_repeats_reader *w = *at = dl_calloc(1, sizeof *w);
  w->read = (struct config_reading){
      .f = f, .ctx = w, .distinguish = distinguish_given};
  w->l.estimated = true;
  return bind_settings(w, f, d);
}

void dl_repeats_add(struct dl_repeats_reader *w, const struct dl_row *row,
                    const struct dl_repeat *of, const char *path, size_t line,
                    struct dl_diag *d) {
  DL_TEXT(key);
  if (has_bad_accuracy(w, row, path, line, d))
    return;
  w->read.row = row;
  size_t known = w->l.n, config = config_of(&w->read, &key);
  struct run_means *to = sums_of(w, row, config);
  dl_mean_add(&to->energy, of->energy_j);
  dl_mean_add(&to->low, of->low_j);
  dl_mean_add(&to->high, of->high_j);
  dl_mean_add(&to->duration, of->duration_s);
  if (config == known) { /* the row's boundary belongs to a measurement */
    struct dl_repeat *r = &w->l.r[config];
    free(r->boundary);
    r->boundary = copy(of->boundary);
    r->memory_need_gb = of->memory_need_gb;
    r->over_memory = of->over_memory;
    r->n_beyond = of->n_beyond;
    r->beyond = dl_calloc(of->n_beyond, sizeof *r->beyond);
    memcpy(r->beyond, of->beyond, of->n_beyond * sizeof *r->beyond);
  }
}

void dl_repeats_end(struct dl_repeats_reader *w, struct dl_repeats *l) {
  if (!w)
    return;
  take_means(w);
  if (l)
    *l = w->l;
  else
    dl_repeats_free(&w->l);
  free_reading(&w->read);
  free(w->sums);
  free(w);
}

enum dl_status dl_repeats_read(struct dl_repeats *l, struct dl_csv *csv,
                               struct dl_row_plan *f, double coverage,
                               struct dl_diag *d) {
  struct dl_repeats_reader *w;
  enum dl_status status = dl_repeats_begin(&w, f, d);
  w->coverage = coverage;
  w->read.take = take_repeat;
  w->read.is_other = is_other_estimate;
  w->read.is_bad = is_bad;
  if (status == DL_OK)
    status = bind_energies(w, f, d);
  if (status == DL_OK)
    status = read_configs(&w->read, csv, d);
  dl_repeats_end(w, l);
  return status;
}

/* --- tables of means */

static enum dl_status bind_means(struct dl_means *m, struct dl_row_plan *f,
                                 struct dl_diag *d) {
  struct dl_row_ref ignored; /* members of the run */
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    bool wanted = c->role != DL_ROLE_NAME || strcmp(c->name, "boundary") == 0 ||
                  strcmp(c->name, "source") == 0;
    if (!wanted || !dl_plan_has(f, c->name) ||
        m->n_columns == DL_MOST_MEANS_COLUMNS)
      continue;
    m->column[m->n_columns++] = c;
    DL_TRY(dl_plan_quantity(f, c->name, false, &ignored, d));
  }
  return DL_OK;
}

static const char *text_of(enum dl_run_id id, const struct dl_row *row) {
  if (id == DL_RUN_arch && row->found.arch)
    return row->found.arch->head.id;
  if (id == DL_RUN_gpu && row->found.gpu)
    return row->found.gpu->head.id;
  return dl_run_text(&row->run, id);
}

/* Other settings, and other measured values that are missing or not above 0,
 * make another row. */
static void distinguish(const void *ctx, const struct dl_row *row,
                        struct dl_text *key) {
  const struct dl_means *m = ctx;
  char buf[DL_NUMBER_SIZE];
  for (size_t i = 0; i < m->n_columns; i++) {
    const struct dl_run_column *c = m->column[i];
    double x = c->is_text ? (double)NAN : dl_run_number(&row->run, c->id);
    const char *text = c->is_text ? text_of(c->id, row) : NULL;
    if (c->role == DL_ROLE_MEASURED && isnan(x))
      text = "-";
    else if (c->role == DL_ROLE_MEASURED)
      text = x > 0 ? "+" : "0";
    else if (!isnan(x))
      text = dl_format_short(buf, x);
    dl_text_add(key, DL_MEANS_KEY);
    dl_text_add(key, text ? text : "");
  }
}

static void take_run(void *ctx, const struct dl_row *row, const char *key,
                     size_t config) {
  struct dl_means *m = ctx;
  struct dl_means_cell *cell = dl_means_row(m, key, &config);
  for (size_t i = 0; i < m->n_columns; i++, cell++) {
    const struct dl_run_column *c = m->column[i];
    if (c->is_text) {
      if (!cell->text)
        cell->text = copy(text_of(c->id, row));
      continue;
    }
    double x = dl_run_number(&row->run, c->id);
    dl_mean_add(&cell->x, x);
    dl_mean_add(&cell->log, x > 0 ? log(x) : (double)NAN);
  }
  m->runs[config]++;
}

static bool same_setting(const struct dl_run_column *c,
                         const struct dl_means_cell *a,
                         const struct dl_means_cell *b) {
  if (c->is_text)
    return strcmp(dl_text_or(a->text, ""), dl_text_or(b->text, "")) == 0;
  return (a->x.n > 0) == (b->x.n > 0) && a->x.x == b->x.x;
}

/* The first setting in which two rows differ, or NULL. */
static const char *differing_setting(const struct dl_means *m, size_t a,
                                     size_t b) {
  for (size_t i = 0; i < m->n_columns; i++)
    if (m->column[i]->role != DL_ROLE_MEASURED &&
        !same_setting(m->column[i], &m->cell[a * m->n_columns + i],
                      &m->cell[b * m->n_columns + i]))
      return m->column[i]->name;
  return NULL;
}

/* Warns where runs of one configuration, as the table names it, differ in a
 * setting: the table of means has more rows than configurations. */
static void warn_divided(const struct dl_means *m, const char *path,
                         struct dl_diag *d) {
  DL_SCOPED(dl_intern_free) struct dl_intern configs = {0};
  DL_FREED size_t *first = dl_calloc(m->n, sizeof *first);
  size_t example = 0;
  const char *setting = NULL;
  for (size_t i = 0; i < m->n; i++) {
    const char *key = m->rows.s[i];
    DL_FREED char *config = dl_strndup(key, strcspn(key, DL_MEANS_KEY));
    size_t known = configs.n, k = (size_t)dl_intern(&configs, config);
    if (configs.n > known) {
      first[k] = i;
    } else if (!setting) {
      setting = differing_setting(m, first[k], i);
      example = k;
    }
  }
  if (setting)
    dl_warn_at(d, path, 0,
               "%zu rows for %zu configurations: the runs of '%s' differ in "
               "column '%s'",
               m->n, configs.n, configs.s[example], setting);
}

enum dl_status dl_means_of_runs(struct dl_means *m, struct dl_csv *csv,
                                struct dl_row_plan *f, struct dl_diag *d) {
  DL_SCOPED(free_reading)
  struct config_reading read = {
      .f = f, .ctx = m, .take = take_run, .distinguish = distinguish};
  enum dl_status status = bind_means(m, f, d);
  if (status == DL_OK)
    status = bind_configs(&read, d);
  if (status == DL_OK)
    status = read_configs(&read, csv, d);
  if (status == DL_OK && dl_plan_has(f, "config"))
    warn_divided(m, dl_csv_path(csv), d);
  dl_plan_warn_unused(f, d);
  dl_plan_warn_aliases(f, d);
  return status;
}
