/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration of a model by measured runs. */

#include "model/fitting/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "model/training/training_columns.h"
#include "physics/calibration/calibration.h"
#include "physics/fit_row.h"
#include "physics/language/language_parts.h"
#include "physics/rows/physics_regression.h"
#include "physics/training/training_without_waiting.h"

/* The rows as a physics takes them. */
struct work_rows {
  struct dl_observed *observed; /* owned */
  gsl_vector *y;                /* logarithms of the target, owned */
  char *inputs;                 /* of the work alone, owned */
  double *value; /* n x n_targets: logarithms of the work alone, owned */
};

/* Columns of the training table. */
enum { TARGET, UTIL };

static void rows_free(struct work_rows *g) {
  free(g->observed);
  gsl_vector_free(g->y);
  free(g->inputs);
  free(g->value);
}

/* Row i as its work alone would have measured it. */
static void without_waiting(struct work_rows *g,
                            const struct dl_hierarchical_fit *from,
                            const struct dl_training *t, size_t i) {
  double util = gsl_matrix_get(t->x, i, UTIL);
  const struct dl_physics *physics = from->physics;
  void *inputs = g->inputs + i * physics->input_size;
  double *value = g->value + i * physics->n_targets;
  struct dl_observed *row = &g->observed[i];
  memcpy(inputs, row->inputs, physics->input_size);
  memcpy(value, row->value, physics->n_targets * sizeof *value);
  if (util > 0 && physics == &dl_training_physics)
    dl_training_without_waiting(from, util, inputs, value);
  if (util > 0 && physics == &dl_language_physics)
    dl_language_without_waiting(from, util, inputs, value);
  row->inputs = inputs;
  row->value = value;
}

/* Runs that have another time without their waiting. */
static size_t count_waited(const struct work_rows *g,
                           const struct dl_physics *physics,
                           const struct dl_training *t) {
  const struct dl_physics_rows *rows = dl_training_physics_rows(t, physics);
  size_t n = 0;
  for (size_t i = 0; i < t->n; i++) {
    const struct dl_observed was = dl_physics_row_at(rows, i);
    bool moved = false;
    for (size_t k = 0; k < physics->n_targets; k++) {
      double off = was.value[k] - g->observed[i].value[k];
      moved |= off > 0 || off < 0;
    }
    n += moved;
  }
  return n;
}

/* Finds a run whose GPUs would draw more than their limit while they work. */
static void find_over(struct dl_calibration *c, const struct work_rows *g,
                      const struct dl_physics *physics,
                      const struct dl_training *t) {
  bool trains = physics == &dl_training_physics;
  if (!trains && physics != &dl_language_physics)
    return;
  for (size_t i = 0; i < t->n && c->over_line == 0; i++) {
    double util = gsl_matrix_get(t->x, i, UTIL);
    const struct dl_observed *row = &g->observed[i];
    double limit =
        trains ? ((const struct dl_training_inputs *)row->inputs)->limit
               : ((const struct dl_language_inputs *)row->inputs)->limit;
    double w = trains ? dl_training_mean_power(row->inputs, row->value)
                      : exp(row->value[DL_LANG_TARGET_POWER]);
    if (!(util > 0 && w > limit * DL_MOST_OF_LIMIT))
      continue;
    c->over_line = t->line[i];
    c->over_util = util;
    c->over_power_w = w;
    c->over_limit_w = limit;
  }
}

/* Given few configurations, a fit of a target that moves no constants learns
 * from it alone, where it was measured. */
static void drop_others(struct work_rows *g, const struct dl_physics *physics,
                        size_t target, size_t n_configurations) {
  size_t n = g->y->size, n_measured = 0;
  for (size_t i = 0; i < n; i++)
    n_measured += isnan(gsl_vector_get(g->y, i)) ? 0 : 1;
  if (!(physics->settled >> target & 1) || n_measured == 0 ||
      n_configurations >= DL_SETTLED_BELOW)
    return;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < physics->n_targets; k++)
      if (k != target)
        g->value[i * physics->n_targets + k] = NAN;
}

