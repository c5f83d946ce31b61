/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The bootstrap of groups. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "math/cross_validation/bootstrap.h"

#include "problem.h"

enum { ROWS = 12, METHODS = 3, ENDS = 12 };

static void check(const struct dl_boot_scores *s, size_t rank,
                  const double want[ENDS]) {
  const double got[ENDS] = {s->rmse.low,        s->rmse.high, s->mae.low,
                            s->mae.high,        s->mape.low,  s->mape.high,
                            s->r2.low,          s->r2.high,   s->median_ape.low,
                            s->median_ape.high, s->bias.low,  s->bias.high};
  assert_int_equal(s->rank, rank);
  for (size_t i = 0; i < ENDS; i++)
    if (isnan(want[i]))
      assert_true(isnan(got[i]));
    else
      near(got[i], want[i], 1e-11);
}

/* From tests/reference/bootstrap_reference.py (scipy.stats.bootstrap). The
 * third method has a resample in which all y are the same: no R2. */
static void matches_scipy(void **state) {
  (void)state;
  static const uint32_t group[ROWS] = {0, 0, 1, 1, 1, 2, 3, 3, 4, 5, 5, 5};
  static const double of_run[ROWS] = {10, 12, 30, 31, 33, 8,
                                      50, 52, 20, 41, 40, 44};
  static const double f[METHODS * ROWS] = {
      11,  12.5, 28,   30,  33, 9,  48, 55, 21,  42, 38, 43,
      14,  15,   40,   38,  45, 10, 60, 70, 27,  33, 35, 60,
      NAN, 13,   28.5, NAN, 32, 9,  46, 53, NAN, 43, 37, 42};
  static const size_t rank[METHODS] = {1, 3, 2};
  static const double want[METHODS][ENDS] = {
      {1.06506275809, 1.93772515701761, 0.915833333333333, 1.7025,
       0.0387902391340629, 0.0736841081931808, 0.96488121198433,
       0.993076043109158, 0.032258064516129, 0.0583333333333333,
       -0.501666666666667, 0.8125},
      {6.66272719990853, 12.1120197812532, 5.49722222222222, 10.6366883116883,
       0.253357731524529, 0.313006485581491, -0.323361154893251,
       0.756310975677106, 0.237903225806452, 0.348173076923077,
       2.78083333333333, 9.54487179487179},
      {1.11803398874989, 2.55017659040212, 1.1, 2.23173076923077,
       0.0498589080296397, 0.0856498168498168, NAN, NAN, 0.0487804878048781,
       0.0833333333333333, -1.22727272727273, 0.170833333333332}};
  const double *y[METHODS], *at[METHODS];
  for (size_t m = 0; m < METHODS; m++) {
    y[m] = of_run;
    at[m] = f + m * ROWS;
  }
  struct dl_boot b = {ROWS, 6, group, METHODS, y, at, 200, 0.9, 7, NULL};
  struct dl_boot_scores out[METHODS];
  dl_bootstrap(&b, out);
  for (size_t m = 0; m < METHODS; m++)
    check(&out[m], rank[m], want[m]);
  /* Each row many times, in another order: the scores are the same. */
  enum { TIMES = 30, ALL = TIMES * ROWS };
  static uint32_t groups[ALL];
  static double ys[ALL], fs[METHODS][ALL];
  for (size_t i = 0; i < ALL; i++) {
    size_t row = i * 7 % ROWS;
    groups[i] = group[row];
    ys[i] = of_run[row];
    for (size_t m = 0; m < METHODS; m++)
      fs[m][i] = f[m * ROWS + row];
  }
  for (size_t m = 0; m < METHODS; m++) {
    y[m] = ys;
    at[m] = fs[m];
  }
  b = (struct dl_boot){ALL, 6, groups, METHODS, y, at, 200, 0.9, 7, NULL};
  dl_bootstrap(&b, out);
  for (size_t m = 0; m < METHODS; m++)
    check(&out[m], rank[m], want[m]);
}

/* Two groups of one row: a quarter of the draws has but the first, a quarter
 * but the second, so that a 95 % interval ends at their errors. Both methods
 * cross: neither is better. A third says what the first says. */
static void two_groups(void **state) {
  (void)state;
  static const uint32_t group[] = {0, 1};
  static const double y[] = {10, 100, 10, 100, 10, 100};
  static const double f[] = {11, 140, 15, 120, 11, 140};
  const double *ys[] = {y, y + 2, y + 4}, *fs[] = {f, f + 2, f + 4};
  struct dl_boot b = {2, 2, group, 3, ys, fs, 2000, 0.95, 1, NULL};
  struct dl_boot_scores out[3];
  dl_bootstrap(&b, out);
  near(out[0].mape.low, 0.1, 1e-14);
  near(out[0].mape.high, 0.4, 1e-14);
  near(out[0].bias.low, 1, 1e-14);
  near(out[1].mape.low, 0.2, 1e-14);
  near(out[1].mape.high, 0.5, 1e-14);
  for (size_t m = 0; m < 3; m++)
    assert_int_equal(out[m].rank, 1);
}

/* One group says nothing of others; without resamples the scores rank. */
static void what_cannot_be_drawn(void **state) {
  (void)state;
  static const uint32_t one[] = {0, 0}, two[] = {0, 1};
  static const double y[] = {10, 100, 10, 100, 0, 100};
  static const double f[] = {12, 110, 11, 100, 1, 100};
  const double *ys[] = {y, y + 2, y + 4}, *fs[] = {f, f + 2, f + 4};
  struct dl_boot b = {2, 1, one, 2, ys, fs, 200, 0.95, 1, NULL};
  struct dl_boot_scores out[3];
  dl_bootstrap(&b, out);
  assert_int_equal(out[0].rank, 0);
  assert_true(isnan(out[0].mape.low) && isnan(out[0].rmse.high));
  b = (struct dl_boot){2, 2, two, 3, ys, fs, 0, 0.95, 1, NULL};
  dl_bootstrap(&b, out);
  assert_true(isnan(out[0].mape.low));
  assert_int_equal(out[0].rank, 2);
  assert_int_equal(out[1].rank, 1);
  assert_int_equal(out[2].rank, 0); /* y is 0: it has no MAPE */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_scipy),
      cmocka_unit_test(two_groups),
      cmocka_unit_test(what_cannot_be_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
