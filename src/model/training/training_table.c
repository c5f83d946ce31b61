/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads a table of runs for fitting. */

#include "model/training/training_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "io/same_tables.h"
#include "model/calibration_rows.h"
#include "model/training/training_columns.h"
#include "physics/rows/physics_rows.h"
#include "run/config_key.h"
#include "quantities/quantities.h"
#include "run/setup/training_setup.h"

/* Rows that one thread evaluates at a time. */
enum { STRIP = 256 };

/* State of reading a table. */
struct table_reader {
  struct dl_training *t;
  struct dl_csv *csv;
  struct dl_row_plan *f;
  struct dl_formula **formula; /* t->formula.n */
  struct dl_row_ref **vars;    /* their variables */
  struct dl_row_ref *group;    /* t->n_labels; unused for a made key */
  double **value;              /* t->n_labels: values of a setting, or NULL */
  struct dl_key_maker *key;    /* where 'config' is no column; or NULL */
  bool has_config;             /* it is a column */
  struct dl_row_ref boundary_at;
  struct dl_calibration_quantities kept; /* where t keeps rows */
  struct dl_row_ref *ranged;             /* one a range of t */
  size_t cap_rows;                       /* rows that x has room for */
  double *x; /* t->n rows, then the rows of the block */
  /* One block: */
  const char **boundary; /* of each row */
  const char **lacks;    /* quantity that a physics lacks, or NULL */
  struct dl_physics_binding bound[DL_MOST_PHYSICS]; /* of the physics of t */
  size_t cap_boundary, cap_lacks;
  size_t n_assumed; /* rows taken so far whose precision is assumed */
  struct dl_repeated_rows repeated;
};

void dl_training_free(struct dl_training *t) {
  dl_strlist_free(&t->formula);
  gsl_matrix_free(t->x);
  free(t->line);
  for (size_t i = 0; t->kept && i < t->n; i++)
    dl_calibration_run_free(&t->kept[i]);
  free(t->kept);
  for (size_t i = 0; i < t->n_ranges; i++)
    free(t->range[i].name);
  free(t->range);
  for (size_t i = 0; i < t->n_labels; i++) {
    free(t->labels[i].column);
    free(t->labels[i].id);
    dl_intern_free(&t->labels[i].names);
  }
  free(t->labels);
  free(t->source);
  dl_table_problems_free(t->problems);
  for (size_t k = 0; k < t->n_physics; k++)
    dl_physics_rows_free(&t->physics[k]);
  *t = (struct dl_training){0};
}

void dl_training_want_physics(struct dl_training *t,
                              const struct dl_physics *physics, bool tried) {
  if (dl_training_physics_rows(t, physics) || t->n_physics == DL_MOST_PHYSICS)
    return;
  t->physics[t->n_physics].tried = tried;
  t->physics[t->n_physics++].physics = physics;
}

static enum dl_status bind_formulas(struct table_reader *r, struct dl_diag *d) {
  size_t n = r->t->formula.n;
  r->formula = dl_calloc(n, sizeof *r->formula);
  r->vars = dl_calloc(n, sizeof *r->vars);
  for (size_t i = 0; i < n; i++) {
    DL_TRY(dl_formula_parse(&r->formula[i], r->t->formula.s[i], d));
    DL_TRY(dl_plan_bind(r->f, r->formula[i], true, &r->vars[i], d));
  }
  return DL_OK;
}

/* Adds the steps of the quantities and targets of the physics to the frame. */
static enum dl_status bind_physics(struct table_reader *r, struct dl_diag *d) {
  struct dl_row_ref ignored; /* members of the run */
  for (size_t k = 0; k < r->t->n_physics; k++) {
    const struct dl_physics *physics = r->t->physics[k].physics;
    DL_TRY(dl_physics_bind(&r->bound[k], physics, r->f, !r->t->physics[k].tried,
                           d));
    for (size_t i = 0; i < physics->n_targets; i++)
      DL_TRY(dl_plan_quantity(r->f, physics->target[i], false, &ignored, d));
  }
  return DL_OK;
}

