/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The radial basis function kernel in vectors.
 *
 * exp(t), t <= 0, is reduced to 2^k exp(r) with k = round(t / ln 2) and
 * |r| <= ln(2) / 2, where ln 2 is split in two parts so that k ln 2 is exact
 * (Cody and Waite, Software Manual for the Elementary Functions, 1980);
 * exp(r) = 1 + r + r^2 q(r) with q of degree 9, whose coefficients
 * tests/reference/exp_polynomial.py derives, is good to 1.6e-17.
 *
 * All work is done on whole vectors, padded where needed, so that a value
 * never goes through other code because of its place. One body
 * (kernel_body.h) is compiled for several sets of vector instructions, and the
 * best one that the processor has is taken. */

#include "math/regression/kernel.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Points of a block of the support, and values of the widest vector. */
#define LANES 8

/* Rows of X that go through the code together. */
#define ROWS 8

/* Below this many kernel values starting threads costs more than it saves. */
#define MANY_VALUES 100000.0

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

typedef void decay_fn(double *out, const double *d, double gamma);
typedef void expand_fn(double *sum, const struct dl_rbf_points *s,
                       const double *const *x, double gamma);

#define NAME(f) plain_##f
#define TARGET
#define WIDTH 2
#define TOGETHER 2
#include "math/regression/kernel_body.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define NAME(f) avx2_##f
#define TARGET __attribute__((target("avx2,fma")))
#define WIDTH 4
#define TOGETHER 8
#include "math/regression/kernel_body.h"

#define NAME(f) avx512_##f
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl")))
#define WIDTH 8
#define TOGETHER 8
#include "math/regression/kernel_body.h"

static bool has_avx512(void) {
  return __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

static bool has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#define BEST(f) (has_avx512() ? avx512_##f : has_avx2() ? avx2_##f : plain_##f)
#else
#define BEST(f) plain_##f
#endif

void dl_rbf(double *out, const double *d, double gamma, size_t n) {
  decay_fn *decay = BEST(decay);
  size_t i = 0;
  for (; i + LANES <= n; i += LANES)
    decay(out + i, d + i, gamma);
  if (i == n)
    return;
  double rest[LANES] = {0};
  memcpy(rest, d + i, (n - i) * sizeof *rest);
  decay(rest, rest, gamma);
  memcpy(out + i, rest, (n - i) * sizeof *rest);
}

/* One row of distances: x against B transposed (p x m). */
static void distances_from(double *restrict out, const double *x,
                           const double *transposed, size_t p, size_t m) {
  memset(out, 0, m * sizeof *out);
  for (size_t j = 0; j < p; j++) {
    const double *b = transposed + j * m;
#pragma omp simd
    for (size_t u = 0; u < m; u++) {
      double e = x[j] - b[u];
      out[u] += e * e;
    }
  }
}

void dl_sq_distances(gsl_matrix *D, const gsl_matrix *A, const gsl_matrix *B) {
  size_t m = B->size1, p = B->size2;
  DL_FREED double *transposed = dl_calloc(p * m, sizeof *transposed);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < p; j++)
      transposed[j * m + i] = gsl_matrix_get(B, i, j);
  for (size_t i = 0; i < A->size1; i++)
    distances_from(gsl_matrix_ptr(D, i, 0), gsl_matrix_const_ptr(A, i, 0),
                   transposed, p, m);
}

void dl_rbf_points_init(struct dl_rbf_points *s, const gsl_matrix *points,
                        const gsl_vector *dual) {
  size_t m = points->size1, p = points->size2;
  size_t blocks = (m + LANES - 1) / LANES;
  *s = (struct dl_rbf_points){.p = p, .blocks = blocks};
  s->x = dl_calloc(blocks * p, LANES * sizeof *s->x);
  s->dual = dl_calloc(blocks, LANES * sizeof *s->dual);
  /* The places left over at the end keep a coefficient of 0. */
  for (size_t i = 0; i < m; i++) {
    double *block = s->x + i / LANES * p * LANES;
    for (size_t j = 0; j < p; j++)
      block[j * LANES + i % LANES] = gsl_matrix_get(points, i, j);
    s->dual[i] = gsl_vector_get(dual, i);
  }
}

void dl_rbf_points_free(struct dl_rbf_points *s) {
  free(s->x);
  free(s->dual);
  *s = (struct dl_rbf_points){0};
}

/* Rows i .. i + ROWS - 1; the last row stands in for those past the end, so
 * that every row goes through equal code. */
static void expand_rows(const struct dl_rbf_points *s, double gamma,
                        const gsl_matrix *X, gsl_vector *out, size_t i) {
  const double *x[ROWS];
  double sum[ROWS];
  size_t last = X->size1 - 1;
  for (size_t k = 0; k < ROWS; k++)
    x[k] = gsl_matrix_const_ptr(X, i + k < last ? i + k : last, 0);
  expand_fn *expand = BEST(expand);
  expand(sum, s, x, gamma);
  for (size_t k = 0; k < ROWS && i + k <= last; k++)
    gsl_vector_set(out, i + k, sum[k]);
}

void dl_rbf_predict(const struct dl_rbf_points *s, double gamma,
                    const gsl_matrix *X, gsl_vector *out) {
  size_t n = X->size1;
  /* Even one thread costs, where this is called for row after row. */
  if ((double)n * (double)(s->blocks * LANES) <= MANY_VALUES) {
    for (size_t i = 0; i < n; i += ROWS)
      expand_rows(s, gamma, X, out, i);
    return;
  }
#pragma omp parallel for schedule(dynamic, 32)
  for (size_t i = 0; i < n; i += ROWS)
    expand_rows(s, gamma, X, out, i);
}
