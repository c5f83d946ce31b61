/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals from residuals. Expected values are from
 * tests/reference/model_reference.py (scipy; exact fractions). */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "model/residual_interval.h"
#include "unit.h"

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* n groups; rows(g) rows each, or one row that is its number + 1. */
static struct dl_residuals groups(size_t n, size_t (*rows)(size_t g)) {
  struct dl_residuals r = {.g = calloc(n, sizeof *r.g), .n = n};

  assert_non_null(r.g);
  for (size_t g = 0; g < n; g++) {
    struct dl_group_residuals *to = &r.g[g];
    to->n = to->n_values = rows ? rows(g) : 1;
    for (size_t j = 0; j < to->n_values; j++)
      to->value[j] = rows ? 0.1 * sin(1.3 * (double)g + 0.7) +
                                0.01 * cos(2.1 * (double)j + (double)g)
                          : (double)(g + 1);
    qsort(to->value, to->n_values, sizeof *to->value, ascending);
  }
  return r;
}

static size_t three(size_t g) {
  (void)g;
  return 3;
}

static size_t varied(size_t g) {
  return 1 + g % 3;
}

static void check_to(double tolerance, size_t n, size_t (*rows)(size_t g),
                     double coverage, double want_low, double want_high) {
  struct dl_residuals r = groups(n, rows);
  double low, high;

  assert_true(dl_residual_interval(&r, coverage, &low, &high));
  assert_near(low, want_low, tolerance);
  assert_near(high, want_high, tolerance);
  free(r.g);
}

/* GSL has quantiles to nine digits. */
static void check(size_t n, size_t (*rows)(size_t g), double coverage,
                  double want_low, double want_high) {
  check_to(1e-9, n, rows, coverage, want_low, want_high);
}

/* Sums of three of them. */
static void check_sum(size_t n, double coverage, double want_low,
                      double want_high) {
  check_to(3e-9, n, varied, coverage, want_low, want_high);
}

static void student(void **state) {
  (void)state;
  check(2, three, 0.9, -0.231089866497654, 0.231089866497654);
  check(7, varied, 0.9, -0.145671865702845, 0.145671865702845);
  check(7, varied, 0.95, -0.181813108947103, 0.181813108947103);
}

/* Quantiles from 39 groups on; beyond those with less than two groups outside
 * at either end they move on as Student's t does. */
static void conformal(void **state) {
  (void)state;
  check(39, varied, 0.9, -0.108350532975913, 0.104080194903836);
  check(45, varied, 0.9, -0.108350532975913, 0.104080194903836);
  check(45, varied, 0.5, -0.0660169809881619, 0.0791376688909192);
  check_sum(45, 0.95, -0.127314582869512, 0.124919767332053);
  check_sum(45, 0.99, -0.175795028020463, 0.173400212483004);
}

/* From 19 groups to 39 the one rule becomes the other. */
static void between(void **state) {
  (void)state;
  check(7, varied, 0.5, -0.0546788342883492, 0.0546788342883492);
  check(19, varied, 0.9, -0.124972476561534, 0.124972476561534);
  check_sum(20, 0.9, -0.122592294371309, 0.12172850597261);
  check_sum(29, 0.9, -0.120249740821265, 0.118659367962137);
}

/* What is more likely to hold reaches at least as far. */
static void wider_with_coverage(void **state) {
  (void)state;
  for (size_t n = 2; n < 60; n++) {
    struct dl_residuals r = groups(n, varied);
    double low, high, last_low = 0, last_high = 0;
    for (int percent = 50; percent < 100; percent++) {
      assert_true(dl_residual_interval(&r, percent / 100.0, &low, &high));
      assert_true(percent == 50 || (low <= last_low && high >= last_high));
      last_low = low;
      last_high = high;
    }
    free(r.g);
  }
}

