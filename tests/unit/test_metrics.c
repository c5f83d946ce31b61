/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scores and quantiles. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "math/cross_validation/metrics.h"

#include "problem.h"

static void check(const struct dl_scores *s, const double want[6]) {
  assert_int_equal(s->n, N);
  near(s->r2, want[0], 1e-12);
  near(s->rmse, want[1], 1e-12);
  near(s->mae, want[2], 1e-12);
  near(s->mape, want[3], 1e-12);
  near(s->median_ape, want[4], 1e-12);
  near(s->bias, want[5], 1e-12);
}

/* From tests/reference/math_reference.py (sklearn.metrics, numpy). */
static void matches_scikit_learn(void **state) {
  (void)state;
  static const double plain[6] = {0.938601521180713,  0.70501676097942,
                                  0.633238415898975,  0.0438373244302552,
                                  0.0493685332028882, 0.0288274561778784};
  static const double weighted[6] = {0.936506297146049,  0.717551065191711,
                                     0.65211841194802,   0.0452624536558996,
                                     0.0508374200106018, 0.0297785937883266};
  gsl_matrix *X = make_X();
  gsl_vector *y = make_y(X), *w = make_w();
  double f[N];
  for (size_t i = 0; i < N; i++)
    f[i] = gsl_vector_get(y, i) + sin((double)i);
  struct dl_scores s;
  dl_score(&s, y->data, f, NULL, N);
  check(&s, plain);
  dl_score(&s, y->data, f, w->data, N);
  check(&s, weighted);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  gsl_vector_free(w);
}

/* A weight of k is the same as k rows; here with an even number of rows whose
 * median lies between two different errors. */
static void weights_are_repeats(void **state) {
  (void)state;
  static const double y[3] = {1, 2, 4}, f[3] = {1.5, 2.1, 5}, w[3] = {1, 2, 1};
  static const double y4[4] = {1, 2, 2, 4}, f4[4] = {1.5, 2.1, 2.1, 5};
  static const double y2[2] = {1, 4}, f2[2] = {1.5, 5}, w2[2] = {3, 3};
  struct dl_scores a, b;
  dl_score(&a, y, f, w, 3);
  dl_score(&b, y4, f4, NULL, 4);
  assert_int_equal(a.n, 3);
  assert_int_equal(b.n, 4);
  near(a.r2, b.r2, 1e-14);
  near(a.rmse, b.rmse, 1e-14);
  near(a.mape, b.mape, 1e-14);
  near(a.bias, b.bias, 1e-14);
  /* Errors 0.05, 0.05, 0.25, 0.5: the median is 0.15. */
  near(b.median_ape, 0.15, 1e-14);
  near(a.median_ape, 0.15, 1e-14);
  dl_score(&a, y2, f2, w2, 2);
  near(a.median_ape, 0.375, 1e-14);
}

static void undefined(void **state) {
  (void)state;
  static const double y[3] = {0.1, 0.1, 0.1}, f[3] = {0.1, 0.2, 0.3};
  static const double zero[3] = {0, 1, 2};
  struct dl_scores s;
  dl_score(&s, NULL, NULL, NULL, 0);
  assert_true(s.n == 0 && isnan(s.r2) && isnan(s.rmse) && isnan(s.mae));
  assert_true(isnan(s.mape) && isnan(s.median_ape) && isnan(s.bias));
  dl_score(&s, y, f, NULL, 3);
  assert_true(isnan(s.r2));
  near(s.mae, 0.1, 1e-14);
  near(s.mape, 1, 1e-14);
  dl_score(&s, zero, f, NULL, 3);
  assert_true(isnan(s.mape) && isnan(s.median_ape) && !isnan(s.r2));
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_scikit_learn),
      cmocka_unit_test(weights_are_repeats),
      cmocka_unit_test(undefined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
