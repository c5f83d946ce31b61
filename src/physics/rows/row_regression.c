/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/rows/row_regression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/regression/regression_methods.h"
#include "physics/calibration.h"

void dl_row_free(void *state) {
  dl_hierarchical_fit_free(state);
}

static enum dl_status check_columns(const struct dl_row_physics *p, size_t n,
                                    struct dl_diag *d) {
  if (p->n_columns == n)
    return DL_OK;
  return dl_fail(d, DL_EUSAGE,
                 "the %s method takes its own features; leave --features out",
                 p->physics->name);
}

/* The rows as a physics takes them; owned. */
struct rows {
  char *inputs;
  double *value, *weight;
  size_t *target;
};

static void rows_free(struct rows *r) {
  free(r->inputs);
  free(r->value);
  free(r->weight);
  free(r->target);
}

static enum dl_status read_rows(struct rows *r, const struct dl_row_physics *p,
                                const gsl_matrix *X, const gsl_vector *y,
                                const gsl_vector *w, struct dl_diag *d) {
  size_t n = X->size1, size = p->physics->input_size,
         n_targets = p->physics->n_targets;
  *r = (struct rows){.inputs = dl_calloc(n, size),
                     .value = dl_calloc(n * n_targets, sizeof *r->value),
                     .target = dl_calloc(n, sizeof *r->target)};
  if (w)
    r->weight = dl_calloc(n, sizeof *r->weight);
  if (!r->inputs || !r->value || !r->target || (w && !r->weight))
    return dl_fail_memory(d);
  for (size_t i = 0; i < n; i++) {
    const double *row = gsl_matrix_const_ptr(X, i, 0);
    double *value = r->value + i * n_targets;
    enum dl_status status = p->check(row, i, d);
    if (status != DL_OK)
      return status;
    r->target[i] = (size_t)row[p->target_column] - 1;
    value[r->target[i]] = gsl_vector_get(y, i);
    p->read(row, r->inputs + i * size, value);
    if (w)
      r->weight[i] = gsl_vector_get(w, i);
  }
  return DL_OK;
}

/* Fits the rows, or calibrates another fit by them. */
static enum dl_status learn(void **state,
                            const struct dl_hierarchical_fit *from,
                            const struct dl_row_physics *p,
                            const struct rows *r, size_t n, struct dl_diag *d) {
  const struct dl_observations o = {n, r->inputs, r->value, r->target,
                                    r->weight};
  struct dl_hierarchical_fit *fit = NULL;
  enum dl_status status;
  if (from) {
    status = dl_calibrate_fit(&fit, from, &o, d);
  } else {
    fit = dl_hierarchical_fit_new(p->physics);
    status = fit ? dl_hierarchical_fit_solve(fit, &o, d) : dl_fail_memory(d);
  }
  if (status == DL_OK)
    *state = fit;
  else
    dl_hierarchical_fit_free(fit);
  return status;
}

enum dl_status dl_row_fit(void **state, const struct dl_row_physics *p,
                          const struct dl_sample *data, struct dl_diag *d) {
  struct rows r = {0};
  enum dl_status status = dl_check_fit(data, d);
  if (status == DL_OK)
    status = check_columns(p, data->X->size2, d);
  if (status == DL_OK)
    status = read_rows(&r, p, data->X, data->y, data->w, d);
  if (status == DL_OK)
    status = learn(state, NULL, p, &r, data->X->size1, d);
  rows_free(&r);
  return status;
}

enum dl_status dl_row_adapt(void **state, const void *from,
                            const struct dl_row_physics *p, const gsl_matrix *X,
                            const gsl_vector *y, struct dl_diag *d) {
  struct rows r = {0};
  enum dl_status status =
      dl_check_fit(&(struct dl_sample){X, y, NULL, NULL}, d);
  if (status == DL_OK)
    status = check_columns(p, X->size2, d);
  if (status == DL_OK)
    status = read_rows(&r, p, X, y, NULL, d);
  if (status == DL_OK)
    status = learn(state, from, p, &r, X->size1, d);
  rows_free(&r);
  return status;
}

