/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration: a fit updated by further runs. */

#include "physics/calibration/calibration.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/nls.h"
#include "physics/calibration/calibration_prior.h"
#include "physics/observations.h"

/* The runs: y - f(theta) - expected is normal with covariance R R'. */
struct likelihood {
  struct dl_configurations configs;
  struct dl_parameter_map map;
  struct dl_residual_gp gp; /* a point a measurement */
  double *expected;         /* n_measurements: residuals known before */
  gsl_matrix *R;            /* lower factor */
  /* Runs of earlier calibrations, m of them: K^-1 times their covariance with
   * these, m x n_measurements; NULL for m = 0. */
  gsl_matrix *earlier;
};

struct work {
  struct likelihood runs;
  struct dl_calibration_prior prior;
  double *theta, *z, *zero, *one; /* p */
  double *at;                     /* n_measurements: predictions */
};

static void work_free(struct work *w) {
  dl_configurations_free(&w->runs.configs);
  dl_parameter_map_free(&w->runs.map);
  dl_residual_gp_free(&w->runs.gp);
  free(w->runs.expected);
  gsl_matrix_free(w->runs.R);
  gsl_matrix_free(w->runs.earlier);
  dl_calibration_prior_free(&w->prior);
  free(w->theta);
  free(w->z);
  free(w->zero);
  free(w->one);
  free(w->at);
}

static bool allocate(struct work *w, size_t n, size_t p) {
  w->runs.gp.point = dl_calloc(n, sizeof *w->runs.gp.point);
  w->runs.expected = dl_calloc(n, sizeof *w->runs.expected);
  w->runs.R = gsl_matrix_alloc(n, n);
  w->at = dl_calloc(n, sizeof *w->at);
  w->theta = dl_calloc(p, sizeof *w->theta);
  w->z = dl_calloc(p, sizeof *w->z);
  w->zero = dl_calloc(p, sizeof *w->zero);
  w->one = dl_calloc(p, sizeof *w->one);
  for (size_t i = 0; w->one && i < p; i++)
    w->one[i] = 1;
  return w->runs.gp.point && w->runs.expected && w->runs.R && w->at &&
         w->theta && w->z && w->zero && w->one;
}

/* Given the runs of earlier calibrations, the covariance is less by
 * C' K^-1 C: K theirs, C that with these runs. */
static int condition_on_earlier(struct likelihood *l,
                                const struct dl_residual_gp *old,
                                const struct dl_residual_process *process) {
  size_t m = old->n, n = l->gp.n;
  gsl_matrix *K = gsl_matrix_alloc(m, m), *C = gsl_matrix_alloc(m, n);
  l->earlier = gsl_matrix_alloc(m, n);
  int gsl = K && C && l->earlier ? 0 : GSL_ENOMEM;
  for (size_t i = 0; !gsl && i < m; i++) {
    for (size_t j = 0; j < m; j++)
      gsl_matrix_set(
          K, i, j,
          dl_residual_covariance(process, &old->point[i], &old->point[j]));
    for (size_t j = 0; j < n; j++)
      gsl_matrix_set(
          C, i, j,
          dl_residual_covariance(process, &old->point[i], &l->gp.point[j]));
    *gsl_matrix_ptr(K, i, i) += dl_residual_noise(process, 1);
  }
  if (!gsl)
    gsl = gsl_linalg_cholesky_decomp1(K);
  if (!gsl) {
    gsl_matrix_memcpy(l->earlier, C);
    gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, K,
                   l->earlier);
    gsl_blas_dtrsm(CblasLeft, CblasLower, CblasTrans, CblasNonUnit, 1, K,
                   l->earlier);
    gsl_blas_dgemm(CblasTrans, CblasNoTrans, -1, C, l->earlier, 1, l->R);
  }
  gsl_matrix_free(K);
  gsl_matrix_free(C);
  return gsl;
}

