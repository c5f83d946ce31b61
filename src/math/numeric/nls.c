/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/numeric/nls.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

#define XTOL 1e-9
#define GTOL 1e-12
#define LEAST_RCOND 1e-8

/* The problem as GSL sees it: residuals, then a row a prior. */
struct stack {
  const struct dl_nls *q;
  size_t *prior; /* parameters that have one, owned */
  size_t n_priors;
  double *r; /* q->n: GSL may ask for residuals into a column; owned */
};

static bool has_prior(const struct dl_nls *q, size_t j) {
  return q->sd && isfinite(q->sd[j]);
}

static double prior_at(const struct stack *s, size_t k, const double *theta) {
  size_t j = s->prior[k];
  return (theta[j] - s->q->mean[j]) / s->q->sd[j];
}

/* Points far off may give no finite residual: a step there is to be taken
 * back, which a large one brings about. */
static double tame(double r) {
  return isfinite(r) ? r : 1e150;
}

static int residuals(const gsl_vector *x, void *params, gsl_vector *f) {
  const struct stack *s = params;
  const double *theta = x->data;
  s->q->residuals(theta, s->r, s->q->ctx);
  for (size_t i = 0; i < s->q->n; i++)
    gsl_vector_set(f, i, tame(s->r[i]));
  for (size_t k = 0; k < s->n_priors; k++)
    gsl_vector_set(f, s->q->n + k, prior_at(s, k, theta));
  return GSL_SUCCESS;
}

static int jacobian(const gsl_vector *x, void *params, gsl_matrix *J) {
  const struct stack *s = params;
  const struct dl_nls *q = s->q;
  q->jacobian(x->data, J->data, q->ctx);
  for (size_t i = 0; i < q->n * q->p; i++)
    if (!isfinite(J->data[i]))
      J->data[i] = 0;
  for (size_t k = 0; k < s->n_priors; k++) {
    gsl_vector_view row = gsl_matrix_row(J, q->n + k);
    gsl_vector_set_zero(&row.vector);
    gsl_vector_set(&row.vector, s->prior[k], 1 / q->sd[s->prior[k]]);
  }
  return GSL_SUCCESS;
}

static void prepare(struct stack *s) {
  s->prior = dl_calloc(s->q->p, sizeof *s->prior);
  s->r = dl_calloc(s->q->n, sizeof *s->r);
  for (size_t j = 0; j < s->q->p; j++)
    if (has_prior(s->q, j))
      s->prior[s->n_priors++] = j;
}

static enum dl_status check_start(const struct stack *s, const double *theta,
                                  struct dl_diag *d) {
  const struct dl_nls *q = s->q;
  size_t rows = q->n + s->n_priors;
  if (rows < q->p)
    return dl_fail(d, DL_EINPUT,
                   "%zu values are too few for %zu parameters without priors",
                   rows, q->p);
  q->residuals(theta, s->r, q->ctx);
  for (size_t i = 0; i < q->n; i++)
    if (!isfinite(s->r[i]))
      return dl_fail(d, DL_EINPUT, "value %zu has no finite residual", i + 1);
  return DL_OK;
}

/* (J'J)^-1 by Cholesky, columns scaled to unit length; false where that is
 * singular or so ill-conditioned that digits are lost. */
static bool invert_by_cholesky(const gsl_matrix *J, gsl_matrix *cov) {
  size_t p = cov->size1;
  gsl_vector *scale = gsl_vector_alloc(p), *work = gsl_vector_alloc(3 * p);
  double rcond = 0;
  bool done = !gsl_blas_dsyrk(CblasLower, CblasTrans, 1, J, 0, cov) &&
              !gsl_linalg_cholesky_decomp2(cov, scale) &&
              !gsl_linalg_cholesky_rcond(cov, &rcond, work) &&
              rcond > LEAST_RCOND && !gsl_linalg_cholesky_invert(cov);
  for (size_t i = 0; done && i < p; i++)
    for (size_t j = 0; j < p; j++)
      *gsl_matrix_ptr(cov, i, j) *=
          gsl_vector_get(scale, i) * gsl_vector_get(scale, j);
  gsl_vector_free(scale);
  gsl_vector_free(work);
  return done;
}

/* (J'J)^-1; J holds the rows of the priors. QR with pivoting, where Cholesky
 * does not do, takes many times as long. */
static enum dl_status invert(const gsl_matrix *J, gsl_matrix *cov,
                             struct dl_diag *d) {
  if (invert_by_cholesky(J, cov))
    return DL_OK;
  int gsl = gsl_multifit_nlinear_covar(J, 0, cov);
  return gsl ? dl_fail(d, DL_EINPUT, "no covariance: %s", gsl_strerror(gsl))
             : DL_OK;
}

static enum dl_status solve(const struct dl_nls *q, gsl_multifit_nlinear_fdf *g,
                            double *theta, gsl_matrix *cov,
                            struct dl_nls_result *result, struct dl_diag *d) {
  gsl_multifit_nlinear_parameters how =
      gsl_multifit_nlinear_default_parameters();
  how.scale = gsl_multifit_nlinear_scale_more;
  how.trs = gsl_multifit_nlinear_trs_lm;
  how.solver = gsl_multifit_nlinear_solver_cholesky;
  gsl_multifit_nlinear_workspace *w =
      gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, g->n, g->p);
  gsl_vector_view x = gsl_vector_view_array(theta, q->p);
  int info = 0;
  int gsl = gsl_multifit_nlinear_init(&x.vector, g, w);
  if (!gsl) {
    gsl = gsl_multifit_nlinear_driver(q->most_steps ? q->most_steps : 200,
                                      q->tolerance > 0 ? q->tolerance : XTOL,
                                      GTOL, 0, NULL, NULL, &info, w);
    result->converged = gsl == GSL_SUCCESS || gsl == GSL_ENOPROG;
    /* No further progress, and no more steps, leave the best point. */
    if (gsl == GSL_ENOPROG || gsl == GSL_EMAXITER)
      gsl = GSL_SUCCESS;
  }
  enum dl_status status = DL_OK;
  if (gsl)
    status =
        dl_fail(d, DL_EINPUT, "nonlinear least squares: %s", gsl_strerror(gsl));
  if (status == DL_OK) {
    gsl_vector_memcpy(&x.vector, gsl_multifit_nlinear_position(w));
    const gsl_vector *f = gsl_multifit_nlinear_residual(w);
    result->cost = 0;
    for (size_t i = 0; i < f->size; i++)
      result->cost += f->data[i * f->stride] * f->data[i * f->stride];
    result->steps = gsl_multifit_nlinear_niter(w);
    if (cov)
      status = invert(gsl_multifit_nlinear_jac(w), cov, d);
  }
  gsl_multifit_nlinear_free(w);
  return status;
}

enum dl_status dl_nls_solve(const struct dl_nls *q, double *theta,
                            gsl_matrix *cov, struct dl_nls_result *result,
                            struct dl_diag *d) {
  struct stack s = {.q = q};
  *result = (struct dl_nls_result){0};
  prepare(&s);
  gsl_multifit_nlinear_fdf g = {.f = residuals,
                                .df = q->jacobian ? jacobian : NULL,
                                .n = q->n + s.n_priors,
                                .p = q->p,
                                .params = &s};
  enum dl_status status = check_start(&s, theta, d);
  if (status == DL_OK)
    status = solve(q, &g, theta, cov, result, d);
  free(s.prior);
  free(s.r);
  return status;
}