static void lay_out(struct work_rows *g, const struct dl_hierarchical_fit *from,
                    size_t target, const struct dl_training *t) {
  const struct dl_physics *physics = from->physics;
  const struct dl_physics_rows *rows = dl_training_physics_rows(t, physics);
  g->observed = dl_calloc(t->n, sizeof *g->observed);
  g->y = gsl_vector_alloc(t->n);
  g->inputs = dl_calloc(t->n, physics->input_size);
  g->value = dl_calloc(t->n, physics->n_targets * sizeof *g->value);
  for (size_t i = 0; i < t->n; i++) {
    g->observed[i] = dl_physics_row_at(rows, i);
    without_waiting(g, from, t, i);
    gsl_vector_set(g->y, i, g->observed[i].value[target]);
  }
  drop_others(g, physics, target, dl_label_count(t, "config"));
}

/* The mean absolute percentage error of predictions of a target, logarithms;
 * NaN where nothing was predicted that was measured. */
static double error_of(const struct work_rows *g, size_t target,
                       const gsl_vector *predicted) {
  double sum = 0, n = 0;
  for (size_t i = 0; i < predicted->size; i++) {
    double e = gsl_vector_get(predicted, i) - g->observed[i].value[target];
    if (isnan(e))
      continue;
    sum += fabs(expm1(e));
    n++;
  }
  return n > 0 ? sum / n : (double)NAN;
}

/* Finds the run that predictions of a target miss by most. */
static void find_worst(struct dl_calibration_errors *errors,
                       const struct work_rows *g, const struct dl_training *t,
                       size_t target, const gsl_vector *predicted) {
  double worst = 0;
  for (size_t i = 0; i < predicted->size; i++) {
    double e = g->observed[i].value[target] - gsl_vector_get(predicted, i);
    if (!(fabs(e) > fabs(worst)))
      continue;
    worst = e;
    errors->worst_line = t->line[i];
  }
  errors->worst = exp(worst);
}

/* Configurations measured on a GPU. */
static size_t configurations_on(const struct dl_training *t,
                                const struct dl_labels *gpus, size_t gpu) {
  const struct dl_labels *configs = dl_training_labels(t, "config");
  DL_FREED bool *seen = dl_calloc(configs ? configs->names.n : 1, sizeof *seen);
  size_t n = 0;
  for (size_t i = 0; configs && i < t->n; i++) {
    if (gpus->id[i] != gpu || seen[configs->id[i]])
      continue;
    seen[configs->id[i]] = true;
    n++;
  }
  return n;
}

static void note_gpus(struct dl_fit *fit, const struct dl_training *t,
                      struct dl_calibration *c) {
  const struct dl_labels *l = dl_training_labels(t, "gpu");
  c->gpus = l ? l->names.n : 0;
  for (size_t g = 0; g < c->gpus; g++) {
    const char *name = l->names.s[g];
    const size_t n = configurations_on(t, l, g);
    if (dl_strlist_find(&fit->gpus, name) >= 0)
      continue;
    if (n >= DL_CALIBRATED_CONFIGS) {
      dl_strlist_add(&fit->gpus, name);
    } else if (n > c->unseen_configurations) {
      c->unseen_configurations = n;
      snprintf(c->unseen_gpu, sizeof c->unseen_gpu, "%s", name);
    }
  }
}

/* The sets of configurations that are left out in turn: of each row. */
static size_t *make_sets(const struct dl_training *t, size_t *n_sets) {
  const struct dl_labels *configs = dl_training_labels(t, "config");
  size_t n = configs ? configs->names.n : 0;
  size_t *set = dl_calloc(t->n, sizeof *set);
  *n_sets = n < DL_LEFT_OUT_SETS ? n : DL_LEFT_OUT_SETS;
  if (n < 2)
    *n_sets = 0;
  for (size_t i = 0; *n_sets > 0 && i < t->n; i++)
    set[i] = configs->id[i] % *n_sets;
  return set;
}

