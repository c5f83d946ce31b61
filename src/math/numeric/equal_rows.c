/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Equal rows are found by sorting: they become neighbours, the first one of
 * them in front. */

#include "math/numeric/equal_rows.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

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

/* Numbers the distinct rows by first appearance in of_row and lists the first
 * of each in `first`; returns how many there are. */
static size_t number_rows(size_t *of_row, size_t *first, const gsl_matrix *X) {
  size_t n = X->size1, m = 0;
  for (size_t i = 0; i < n; i++)
    first[i] = i;
  qsort_r(first, n, sizeof *first, by_content, &X);
  for (size_t i = 0, head = 0; i < n; i++) {
    if (i == 0 || compare_rows(X, first[head], first[i]) != 0)
      head = i;
    of_row[first[i]] = first[head];
  }
  for (size_t i = 0; i < n; i++) {
    if (of_row[i] < i) {
      of_row[i] = of_row[of_row[i]];
    } else {
      first[m] = i;
      of_row[i] = m++;
    }
  }
  return m;
}

void dl_distinct_make(struct dl_distinct *u, const gsl_matrix *X) {
  size_t n = X->size1, *first = dl_calloc(n, sizeof *first);
  u->of_row = dl_calloc(n, sizeof *u->of_row);
  size_t m = number_rows(u->of_row, first, X);
  u->X = gsl_matrix_alloc(m, X->size2);
  for (size_t k = 0; k < m; k++) {
    gsl_vector_const_view row = gsl_matrix_const_row(X, first[k]);
    gsl_matrix_set_row(u->X, k, &row.vector);
  }
  free(first);
}

void dl_distinct_free(struct dl_distinct *u) {
  gsl_matrix_free(u->X);
  free(u->of_row);
  *u = (struct dl_distinct){0};
}

void dl_distinct_average(const struct dl_distinct *u, const gsl_vector *y,
                         const gsl_vector *w, gsl_vector *weight,
                         gsl_vector *mean) {
  gsl_vector_set_zero(weight);
  gsl_vector_set_zero(mean);
  for (size_t i = 0; i < y->size; i++) {
    size_t k = u->of_row[i];
    double wi = w ? gsl_vector_get(w, i) : 1;
    *gsl_vector_ptr(weight, k) += wi;
    *gsl_vector_ptr(mean, k) += wi * gsl_vector_get(y, i);
  }
  gsl_vector_div(mean, weight);
}
