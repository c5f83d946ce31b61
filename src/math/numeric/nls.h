/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nonlinear least squares with normal priors on the parameters.
 *
 * Minimises
 *
 *   sum_i r_i(theta)^2 + sum_j ((theta_j - mean_j) / sd_j)^2
 *
 * by GSL's trust-region solver: Levenberg's and Marquardt's method with More's
 * scaling on the normal equations (More 1978, doi 10.1007/BFb0067700). With
 * residuals in units of their own standard deviation this is the posterior
 * mode, and the covariance (J'J + diag(1/sd^2))^-1 its Laplace approximation.
 * Parameters without a prior have sd infinite. */

#ifndef DL_MATH_NUMERIC_NLS_H
#define DL_MATH_NUMERIC_NLS_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stddef.h>

#include "base/diag.h"

struct dl_nls {
  size_t n; /* residuals */
  size_t p; /* parameters */
  /* Residuals (n) at theta (p). */
  void (*residuals)(const double *theta, double *r, void *ctx);
  /* Their Jacobian, n x p row-major, or NULL for finite differences. */
  void (*jacobian)(const double *theta, double *J, void *ctx);
  void *ctx;
  const double *mean, *sd; /* p, of the priors; NULL: none at all */
  size_t most_steps;       /* 0: 200 */
  double tolerance; /* of the last step, by the larger of parameter and sd;
                       0: 1e-8 */
};

/* Result of the last solve. */
struct dl_nls_result {
  double cost; /* the minimum */
  size_t steps;
  bool converged; /* else the best point found within most_steps */
};

/* theta (p): start in, minimum out. `cov` (p x p) gets the covariance; may
 * be NULL. Error (DL_EINPUT): residuals that are not finite at the start, or
 * fewer residuals and priors than parameters. */
enum dl_status dl_nls_solve(const struct dl_nls *q, double *theta,
                            gsl_matrix *cov, struct dl_nls_result *result,
                            struct dl_diag *d);

#endif
