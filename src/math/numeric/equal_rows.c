/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Equal rows are found by sorting: they become neighbours, the first one of
 * them in front. */

#include "math/numeric/equal_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"

/* Lexicographic order of two rows: negative, 0 or positive. NaN is above all
 * numbers. */
static int compare_rows(const gsl_matrix *X, size_t i, size_t k) {
  const double *x = X->data + i * X->tda, *z = X->data + k * X->tda;
  for (size_t j = 0; j < X->size2; j++) {
    if (x[j] < z[j] || x[j] > z[j])
      return x[j] < z[j] ? -1 : 1;
    if (isnan(x[j]) != isnan(z[j]))
      return isnan(x[j]) ? 1 : -1;
  }
  return 0;
}

/* For sorting row numbers: equal rows by number. */
static int by_content(const void *a, const void *b, void *matrix_at) {
  size_t i = *(const size_t *)a, k = *(const size_t *)b;
  int order = compare_rows(*(const gsl_matrix **)matrix_at, i, k);
  return order ? order : (i > k) - (i < k);
}

size_t dl_number_distinct(const gsl_matrix *X, size_t *of_row) {
  size_t n = X->size1, m = 0;
  DL_FREED size_t *order = dl_calloc(n, sizeof *order);
  for (size_t i = 0; i < n; i++)
    order[i] = i;
  dl_sort_with(order, n, sizeof *order, by_content, &X);
  for (size_t i = 0, head = 0; i < n; i++) {
    if (i == 0 || compare_rows(X, order[head], order[i]) != 0)
      head = i;
    of_row[order[i]] = order[head];
  }
  for (size_t i = 0; i < n; i++)
    of_row[i] = of_row[i] < i ? of_row[of_row[i]] : m++;
  return m;
}

gsl_matrix *dl_distinct_rows(const gsl_matrix *X, const size_t *of_row,
                             size_t m) {
  gsl_matrix *rows = gsl_matrix_alloc(m, X->size2);
  for (size_t i = 0, next = 0; i < X->size1; i++)
    if (of_row[i] == next) {
      gsl_vector_const_view row = gsl_matrix_const_row(X, i);
      gsl_matrix_set_row(rows, next++, &row.vector);
    }
  return rows;
}

void dl_distinct_average(const size_t *of_row, const gsl_vector *y,
                         const gsl_vector *w, gsl_vector *weight,
                         gsl_vector *mean) {
  gsl_vector_set_zero(weight);
  gsl_vector_set_zero(mean);
  for (size_t i = 0; i < y->size; i++) {
    size_t k = of_row[i];
    double wi = w ? gsl_vector_get(w, i) : 1;
    *gsl_vector_ptr(weight, k) += wi;
    *gsl_vector_ptr(mean, k) += wi * gsl_vector_get(y, i);
  }
  gsl_vector_div(mean, weight);
}
