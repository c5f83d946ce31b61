/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves of energy: bounded in size, exact in their sums. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "logs/readings/energy_curve.h"
#include "unit.h"

#define UNIT (1.0 / 1048576) /* 2^-20 J */

/* Points that a curve keeps at most. */
enum { MOST = 1 << 17 };

/* Reading i of a meter: irregular times, energies and powers that only i
 * tells. */
static int64_t time_of(size_t i) {
  return INT64_C(1670234142535000000) + (int64_t)i * 999983000 +
         (int64_t)(i * 7919 % 1000) * 1000;
}

static double energy_of(size_t i, size_t kind) {
  return ((double)i * 157.3 + (double)(i * 31 % 101) / 128) *
         (double)(kind + 1);
}

static void add(struct dl_energy_curve *c, size_t i) {
  struct dl_energy_point p = {.ns = time_of(i),
                              .power_w = (float)(i * 16 % 4096),
                              .util = i % 2 == 0 ? 0.25F : 0.75F};

  for (size_t k = 0; k < DL_N_METER_KINDS; k++)
    p.energy_j[k] = energy_of(i, k);
  dl_energy_curve_add(c, &p);
}

static void rounds_to_a_microjoule(void **state) {
  (void)state;
  assert_true(dl_energy_curve_round(0) == 0);
  assert_true(dl_energy_curve_round(UNIT) == UNIT);
  assert_true(dl_energy_curve_round(0.1) == 104858 * UNIT); /* 104857.6 */
  assert_true(dl_energy_curve_round(-0.1) == -104858 * UNIT);
  assert_true(dl_energy_curve_round(UNIT / 4) == 0);
  assert_true(dl_energy_curve_round(415289.086) ==
              round(415289.086 / UNIT) * UNIT);
  assert_true(dl_energy_curve_round(8589934592.0 - UNIT) ==
              8589934592.0 - UNIT);
  assert_true(dl_energy_curve_round(1e300) == 1e300);
  assert_true(isnan(dl_energy_curve_round(NAN)));
  assert_true(isinf(dl_energy_curve_round(INFINITY)));
}

static void keeps_every_point_of_a_short_run(void **state) {
  struct dl_energy_curve c = {0};

  (void)state;
  for (size_t i = 0; i < 1000; i++)
    add(&c, i);
  assert_int_equal(c.n, 1000);
  for (size_t i = 0; i < 1000; i++) {
    assert_true(c.point[i].ns == time_of(i));
    assert_true(c.point[i].energy_j[2] ==
                dl_energy_curve_round(energy_of(i, 2)));
    assert_true(c.point[i].power_w == (float)(i * 16 % 4096));
  }
  dl_energy_curve_free(&c);
  assert_null(c.point);
  dl_energy_curve_free(&c);
}

/* Cut anywhere, the parts add up to the whole, bit for bit, in any order of
 * summing. */
static void differences_add_up(void **state) {
  struct dl_energy_curve c = {0};

  (void)state;
  for (size_t i = 0; i < 100000; i++)
    add(&c, i);
  for (size_t k = 0; k < DL_N_METER_KINDS; k++)
    for (size_t step = 1; step < 100000; step = step * 3 + 1) {
      double forth = 0, back = 0;
      size_t n = (c.n - 1 + step - 1) / step;
      for (size_t j = 0; j < n; j++) {
        size_t from = j * step, to = from + step < c.n ? from + step : c.n - 1;
        forth += c.point[to].energy_j[k] - c.point[from].energy_j[k];
        from = (n - 1 - j) * step;
        to = from + step < c.n ? from + step : c.n - 1;
        back += c.point[to].energy_j[k] - c.point[from].energy_j[k];
      }
      assert_true(forth == dl_energy_curve_round(energy_of(99999, k)));
      assert_true(back == forth);
    }
  dl_energy_curve_free(&c);
}

/* What is left after n readings is some of them, as they were. */
static void check_halved(size_t n) {
  struct dl_energy_curve c = {0};
  double sum[DL_N_METER_KINDS] = {0};

  for (size_t i = 0; i < n; i++)
    add(&c, i);
  assert_in_range(c.n, n < MOST ? n : MOST / 2, MOST);
  assert_true(c.point[0].ns == time_of(0));
  assert_true(c.point[c.n - 1].ns == time_of(n - 1));
  size_t i = 0, longest = 0;
  for (size_t j = 0; j < c.n; j++) {
    size_t before = i;
    while (i < n && time_of(i) != c.point[j].ns)
      i++;
    if (i == n)
      fail_msg("point %zu of %zu has a time that was never added", j, c.n);
    for (size_t k = 0; k < DL_N_METER_KINDS; k++) {
      assert_true(c.point[j].energy_j[k] ==
                  dl_energy_curve_round(energy_of(i, k)));
      if (j > 0)
        sum[k] += c.point[j].energy_j[k] - c.point[j - 1].energy_j[k];
    }
    if (i - before > longest)
      longest = i - before;
  }
  for (size_t k = 0; k < DL_N_METER_KINDS; k++)
    assert_true(sum[k] == dl_energy_curve_round(energy_of(n - 1, k)));
  assert_in_range(longest, 1, 2 * n / (MOST / 2) + 1);
  dl_energy_curve_free(&c);
}

static void halving_keeps_times_and_energies(void **state) {
  (void)state;
  check_halved(MOST - 1);
  check_halved(MOST);
  check_halved(MOST + 1);
  check_halved(MOST + 2);
  check_halved(MOST + 3);
  check_halved(300000);
  check_halved(1000000);
  check_halved(1000001);
}

/* Power and utilisation become means: of 0.25 and 0.75, of 0 W .. 4080 W. */
static void halving_averages_power(void **state) {
  struct dl_energy_curve c = {0};
  double power = 0, util = 0;

  (void)state;
  for (size_t i = 0; i < (size_t)4 * MOST; i++)
    add(&c, i);
  for (size_t j = 1; j < c.n; j++) {
    assert_in_range(c.point[j].power_w, 0, 4080);
    power += (double)c.point[j].power_w;
    util += (double)c.point[j].util;
  }
  assert_near(power / (double)(c.n - 1), 2040, 1e-3);
  assert_near(util / (double)(c.n - 1), 0.5, 1e-3);
  dl_energy_curve_free(&c);
}

static void finds_points_by_time(void **state) {
  struct dl_energy_curve c = {0};
  const int64_t times[] = {100, 200, 200, 200, 350, 351, 1000};

  (void)state;
  assert_int_equal(dl_energy_curve_at(&c, 0), 0);
  for (size_t n = 1; n <= COUNT(times); n++) {
    dl_energy_curve_add(&c, &(struct dl_energy_point){.ns = times[n - 1]});
    for (int64_t t = 0; t < 1100; t++) {
      size_t want = 0; /* the last one at or before t */
      for (size_t i = 0; i < n; i++)
        if (times[i] <= t)
          want = i;
      assert_int_equal(dl_energy_curve_at(&c, t), want);
    }
    assert_int_equal(dl_energy_curve_at(&c, INT64_MIN), 0);
    assert_int_equal(dl_energy_curve_at(&c, INT64_MAX), n - 1);
  }
  dl_energy_curve_free(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounds_to_a_microjoule),
      cmocka_unit_test(keeps_every_point_of_a_short_run),
      cmocka_unit_test(differences_add_up),
      cmocka_unit_test(halving_keeps_times_and_energies),
      cmocka_unit_test(halving_averages_power),
      cmocka_unit_test(finds_points_by_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