enum dl_status dl_row_predict(const void *state, const struct dl_row_physics *p,
                              const gsl_matrix *X, gsl_vector *out,
                              struct dl_diag *d) {
  enum dl_status status = dl_check_predict(p->n_columns, X, out, d);
  if (status != DL_OK)
    return status;
  double value[DL_MAX_TARGETS];
  max_align_t inputs[64];
  for (size_t i = 0; i < X->size1; i++) {
    const double *row = gsl_matrix_const_ptr(X, i, 0);
    p->read(row, inputs, value);
    gsl_vector_set(out, i,
                   dl_hierarchical_predict(state, inputs,
                                           (size_t)row[p->target_column] - 1));
  }
  return DL_OK;
}

/* One row a level: its key, then all effects. */
static bool save_levels(struct dl_arrays *to, const struct dl_physics *physics,
                        size_t k, const struct dl_levels *by) {
  if (by->n == 0)
    return true;
  const struct dl_grouping_factor *f = &physics->factor[k];
  gsl_matrix *m = gsl_matrix_calloc(by->n, 1 + physics->n_effects);
  for (size_t l = 0; m && l < by->n; l++) {
    gsl_matrix_set(m, l, 0, by->level[l].key);
    for (size_t e = 0; e < f->n; e++)
      gsl_matrix_set(m, l, 1 + f->first + e, by->level[l].effect[e]);
  }
  bool ok = m && dl_arrays_add_matrix(to, f->name, m);
  gsl_matrix_free(m);
  return ok;
}

enum { NUMBERS = DL_PLACE_AXES + 4 }; /* of a point but for its weight */

static bool save_points(struct dl_arrays *to, const struct dl_residual_gp *gp,
                        const char *places, const char *weights) {
  if (gp->n == 0)
    return true;
  gsl_matrix *at = gsl_matrix_alloc(gp->n, NUMBERS);
  gsl_vector *weight = gsl_vector_alloc(gp->n);
  for (size_t i = 0; at && weight && i < gp->n; i++) {
    const struct dl_residual_point *p = &gp->point[i];
    const struct dl_place *q = &p->place;
    const double row[NUMBERS] = {q->x[0],
                                 q->x[1],
                                 q->x[2],
                                 q->exact,
                                 q->gpu,
                                 q->arch,
                                 (double)p->target + 1};
    memcpy(gsl_matrix_ptr(at, i, 0), row, sizeof row);
    gsl_vector_set(weight, i, p->weight);
  }
  bool ok = at && weight && dl_arrays_add_matrix(to, places, at) &&
            dl_arrays_add_vector(to, weights, weight);
  gsl_matrix_free(at);
  gsl_vector_free(weight);
  return ok;
}

enum dl_status dl_row_save(const void *state, struct dl_arrays *to,
                           struct dl_diag *d) {
  const struct dl_hierarchical_fit *s = state;
  size_t n = s->physics->n_constants;
  gsl_vector_const_view theta = gsl_vector_const_view_array(s->theta, n);
  gsl_vector_const_view error = gsl_vector_const_view_array(s->error, n);
  bool ok = dl_arrays_add_vector(to, "constants", &theta.vector) &&
            dl_arrays_add_vector(to, "errors", &error.vector);
  for (size_t k = 0; k < s->physics->n_factors; k++)
    ok = ok && save_levels(to, s->physics, k, &s->by[k]);
  ok = ok && save_points(to, &s->residuals, "near", "residuals");
  if (ok && s->posterior.factor) {
    gsl_vector_const_view factor = gsl_vector_const_view_array(
        s->posterior.factor, dl_posterior_size(s->posterior.p));
    ok = dl_arrays_add_vector(to, "factor", &factor.vector);
  }
  ok = ok &&
       save_points(to, &s->calibration_residuals, "runs", "runs_residuals");
  return ok ? DL_OK : dl_fail_memory(d);
}