/* Enters a group column if the table has it or a key can be made. */
static enum dl_status add_group(struct table_reader *r, const char *name,
                                bool must, struct dl_diag *d) {
  struct dl_training *t = r->t;
  bool there = dl_plan_has(r->f, name);
  enum dl_status status = DL_OK;
  struct dl_row_ref q = {0};
  bool config = strcmp(name, "config") == 0;
  if (there || (must && !config))
    status = dl_plan_text(r->f, name, !there, &q, d);
  if (config && status == DL_OK) {
    r->has_config = there;
    status = dl_key_maker_new(&r->key, r->f, d);
  }
  if (status != DL_OK || (!there && !(config && r->key)))
    return status;
  struct dl_labels *l = &t->labels[t->n_labels];
  r->group[t->n_labels] = q;
  l->column = dl_strdup(name);
  t->n_labels++;
  return DL_OK;
}

/* Enters the numeric settings that formulas use: their values group rows. */
static void add_settings(struct table_reader *r) {
  struct dl_training *t = r->t;
  for (size_t i = 0; i < t->formula.n; i++)
    for (size_t j = 0; j < r->formula[i]->n_vars; j++) {
      const char *name = r->formula[i]->var[j].name;
      const struct dl_run_column *c = dl_run_column_find(name);
      if (!c || c->role != DL_ROLE_SETTING || c->is_text ||
          dl_training_labels(t, name))
        continue;
      r->group[t->n_labels] = r->vars[i][j];
      r->value[t->n_labels] = dl_calloc(DL_MOST_LEVELS, sizeof **r->value);
      t->labels[t->n_labels++].column = dl_strdup(name);
    }
}

static enum dl_status add_groups(struct table_reader *r,
                                 const struct dl_strlist *groups,
                                 const char *must, struct dl_diag *d) {
  size_t most = groups->n + 1 + DL_N_RUN_COLUMNS;
  r->t->labels = dl_calloc(most, sizeof *r->t->labels);
  r->group = dl_calloc(most, sizeof *r->group);
  r->value = (double **)dl_calloc(most, sizeof *r->value);
  for (size_t i = 0; i < groups->n; i++)
    DL_TRY(add_group(r, groups->s[i], false, d));
  if (must && !dl_training_labels(r->t, must))
    DL_TRY(add_group(r, must, true, d));
  if (r->t->n_labels > 0)
    DL_TRY(dl_plan_want_descriptors(r->f, d));
  add_settings(r);
  return DL_OK;
}

/* Keeps the range of the quantity that a step sets, once. */
static void keep_range(struct table_reader *r, const struct dl_row_ref *q) {
  const char *name = dl_plan_step_name(r->f, q->step);
  for (size_t k = 0; k < r->t->n_ranges; k++)
    if (strcmp(r->t->range[k].name, name) == 0)
      return;
  struct dl_range *range = &r->t->range[r->t->n_ranges];
  r->ranged[r->t->n_ranges++] = *q;
  *range = (struct dl_range){
      .name = dl_strdup(name), .low = INFINITY, .high = -INFINITY};
}

/* The variables of the formulas and the watched quantities of the physics,
 * whose ranges are kept. */
static enum dl_status note_variables(struct table_reader *r,
                                     struct dl_diag *d) {
  size_t n = dl_plan_n_steps(r->f);
  struct dl_row_ref **is_var = dl_calloc(n, sizeof(void *));
  r->ranged = dl_calloc(n, sizeof *r->ranged);
  r->t->range = dl_calloc(n, sizeof *r->t->range);
  for (size_t i = 0; i < r->t->formula.n; i++)
    for (size_t j = 0; j < r->formula[i]->n_vars; j++)
      if (!r->formula[i]->var[j].as_text)
        is_var[r->vars[i][j].step] = &r->vars[i][j];
  for (size_t s = 0; s < n; s++)
    if (is_var[s])
      keep_range(r, is_var[s]);
  free((void *)is_var);
  for (size_t k = 0; k < r->t->n_physics; k++) {
    const struct dl_physics *physics = r->t->physics[k].physics;
    for (size_t i = 0; i < physics->n_quantities; i++) {
      struct dl_row_ref q;
      if (!physics->quantity[i].watched)
        continue;
      DL_TRY(dl_plan_quantity(r->f, physics->quantity[i].name, false, &q, d));
      keep_range(r, &q);
    }
  }
  return DL_OK;
}

