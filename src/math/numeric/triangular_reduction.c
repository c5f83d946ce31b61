/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reduction of a least-squares problem by QR in row blocks.
 *
 *   A = [sqrt(w) (X - mean), sqrt(w) (y - mean y)]   n x q, q = p + 1
 *   A = Q T,  T = [R c; 0 sqrt(rss)]                 q x q
 *
 * Rows are taken in blocks: Householder reflections annihilate a block
 * against the triangle found so far ("sequential TSQR", Demmel, Grigori,
 * Hoemmen, Langou, SIAM J. Sci. Comput. 34, 2012). The normal equations
 * would square the condition number; this does not. The rows are first cut
 * into chunks of a fixed size, whose triangles are found in parallel and
 * then merged in order, so that the result does not depend on the number of
 * threads. */

#include "math/numeric/triangular_reduction.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/regression/scale.h"

/* Rows of a block: one block of 11 columns stays in the first-level cache. */
#define BLOCK 256

/* Rows of a chunk: small enough to share out, large enough for the merge to
 * cost nothing. Changing either constant changes results by rounding. */
#define CHUNK ((size_t)32768)

/* Fills centre with the means of the columns, y last, and returns the sum of
 * the weights. */
static double find_centre(double *centre, const struct dl_design *g) {
  gsl_vector_view of_X = gsl_vector_view_array(centre, g->X->size2);
  gsl_vector_view of_y = gsl_vector_view_array(centre + g->X->size2, 1);
  const gsl_matrix y = {
      .size1 = g->y->size, .size2 = 1, .tda = g->y->stride, .data = g->y->data};
  dl_column_means(&of_y.vector, &y, g->w);
  return dl_column_means(&of_X.vector, g->X, g->w);
}

/* Rows i .. i + m - 1, centred and weighted, into block (column-major, BLOCK
 * rows). */
static void load_block(const struct dl_design *g, const double *centre,
                       size_t i, size_t m, double *block) {
  size_t p = g->X->size2;
  for (size_t k = 0; k < m; k++) {
    const double *x = gsl_matrix_const_ptr(g->X, i + k, 0);
    double root = g->w ? sqrt(gsl_vector_get(g->w, i + k)) : 1;
    for (size_t j = 0; j < p; j++)
      block[j * BLOCK + k] = root * (x[j] - centre[j]);
    block[p * BLOCK + k] = root * (gsl_vector_get(g->y, i + k) - centre[p]);
  }
}

static double dot(const double *a, const double *b, size_t m) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (size_t i = 0; i < m; i++)
    sum += a[i] * b[i];
  return sum;
}

static void subtract(double *a, const double *b, double factor, size_t m) {
#pragma omp simd
  for (size_t i = 0; i < m; i++)
    a[i] -= factor * b[i];
}

/* Annihilates the m rows of block against T (q x q, upper triangular).
 * Reflection k acts on row k of T and on the block only, because the rest of
 * column k of T is zero: v = (1, column k / (T_kk - beta)). */
static void annihilate(double *T, double *block, size_t q, size_t m) {
  for (size_t k = 0; k < q; k++) {
    double *v = block + k * BLOCK;
    double *row = T + k * q;
    double norm2 = dot(v, v, m);
    if (norm2 == 0)
      continue;
    double length = sqrt(row[k] * row[k] + norm2);
    double beta = row[k] > 0 ? -length : length;
    double scale = 1 / (row[k] - beta);
    double tau = (beta - row[k]) / beta;
    for (size_t i = 0; i < m; i++)
      v[i] *= scale;
    row[k] = beta;
    for (size_t j = k + 1; j < q; j++) {
      double *column = block + j * BLOCK;
      double t = tau * (row[j] + dot(v, column, m));
      row[j] -= t;
      subtract(column, v, t, m);
    }
  }
}

static void reduce_chunk(const struct dl_design *g, const double *centre,
                         size_t chunk, double *T, double *block) {
  size_t end = (chunk + 1) * CHUNK, n = g->X->size1;
  if (end > n)
    end = n;
  for (size_t i = chunk * CHUNK; i < end; i += BLOCK) {
    size_t m = end - i < BLOCK ? end - i : BLOCK;
    load_block(g, centre, i, m, block);
    annihilate(T, block, g->X->size2 + 1, m);
  }
}

