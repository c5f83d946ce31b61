/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A physics as a regression: checks, fits, files. */

#include "physics/rows/physics_regression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/regression/regression_methods.h"
#include "physics/calibration/calibration.h"
#include "physics/fit_row.h"

struct dl_observations dl_observations_of(const struct dl_sample *s) {
  return (struct dl_observations){s->n_rows, s->rows, s->w, s->n_auxiliary,
                                  s->means};
}

enum dl_status dl_physics_check_rows(const struct dl_physics *physics,
                                     const struct dl_sample *s,
                                     struct dl_diag *d) {
  if (!s->rows)
    return dl_fail(d, DL_EUSAGE,
                   "the %s method takes its own features; leave --features out",
                   physics->name);
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct dl_observed *row = s->rows[i];
    const char *reason = physics->check(row->inputs);
    if (reason)
      return dl_fail(d, DL_EINPUT, "row %zu: %s", i + 1, reason);
  }
  return DL_OK;
}

enum dl_status dl_physics_fit(const struct dl_regression *r, void **state,
                              const struct dl_sample *s, double *hyper,
                              struct dl_diag *d) {
  const struct dl_observations o = dl_observations_of(s);
  enum dl_status status = dl_physics_check_rows(r->physics, s, d);
  (void)hyper;
  if (status != DL_OK)
    return status;
  struct dl_hierarchical_fit *new = dl_hierarchical_fit_new(r->physics);
  status = dl_hierarchical_fit_solve(new, &o, s->full, d);
  if (status == DL_OK)
    *state = new;
  else
    dl_hierarchical_fit_free(new);
  return status;
}

enum dl_status dl_physics_adapt(void **state, const void *from,
                                const struct dl_sample *s,
                                const struct dl_adapted_rows *rows,
                                struct dl_diag *d) {
  const struct dl_hierarchical_fit *old = from;
  const struct dl_observations o = dl_observations_of(s);
  struct dl_hierarchical_fit *new = NULL;
  enum dl_status status = dl_physics_check_rows(old->physics, s, d);
  if (status == DL_OK)
    status = dl_calibrate_fit(&new, old, &o, rows, d);
  *state = new;
  return status;
}

enum dl_status dl_physics_predict(const void *state, const void *const *rows,
                                  gsl_vector *out, struct dl_diag *d) {
  (void)d;
  for (size_t i = 0; i < out->size; i++) {
    const struct dl_observed *observed = rows[i];
    struct dl_fit_row row;
    dl_fit_row_make(&row, state, observed->inputs);
    gsl_vector_set(out, i, dl_fit_row_value(&row, observed->target));
  }
  return DL_OK;
}

void dl_physics_free(void *state) {
  dl_hierarchical_fit_free(state);
}

/* One row per level: its names' numbers, then its effects. */
static void save_levels(struct dl_arrays *to,
                        const struct dl_grouping_factor *f,
                        const struct dl_levels *by) {
  if (by->n == 0)
    return;
  gsl_matrix *m = gsl_matrix_calloc(by->n, 2 + f->n);
  for (size_t l = 0; l < by->n; l++) {
    gsl_matrix_set(m, l, 0, (double)by->level[l].key.name);
    gsl_matrix_set(m, l, 1, (double)by->level[l].key.within);
    for (size_t e = 0; e < f->n; e++)
      gsl_matrix_set(m, l, 2 + e, by->level[l].effect[e]);
  }
  dl_arrays_add_matrix(to, f->name, m);
  gsl_matrix_free(m);
}

enum { NUMBERS = DL_PLACE_AXES + 4 }; /* of a point but for its weight */

static void save_points(struct dl_arrays *to, const struct dl_residual_gp *gp,
                        const char *places, const char *weights) {
  if (gp->n == 0)
    return;
  gsl_matrix *at = gsl_matrix_alloc(gp->n, NUMBERS);
  gsl_vector *weight = gsl_vector_alloc(gp->n);
  for (size_t i = 0; i < gp->n; i++) {
    const struct dl_residual_point *p = &gp->point[i];
    const struct dl_place *q = &p->place;
    const double row[NUMBERS] = {
        q->x[0],        q->x[1],         q->x[2],          q->exact,
        (double)q->gpu, (double)q->arch, (double)p->target};
    memcpy(gsl_matrix_ptr(at, i, 0), row, sizeof row);
    gsl_vector_set(weight, i, p->weight);
  }
  dl_arrays_add_matrix(to, places, at);
  dl_arrays_add_vector(to, weights, weight);
  gsl_matrix_free(at);
  gsl_vector_free(weight);
}

