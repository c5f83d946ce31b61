/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: a linear least-squares problem with n rows reduced to
 * a triangular one with p rows with equal solutions, for any penalty
 * on the coefficients.
 *
 * With centred columns and weights w,
 *   sum_i w_i (y_i - b0 - x_i'b)^2 = |c - R b|^2 + rss,
 *   b0 = y_mean - mean'b. */

#ifndef DL_MATH_NUMERIC_TRIANGULAR_REDUCTION_H
#define DL_MATH_NUMERIC_TRIANGULAR_REDUCTION_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stddef.h>

#include "base/diag.h"
#include "math/regression/regression.h"

struct dl_reduced {
  double weight;    /* sum of the weights; n without */
  gsl_vector *mean; /* p: weighted means of the columns, owned */
  double y_mean;    /* weighted mean of y */
  gsl_matrix *R;    /* p x p, upper triangular, owned */
  gsl_vector *c;    /* p, owned */
  double rss;       /* what no coefficients can explain */
  /* The singular values of R, once they are found: R = U diag(s) V'. */
  gsl_matrix *U, *V; /* p x p, owned */
  gsl_vector *s;     /* p, descending, owned */
  gsl_vector *uc;    /* p: U'c, owned */
};

/* Shapes have been checked. DL_EINPUT where X or y hold values that are not
 * finite. The result does not depend on the number of threads. */
enum dl_status dl_reduce(struct dl_reduced *r, const struct dl_design *data,
                         struct dl_diag *d);
void dl_reduced_free(struct dl_reduced *r);

/* Sets U, V, s and uc by one-sided Jacobi rotations, which find small singular
 * values more accurately than bidiagonalisation (Demmel and Veselic, SIAM J.
 * Matrix Anal. Appl. 13, 1992). R: the matrix to decompose in place of r->R, or
 * NULL. */
enum dl_status dl_reduced_decompose(struct dl_reduced *r, const gsl_matrix *R,
                                    struct dl_diag *d);

#endif