/* The targets that are scored: the fit's own, and with energies the time. */
static void make_scored(struct dl_adapted_rows *rows,
                        const struct dl_physics *physics, size_t target,
                        size_t n) {
  bool timed = physics->software && physics->times_beside == target;
  rows->n_targets = timed ? 2 : 1;
  for (size_t i = 0; i < rows->n_targets; i++) {
    rows->target[i] = i > 0 ? physics->time : target;
    rows->fitted[i] = gsl_vector_alloc(n);
    rows->left_out[i] = gsl_vector_alloc(n);
  }
}

static void free_scored(const struct dl_adapted_rows *rows) {
  for (size_t i = 0; i < rows->n_targets; i++) {
    gsl_vector_free(rows->fitted[i]);
    gsl_vector_free(rows->left_out[i]);
  }
}

/* Predictions of a target by `from`, into `fitted`. */
static void predict_before(const struct work_rows *g,
                           const struct dl_hierarchical_fit *from,
                           size_t target, gsl_vector *fitted) {
  for (size_t i = 0; i < fitted->size; i++) {
    struct dl_fit_row row;
    dl_fit_row_make(&row, from, g->observed[i].inputs);
    gsl_vector_set(fitted, i, dl_fit_row_value(&row, target));
  }
}

/* Updates `from` by all rows into *state, and scores what was learnt. */
static enum dl_status learn(struct dl_calibration *c,
                            struct dl_hierarchical_fit **state,
                            const struct dl_fit *fit, const void *from,
                            const struct dl_training *t, struct dl_diag *d) {
  struct dl_calibration_errors *errors[] = {&c->of_target, &c->of_time};
  const struct dl_physics *physics = fit->method->physics;
  DL_SCOPED(rows_free) struct work_rows g = {0};
  struct dl_adapted_rows rows = {0};
  size_t target = (size_t)dl_physics_target(physics, fit->target);
  DL_FREED size_t *set = make_sets(t, &rows.n_sets);
  rows.set = set;
  make_scored(&rows, physics, target, t->n);
  lay_out(&g, from, target, t);
  for (size_t i = 0; i < rows.n_targets; i++) {
    predict_before(&g, from, rows.target[i], rows.fitted[i]);
    errors[i]->before = error_of(&g, rows.target[i], rows.fitted[i]);
    find_worst(errors[i], &g, t, rows.target[i], rows.fitted[i]);
  }
  const struct dl_observations observations = {
      .n = t->n, .row = g.observed, .target = target};
  find_over(c, &g, physics, t);
  c->waited = count_waited(&g, physics, t);
  enum dl_status status = dl_physics_check_rows(physics, &observations, d);
  if (status == DL_OK && c->over_line == 0)
    status = dl_calibrate_fit(state, from, &observations, &rows, d);
  for (size_t i = 0; i < rows.n_targets && status == DL_OK; i++) {
    errors[i]->after = error_of(&g, rows.target[i], rows.fitted[i]);
    if (rows.n_sets > 0)
      errors[i]->left_out = error_of(&g, rows.target[i], rows.left_out[i]);
  }
  free_scored(&rows);
  return status;
}

/* Makes the fit what it was before a calibration, but for its state, which it
 * returns. */
static const void *revert(struct dl_fit *fit) {
  if (!fit->state_before)
    return fit->state;
  while (fit->gpus.n > fit->n_gpus_before)
    free(fit->gpus.s[--fit->gpus.n]);
  fit->n = fit->n_before;
  fit->configurations = fit->configurations_before;
  return fit->state_before;
}

