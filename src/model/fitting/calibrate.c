/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration of a model by measured runs. */

#include "model/fitting/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "physics/rows/physics_regression.h"
#include "physics/training/training_waiting.h"

/* The rows as a physics takes them. */
struct rows {
  struct dl_observed *observed; /* owned */
  const void **row;             /* to them, owned */
  gsl_vector *y;                /* logarithms of the target, owned */
  char *inputs;                 /* of the work alone, owned */
  double *value;                /* n x n_targets: the same, owned */
};

/* Columns of the training table. */
enum { TARGET, UTIL };

static void rows_free(struct rows *g) {
  free(g->observed);
  free((void *)g->row);
  gsl_vector_free(g->y);
  free(g->inputs);
  free(g->value);
}

/* Row i as its work alone would have measured it. */
static void without_waiting(struct rows *g, const struct dl_fit *fit,
                            const struct dl_training *t, size_t i) {
  double util = gsl_matrix_get(t->x, i, UTIL);
  const struct dl_physics *physics = fit->method->physics;
  void *inputs = g->inputs + i * physics->input_size;
  double *value = g->value + i * physics->n_targets;
  struct dl_observed *row = &g->observed[i];
  memcpy(inputs, row->inputs, physics->input_size);
  memcpy(value, row->value, physics->n_targets * sizeof *value);
  if (util > 0 && physics == &dl_training_physics)
    dl_training_without_waiting(fit->state, util, inputs, value);
  row->inputs = inputs;
  row->value = value;
}

/* A fit of a target that moves no constants learns from that target alone,
 * where it was measured. */
static void drop_others(struct rows *g, const struct dl_physics *physics,
                        size_t target) {
  size_t n = g->y->size, n_measured = 0;
  for (size_t i = 0; i < n; i++)
    n_measured += isnan(gsl_vector_get(g->y, i)) ? 0 : 1;
  if (!(physics->settled >> target & 1) || n_measured == 0)
    return;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < physics->n_targets; k++)
      if (k != target)
        g->value[i * physics->n_targets + k] = NAN;
}

static enum dl_status lay_out(struct rows *g, const struct dl_fit *fit,
                              const struct dl_training *t, struct dl_diag *d) {
  const struct dl_physics *physics = fit->method->physics;
  const struct dl_physics_rows *rows = dl_training_physics_rows(t, physics);
  size_t target = (size_t)dl_physics_target(physics, fit->target);
  g->observed = dl_calloc(t->n, sizeof *g->observed);
  g->row = dl_calloc(t->n, sizeof *g->row);
  g->y = gsl_vector_alloc(t->n);
  g->inputs = dl_calloc(t->n, physics->input_size);
  g->value = dl_calloc(t->n, physics->n_targets * sizeof *g->value);
  if (!g->observed || !g->row || !g->y || !g->inputs || !g->value)
    return dl_fail_memory(d);
  for (size_t i = 0; i < t->n; i++) {
    double y = gsl_matrix_get(t->x, i, TARGET);
    if (!(y > 0) && y > DL_NOT_MEASURED)
      return dl_fail_at(d, DL_EINPUT, t->source, t->line[i],
                        "'%s' must be above 0", fit->target);
    g->observed[i] = dl_physics_row_at(rows, i, target);
    without_waiting(g, fit, t, i);
    g->row[i] = &g->observed[i];
    gsl_vector_set(g->y, i, g->observed[i].value[target]);
  }
  drop_others(g, physics, target);
  return DL_OK;
}

/* Sums of absolute percentage errors. */
struct error {
  double sum;
  size_t n;
};

/* The rows i with of_row[i] == set; of_row NULL: all. */
struct subset {
  const size_t *of_row;
  size_t set;
};

static bool is_in(const struct subset *s, size_t i) {
  return !s->of_row || s->of_row[i] == s->set;
}

/* Adds the errors of a state on rows. */
static enum dl_status add_errors(struct error *to, const struct dl_fit *fit,
                                 const void *state, const struct rows *g,
                                 const struct subset *of, struct dl_diag *d) {
  size_t n = g->y->size;
  gsl_vector *out = gsl_vector_alloc(n);
  if (!out)
    return dl_fail_memory(d);
  enum dl_status status = fit->method->predict_rows(state, g->row, out, d);
  for (size_t i = 0; i < n && status == DL_OK; i++) {
    double y = gsl_vector_get(g->y, i);
    if (isnan(y) || !is_in(of, i))
      continue;
    to->sum += fabs(expm1(gsl_vector_get(out, i) - y));
    to->n++;
  }
  gsl_vector_free(out);
  return status;
}

static double mean_of(const struct error *e) {
  return e->n > 0 ? e->sum / (double)e->n : (double)NAN;
}

static size_t label_count(const struct dl_training *t, const char *column) {
  const struct dl_labels *l = dl_training_labels(t, column);
  return l ? l->names.n : 0;
}