/* Expected residuals, and the factor of the covariance of the rest. */
static enum dl_status make_covariance(struct likelihood *l,
                                      const struct dl_hierarchical_fit *from,
                                      struct dl_diag *d) {
  const struct dl_residual_process *process = from->physics->calibration;
  for (size_t i = 0; i < l->configs.n_measurements; i++) {
    const struct dl_measurement *m = &l->configs.m[i];
    const struct dl_grouping *inputs = l->configs.inputs[m->config];
    struct dl_place place =
        dl_fit_place(from, &l->configs.names[m->config], inputs);
    l->gp.point[l->gp.n++] = (struct dl_residual_point){place, m->target, 0};
    l->expected[i] = dl_expected_residual(from, &place, m->target);
    for (size_t j = 0; j <= i; j++) {
      double x =
          dl_residual_covariance(process, &l->gp.point[i], &l->gp.point[j]);
      gsl_matrix_set(l->R, i, j, x);
      gsl_matrix_set(l->R, j, i, x);
    }
    *gsl_matrix_ptr(l->R, i, i) += dl_residual_noise(process, m->weight) +
                                   inputs->misfit_sd * inputs->misfit_sd;
  }
  const struct dl_residual_gp *old = &from->calibration_residuals;
  int gsl = old->n > 0 ? condition_on_earlier(l, old, process) : 0;
  if (!gsl)
    gsl = gsl_linalg_cholesky_decomp1(l->R);
  return gsl ? dl_fail(d, DL_EINPUT, "covariance of the runs: %s",
                       gsl_strerror(gsl))
             : DL_OK;
}

/* theta = mean + L z */
static void move(struct work *w, const double *z) {
  gsl_vector_view theta = gsl_vector_view_array(w->theta, w->prior.p);
  memcpy(w->theta, z, w->prior.p * sizeof *z);
  gsl_blas_dtrmv(CblasLower, CblasNoTrans, CblasNonUnit, w->prior.L,
                 &theta.vector);
  for (size_t i = 0; i < w->prior.p; i++)
    w->theta[i] += w->prior.mean[i];
}

/* f(theta) + expected - y */
static void misfit(const struct work *w, double *r) {
  const struct likelihood *l = &w->runs;
  dl_predict_measurements(&l->map, w->theta, r);
  for (size_t i = 0; i < l->configs.n_measurements; i++)
    r[i] += l->expected[i] - l->configs.m[i].mean;
}

static void residuals(const double *z, double *r, void *ctx) {
  struct work *w = ctx;
  gsl_vector_view out = gsl_vector_view_array(r, w->runs.R->size1);
  move(w, z);
  misfit(w, r);
  gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, w->runs.R,
                 &out.vector);
}

static void jacobian(const double *z, double *J, void *ctx) {
  struct work *w = ctx;
  gsl_matrix_view out = gsl_matrix_view_array(J, w->runs.R->size1, w->prior.p);
  move(w, z);
  dl_differentiate_measurements(&w->runs.map, w->theta, NULL, J);
  gsl_blas_dtrmm(CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, 1,
                 w->prior.L, &out.matrix);
  gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1,
                 w->runs.R, &out.matrix);
}

/* Constants and effects at theta. */
static void keep_parameters(struct dl_hierarchical_fit *fit,
                            const struct work *w) {
  const struct dl_physics *physics = fit->physics;
  const double *theta = w->theta;
  memcpy(fit->theta, theta, physics->n_constants * sizeof *theta);
  theta += physics->n_constants;
  for (size_t k = 0; k < dl_posterior_factors(physics); k++)
    for (size_t i = 0; i < fit->by[k].n; i++, theta += physics->factor[k].n)
      memcpy(fit->by[k].level[i].effect, theta,
             physics->factor[k].n * sizeof *theta);
  dl_constants_of(physics, fit->theta, fit->c);
}

/* What the runs say of earlier ones: their weights change by
 * -K^-1 C weights. */
static void revise_earlier(struct dl_residual_gp *all, const struct work *w) {
  const gsl_matrix *earlier = w->runs.earlier;
  size_t n = w->runs.R->size1;
  for (size_t i = 0; earlier && i < earlier->size1; i++)
    for (size_t j = 0; j < n; j++)
      all->point[n + i].weight -= gsl_matrix_get(earlier, i, j) * w->at[j];
}

/* K^-1 residuals, and what was known of other runs. */
static bool keep_residuals(struct dl_hierarchical_fit *fit,
                           const struct dl_hierarchical_fit *from,
                           struct work *w) {
  struct dl_residual_gp *gp = &w->runs.gp;
  gsl_vector_view r = gsl_vector_view_array(w->at, w->runs.R->size1);
  misfit(w, w->at);
  gsl_vector_scale(&r.vector, -1);
  gsl_linalg_cholesky_svx(w->runs.R, &r.vector);
  for (size_t i = 0; i < gp->n; i++)
    gp->point[i].weight = w->at[i];
  fit->calibration_residuals = *gp;
  *gp = (struct dl_residual_gp){0};
  if (!dl_residual_gp_append(&fit->calibration_residuals,
                             &from->calibration_residuals) ||
      !dl_residual_gp_append(&fit->residuals, &from->residuals))
    return false;
  revise_earlier(&fit->calibration_residuals, w);
  return true;
}