/* The fit has learnt `state` from its state before. */
static void replace(struct dl_fit *fit, void *state) {
  if (fit->state_before) {
    fit->method->free(fit->state);
  } else {
    fit->state_before = fit->state;
    fit->n_before = fit->n;
    fit->configurations_before = fit->configurations;
    fit->n_gpus_before = fit->gpus.n;
  }
  fit->state = state;
}

void dl_uncalibrate(struct dl_fit *fit) {
  void *state = fit->state_before;
  if (!state)
    return;
  revert(fit);
  fit->method->free(fit->state);
  fit->state = state;
  fit->state_before = NULL;
  fit->n_before = fit->configurations_before = fit->n_gpus_before = 0;
}

bool dl_can_be_calibrated(const struct dl_fit *fit) {
  return fit->method->physics && fit->method->physics->bound;
}

enum dl_status dl_calibrate_check(const struct dl_fit *fit,
                                  const struct dl_training *t,
                                  struct dl_diag *d) {
  if (!dl_can_be_calibrated(fit) || fit->offset || !fit->log_target)
    return dl_fail(d, DL_EUSAGE,
                   "the fit of '%s' by %s cannot be calibrated; physical can",
                   fit->target, fit->method->name);
  if (t->n == 0)
    return dl_fail_at(d, DL_EINPUT, t->source, 0, "no run that could be used");
  for (size_t i = 0; i < t->n; i++) {
    double y = gsl_matrix_get(t->x, i, TARGET);
    if (!(y > 0) && y > DL_NOT_MEASURED)
      return dl_fail_at(d, DL_EINPUT, t->source, t->line[i],
                        "'%s' must be above 0", fit->target);
  }
  return DL_OK;
}

enum dl_status dl_calibrate(struct dl_fit *fit, const struct dl_training *t,
                            struct dl_calibration *c, struct dl_diag *d) {
  struct dl_hierarchical_fit *state = NULL;
  const struct dl_calibration_errors none = {NAN, NAN, NAN, 1, 0};
  *c = (struct dl_calibration){.runs = t->n,
                               .configurations = dl_label_count(t, "config"),
                               .of_target = none,
                               .of_time = none};
  DL_TRY(dl_calibrate_check(fit, t, d));
  const struct dl_hierarchical_fit *from = revert(fit);
  c->again = from->calibration_residuals.n > 0;
  DL_TRY(learn(c, &state, fit, from, t, d));
  if (c->over_line > 0)
    return DL_OK;
  replace(fit, state);
  note_gpus(fit, t, c);
  fit->n += t->n;
  fit->configurations += c->configurations;
  return DL_OK;
}

/* Runs that an estimate misses by this factor: units, data set or epochs are
 * more often wrong than the fit; of powers, which are less uncertain, the
 * number of GPUs that it is of. Where a calibration does not come near its own
 * runs, they differ among themselves: others come to 2 %. */
#define SUSPICIOUS 5.0
#define SUSPICIOUS_POWER 3.0
#define NOT_NEAR 0.25

void dl_calibration_warn(const struct dl_calibration_errors *errors,
                         const char *target,
                         const struct dl_calibration_runs *runs,
                         const char *input, struct dl_diag *d) {
  char text[DL_NUMBER_SIZE];
  bool power = strcmp(target, "gpu_power_w") == 0;
  double most = log(power ? SUSPICIOUS_POWER : SUSPICIOUS);
  if (errors->after > NOT_NEAR)
    dl_warn_at(d, input, 0,
               "estimates of %s are %s %% off after the calibration too: runs "
               "of one configuration contradict each other",
               target, dl_format_digits(text, 100 * errors->after, 3));
  if (errors->worst_line < 2 || fabs(log(errors->worst)) <= most)
    return;
  const struct dl_calibration_run *run = &runs->run[errors->worst_line - 2];
  dl_warn_at(d, run->file, run->line,
             "%s is %s times the estimate before the calibration: check %s",
             target, dl_format_digits(text, errors->worst, 3),
             power ? "that it is of all GPUs together, and gpu_util"
                   : "the units, data set and epochs");
}