enum { BOUNDS = DL_BOUND_AXES + 1 };

/* What bounds the points, a row each, and whether their software is tuned. */
static void save_bounds(struct dl_arrays *to, const struct dl_residual_gp *gp,
                        const char *name) {
  if (!gp->bounded)
    return;
  gsl_matrix *m = gsl_matrix_alloc(gp->n, BOUNDS);
  for (size_t i = 0; i < gp->n; i++) {
    const struct dl_place *p = &gp->point[i].place;
    memcpy(gsl_matrix_ptr(m, i, 0), p->bound, sizeof p->bound);
    gsl_matrix_set(m, i, DL_BOUND_AXES, p->tuned);
  }
  dl_arrays_add_matrix(to, name, m);
  gsl_matrix_free(m);
}

/* The shares of their time in parts whose rates differ by GPU. */
static void save_rates(struct dl_arrays *to, const struct dl_residual_gp *gp,
                       const char *name) {
  if (!gp->bounded)
    return;
  gsl_matrix *m = gsl_matrix_alloc(gp->n, DL_RATE_AXES);
  for (size_t i = 0; i < gp->n; i++)
    memcpy(gsl_matrix_ptr(m, i, 0), gp->point[i].place.rate,
           sizeof gp->point[i].place.rate);
  dl_arrays_add_matrix(to, name, m);
  gsl_matrix_free(m);
}

void dl_physics_save(const void *state, struct dl_arrays *to) {
  const struct dl_hierarchical_fit *s = state;
  size_t n = s->physics->n_constants;
  gsl_vector_const_view theta = gsl_vector_const_view_array(s->theta, n);
  gsl_vector_const_view error = gsl_vector_const_view_array(s->error, n);
  dl_arrays_add_vector(to, "constants", &theta.vector);
  dl_arrays_add_vector(to, "errors", &error.vector);
  for (size_t i = 0; i < s->names.n; i++)
    dl_strlist_add(&to->names, s->names.s[i]);
  for (size_t k = 0; k < s->physics->n_factors; k++)
    save_levels(to, &s->physics->factor[k], &s->by[k]);
  save_points(to, &s->residuals, "near", "residuals");
  if (s->posterior.factor) {
    gsl_vector_const_view factor = gsl_vector_const_view_array(
        s->posterior.factor, dl_posterior_size(s->posterior.p));
    dl_arrays_add_vector(to, "factor", &factor.vector);
  }
  save_points(to, &s->calibration_residuals, "measured", "measured_residuals");
  save_bounds(to, &s->calibration_residuals, "measured_work");
  save_rates(to, &s->calibration_residuals, "measured_rates");
}

/* The number of a name, 0 (none) to the number of names, into *to. */
static bool take_number(double x, const struct dl_arrays *from, long *to) {
  *to = x >= 0 && x <= (double)from->names.n ? (long)x : -1;
  return *to >= 0;
}

