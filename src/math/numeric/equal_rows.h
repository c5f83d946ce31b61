/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: rows that are equal become one.
 *
 * With k equal rows of targets y_1 .. y_k and weights w_1 .. w_k, kernel
 * ridge regression gives them one coefficient altogether, the same as one
 * row with the weighted mean of the targets and the sum of the weights. */

#ifndef DL_MATH_NUMERIC_EQUAL_ROWS_H
#define DL_MATH_NUMERIC_EQUAL_ROWS_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stdbool.h>
#include <stddef.h>

struct dl_distinct {
  gsl_matrix *X;  /* m x p: the distinct rows, by first appearance; owned */
  size_t *of_row; /* n: which of them each row is; owned */
};

void dl_distinct_make(struct dl_distinct *u, const gsl_matrix *X);
void dl_distinct_free(struct dl_distinct *u);

/* For each distinct row, the sum of the weights (NULL: 1 each) and the
 * weighted mean of y. Both have the size of u->X. */
void dl_distinct_average(const struct dl_distinct *u, const gsl_vector *y,
                         const gsl_vector *w, gsl_vector *weight,
                         gsl_vector *mean);

#endif
