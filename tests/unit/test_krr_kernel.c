/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The vector exponential and the distances behind kernel ridge regression. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_errno.h>

#include "math/regression/kernel.h"

/* Units in the last place of want by which got is off. */
static double ulps(double got, double want) {
  return fabs(got - want) / (nextafter(want, INFINITY) - want);
}

/* Against the C library in extended precision, over the whole range and, in
 * steps that hit no grid of the reduction, close to 0. */
static void within_two_ulps(void **state) {
  (void)state;
  enum { N = 200000 };
  double *d = malloc(N * sizeof *d), *out = malloc(N * sizeof *out);
  double worst = 0;
  for (int part = 0; part < 3; part++) {
    static const double top[3] = {707.9, 40, 1e-3};
    for (size_t i = 0; i < N; i++)
      d[i] = top[part] * ((double)i + 0.37) / N;
    dl_rbf(out, d, 1, N);
    for (size_t i = 0; i < N; i++)
      worst = fmax(worst, ulps(out[i], (double)expl(-(long double)d[i])));
  }
  if (!(worst <= 2))
    fail_msg("off by %g units in the last place", worst);
  free(d);
  free(out);
}

static void special_values(void **state) {
  (void)state;
  double d[6] = {0, 5e-324, 708.5, 1e4, 1e308, INFINITY}, out[6];
  dl_rbf(out, d, 1, 6);
  assert_true(out[0] == 1 && out[1] == 1);
  for (size_t i = 2; i < 6; i++)
    assert_true(out[i] == 0);
  d[0] = NAN;
  dl_rbf(out, d, 1, 1);
  assert_true(isnan(out[0]));
}

/* A value does not depend on where it stands, nor on what is beside it. */
static void place_does_not_matter(void **state) {
  (void)state;
  double d[41], out[41];
  for (size_t i = 0; i < 41; i++)
    d[i] = 1.7 * (double)i + 0.123;
  dl_rbf(out, d, 0.31, 41);
  for (size_t i = 0; i < 41; i++) {
    double alone;
    dl_rbf(&alone, d + i, 0.31, 1);
    assert_memory_equal(&alone, out + i, sizeof alone);
  }
  dl_rbf(d, d, 0.31, 41);
  assert_memory_equal(d, out, sizeof d);
}

static void distances(void **state) {
  (void)state;
  static const double a[6] = {0, 0, 0, 1, 2, 3}, b[6] = {1, 2, 3, 1, 2, 2};
  static const double want[4] = {14, 9, 0, 1};
  gsl_matrix_const_view A = gsl_matrix_const_view_array(a, 2, 3);
  gsl_matrix_const_view B = gsl_matrix_const_view_array(b, 2, 3);
  gsl_matrix *D = gsl_matrix_alloc(2, 2);
  dl_sq_distances(D, &A.matrix, &B.matrix);
  for (size_t i = 0; i < 4; i++)
    assert_true(D->data[i] == want[i]);
  gsl_matrix_free(D);
}

/* More points than a vector holds, and fewer. */
static void expansion(void **state) {
  (void)state;
  for (size_t m = 1; m < 20; m += 6) {
    gsl_matrix *Z = gsl_matrix_alloc(m, 2), *X = gsl_matrix_alloc(11, 2);
    gsl_vector *dual = gsl_vector_alloc(m), *f = gsl_vector_alloc(11);
    for (size_t i = 0; i < 2 * m; i++)
      Z->data[i] = sin((double)i);
    for (size_t i = 0; i < m; i++)
      dual->data[i] = cos((double)i);
    for (size_t i = 0; i < 22; i++)
      X->data[i] = sin(0.3 * (double)i);
    struct dl_rbf_points s;
    dl_rbf_points_init(&s, Z, dual);
    dl_rbf_predict(&s, 0.7, X, f);
    for (size_t i = 0; i < 11; i++) {
      double want = 0;
      for (size_t k = 0; k < m; k++) {
        double u = X->data[2 * i] - Z->data[2 * k];
        double v = X->data[2 * i + 1] - Z->data[2 * k + 1];
        want += dual->data[k] * exp(-0.7 * (u * u + v * v));
      }
      assert_true(fabs(gsl_vector_get(f, i) - want) < 1e-14);
    }
    dl_rbf_points_free(&s);
    dl_rbf_points_free(&s);
    gsl_matrix_free(Z);
    gsl_matrix_free(X);
    gsl_vector_free(dual);
    gsl_vector_free(f);
  }
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(within_two_ulps),
      cmocka_unit_test(special_values),
      cmocka_unit_test(place_does_not_matter),
      cmocka_unit_test(distances),
      cmocka_unit_test(expansion),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