/* cov: of z. */
static enum dl_status keep_posterior(struct dl_hierarchical_fit *fit,
                                     gsl_matrix *cov, const struct work *w,
                                     struct dl_diag *d) {
  if (gsl_linalg_cholesky_decomp1(cov))
    return dl_fail(d, DL_EINPUT, "the runs have no finite fit");
  for (size_t i = 0; i < cov->size1; i++)
    for (size_t j = i + 1; j < cov->size1; j++)
      gsl_matrix_set(cov, i, j, 0);
  gsl_blas_dtrmm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1,
                 w->prior.L, cov);
  for (size_t i = 0; i < fit->physics->n_constants; i++) {
    gsl_vector_const_view row = gsl_matrix_const_row(cov, i);
    fit->error[i] = gsl_blas_dnrm2(&row.vector);
  }
  return dl_posterior_keep(&fit->posterior, cov) ? DL_OK : dl_fail_memory(d);
}

static enum dl_status solve(struct dl_hierarchical_fit *fit,
                            const struct dl_hierarchical_fit *from,
                            struct work *w, struct dl_diag *d) {
  struct dl_nls q = {.n = w->runs.R->size1,
                     .p = w->prior.p,
                     .residuals = residuals,
                     .jacobian = jacobian,
                     .ctx = w,
                     .mean = w->zero,
                     .sd = w->one,
                     .tolerance = 1e-4};
  struct dl_nls_result result;
  gsl_matrix *cov = gsl_matrix_alloc(q.p, q.p);
  enum dl_status status =
      cov ? dl_nls_solve(&q, w->z, cov, &result, d) : dl_fail_memory(d);
  if (status == DL_OK) {
    move(w, w->z);
    keep_parameters(fit, w);
    status = keep_posterior(fit, cov, w, d);
  }
  if (status == DL_OK && !keep_residuals(fit, from, w))
    status = dl_fail_memory(d);
  gsl_matrix_free(cov);
  return status;
}

/* The numbers of names stay what they are. */
static bool copy_names(struct dl_intern *to, const struct dl_intern *from) {
  for (size_t i = 0; i < from->n; i++)
    if (dl_intern(to, from->s[i]) < 0)
      return false;
  return true;
}

/* Whether the target of the fit was measured, and moves no parameter. */
static bool is_settled(const struct dl_physics *physics,
                       const struct dl_configurations *configs) {
  size_t target = configs->target[0];
  for (size_t i = 0; i < configs->n_measurements; i++)
    if (configs->m[i].target == target)
      return physics->settled >> target & 1;
  return false;
}

static enum dl_status prepare(struct dl_hierarchical_fit *fit,
                              const struct dl_hierarchical_fit *from,
                              const struct dl_observations *o, struct work *w,
                              struct dl_diag *d) {
  struct likelihood *l = &w->runs;
  if (!copy_names(&fit->names, &from->names) ||
      !dl_configurations_make(&l->configs, fit->physics, o) ||
      !dl_configurations_name(&l->configs, &fit->names))
    return dl_fail_memory(d);
  if (l->configs.n_measurements == 0)
    return dl_fail(d, DL_EINPUT, "no run has a power, an energy or a time");
  if (!dl_calibration_prior_make(&w->prior, fit, from, &l->configs) ||
      !dl_parameter_map_make(&l->map, fit->physics, &l->configs, fit->by,
                             dl_posterior_factors(fit->physics)) ||
      !allocate(w, l->configs.n_measurements, w->prior.p))
    return dl_fail_memory(d);
  l->map.still = is_settled(fit->physics, &l->configs);
  return make_covariance(l, from, d);
}

enum dl_status dl_calibrate_fit(struct dl_hierarchical_fit **out,
                                const struct dl_hierarchical_fit *from,
                                const struct dl_observations *o,
                                struct dl_diag *d) {
  *out = NULL;
  if (!from->posterior.factor)
    return dl_fail(d, DL_EINPUT,
                   "the model does not say how sure it is of its constants; "
                   "fit it again");
  struct work w = {0};
  struct dl_hierarchical_fit *fit = dl_hierarchical_fit_new(from->physics);
  enum dl_status status =
      fit ? prepare(fit, from, o, &w, d) : dl_fail_memory(d);
  if (status == DL_OK)
    status = solve(fit, from, &w, d);
  work_free(&w);
  if (status == DL_OK)
    *out = fit;
  else
    dl_hierarchical_fit_free(fit);
  return status;
}