static enum dl_status restore_levels(struct dl_levels *by,
                                     const struct dl_grouping_factor *f,
                                     const struct dl_arrays *from,
                                     struct dl_diag *d) {
  if (!dl_arrays_find(from, f->name))
    return DL_OK;
  const struct dl_array *a = dl_check_array(from, f->name, 0, 2 + f->n, d);
  if (!a)
    return DL_EINPUT;
  by->level = dl_calloc(a->rows, sizeof *by->level);
  for (; by->n < a->rows; by->n++) {
    const double *row = a->data + by->n * a->cols;
    struct dl_factor_level *l = &by->level[by->n];
    if (!take_number(row[0], from, &l->key.name) ||
        !take_number(row[1], from, &l->key.within))
      return dl_fail(d, DL_EINPUT, "array '%s' has a level without a name",
                     f->name);
    memcpy(l->effect, row + 2, f->n * sizeof *row);
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
  for (; gp->n < at->rows; gp->n++) {
    const double *row = at->data + gp->n * NUMBERS;
    struct dl_residual_point *p = &gp->point[gp->n];
    *p = (struct dl_residual_point){
        .place = {.x = {row[0], row[1], row[2]}, .exact = row[3]},
        .target = (size_t)row[6],
        .weight = w->data[gp->n]};
    if (!take_number(row[4], from, &p->place.gpu) ||
        !take_number(row[5], from, &p->place.arch) ||
        !(row[6] >= 0 && row[6] < DL_MAX_TARGETS))
      return dl_fail(d, DL_EINPUT, "array '%s' has an unknown name or target",
                     places);
  }
  dl_residual_gp_sort(gp);
  return DL_OK;
}

static enum dl_status restore_bounds(struct dl_residual_gp *gp,
                                     const struct dl_arrays *from,
                                     const char *name, struct dl_diag *d) {
  if (!dl_arrays_find(from, name))
    return DL_OK;
  const struct dl_array *a = dl_check_array(from, name, gp->n, BOUNDS, d);
  if (!a)
    return DL_EINPUT;
  for (size_t i = 0; i < gp->n; i++) {
    const double *row = a->data + i * BOUNDS;
    struct dl_place *p = &gp->point[i].place;
    memcpy(p->bound, row, sizeof p->bound);
    p->tuned = row[DL_BOUND_AXES] > 0;
  }
  dl_residual_gp_sort(gp);
  return DL_OK;
}

/* Models of before have none. */
static enum dl_status restore_rates(struct dl_residual_gp *gp,
                                    const struct dl_arrays *from,
                                    const char *name, struct dl_diag *d) {
  if (!dl_arrays_find(from, name))
    return DL_OK;
  const struct dl_array *a = dl_check_array(from, name, gp->n, DL_RATE_AXES, d);
  if (!a)
    return DL_EINPUT;
  for (size_t i = 0; i < gp->n; i++)
    memcpy(gp->point[i].place.rate, a->data + i * DL_RATE_AXES,
           sizeof gp->point[i].place.rate);
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
  memcpy(s->posterior.factor, a->data, n * sizeof(double));
  return DL_OK;
}

enum dl_status dl_physics_restore(const struct dl_regression *r, void **state,
                                  const struct dl_arrays *from, size_t p,
                                  struct dl_diag *d) {
  const struct dl_physics *physics = r->physics;
  (void)p;
  size_t n = physics->n_constants;
  const struct dl_array *theta = dl_check_array(from, "constants", n, 1, d);
  const struct dl_array *error =
      theta ? dl_check_array(from, "errors", n, 1, d) : NULL;
  if (!theta || !error)
    return DL_EINPUT;
  struct dl_hierarchical_fit *s = dl_hierarchical_fit_new(physics);
  enum dl_status status = DL_OK;
  memcpy(s->theta, theta->data, n * sizeof *s->theta);
  memcpy(s->error, error->data, n * sizeof *s->error);
  dl_constants_of(physics, s->theta, s->c);
  for (size_t i = 0; i < from->names.n && status == DL_OK; i++)
    if (dl_intern(&s->names, from->names.s[i]) != (long)i)
      status =
          dl_fail(d, DL_EINPUT, "name '%s' is there twice", from->names.s[i]);
  for (size_t k = 0; k < physics->n_factors && status == DL_OK; k++)
    status = restore_levels(&s->by[k], &physics->factor[k], from, d);
  if (status == DL_OK)
    status = restore_points(&s->residuals, from, "near", "residuals", d);
  /* The weights of these hold for other spreads between runs. */
  if (status == DL_OK &&
      (dl_arrays_find(from, "runs") || dl_arrays_find(from, "measured_bounds")))
    status = dl_fail(d, DL_EINPUT,
                     "calibrated by an earlier version; "
                     "calibrate the fit again");
  if (status == DL_OK)
    status = restore_points(&s->calibration_residuals, from, "measured",
                            "measured_residuals", d);
  if (status == DL_OK)
    status =
        restore_bounds(&s->calibration_residuals, from, "measured_work", d);
  if (status == DL_OK)
    status =
        restore_rates(&s->calibration_residuals, from, "measured_rates", d);
  if (status == DL_OK)
    status = restore_posterior(s, from, d);
  if (status == DL_OK)
    *state = s;
  else
    dl_hierarchical_fit_free(s);
  return status;
}
