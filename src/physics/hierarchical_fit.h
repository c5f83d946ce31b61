/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fitted physics: what predicts, what a model file keeps, and what a
 * calibration starts from. hierarchical_problem.h fits it. */

#ifndef DL_PHYSICS_HIERARCHICAL_FIT_H
#define DL_PHYSICS_HIERARCHICAL_FIT_H

#include "physics/levels.h"
#include "physics/hierarchical_problem.h"

/* The joint posterior of constants and effects: normal in the logarithms, about
 * the fitted values (Laplace's approximation). It is kept as the lower Cholesky
 * factor of the covariance, so that rounding leaves it positive definite, by
 * rows, packed, in multiples of 1e-6, so that a model file stays short and
 * gives back equal bits. */
struct dl_posterior {
  double *factor; /* p (p + 1) / 2, in 1e-6, owned; NULL: not known */
  size_t p;
};

/* Numbers in the factor of p parameters. */
size_t dl_posterior_size(size_t p);

/* Keeps a lower factor (p x p). */
void dl_posterior_keep(struct dl_posterior *posterior, const gsl_matrix *L);

/* Element of the factor, row >= column. */
double dl_posterior_at(const struct dl_posterior *posterior, size_t row,
                       size_t column);

/* A row of the factor up to its diagonal, in DL_POSTERIOR_UNIT. */
#define DL_POSTERIOR_UNIT 1e-6
const double *dl_posterior_row(const struct dl_posterior *posterior,
                               size_t row);

/* A fitted physics. theta: logarithms of the constants, error: their standard
 * errors, c: the constants. */
struct dl_hierarchical_fit {
  const struct dl_physics *physics;
  struct dl_intern names; /* of levels and places */
  double theta[DL_MAX_CONSTANTS], error[DL_MAX_CONSTANTS];
  double c[DL_MAX_CONSTANTS];
  struct dl_levels by[DL_MAX_FACTORS];
  struct dl_residual_gp residuals; /* of the configurations of the fit */
  struct dl_residual_gp calibration_residuals;
  struct dl_posterior posterior;
};

/* Owned by the caller. */
struct dl_hierarchical_fit *
dl_hierarchical_fit_new(const struct dl_physics *physics);
void dl_hierarchical_fit_free(struct dl_hierarchical_fit *fit); /* or NULL */

/* Fits a target; `fit` is new, and of the physics of the problem. */
enum dl_status dl_hierarchical_fit_solve(struct dl_hierarchical_fit *fit,
                                         struct dl_hierarchical_problem *q,
                                         size_t target, struct dl_diag *d);

/* The expected residuals of a target at a place, of the fit and of
 * calibrations. */
double dl_expected_residual(const struct dl_hierarchical_fit *fit,
                            const struct dl_place *place, size_t target);

/* The place of inputs in the residual process of calibrations: by the medians
 * of constants, so that places stay while calibrations move the constants. */
struct dl_place dl_fit_place(const struct dl_hierarchical_fit *fit,
                             const struct dl_row_names *names,
                             const struct dl_grouping *inputs);

/* The name of the i-th level of a grouping factor, which the fit owns; *within:
 * the level that it is in, or NULL. False: there are no more. */
bool dl_hierarchical_level(const struct dl_hierarchical_fit *fit,
                           const char *factor, size_t i, const char **name,
                           const char **within);

#endif
