/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The covariance of a hierarchical fit: the inverse of its normal equations.
 *
 * With C the inverse of the Schur complement, and W_k = A_k^-1 B_k, it is
 *
 *   C,   -W_k C,   W_k C W_l' + [k = l] A_k^-1
 *
 * among the rest, between it and block k, and between blocks k and l. */

#ifndef DL_PHYSICS_SOLVER_COVARIANCE_H
#define DL_PHYSICS_SOLVER_COVARIANCE_H

#include "physics/solver/normal_equations.h"

/* Of equations that are factorised, into cov (p x p). False: they are
 * singular. */
bool dl_covariance(const struct dl_normal_equations *e, gsl_matrix *cov);

#endif
