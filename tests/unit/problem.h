/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The problem on which regressions and scores are compared with scikit-learn
 * and scipy (tests/reference/math_reference.py). Include after cmocka.h. */

#ifndef DL_TESTS_PROBLEM_H
#define DL_TESTS_PROBLEM_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <math.h>

#define UNUSED_HERE __attribute__((unused))

/* The data of tests/reference/math_reference.py. */
#define N 40
#define P 4

static UNUSED_HERE gsl_matrix *make_X(void) {
  gsl_matrix *X = gsl_matrix_alloc(N, P);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < P; j++)
      gsl_matrix_set(
          X, i, j,
          (double)(j + 1) *
                  sin((1.7 + 0.31 * (double)j) * (double)i + 0.9 * (double)j) +
              10 * (double)j);
  return X;
}

static UNUSED_HERE gsl_vector *make_y(const gsl_matrix *X) {
  gsl_vector *y = gsl_vector_alloc(N);
  for (size_t i = 0; i < N; i++) {
    double sum = 5 + 3 * cos(2.3 * (double)i);
    for (size_t j = 0; j < P; j++)
      sum += gsl_matrix_get(X, i, j) * (0.5 * (double)j - 1);
    gsl_vector_set(y, i, sum);
  }
  return y;
}

static UNUSED_HERE gsl_vector *make_w(void) {
  gsl_vector *w = gsl_vector_alloc(N);
  for (size_t i = 0; i < N; i++)
    gsl_vector_set(w, i, 1 + (double)(i % 3));
  return w;
}

/* |got - want| within a share of |want|. */
static UNUSED_HERE void near(double got, double want, double share) {
  if (!(fabs(got - want) <= share * fabs(want)))
    fail_msg("got %.17g, want %.17g", got, want);
}

#endif