/* Adding 0 turns -0 to 0, which makes the result equal in any order. */
static void widen(struct dl_range *range, double x) {
  if (x < range->low)
    range->low = x + 0;
  if (x > range->high)
    range->high = x + 0;
}

/* The column of x that is not finite, or -1. */
static long not_finite(const double *v, size_t m) {
  for (size_t j = 0; j < m; j++)
    if (!isfinite(v[j]))
      return (long)j;
  return -1;
}

/* Row i of the block: what it leaves is its own but for the ranges. */
static void evaluate_row(struct table_reader *r, size_t i,
                         struct dl_range *ranges) {
  size_t m = r->t->formula.n;
  double *x = r->x + (r->t->n + i) * m;
  const struct dl_row *row = dl_plan_row(r->f, i);
  r->boundary[i] = r->lacks[i] = NULL;
  if (row->fault.kind != DL_FAULT_NONE)
    return;
  for (size_t j = 0; j < m; j++)
    x[j] = dl_formula_eval(r->formula[j], r->vars[j], row);
  r->boundary[i] = dl_row_text(row, &r->boundary_at);
  for (size_t k = 0; k < r->t->n_physics && !r->lacks[i]; k++)
    r->lacks[i] = dl_physics_rows_read(&r->t->physics[k], &r->bound[k], row, i);
  if (not_finite(x, m) >= 0 || r->lacks[i])
    return;
  for (size_t k = 0; k < r->t->n_ranges; k++)
    widen(&ranges[k], dl_row_number(row, &r->ranged[k]));
}

/* Evaluates the rows of a block behind the rows of r->x, in strips. */
static void evaluate(struct table_reader *r, size_t n) {
  size_t n_ranges = r->t->n_ranges;
#pragma omp parallel if (n > 2 * STRIP)
  {
    DL_FREED struct dl_range *ranges = dl_calloc(n_ranges, sizeof *ranges);
    for (size_t k = 0; k < n_ranges; k++)
      ranges[k] = (struct dl_range){.low = INFINITY, .high = -INFINITY};
#pragma omp for schedule(dynamic)
    for (size_t first = 0; first < n; first += STRIP)
      for (size_t i = first; i < n && i < first + STRIP; i++)
        evaluate_row(r, i, ranges);
#pragma omp critical(dl_training_ranges)
    for (size_t k = 0; k < n_ranges; k++)
      if (ranges[k].low <= ranges[k].high) {
        widen(&r->t->range[k], ranges[k].low);
        widen(&r->t->range[k], ranges[k].high);
      }
  }
}

static const struct dl_descriptor *
described(const struct dl_row_descriptors *row, const char *column) {
  if (strcmp(column, "arch") == 0 && row->arch)
    return &row->arch->head;
  return strcmp(column, "gpu") == 0 && row->gpu ? &row->gpu->head : NULL;
}

/* The number of a value of a setting; 0 for all of too many. */
static size_t value_label(struct dl_labels *l, double *value, double x) {
  char text[DL_NUMBER_SIZE];
  if (l->n_values == SIZE_MAX)
    return 0;
  for (size_t k = l->n_values; k-- > 0;)
    if (!(value[k] < x) && !(value[k] > x) && isnan(value[k]) == isnan(x))
      return k;
  if (l->n_values == DL_MOST_LEVELS) {
    l->n_values = SIZE_MAX;
    return 0;
  }
  value[l->n_values++] = x;
  return (size_t)dl_intern(&l->names, dl_format_short(text, x));
}

static void add_labels(struct table_reader *r, const struct dl_row *row) {
  struct dl_training *t = r->t;
  DL_SCOPED(dl_text_free) struct dl_text text = {0};
  for (size_t g = 0; g < t->n_labels; g++) {
    struct dl_labels *l = &t->labels[g];
    if (r->value[g]) {
      double x = dl_row_number(row, &r->group[g]);
      l->id[t->n] = value_label(l, r->value[g], x);
      continue;
    }
    const char *label = dl_row_text(row, &r->group[g]);
    const struct dl_descriptor *e = described(&row->found, l->column);
    l->undescribed |= !e;
    if (e)
      label = e->id;
    else if (strcmp(l->column, "config") == 0 && r->key &&
             !(r->has_config && label && *label)) {
      dl_text_clear(&text);
      dl_key_make(r->key, row, &text);
      label = text.s;
    }
    l->id[t->n] = (size_t)dl_intern(&l->names, label ? label : "");
  }
}

