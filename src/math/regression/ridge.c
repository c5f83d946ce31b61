/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ridge regression with an unpenalised intercept.
 *
 *   minimise  sum_i w_i (y_i - b0 - x_i'b)^2 + lambda |b|^2
 *
 * On the reduced problem (reduce.c), R = U diag(s) V':
 *
 *   b        = V diag(s_k / (s_k^2 + lambda)) U'c
 *   RSS      = rss + sum_k (lambda / (s_k^2 + lambda) (U'c)_k)^2
 *   trace H  = 1 + sum_k s_k^2 / (s_k^2 + lambda)
 *
 * so that one decomposition serves every lambda. A lambda that is not given
 * is chosen by generalised cross-validation, the minimum of
 *
 *   GCV = n RSS / (n - trace H)^2
 *
 * (Golub, Heath, Wahba, "Generalized cross-validation as a method for
 * choosing a good ridge parameter", Technometrics 21, 1979), with the sum of
 * the weights as n. It is looked for on a grid, since GCV may have several
 * minima, and refined around the best point. */

#include <gsl/gsl_blas.h>
#include <math.h>

#include "math/regression/linear.h"
#include "math/regression/regression_methods.h"

#define LAMBDA_LOW 1e-6
#define LAMBDA_HIGH 1e4

/* Points of the grid: 20 a decade. */
#define GRID 201

static double gcv(const struct dl_reduced *r, double lambda) {
  double rss = r->rss, trace = 1;
  for (size_t k = 0; k < r->s->size; k++) {
    double s2 = gsl_vector_get(r->s, k) * gsl_vector_get(r->s, k);
    double left = lambda / (s2 + lambda) * gsl_vector_get(r->uc, k);
    rss += left * left;
    trace += s2 / (s2 + lambda);
  }
  double freedom = r->weight - trace;
  return freedom > 0 ? r->weight * rss / (freedom * freedom) : INFINITY;
}

static double grid_point(size_t i) {
  double share = (double)i / (GRID - 1);
  return log(LAMBDA_LOW) + share * (log(LAMBDA_HIGH) - log(LAMBDA_LOW));
}

/* The derivative of log GCV by log lambda, times RSS (n - trace H) / 2. */
static double gcv_slope(const struct dl_reduced *r, double lambda) {
  double rss = r->rss, trace = 1, rss_by = 0, trace_by = 0;
  for (size_t k = 0; k < r->s->size; k++) {
    double s2 = gsl_vector_get(r->s, k) * gsl_vector_get(r->s, k);
    double share = s2 / (s2 + lambda), rest = lambda / (s2 + lambda);
    double left = rest * gsl_vector_get(r->uc, k);
    rss += left * left;
    trace += share;
    rss_by += left * left * share;
    trace_by -= share * rest;
  }
  return rss_by * (r->weight - trace) + rss * trace_by;
}

/* The minimum over log lambda in [a, b], where the slope changes its sign. The
 * values themselves, flat there, would give half of the digits. */
static double refine(const struct dl_reduced *r, double a, double b) {
  while (b - a > 1e-14 * fmax(1, fabs(a))) {
    double middle = (a + b) / 2;
    if (middle <= a || middle >= b)
      break;
    *(gcv_slope(r, exp(middle)) < 0 ? &a : &b) = middle;
  }
  return exp((a + b) / 2);
}

static enum dl_status choose(double *lambda, const struct dl_reduced *r,
                             struct dl_diag *d) {
  size_t best = 0;
  double lowest = INFINITY;
  for (size_t i = 0; i < GRID; i++) {
    double score = gcv(r, exp(grid_point(i)));
    if (score < lowest) {
      lowest = score;
      best = i;
    }
  }
  if (!isfinite(lowest))
    return dl_fail(d, DL_EINPUT,
                   "cannot choose lambda: too few rows, or weights that add "
                   "up to %g only",
                   r->weight);
  if (best == 0)
    *lambda = LAMBDA_LOW;
  else if (best == GRID - 1)
    *lambda = LAMBDA_HIGH;
  else
    *lambda = refine(r, grid_point(best - 1), grid_point(best + 1));
  return DL_OK;
}

static void solve(struct dl_linear *s, const struct dl_reduced *r,
                  double lambda) {
  for (size_t j = 0; j < s->coef->size; j++) {
    double b = 0;
    for (size_t k = 0; k < s->coef->size; k++) {
      double sk = gsl_vector_get(r->s, k);
      b += gsl_matrix_get(r->V, j, k) * (sk / (sk * sk + lambda)) *
           gsl_vector_get(r->uc, k);
    }
    gsl_vector_set(s->coef, j, b);
  }
  dl_linear_centre(s, r);
}

static enum dl_status check_lambda(double lambda, struct dl_diag *d) {
  if (!isfinite(lambda) || lambda <= 0)
    return dl_fail(d, DL_EUSAGE, "lambda must be positive, not %g", lambda);
  return DL_OK;
}

/* Checks the data and decomposes them. */
static enum dl_status prepare(struct dl_reduced *r,
                              const struct dl_design *data, struct dl_diag *d) {
  DL_TRY(dl_check_fit(data, d));
  DL_TRY(dl_reduce(r, data, d));
  r->rss += data->within;
  return dl_reduced_decompose(r, NULL, d);
}

static enum dl_status fit(const struct dl_regression *self, void **state,
                          const struct dl_design *data, double *hyper,
                          struct dl_diag *d) {
  (void)self;
  DL_SCOPED(dl_reduced_free) struct dl_reduced r = {0};
  DL_TRY(prepare(&r, data, d));
  if (isnan(hyper[0]))
    DL_TRY(choose(hyper, &r, d));
  DL_TRY(check_lambda(hyper[0], d));
  struct dl_linear *s = dl_linear_new(data->X->size2);
  solve(s, &r, hyper[0]);
  *state = s;
  return DL_OK;
}

static enum dl_status sweep(const struct dl_design *data, const gsl_matrix *H,
                            const gsl_matrix *X_test, gsl_matrix *out,
                            struct dl_diag *d) {
  DL_SCOPED(dl_reduced_free) struct dl_reduced r = {0};
  DL_TRY(dl_check_sweep(data->X, H, 1, X_test, out, d));
  DL_TRY(prepare(&r, data, d));
  enum dl_status status = DL_OK;
  struct dl_linear *s = dl_linear_new(data->X->size2);
  for (size_t i = 0; !status && i < H->size1; i++) {
    double lambda = gsl_matrix_get(H, i, 0);
    gsl_vector_view row = gsl_matrix_row(out, i);
    status = check_lambda(lambda, d);
    solve(s, &r, lambda);
    dl_linear_eval(s, X_test, &row.vector);
  }
  dl_linear_free(s);
  return status;
}

const struct dl_regression dl_ridge = {
    .name = "ridge",
    .summary = "ridge regression with an unpenalised intercept",
    .hyper = {{"lambda", "penalty on the squared coefficients", LAMBDA_LOW,
               LAMBDA_HIGH}},
    .n_hyper = 1,
    .fit = fit,
    .predict = dl_linear_predict,
    .sweep = sweep,
    .save = dl_linear_save,
    .restore = dl_linear_restore,
    .coefficient = dl_linear_coefficient,
    .intercept = dl_linear_intercept,
    .free = dl_linear_free,
};
