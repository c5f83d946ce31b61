/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/regression/low_rank.h"

#include <float.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/regression/kernel.h"

void dl_low_rank_alloc(struct dl_low_rank *l, size_t most) {
  l->pivot = dl_calloc(most, sizeof *l->pivot);
  l->L = gsl_matrix_alloc(l->X->size1, most);
  l->F = gsl_matrix_alloc(l->Z->size1, most);
  l->B = gsl_matrix_alloc(l->X->size1, most);
  l->G = gsl_matrix_alloc(most, most);
  l->A = gsl_matrix_alloc(most, most);
  l->b = gsl_vector_alloc(most);
  l->beta = gsl_vector_alloc(most);
}

void dl_low_rank_free(struct dl_low_rank *l) {
  free(l->pivot);
  gsl_matrix_free(l->L);
  gsl_matrix_free(l->F);
  gsl_matrix_free(l->B);
  gsl_matrix_free(l->G);
  gsl_matrix_free(l->A);
  gsl_vector_free(l->b);
  gsl_vector_free(l->beta);
  *l = (struct dl_low_rank){0};
}

/* A remainder of a diagonal element of 1 that is rounding only. */
#define ROUNDING (DBL_EPSILON / 2)

/* |row i of A - row k of B|^2 */
static double sq_distance(const gsl_matrix *A, size_t i, const gsl_matrix *B,
                          size_t k) {
  const double *a = A->data + i * A->tda, *b = B->data + k * B->tda;
  double sum = 0;
  for (size_t j = 0; j < A->size2; j++)
    sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

static double dot(const double *a, const double *b, size_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

/* The largest element of left (m), the first of equal ones. */
static size_t largest(const double *left, size_t m) {
  size_t best = 0;
  for (size_t i = 1; i < m; i++)
    if (left[i] > left[best])
      best = i;
  return best;
}

/* Adds the feature of pivot j, and takes what it explains off `left`, the
 * diagonal. k holds the kernel values of j and all points. */
static void add_feature(struct dl_low_rank *l, const double *k, double *left,
                        size_t j) {
  size_t r = l->rank++;
  const double *of_pivot = gsl_matrix_const_ptr(l->L, j, 0);
  double root = sqrt(left[j]);
  l->pivot[r] = j;
  for (size_t i = 0; i < l->L->size1; i++) {
    double *row = gsl_matrix_ptr(l->L, i, 0);
    row[r] = i == j ? root : (k[i] - dot(row, of_pivot, r)) / root;
    left[i] -= row[r] * row[r];
  }
  left[j] = 0;
}

/* False: `most` features do not do. */
static bool find_features(struct dl_low_rank *l, double gamma) {
  size_t m = l->X->size1;
  double *left = dl_calloc(2 * m, sizeof *left), *k = left + m;
  l->rank = 0;
  for (size_t i = 0; i < m; i++)
    left[i] = 1;
  size_t j = 0;
  for (; left[j] > ROUNDING && l->rank < l->L->size2; j = largest(left, m)) {
    for (size_t i = 0; i < m; i++)
      k[i] = sq_distance(l->X, i, l->X, j);
    dl_rbf(k, k, gamma, m);
    add_feature(l, k, left, j);
  }
  bool enough = left[j] <= ROUNDING;
  free(left);
  return enough;
}

/* The features of the rows that are predicted. */
static void find_test_features(struct dl_low_rank *l, double gamma) {
  for (size_t i = 0; i < l->Z->size1; i++) {
    double *row = gsl_matrix_ptr(l->F, i, 0);
    for (size_t r = 0; r < l->rank; r++)
      row[r] = sq_distance(l->Z, i, l->X, l->pivot[r]);
    dl_rbf(row, row, gamma, l->rank);
    for (size_t r = 0; r < l->rank; r++) {
      const double *of_pivot = gsl_matrix_const_ptr(l->L, l->pivot[r], 0);
      row[r] = (row[r] - dot(row, of_pivot, r)) / of_pivot[r];
    }
  }
}

/* G and b. */
static bool find_products(struct dl_low_rank *l) {
  size_t m = l->X->size1, r = l->rank;
  gsl_vector_set_zero(l->b);
  for (size_t i = 0; i < m; i++) {
    const double *row = gsl_matrix_const_ptr(l->L, i, 0);
    double *weighted = gsl_matrix_ptr(l->B, i, 0);
    double root = sqrt(gsl_vector_get(l->w, i));
    double wy = gsl_vector_get(l->w, i) * gsl_vector_get(l->y, i);
    for (size_t k = 0; k < r; k++) {
      weighted[k] = root * row[k];
      l->b->data[k] += wy * row[k];
    }
  }
  gsl_matrix_const_view B = gsl_matrix_const_submatrix(l->B, 0, 0, m, r);
  gsl_matrix_view G = gsl_matrix_submatrix(l->G, 0, 0, r, r);
  return !gsl_blas_dsyrk(CblasLower, CblasTrans, 1, &B.matrix, 0, &G.matrix);
}

bool dl_low_rank_factorise(struct dl_low_rank *l, double gamma) {
  if (!find_features(l, gamma))
    return false;
  find_test_features(l, gamma);
  return find_products(l);
}

int dl_low_rank_predict(struct dl_low_rank *l, double alpha, gsl_vector *f) {
  size_t r = l->rank;
  gsl_matrix_view A = gsl_matrix_submatrix(l->A, 0, 0, r, r);
  gsl_matrix_const_view F = gsl_matrix_const_submatrix(l->F, 0, 0, f->size, r);
  gsl_vector_const_view b = gsl_vector_const_subvector(l->b, 0, r);
  gsl_vector_view beta = gsl_vector_subvector(l->beta, 0, r);
  for (size_t k = 0; k < r; k++) {
    for (size_t i = 0; i < k; i++)
      gsl_matrix_set(l->A, k, i, gsl_matrix_get(l->G, k, i));
    gsl_matrix_set(l->A, k, k, gsl_matrix_get(l->G, k, k) + alpha);
  }
  int gsl = gsl_linalg_cholesky_decomp1(&A.matrix);
  if (!gsl)
    gsl = gsl_linalg_cholesky_solve(&A.matrix, &b.vector, &beta.vector);
  if (!gsl)
    gsl = gsl_blas_dgemv(CblasNoTrans, 1, &F.matrix, &beta.vector, 0, f);
  return gsl;
}
