/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: rows that are equal become one.
 *
 * With k equal rows of targets y_1 .. y_k and weights w_1 .. w_k, kernel
 * ridge regression gives them one coefficient altogether, as it gives one
 * row with the weighted mean of the targets and the sum of the weights. */

#ifndef DL_MATH_NUMERIC_EQUAL_ROWS_H
#define DL_MATH_NUMERIC_EQUAL_ROWS_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stddef.h>

/* Numbers the distinct rows of X by first appearance and returns how many there
 * are. of_row (X->size1) gets the number of each row. */
size_t dl_number_distinct(const gsl_matrix *X, size_t *of_row);

/* The m distinct rows of X (m x p), owned by the caller; of_row numbers them.
 */
gsl_matrix *dl_distinct_rows(const gsl_matrix *X, const size_t *of_row,
                             size_t m);

/* For each distinct row, the sum of the weights w (NULL: 1 each) and the
 * weighted mean of y. */
void dl_distinct_average(const size_t *of_row, const gsl_vector *y,
                         const gsl_vector *w, gsl_vector *weight,
                         gsl_vector *mean);

#endif