static enum dl_status restore_levels(struct dl_levels *by,
                                     const struct dl_physics *physics, size_t k,
                                     const struct dl_arrays *from,
                                     struct dl_diag *d) {
  const struct dl_grouping_factor *f = &physics->factor[k];
  if (!dl_arrays_find(from, f->name))
    return DL_OK;
  const struct dl_array *a =
      dl_check_array(from, f->name, 0, 1 + physics->n_effects, d);
  if (!a)
    return DL_EINPUT;
  by->level = dl_calloc(a->rows, sizeof *by->level);
  if (!by->level)
    return dl_fail_memory(d);
  for (; by->n < a->rows; by->n++) {
    const double *row = a->data + by->n * a->cols;
    by->level[by->n].key = row[0];
    memcpy(by->level[by->n].effect, row + 1 + f->first, f->n * sizeof *row);
  }
  return DL_OK;
}

static enum dl_status restore_points(struct dl_residual_gp *gp,
                                     const struct dl_arrays *from,
                                     const char *places, const char *weights,
                                     struct dl_diag *d) {
  if (!dl_arrays_find(from, places))
    return DL_OK;
  const struct dl_array *at = dl_check_array(from, places, 0, NUMBERS, d);
  const struct dl_array *w =
      at ? dl_check_array(from, weights, at->rows, 1, d) : NULL;
  if (!w)
    return DL_EINPUT;
  gp->point = dl_calloc(at->rows, sizeof *gp->point);
  if (!gp->point)
    return dl_fail_memory(d);
  for (; gp->n < at->rows; gp->n++) {
    const double *row = at->data + gp->n * NUMBERS;
    gp->point[gp->n] = (struct dl_residual_point){
        {{row[0], row[1], row[2]}, row[3], row[4], row[5]},
        (size_t)row[6] - 1,
        w->data[gp->n]};
  }
  return DL_OK;
}

/* Models without it predict, but cannot be calibrated. */
static enum dl_status restore_posterior(struct dl_hierarchical_fit *s,
                                        const struct dl_arrays *from,
                                        struct dl_diag *d) {
  size_t p =
      dl_first_parameter(s->physics, s->by, dl_posterior_factors(s->physics));
  size_t n = dl_posterior_size(p);
  if (!dl_arrays_find(from, "factor"))
    return DL_OK;
  const struct dl_array *a = dl_check_array(from, "factor", n, 1, d);
  if (!a)
    return DL_EINPUT;
  s->posterior = (struct dl_posterior){dl_calloc(n, sizeof(double)), p};
  if (!s->posterior.factor)
    return dl_fail_memory(d);
  memcpy(s->posterior.factor, a->data, n * sizeof(double));
  return DL_OK;
}

enum dl_status dl_row_restore(void **state, const struct dl_row_physics *p,
                              const struct dl_arrays *from, size_t columns,
                              struct dl_diag *d) {
  enum dl_status status = check_columns(p, columns, d);
  size_t n = p->physics->n_constants;
  const struct dl_array *theta =
      status == DL_OK ? dl_check_array(from, "constants", n, 1, d) : NULL;
  const struct dl_array *error =
      theta ? dl_check_array(from, "errors", n, 1, d) : NULL;
  if (!theta || !error)
    return DL_EINPUT;
  struct dl_hierarchical_fit *s = dl_hierarchical_fit_new(p->physics);
  if (!s)
    return dl_fail_memory(d);
  memcpy(s->theta, theta->data, n * sizeof *s->theta);
  memcpy(s->error, error->data, n * sizeof *s->error);
  dl_constants_of(p->physics, s->theta, s->c);
  for (size_t k = 0; k < p->physics->n_factors && status == DL_OK; k++)
    status = restore_levels(&s->by[k], p->physics, k, from, d);
  if (status == DL_OK)
    status = restore_points(&s->residuals, from, "near", "residuals", d);
  if (status == DL_OK)
    status = restore_points(&s->calibration_residuals, from, "runs",
                            "runs_residuals", d);
  if (status == DL_OK)
    status = restore_posterior(s, from, d);
  if (status == DL_OK)
    *state = s;
  else
    dl_hierarchical_fit_free(s);
  return status;
}
