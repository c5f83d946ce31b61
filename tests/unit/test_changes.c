/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Change points. Expected values are those of
 * tests/reference/fluss_reference.py: all segmentations, without pruning. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "math/signal/changes.h"
#include "unit.h"

enum { N = 180 };

static void numbers(unsigned *value, uint32_t seed) {
  for (size_t i = 0; i < N; i++) {
    seed = (1103515245U * seed + 12345U) & 0x7fffffffU;
    value[i] = seed / 65536U % 100U;
  }
}

static void steps(double *x, double *y) {
  unsigned a[N], b[N];
  numbers(a, 7);
  numbers(b, 11);
  for (size_t i = 0; i < N; i++) {
    x[i] = a[i] / 10.0 + (i >= 40 && i < 46 ? 20 : 0) + (i >= 90 ? 6 : 0);
    y[i] = b[i] / 10.0 * (i >= 130 ? 3 : 1);
  }
}

static void check(size_t signals, const struct dl_changes_options *o,
                  const size_t *want, size_t n, double cost) {
  double x[N], y[N];
  const double *signal[] = {x, y};
  struct dl_diag d;
  struct dl_changes c;
  dl_diag_init(&d);
  steps(x, y);
  assert_ok(dl_changes_find(signal, signals, N, o, &c, &d), &d);
  assert_int_equal(c.n, n);
  assert_memory_equal(c.at, want, n * sizeof *want);
  for (size_t i = 0; i < n; i++)
    assert_true(c.gain[i] > c.penalty);
  assert_near(c.cost, cost, 1e-9);
  dl_changes_free(&c);
  dl_diag_free(&d);
}

static void exact(void **state) {
  (void)state;
  static const double least[] = {0.1, 0.1};
  static const size_t both[] = {40, 46, 91, 130}, one[] = {40, 46, 90};
  static const size_t few[] = {38, 48, 91, 130};
  struct dl_changes_options o = {.least = least};
  check(2, &o, both, COUNT(both), 658.921368155);
  o.min_length = 5;
  o.penalty = 8;
  check(1, &o, one, COUNT(one), 300.839659283);
  o = (struct dl_changes_options){10, 2, 6, least};
  check(2, &o, few, COUNT(few), 334.029985710);
}

static void none(void **state) {
  (void)state;
  double x[N];
  const double *signal[] = {x};
  struct dl_diag d;
  struct dl_changes c;
  dl_diag_init(&d);
  for (size_t i = 0; i < N; i++)
    x[i] = 3;
  assert_ok(dl_changes_find(signal, 1, N, NULL, &c, &d), &d);
  assert_int_equal(c.n, 0);
  dl_changes_free(&c);
  assert_ok(dl_changes_find(signal, 1, 3, NULL, &c, &d), &d);
  assert_int_equal(c.n, 0);
  dl_changes_free(&c);
  dl_diag_free(&d);
}

static void errors(void **state) {
  (void)state;
  double x[4] = {1, 2, NAN, 4};
  const double *signal[] = {x};
  struct dl_changes_options o = {.penalty = -1};
  struct dl_diag d;
  struct dl_changes c;
  dl_diag_init(&d);
  dl_changes_find(signal, 1, 4, NULL, &c, &d);
  assert_error(&d, DL_EINPUT, "change points: sample 2 is not a number");
  dl_changes_find(signal, 1, 4, &o, &c, &d);
  assert_error(&d, DL_EINPUT, "change points: no such penalty: -1, 0");
  dl_changes_find(signal, 0, 4, NULL, &c, &d);
  assert_error(&d, DL_EINPUT, "change points: no signal");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(exact),
      cmocka_unit_test(none),
      cmocka_unit_test(errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
