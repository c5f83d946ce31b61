/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The joint posterior of constants and effects that a fit ends with: normal in
 * the logarithms, about the fitted values (Laplace's approximation).
 *
 * It is kept as the lower Cholesky factor of the covariance, so that rounding
 * leaves it one, by rows, packed, in whole multiples of 1e-6, so that a model
 * file stays short and gives back the same bits. */

#ifndef DL_PHYSICS_POSTERIOR_H
#define DL_PHYSICS_POSTERIOR_H

#include <gsl/gsl_matrix.h>
#include <stdbool.h>
#include <stddef.h>

struct dl_posterior {
  double *factor; /* p (p + 1) / 2, in 1e-6, owned; NULL: not known */
  size_t p;
};

/* Numbers in the factor of p parameters. */
size_t dl_posterior_size(size_t p);

/* Keeps a lower factor (p x p). False: memory is out. */
bool dl_posterior_keep(struct dl_posterior *posterior, const gsl_matrix *L);

/* Element of the factor, row >= column. */
double dl_posterior_at(const struct dl_posterior *posterior, size_t row,
                       size_t column);

/* L with L L' = cov, whose lower half is given, for a semidefinite cov: a pivot
 * of 0 leaves its column 0. */
void dl_cholesky_semidefinite(gsl_matrix *L, const gsl_matrix *cov);

#endif
