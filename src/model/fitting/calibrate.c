/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration of a model by measured runs. */

#include "model/fitting/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "physics/rows/physics_regression.h"

/* The rows as a physics takes them. */
struct rows {
  struct dl_observed *observed; /* owned */
  const void **row;             /* to them, owned */
  gsl_vector *y;                /* logarithms of the target, owned */
};

static void rows_free(struct rows *g) {
  free(g->observed);
  free((void *)g->row);
  gsl_vector_free(g->y);
}

static enum dl_status lay_out(struct rows *g, const struct dl_fit *fit,
                              const struct dl_training *t, struct dl_diag *d) {
  const struct dl_physics *physics = fit->method->physics;
  const struct dl_physics_rows *rows = dl_training_physics_rows(t, physics);
  size_t target = (size_t)dl_physics_target(physics, fit->target);
  g->observed = dl_calloc(t->n, sizeof *g->observed);
  g->row = dl_calloc(t->n, sizeof *g->row);
  g->y = gsl_vector_alloc(t->n);
  if (!g->observed || !g->row || !g->y)
    return dl_fail_memory(d);
  for (size_t i = 0; i < t->n; i++) {
    double y = gsl_matrix_get(t->x, i, 0);
    if (!(y > 0) && y > DL_NOT_MEASURED)
      return dl_fail_at(d, DL_EINPUT, t->source, t->line[i],
                        "'%s' must be above 0", fit->target);
    g->observed[i] = dl_physics_row_at(rows, i, target);
    g->row[i] = &g->observed[i];
    gsl_vector_set(g->y, i, g->observed[i].value[target]);
  }
  return DL_OK;
}

/* Mean absolute percentage error of a state on the rows. */
static enum dl_status error_of(double *error, const struct dl_fit *fit,
                               const void *state, const struct rows *g,
                               struct dl_diag *d) {
  size_t n = g->y->size;
  gsl_vector *out = gsl_vector_alloc(n);
  if (!out)
    return dl_fail_memory(d);
  enum dl_status status = fit->method->predict_rows(state, g->row, out, d);
  double sum = 0, measured = 0;
  for (size_t i = 0; i < n && status == DL_OK; i++) {
    double y = gsl_vector_get(g->y, i);
    if (isnan(y))
      continue;
    sum += fabs(expm1(gsl_vector_get(out, i) - y));
    measured += 1;
  }
  *error = measured > 0 ? sum / measured : NAN;
  gsl_vector_free(out);
  return status;
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

enum dl_status dl_calibrate(struct dl_fit *fit, const struct dl_training *t,
                            struct dl_calibration *c, struct dl_diag *d) {
  struct rows g = {0};
  void *state = NULL;
  *c = (struct dl_calibration){.runs = t->n,
                               .configurations = label_count(t, "config")};
  if (!fit->method->adapt || fit->offset || !fit->log_target)
    return dl_fail(d, DL_EUSAGE,
                   "the fit of '%s' by %s cannot be calibrated; physical can",
                   fit->target, fit->method->name);
  if (t->n == 0)
    return dl_fail_at(d, DL_EINPUT, t->source, 0, "no run that could be used");
  enum dl_status status = lay_out(&g, fit, t, d);
  if (status == DL_OK)
    status = error_of(&c->before, fit, fit->state, &g, d);
  if (status == DL_OK)
    status = fit->method->adapt(
        &state, fit->state, &(struct dl_sample){.rows = g.row, .n_rows = t->n},
        d);
  if (status == DL_OK)
    status = error_of(&c->after, fit, state, &g, d);
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
  rows_free(&g);
  return status;
}