/* Residuals whose runs have spreads: in multiples of these. */
static void by_run(void **state) {
  static const struct {
    size_t n;
    double low, high;
  } cases[] = {{7, -0.138363376056907, 0.138363376056907},
               {45, -0.108350532975913, 0.093299470120866}};

  (void)state;
  for (size_t c = 0; c < COUNT(cases); c++) {
    struct dl_residuals r = groups(cases[c].n, varied);
    double low, high, mean = 0;
    assert_false(dl_residuals_by_run(&r));
    assert_near(dl_residuals_spread(&r), 1, 0);
    for (size_t g = 0; g < r.n; g++) {
      r.g[g].by_run = true;
      for (size_t j = 0; j < r.g[g].n_values; j++) {
        r.g[g].spread[j] = 1 + 0.25 * (double)(j % 3);
        mean += log(r.g[g].spread[j]) / (double)(r.g[g].n_values * r.n);
      }
    }
    assert_true(dl_residuals_by_run(&r));
    assert_near(dl_residuals_spread(&r), exp(mean), 1e-12);
    assert_true(dl_residual_interval(&r, 0.9, &low, &high));
    assert_near(low, cases[c].low, 1e-9);
    assert_near(high, cases[c].high, 1e-9);
    free(r.g);
  }
}

/* Quantiles keep the spreads of their rows. */
static void sorted_spreads(void **state) {
  double x[] = {0.3, -0.1, 0.2}, spread[] = {3, 1, 2};
  struct dl_group_residuals g = {0};

  (void)state;
  dl_residual_quantiles(&g, x, spread, 3);
  assert_true(g.by_run);
  for (size_t i = 0; i < 3; i++)
    assert_near(g.spread[i], (double)(i + 1), 0);
  dl_residual_quantiles(&g, x, NULL, 3);
  assert_false(g.by_run);
}

/* The k-th smallest of n, k = (n + 1) (1 + coverage) / 2, is exact where
 * that is a whole number: rounding must not cost a rank. */
static void ranks(void **state) {
  (void)state;
  check(39, NULL, 0.9, 2, 38);
  check(99, NULL, 0.9, 5, 95);
  check(39, NULL, 0.8, 4, 36);
  check(199, NULL, 0.98, 2, 198);
}

static void needs_two_groups(void **state) {
  struct dl_residuals none = {0}, one = groups(1, three);
  double low, high;

  (void)state;
  assert_false(dl_residual_interval(&none, 0.9, &low, &high));
  assert_false(dl_residual_interval(&one, 0.9, &low, &high));
  free(one.g);
}

/* Groups without rows have no mean: no interval rather than NaN. */
static void empty_groups(void **state) {
  struct dl_residuals r = groups(3, NULL), many = groups(19, NULL);
  double low, high;

  (void)state;
  r.g[1].n = r.g[1].n_values = 0;
  assert_false(dl_residual_interval(&r, 0.9, &low, &high));
  for (size_t g = 0; g < many.n; g++)
    many.g[g].n = many.g[g].n_values = 0;
  assert_false(dl_residual_interval(&many, 0.9, &low, &high));
  free(r.g);
  free(many.g);
}

/* By hand: means of 1 and -1 are a variance of 1 between two groups, and 2 x (1
 * + w)^2 degrees of freedom with a variance of w within them; t .95 of 2, 8 and
 * 18 degrees, by tables. */
static void shifts_of_groups(void **state) {
  static const struct {
    double off, all;
  } cases[] = {{0, 2.919986}, {1, 1.859548}, {1.4142135623730951, 1.734064}};
  (void)state;
  for (size_t i = 0; i < 3; i++) {
    struct dl_group_residuals g[] = {
        {.n = 2, .n_values = 2, .value = {1 - cases[i].off, 1 + cases[i].off}},
        {.n = 2,
         .n_values = 2,
         .value = {-1 - cases[i].off, cases[i].off - 1}}};
    struct dl_residuals r = {.g = g, .n = 2};
    double shift, all, variance = 1 + cases[i].off * cases[i].off;
    assert_true(dl_residual_shift(&r, 0.9, &shift, &all));
    assert_near(shift, 2.919986, 1e-6);
    assert_near(all, cases[i].all * sqrt(variance), 3e-6);
    r.n = 1;
    assert_false(dl_residual_shift(&r, 0.9, &shift, &all));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(student),
      cmocka_unit_test(conformal),
      cmocka_unit_test(ranks),
      cmocka_unit_test(needs_two_groups),
      cmocka_unit_test(empty_groups),
      cmocka_unit_test(by_run),
      cmocka_unit_test(sorted_spreads),
      cmocka_unit_test(between),
      cmocka_unit_test(shifts_of_groups),
      cmocka_unit_test(wider_with_coverage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