/* The triangle of the chunk `from` is merged into T, BLOCK rows at a time. */
static void merge(double *T, const double *from, size_t q, double *block) {
  for (size_t i = 0; i < q; i += BLOCK) {
    size_t m = q - i < BLOCK ? q - i : BLOCK;
    for (size_t k = 0; k < m; k++)
      for (size_t j = 0; j < q; j++)
        block[j * BLOCK + k] = from[(i + k) * q + j];
    annihilate(T, block, q, m);
  }
}

/* The triangle of X and y (q x q, row-major), owned by the caller. */
static double *reduce_chunks(const struct dl_design *g, const double *centre) {
  size_t q = g->X->size2 + 1, n_chunks = (g->X->size1 + CHUNK - 1) / CHUNK;
  double *triangle = dl_calloc(n_chunks * q, q * sizeof *triangle);
#pragma omp parallel
  {
    DL_FREED double *block = dl_calloc(q * BLOCK, sizeof *block);
#pragma omp for schedule(dynamic)
    for (size_t chunk = 0; chunk < n_chunks; chunk++)
      reduce_chunk(g, centre, chunk, triangle + chunk * q * q, block);
  }
  DL_FREED double *block = dl_calloc(q * BLOCK, sizeof *block);
  for (size_t chunk = 1; chunk < n_chunks; chunk++)
    merge(triangle, triangle + chunk * q * q, q, block);
  return triangle;
}

/* Copies what was found of p columns. */
static void unpack(struct dl_reduced *r, size_t p, const double *centre,
                   const double *triangle) {
  size_t q = p + 1;
  r->mean = gsl_vector_alloc(p);
  r->R = gsl_matrix_calloc(p, p);
  r->c = gsl_vector_alloc(p);
  for (size_t i = 0; i < p; i++) {
    const double *row = triangle + i * q;
    gsl_vector_set(r->mean, i, centre[i]);
    gsl_vector_set(r->c, i, row[p]);
    for (size_t j = i; j < p; j++)
      gsl_matrix_set(r->R, i, j, row[j]);
  }
  r->y_mean = centre[p];
  r->rss = triangle[q * q - 1] * triangle[q * q - 1];
}

enum dl_status dl_reduce(struct dl_reduced *r, const struct dl_design *data,
                         struct dl_diag *d) {
  size_t q = data->X->size2 + 1;
  *r = (struct dl_reduced){0};
  DL_FREED double *centre = dl_calloc(q, sizeof *centre);
  double weights = find_centre(centre, data);
  DL_FREED double *triangle = reduce_chunks(data, centre);
  if (!dl_all_finite(triangle, q * q))
    return dl_fail(d, DL_EINPUT,
                   "design or target holds values that are not finite, or "
                   "too large");
  r->weight = weights;
  unpack(r, q - 1, centre, triangle);
  return DL_OK;
}

void dl_reduced_free(struct dl_reduced *r) {
  gsl_vector_free(r->mean);
  gsl_matrix_free(r->R);
  gsl_vector_free(r->c);
  gsl_matrix_free(r->U);
  gsl_matrix_free(r->V);
  gsl_vector_free(r->s);
  gsl_vector_free(r->uc);
  *r = (struct dl_reduced){0};
}

enum dl_status dl_reduced_decompose(struct dl_reduced *r, const gsl_matrix *R,
                                    struct dl_diag *d) {
  size_t p = r->R->size1;
  r->U = gsl_matrix_alloc(p, p);
  r->V = gsl_matrix_alloc(p, p);
  r->s = gsl_vector_alloc(p);
  r->uc = gsl_vector_alloc(p);
  int gsl = gsl_matrix_memcpy(r->U, R ? R : r->R);
  if (!gsl)
    gsl = gsl_linalg_SV_decomp_jacobi(r->U, r->V, r->s);
  if (!gsl)
    gsl = gsl_blas_dgemv(CblasTrans, 1, r->U, r->c, 0, r->uc);
  return gsl ? dl_fail(d, DL_EFAILED, "singular values not found: %s",
                       gsl_strerror(gsl))
             : DL_OK;
}