static void note_boundary(struct dl_training *t, const char *s) {
  if (t->n == 0)
    snprintf(t->boundary, sizeof t->boundary, "%s", s ? s : "");
  else if (!s || strcmp(s, t->boundary) != 0)
    t->boundary[0] = '\0';
}

static void row_room(struct table_reader *r, size_t rows) {
  size_t m = r->t->formula.n, before = r->cap_rows;
  if (before == 0) {
    /* For the whole file as far as can be guessed, which spares copying the
     * rows as they grow. */
    size_t expected = dl_csv_expected_rows(r->csv);
    r->cap_rows = expected > rows ? expected : rows;
    r->x = dl_reallocarray(NULL, r->cap_rows, m * sizeof *r->x);
  } else {
    r->x = dl_grown(r->x, &r->cap_rows, r->t->n + rows, m * sizeof *r->x);
  }
  if (r->cap_rows == before)
    return;
  dl_use_large_pages(r->x, r->cap_rows * m * sizeof *r->x);
  r->t->line = dl_reallocarray(r->t->line, r->cap_rows, sizeof *r->t->line);
  for (size_t g = 0; g < r->t->n_labels; g++) {
    struct dl_labels *l = &r->t->labels[g];
    l->id = dl_reallocarray(l->id, r->cap_rows, sizeof *l->id);
  }
}

static void keep_row(struct table_reader *r, const struct dl_row *row,
                     size_t line) {
  struct dl_training *t = r->t;
  DL_GROW(t->kept, t->cap_kept, t->n + 1);
  t->kept[t->n] = (struct dl_calibration_run){.line = line};
  dl_calibration_run_read(&t->kept[t->n], &r->kept, row);
}

static bool is_of_gpus(const struct dl_run *run, const char *boundary) {
  return isnan(run->epoch_energy_j) || !boundary || !*boundary ||
         strcmp(boundary, "gpu") == 0 || strcmp(boundary, "gpu+ram") == 0;
}

/* Whether a row is of those that the table is read for. */
static bool is_wanted(const struct dl_training *t, const struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  bool language = arch && dl_is_language_model(arch);
  return t->only == DL_ROWS_ALL || language == (t->only == DL_ROWS_LANGUAGE);
}

/* Row i of the block, evaluated as row `from` of x, becomes row t->n. */
static enum dl_status take_row(struct table_reader *r,
                               const struct dl_csv_block *block, size_t i,
                               size_t from, struct dl_diag *d) {
  struct dl_training *t = r->t;
  size_t m = t->formula.n;
  const struct dl_row *row = dl_plan_row(r->f, i);
  if (!is_wanted(t, row))
    return DL_OK;
  if (row->fault.kind != DL_FAULT_NONE)
    return dl_plan_complain(r->f, row, dl_csv_path(r->csv), block->line[i], d);
  long bad = not_finite(r->x + from * m, m);
  if (bad < 0 && r->lacks[i] && strcmp(r->lacks[i], DL_LACKS_TRAINING) == 0) {
    dl_skip_at(d, dl_csv_path(r->csv), block->line[i],
               "a row of inference, where trainings are fitted");
    return DL_OK;
  }
  if (bad >= 0 || r->lacks[i]) {
    dl_skip_at(d, dl_csv_path(r->csv), block->line[i],
               "'%s' is not a finite number",
               bad >= 0 ? t->formula.s[bad] : r->lacks[i]);
    return DL_OK;
  }
  if (t->of_gpus && !is_of_gpus(&row->run, r->boundary[i])) {
    dl_skip_at(d, dl_csv_path(r->csv), block->line[i],
               "an energy of boundary '%.32s', where the model has that of "
               "GPUs; give gpu_energy_j or gpu_power_w without energy_j",
               r->boundary[i]);
    return DL_OK;
  }
  for (size_t k = 0; k < t->n_physics; k++)
    dl_physics_rows_take(&t->physics[k], i);
  if (from != t->n)
    memcpy(r->x + t->n * m, r->x + from * m, m * sizeof *r->x);
  if (t->n_labels > 0)
    add_labels(r, row);
  if (t->keeps)
    keep_row(r, row, block->line[i]);
  note_boundary(t, r->boundary[i]);
  r->n_assumed += dl_is_assumed(row, DL_RUN_precision);
  t->line[t->n++] = block->line[i];
  return DL_OK;
}