/* Configurations measured on a GPU. */
static size_t configurations_on(const struct dl_training *t,
                                const struct dl_labels *gpus, size_t gpu) {
  const struct dl_labels *configs = dl_training_labels(t, "config");
  size_t n = 0;
  for (size_t c = 0; configs && c < configs->names.n; c++) {
    bool there = false;
    for (size_t i = 0; i < t->n && !there; i++)
      there = configs->id[i] == c && gpus->id[i] == gpu;
    n += there;
  }
  return n;
}

static bool note_gpus(struct dl_fit *fit, const struct dl_training *t) {
  const struct dl_labels *l = dl_training_labels(t, "gpu");
  for (size_t g = 0; l && g < l->names.n; g++)
    if (configurations_on(t, l, g) >= DL_CALIBRATED_CONFIGS &&
        dl_strlist_find(&fit->gpus, l->names.s[g]) < 0 &&
        !dl_strlist_add(&fit->gpus, l->names.s[g]))
      return false;
  return true;
}

/* A state brought up to date by all rows, or by those that are not `out`. */
static enum dl_status adapt(void **state, const struct dl_fit *fit,
                            const struct rows *g, const struct subset *out,
                            struct dl_diag *d) {
  size_t n = 0;
  const void **row = dl_calloc(g->y->size, sizeof *row);
  if (!row)
    return dl_fail_memory(d);
  for (size_t i = 0; i < g->y->size; i++)
    if (!out || !is_in(out, i))
      row[n++] = g->row[i];
  enum dl_status status = fit->method->adapt(
      state, fit->state, &(struct dl_sample){.rows = row, .n_rows = n}, d);
  free((void *)row);
  return status;
}

/* Errors of configurations that are left out, in sets. */
static enum dl_status leave_out(struct dl_calibration *c,
                                const struct dl_fit *fit,
                                const struct dl_training *t,
                                const struct rows *g, struct dl_diag *d) {
  const struct dl_labels *configs = dl_training_labels(t, "config");
  size_t n = configs ? configs->names.n : 0;
  size_t sets = n < DL_LEFT_OUT_SETS ? n : DL_LEFT_OUT_SETS;
  struct error e = {0, 0};
  enum dl_status status = DL_OK;
  c->left_out = NAN;
  if (sets < 2)
    return DL_OK;
  size_t *of_row = dl_calloc(t->n, sizeof *of_row);
  if (!of_row)
    return dl_fail_memory(d);
  for (size_t i = 0; i < t->n; i++)
    of_row[i] = configs->id[i] % sets;
  for (size_t k = 0; k < sets && status == DL_OK; k++) {
    const struct subset one = {of_row, k};
    void *state = NULL;
    status = adapt(&state, fit, g, &one, d);
    if (status == DL_OK)
      status = add_errors(&e, fit, state, g, &one, d);
    if (state)
      fit->method->free(state);
    dl_progress_step(d->progress, (double)(k + 1) / (double)(sets + 1));
  }
  c->left_out = mean_of(&e);
  free(of_row);
  return status;
}

/* Learns from all rows, and scores what was learnt. */
static enum dl_status learn(struct dl_calibration *c, void **state,
                            const struct dl_fit *fit,
                            const struct dl_training *t, struct dl_diag *d) {
  struct rows g = {0};
  const struct subset all = {NULL, 0};
  struct error before = {0, 0}, after = {0, 0};
  enum dl_status status = lay_out(&g, fit, t, d);
  if (status == DL_OK)
    status = add_errors(&before, fit, fit->state, &g, &all, d);
  if (status == DL_OK)
    status = leave_out(c, fit, t, &g, d);
  if (status == DL_OK)
    status = adapt(state, fit, &g, NULL, d);
  if (status == DL_OK)
    status = add_errors(&after, fit, *state, &g, &all, d);
  c->before = mean_of(&before);
  c->after = mean_of(&after);
  rows_free(&g);
  return status;
}

enum dl_status dl_calibrate(struct dl_fit *fit, const struct dl_training *t,
                            struct dl_calibration *c, struct dl_diag *d) {
  void *state = NULL;
  *c = (struct dl_calibration){.runs = t->n,
                               .configurations = label_count(t, "config")};
  if (!fit->method->adapt || fit->offset || !fit->log_target)
    return dl_fail(d, DL_EUSAGE,
                   "the fit of '%s' by %s cannot be calibrated; physical can",
                   fit->target, fit->method->name);
  if (t->n == 0)
    return dl_fail_at(d, DL_EINPUT, t->source, 0, "no run that could be used");
  enum dl_status status = learn(c, &state, fit, t, d);
  if (status == DL_OK && !note_gpus(fit, t))
    status = dl_fail_memory(d);
  if (status == DL_OK) {
    fit->method->free(fit->state);
    fit->state = state;
    fit->n += t->n;
    fit->configurations += c->configurations;
  } else if (state) {
    fit->method->free(state);
  }
  return status;
}
