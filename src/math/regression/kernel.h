/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: the radial basis function kernel
 * k(x, z) = exp(-gamma |x - z|^2), computed in vectors.
 *
 * Every value depends on its own arguments only, never on where in a vector
 * or a block they stand, nor on the number of threads. It may differ in the
 * last bits between processors with different vector instructions. */

#ifndef DL_MATH_REGRESSION_KERNEL_H
#define DL_MATH_REGRESSION_KERNEL_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stdbool.h>
#include <stddef.h>

/* out_i = exp(-gamma d_i) for gamma, d_i >= 0, within 2 units in the last
 * place; 0 where it would be below the smallest normal number. out may be
 * d. */
void dl_rbf(double *out, const double *d, double gamma, size_t n);

/* D_ij = |row i of A - row j of B|^2; the columns of A and B agree. */
void dl_sq_distances(gsl_matrix *D, const gsl_matrix *A, const gsl_matrix *B);

/* Support points and their coefficients, laid out for dl_rbf_predict. */
struct dl_rbf_points {
  size_t p;
  size_t blocks;
  double *x;    /* blocks x p x a block's points, owned */
  double *dual; /* blocks x a block's points, owned */
};

void dl_rbf_points_init(struct dl_rbf_points *s, const gsl_matrix *points,
                        const gsl_vector *dual);
void dl_rbf_points_free(struct dl_rbf_points *s);

/* out_i = sum_j dual_j k(row i of X, point j). */
void dl_rbf_predict(const struct dl_rbf_points *s, double gamma,
                    const gsl_matrix *X, gsl_vector *out);

#endif
