/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions of configurations as if they had not been fitted, without another
 * fit: to first order about the solution for all rows. With J the derivatives
 * of their measurements, V the posterior covariance and W the weights of the
 * measurements, the residuals r of the fit become
 *
 *   (I - J V J' W)^-1 r
 *
 * (Cook and Weisberg 1982, chapter 2: deletion of several cases; a prior is as
 * good as a case). It holds where the parameters move little. */

#ifndef DL_PHYSICS_LEAVE_OUT_H
#define DL_PHYSICS_LEAVE_OUT_H

#include "physics/hierarchical_problem.h"

/* Predicts the n configurations that are left out together, into y (configs.n x
 * n_targets): their measured targets, without the residual process. q is
 * solved for all rows. */
void dl_leave_out(const struct dl_hierarchical_problem *q, const size_t *config,
                  size_t n, double *y);

#endif
