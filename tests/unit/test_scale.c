/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standardisation. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include <gsl/gsl_errno.h>

#include "math/regression/scale.h"

#include "problem.h"

/* From tests/reference/math_reference.py (scikit-learn's StandardScaler). */
static const double MEAN[P] = {0.0173718699744121, 10.0240222939388,
                               20.0045398579798, 29.9592164620964};
static const double SD[P] = {0.699269563900434, 1.41549346844146,
                             2.15645940513371, 2.85707454793105};
static const double W_MEAN[P] = {0.049813964935706, 10.1063548250731,
                                 20.0907952976849, 30.0527623678706};
static const double W_SD[P] = {0.700421392541689, 1.41523811654929,
                               2.16072506337245, 2.86642607854355};

static void matches_scikit_learn(void **state) {
  (void)state;
  gsl_matrix *X = make_X();
  gsl_vector *w = make_w();
  struct dl_scale s;
  dl_scale_fit(&s, X, NULL);
  for (size_t j = 0; j < P; j++) {
    near(gsl_vector_get(s.mean, j), MEAN[j], 1e-12);
    near(gsl_vector_get(s.sd, j), SD[j], 1e-12);
  }
  double x = gsl_matrix_get(X, 5, 2);
  dl_scale_apply(&s, X);
  near(gsl_matrix_get(X, 5, 2), (x - MEAN[2]) / SD[2], 1e-11);
  dl_scale_free(&s);
  gsl_matrix_free(X);

  X = make_X();
  dl_scale_fit(&s, X, w);
  for (size_t j = 0; j < P; j++) {
    near(gsl_vector_get(s.mean, j), W_MEAN[j], 1e-12);
    near(gsl_vector_get(s.sd, j), W_SD[j], 1e-12);
  }
  dl_scale_free(&s);
  gsl_matrix_free(X);
  gsl_vector_free(w);
}

/* 0.1 has no exact mean by summation; it must still count as constant. */
static void constant_column(void **state) {
  (void)state;
  gsl_matrix *X = gsl_matrix_alloc(1000, 1);
  gsl_matrix_set_all(X, 0.1);
  struct dl_scale s;
  dl_scale_fit(&s, X, NULL);
  assert_true(gsl_vector_get(s.mean, 0) == 0.1);
  assert_true(gsl_vector_get(s.sd, 0) == 1);
  dl_scale_apply(&s, X);
  assert_true(gsl_matrix_get(X, 999, 0) == 0);
  dl_scale_free(&s);
  gsl_matrix_free(X);
}

static void large_mean(void **state) {
  (void)state;
  gsl_matrix *X = gsl_matrix_alloc(4, 1);
  for (size_t i = 0; i < 4; i++)
    gsl_matrix_set(X, i, 0, 1e9 + (double)i);
  struct dl_scale s;
  dl_scale_fit(&s, X, NULL);
  assert_true(gsl_vector_get(s.mean, 0) == 1e9 + 1.5);
  near(gsl_vector_get(s.sd, 0), sqrt(1.25), 1e-15);
  dl_scale_free(&s);
  gsl_matrix_free(X);
}

static void free_accepts_nothing(void **state) {
  (void)state;
  struct dl_scale s = {0};
  dl_scale_free(NULL);
  dl_scale_free(&s);
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_scikit_learn),
      cmocka_unit_test(constant_column),
      cmocka_unit_test(large_mean),
      cmocka_unit_test(free_accepts_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