static enum dl_status read_blocks(struct table_reader *r, struct dl_diag *d) {
  const struct dl_csv_block *block;
  enum dl_status status;
  while ((status = dl_plan_next(r->f, r->csv, &block, d)) == DL_OK && block) {
    DL_GROW(r->boundary, r->cap_boundary, block->n_rows);
    DL_GROW(r->lacks, r->cap_lacks, block->n_rows);
    for (size_t k = 0; k < r->t->n_physics; k++)
      dl_physics_rows_room(&r->t->physics[k], block->n_rows);
    row_room(r, block->n_rows);
    evaluate(r, block->n_rows);
    dl_repeated_rows_add(&r->repeated, block);
    size_t first = r->t->n;
    for (size_t i = 0; i < block->n_rows && status == DL_OK; i++)
      status = take_row(r, block, i, first + i, d);
    if (status != DL_OK)
      return status;
  }
  return status;
}

/* Physics learn another rate at another precision. */
static void warn_assumed(const struct table_reader *r, struct dl_diag *d) {
  bool used = false;
  for (size_t k = 0; k < r->t->n_physics; k++)
    used |= !r->t->physics[k].lacking;
  if (used && r->n_assumed > 0)
    dl_warn_at(d, dl_csv_path(r->csv), 0,
               "%zu row%s of language models without precision: assumed as "
               "predict does, bf16 where the GPU has it",
               r->n_assumed, r->n_assumed == 1 ? "" : "s");
}

/* Hands the rows over as a matrix without copying them: GSL owns a block
 * that malloc gave. */
static void make_matrix(struct table_reader *r) {
  size_t n = r->t->n, m = r->t->formula.n;
  if (n == 0)
    return;
  gsl_matrix *x = dl_malloc(sizeof *x);
  gsl_block *block = dl_malloc(sizeof *block);
  *block = (gsl_block){.size = n * m, .data = r->x};
  *x = (gsl_matrix){.size1 = n,
                    .size2 = m,
                    .tda = m,
                    .data = r->x,
                    .block = block,
                    .owner = 1};
  r->x = NULL;
  r->t->x = x;
}

static void free_reader(struct table_reader *r) {
  for (size_t i = 0; i < r->t->formula.n; i++) {
    if (r->formula)
      dl_formula_free(r->formula[i]);
    if (r->vars)
      free(r->vars[i]);
  }
  free(r->formula);
  free(r->vars);
  free(r->group);
  for (size_t g = 0; r->value && g < r->t->n_labels; g++)
    free(r->value[g]);
  free((void *)r->value);
  free(r->key);
  free(r->ranged);
  free(r->x);
  free((void *)r->boundary);
  free((void *)r->lacks);
  dl_repeated_rows_free(&r->repeated);
}

enum dl_status dl_training_read(struct dl_training *t, struct dl_csv *csv,
                                struct dl_row_plan *f,
                                const struct dl_strlist *groups,
                                const char *must, struct dl_diag *d) {
  DL_SCOPED(free_reader) struct table_reader r = {.t = t, .csv = csv, .f = f};
  DL_TRY(bind_formulas(&r, d));
  DL_TRY(bind_physics(&r, d));
  DL_TRY(add_groups(&r, groups, must, d));
  DL_TRY(dl_plan_quantity(f, "boundary", false, &r.boundary_at, d));
  if (t->keeps)
    DL_TRY(
        dl_calibration_quantities_bind(&r.kept, t->physics[0].physics, f, d));
  DL_TRY(note_variables(&r, d));
  DL_TRY(read_blocks(&r, d));
  warn_assumed(&r, d);
  /* Runs that are kept count once, which their calibration says. */
  if (!t->keeps)
    dl_repeated_rows_warn(&r.repeated, dl_csv_path(csv), d);
  make_matrix(&r);
  dl_csv_digest(csv, t->digest, &t->rows);
  t->source = dl_strdup(dl_csv_path(csv));
  t->problems = dl_calloc(1, sizeof *t->problems);
  return DL_OK;
}
