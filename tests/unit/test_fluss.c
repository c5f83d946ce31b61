/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FLUSS. Expected values are those of tests/reference/fluss_reference.py. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "math/signal/fluss.h"
#include "unit.h"
#include "tests/messages.h"

enum { MOST = 3000 };

/* The same series as in the reference. */
static void two_regimes(double *x, size_t n, size_t change) {
  uint32_t seed = 1;
  for (size_t i = 0; i < n; i++) {
    seed = (1103515245U * seed + 12345U) & 0x7fffffffU;
    unsigned noise = seed / 65536U % 100U / 20U;
    size_t period = i < change ? 9 : 14, height = i < change ? 40 : 60;
    x[i] = (double)(100 + i % period * height / period + noise);
    if (i >= change && i < change + 14)
      x[i] = 90;
  }
}

static void regimes(void **state) {
  (void)state;
  double x[200];
  struct dl_diag d = {0};
  struct dl_fluss f;
  two_regimes(x, 200, 80);
  assert_ok(dl_fluss(x, 200, 10, 10, &f, &d), &d);
  assert_int_equal(f.regime, 72);
  assert_near(f.cac, 0.100315126, 1e-8);
  two_regimes(x, 150, 100);
  assert_ok(dl_fluss(x, 150, 9, 5, &f, &d), &d);
  assert_int_equal(f.regime, 92);
  assert_near(f.cac, 0.277826087, 1e-8);
  dl_diag_free(&d);
}

static void neighbours(void **state) {
  (void)state;
  static const size_t at[] = {0, 50, 79, 85, 120};
  static const size_t want[] = {45, 59, 167, 128, 134};
  static const double r_want[] = {0.994750439, 0.994491386, 0.747801794,
                                  0.561737115, 0.997624530};
  double x[200], r[191];
  size_t near[191];
  struct dl_diag d = {0};
  two_regimes(x, 200, 80);
  assert_ok(dl_matrix_profile(x, 200, 10, near, r, &d), &d);
  for (size_t i = 0; i < COUNT(at); i++) {
    assert_int_equal(near[at[i]], want[i]);
    assert_near(r[at[i]], r_want[i], 1e-12);
  }
  dl_diag_free(&d);
}

/* r of two windows from its definition. */
static double correlation(const double *a, const double *b, size_t m) {
  double sx = 0, sy = 0, xx = 0, yy = 0, xy = 0, n = (double)m;
  for (size_t i = 0; i < m; i++) {
    sx += a[i];
    sy += b[i];
    xx += a[i] * a[i];
    yy += b[i] * b[i];
    xy += a[i] * b[i];
  }
  double va = n * xx - sx * sx, vb = n * yy - sy * sy;
  if (va == 0 || vb == 0)
    return va == 0 && vb == 0 ? 1e9 : 0.5e9;
  return nearbyint((n * xy - sx * sy) / sqrt(va * vb) * 1e9);
}

/* A long series: every pair by its definition. */
static void long_series(void **state) {
  (void)state;
  enum { M = 10 };
  double *x = calloc(MOST, sizeof *x);
  size_t *near = calloc(MOST, sizeof *near), k = MOST - M + 1;
  struct dl_diag d = {0};
  two_regimes(x, MOST, 1300);
  assert_ok(dl_matrix_profile(x, MOST, M, near, NULL, &d), &d);
  for (size_t i = 0; i < k; i += 97) {
    size_t best = SIZE_MAX;
    double most = -INFINITY;
    for (size_t j = 0; j < k; j++)
      if ((i > j ? i - j : j - i) > 3 && correlation(x + i, x + j, M) > most) {
        most = correlation(x + i, x + j, M);
        best = j;
      }
    assert_int_equal(near[i], best);
  }
  free(x);
  free(near);
  dl_diag_free(&d);
}

/* A constant series: all correlate, the lowest index wins. */
static void constant(void **state) {
  (void)state;
  double x[60];
  size_t near[51];
  struct dl_diag d = {0};
  for (size_t i = 0; i < COUNT(x); i++)
    x[i] = 30.25;
  assert_ok(dl_matrix_profile(x, 60, 10, near, NULL, &d), &d);
  assert_int_equal(near[0], 4);
  assert_int_equal(near[3], 7);
  assert_int_equal(near[4], 0);
  assert_int_equal(near[50], 0);
  dl_diag_free(&d);
}

static void short_series(void **state) {
  (void)state;
  double x[70] = {0};
  size_t near[1];
  struct dl_diag d = {0};
  struct dl_fluss f;
  two_regimes(x, 60, 30);
  assert_ok(dl_fluss(x, 60, 10, 10, &f, &d), &d);
  assert_int_equal(f.regime, 0);
  assert_true(f.cac >= 1);
  assert_ok(dl_matrix_profile(x, 10, 10, near, NULL, &d), &d);
  assert_true(near[0] == SIZE_MAX);
  assert_int_equal(dl_fluss(x, 9, 10, 10, &f, &d), DL_EINPUT);
  assert_error(&d, DL_EINPUT, MSG_matrix_profile_window_samples("10", "9"));
  x[7] = NAN;
  assert_int_equal(dl_fluss(x, 60, 10, 10, &f, &d), DL_EINPUT);
  assert_error(&d, DL_EINPUT, MSG_matrix_profile_sample_is("7"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(regimes),      cmocka_unit_test(neighbours),
      cmocka_unit_test(long_series),  cmocka_unit_test(constant),
      cmocka_unit_test(short_series),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
