/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration: a fit updated by further runs.
 *
 * Bayes' rule with the posterior of the fit as the prior (calibration_prior.c):
 * with theta = m + L z, where m and L L' are its mean and covariance, z is
 * standard normal before the runs. Its posterior mode minimises
 *
 *   r' K^-1 r + |z|^2,   r = f(m + L z) - y,   K = covariance of the residuals
 *
 * (posterior_mode.h), and L times the Cholesky factor of the covariance of z
 * there is the factor of the new posterior (Laplace's approximation). What of
 * the residuals is left goes by their covariance to runs like these
 * (residual_gp.h). */

#ifndef DL_PHYSICS_CALIBRATION_CALIBRATION_H
#define DL_PHYSICS_CALIBRATION_CALIBRATION_H

#include "physics/hierarchical_fit.h"

/* Predictions of targets of the n rows of a calibration; NaN where a row's was
 * not measured. Rows with equal `set` are left out together. */
enum { DL_ADAPTED_TARGETS = 2 };
struct dl_adapted_rows {
  const size_t *set; /* n: below n_sets */
  size_t n_sets;     /* 0: none is left out */
  size_t n_targets;
  size_t target[DL_ADAPTED_TARGETS];
  gsl_vector *fitted[DL_ADAPTED_TARGETS];   /* n: by all rows */
  gsl_vector *left_out[DL_ADAPTED_TARGETS]; /* n: by all rows but its set's */
};

/* *out, owned by the caller, is `from` updated; it can be updated again. The
 * values of o->target may be NaN where only others were measured. rows: gets
 * predictions of the rows, or NULL; rows with equal inputs are left out
 * together, with the set of the first. Error (DL_EINPUT): nothing measured, or
 * a state without its posterior. */
enum dl_status dl_calibrate_fit(struct dl_hierarchical_fit **out,
                                const struct dl_hierarchical_fit *from,
                                const struct dl_observations *o,
                                const struct dl_adapted_rows *rows,
                                struct dl_diag *d);

#endif
