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
      near(got[i], want[i], 2e-8);
}

/* From tests/reference/bootstrap_reference.py (scipy.stats.bootstrap). The
 * third method has a resample in which all y are the same: no R2. */
static void matches_scipy(void **state) {
  (void)state;
  static const uint32_t group[ROWS] = {0, 0, 1, 1, 1, 2, 3, 3, 4, 5, 5, 5};
  static const uint32_t other[ROWS] = {0, 1, 0, 1, 2, 2, 3, 0, 1, 2, 3, 3};
  static const double of_run[ROWS] = {10, 12, 30, 31, 33, 8,
                                      50, 52, 20, 41, 40, 44};
  static const double f[METHODS * ROWS] = {
      11,  12.5, 28,   30,  33, 9,  48, 55, 21,  42, 38, 43,
      14,  15,   40,   38,  45, 10, 60, 70, 27,  33, 35, 60,
      NAN, 13,   28.5, NAN, 32, 9,  46, 53, NAN, 43, 37, 42};
  static const size_t rank[METHODS] = {1, 3, 1};
  static const double want[METHODS][ENDS] = {
      {0.986563505607578, 2.3017609311778, 0.831653243566474, 2.00612790328692,
       0.0316452797374946, 0.0817634781727238, 0.903526211549079,
       0.998869154522437, 0.0267845722681584, 0.078429269783104,
       -0.872995573347601, 0.789662240014267},
      {6.67260112100218, 14.2373263855058, 5.52936641332673, 13.0665965319037,
       0.241904605505469, 0.332382162589664, -2.07912165345831,
       0.93798989875531, 0.205942111573575, 0.413074546990126, 1.28675053891807,
       11.3799161277486},
      {1.36583006619559, 3.19301150197889, 1.22333737798931, 2.74749318674091,
       0.0405409393278829, 0.0945128519431423, NAN, NAN, 0.0239754539168319,
       0.104273312558428, -1.77723681353201, 0.332792369087569}};
  static const double by_two[METHODS][ENDS] = {
      {0.74557080387332, 3.04576483083312, 0.603817719950958, 2.76309012248479,
       0.0267581516910214, 0.0966968185606998, 0.852434078372738,
       0.999260690095857, 0.0213497590352677, 0.0983942929273489,
       -1.56241934522055, 1.47908601188721},
      {5.72470771602654, 16.5947336899042, 4.75136151179878, 15.2061677101576,
       0.215282188023719, 0.373485501315366, -3.22491048507637,
       0.954806937058167, 0.173336758741533, 0.490775557718219,
       -0.671378533876201, 13.3380452005429},
      {0.927065388815868, 4.70421090434788, 0.839125750688296, 4.00549155874927,
       0.0348778721794723, 0.109858760208063, NAN, NAN, 0.017038477957945,
       0.146726720906092, -3.35735998328724, 1.91291553884279}};
  const double *y[METHODS], *at[METHODS];
  for (size_t m = 0; m < METHODS; m++) {
    y[m] = of_run;
    at[m] = f + m * ROWS;
  }
  struct dl_boot b = {ROWS, 1, {6}, {group}, METHODS, y, at, 200, 0.9, 7, NULL};
  struct dl_boot_scores out[METHODS];
  dl_bootstrap(&b, out);
  for (size_t m = 0; m < METHODS; m++)
    check(&out[m], rank[m], want[m]);
  b.n_groups[b.n_ways] = 4;
  b.group[b.n_ways++] = other;
  dl_bootstrap(&b, out);
  for (size_t m = 0; m < METHODS; m++)
    check(&out[m], rank[m], by_two[m]);
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
  b = (struct dl_boot){ALL, 1,   {6}, {groups}, METHODS, y,
                       at,  200, 0.9, 7,        NULL};
  dl_bootstrap(&b, out);
  for (size_t m = 0; m < METHODS; m++)
    check(&out[m], rank[m], want[m]);
}

/* Three groups of one row, errors of 10, 20 and 30 %. Of 27 draws the mean has
 * the variance 2/3 / 3 of 10 %, which by 3/2 is that of three values: t of two
 * degrees of freedom, 4.302652729911275, by 10 % / sqrt(3). Two methods that
 * cross are equal, and so are three groups of unequal size and two groups: no
 * interval. */
static void few_groups(void **state) {
  (void)state;
  static const uint32_t group[] = {0, 1, 2}, unequal[] = {0, 0, 0, 0, 1, 2};
  static const double y[] = {10, 100, 10, 100, 10, 100};
  static const double f[] = {11, 120, 13, 130, 12, 110};
  const double *ys[] = {y, y + 2}, *fs[] = {f, f + 2};
  const double *all_y[] = {y}, *all_f[] = {f};
  struct dl_boot b = {3, 1, {3}, {group}, 2, ys, fs, 100000, 0.95, 1, NULL};
  struct dl_boot_scores out[2];
  double half = 4.302652729911275 * 0.1 / sqrt(3);
  dl_bootstrap(&b, out);
  near(out[0].mape.low, 0.2 * exp(-half / 0.2), 3e-3);
  near(out[0].mape.high, 0.2 * exp(half / 0.2), 3e-3);
  for (size_t m = 0; m < 2; m++)
    assert_int_equal(out[m].rank, 1);
  b = (struct dl_boot){6,     1,   {3},  {unequal}, 1,   all_y,
                       all_f, 200, 0.95, 1,         NULL};
  dl_bootstrap(&b, out);
  near(dl_boot_groups(&b), 2, 1e-15); /* 36 / (16 + 1 + 1) */
  assert_true(isnan(out[0].mape.low) && isnan(out[0].bias.high));
  b = (struct dl_boot){2, 1, {2}, {group}, 1, all_y, all_f, 200, 0.95, 1, NULL};
  dl_bootstrap(&b, out);
  assert_true(isnan(out[0].mape.low) && isnan(out[0].r2.high));
  assert_int_equal(out[0].rank, 1);
}

/* One group says nothing of others; without resamples the scores rank. */
static void what_cannot_be_drawn(void **state) {
  (void)state;
  static const uint32_t one[] = {0, 0}, two[] = {0, 1};
  static const double y[] = {10, 100, 10, 100, 0, 100};
  static const double f[] = {12, 110, 11, 100, 1, 100};
  const double *ys[] = {y, y + 2, y + 4}, *fs[] = {f, f + 2, f + 4};
  struct dl_boot b = {2, 1, {1}, {one}, 2, ys, fs, 200, 0.95, 1, NULL};
  struct dl_boot_scores out[3];
  dl_bootstrap(&b, out);
  assert_int_equal(out[0].rank, 0);
  assert_true(isnan(out[0].mape.low) && isnan(out[0].rmse.high));
  b = (struct dl_boot){2, 1, {2}, {two}, 3, ys, fs, 0, 0.95, 1, NULL};
  dl_bootstrap(&b, out);
  assert_true(isnan(out[0].mape.low));
  assert_int_equal(out[0].rank, 2);
  assert_int_equal(out[1].rank, 1);
  assert_int_equal(out[2].rank, 0); /* y is 0: it has no MAPE */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_scipy),
      cmocka_unit_test(few_groups),
      cmocka_unit_test(what_cannot_be_drawn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
