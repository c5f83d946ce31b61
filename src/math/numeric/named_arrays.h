/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Named arrays: the form in which a fitted state leaves and enters memory. */

#ifndef DL_MATH_NUMERIC_NAMED_ARRAYS_H
#define DL_MATH_NUMERIC_NAMED_ARRAYS_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

struct dl_array {
  char name[32];
  size_t rows; /* 1 x 1 is a scalar, n x 1 a vector */
  size_t cols;
  double *data; /* row-major, owned */
};

/* Start from {0}. */
struct dl_arrays {
  struct dl_array *a;
  size_t n;
  size_t cap;
  struct dl_strlist names; /* that numbers in the arrays stand for, from 1 */
};

void dl_arrays_free(struct dl_arrays *as);

/* Appends an array of zeros and returns where its data go, until the next one
 * is added. */
double *dl_arrays_add(struct dl_arrays *as, const char *name, size_t rows,
                      size_t cols);

/* Append a copy. */
void dl_arrays_add_scalar(struct dl_arrays *as, const char *name, double x);
void dl_arrays_add_vector(struct dl_arrays *as, const char *name,
                          const gsl_vector *v);
void dl_arrays_add_matrix(struct dl_arrays *as, const char *name,
                          const gsl_matrix *m);

/* The array of that name, or NULL. */
const struct dl_array *dl_arrays_find(const struct dl_arrays *as,
                                      const char *name);

/* Whether n numbers are finite. */
bool dl_all_finite(const double *x, size_t n);

#endif
