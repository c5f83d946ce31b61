/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings summed up, against integrals worked out by hand. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "logs/readings/power_meter.h"
#include "unit.h"

#define PI 3.14159265358979323846
#define START (INT64_C(1670234142) * DL_SECOND)

static struct dl_power_meter *new_meter(struct dl_meter_options o) {
  struct dl_power_meter *m = malloc(sizeof *m);

  assert_non_null(m);
  dl_power_meter_init(m, &o);
  return m;
}

static double add(struct dl_power_meter *m, double s, double power_w,
                  double util, double energy_j) {
  const struct dl_reading r = {.ns = START + llround(s * 1e9),
                               .power_w = power_w,
                               .util = util,
                               .energy_j = energy_j};

  return dl_power_meter_add(m, &r);
}

static void add_power(struct dl_power_meter *m, double s, double power_w) {
  assert_true(add(m, s, power_w, NAN, NAN) == 0);
  assert_int_equal(m->n_resets, 0);
}

/* The total of a meter that is freed; what else there is of it. */
static struct dl_power_meter last;
static struct dl_meter_summary sum;
static struct dl_kind_total sum_up(struct dl_power_meter *m) {
  last = *m;
  free(m);
  return (sum = dl_power_meter_summarise(&last, NAN)).total;
}

static void constant(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  for (int i = 0; i <= 600; i++)
    add_power(m, i, 150);
  assert_true(dl_power_meter_energy(m) == 90000);
  struct dl_kind_total s = sum_up(m);
  assert_int_equal(last.n, 601);
  assert_int_equal(last.n_power, 601);
  assert_true(last.first_ns == START);
  assert_true(last.last_ns == START + 600 * DL_SECOND);
  assert_true(s.energy_j == 90000 && s.integral_j == 90000);
  assert_true(isnan(s.counter_j) && isnan(s.util) && isnan(s.idle_w));
  assert_true(s.power_w == 150 && s.peak_w == 150);
  assert_near(sum.interval_s, 1, 1e-15);
  assert_true(sum.missing == 0);
  assert_int_equal(last.n_gaps + last.n_resets + last.n_repeats, 0);
  assert_true(last.gap_s == 0);
}

/* P = 100 + 2 t: E = 100 T + T^2, exact for any sampling. */
static void ramp(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  double t = 0;
  (void)state;
  for (int i = 0; t < 128; i++) {
    add_power(m, t, 100 + 2 * t);
    t += i % 3 == 0 ? 0.25 : i % 3 == 1 ? 1 : 2.5;
  }
  add_power(m, 128, 356);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.energy_j == 100 * 128 + 128 * 128);
  assert_true(s.peak_w == 356);
}

/* P = 200 + 50 sin(w t): E = 200 T + 50 / w (1 - cos(w T)). Sampled each h the
 * trapezia give the second part times (w h / 2) / tan(w h / 2). */
static void sine(void **state) {
  static const double steps[] = {0.125, 0.5, 1, 5};
  const double w = 2 * PI / 60, length = 615; /* a quarter of a period */

  (void)state;
  for (size_t i = 0; i < COUNT(steps); i++) {
    struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
    double h = steps[i], wave = 50 / w * (1 - cos(w * length));
    for (double t = 0; t <= length; t += h)
      add_power(m, t, 200 + 50 * sin(w * t));
    double got = sum_up(m).energy_j;
    assert_near(got, 200 * length + wave * (w * h / 2) / tan(w * h / 2), 1e-13);
    assert_near(got, 200 * length + wave,
                50 * w * w * h * h / 12 * length / (200 * length));
  }
}

/* Each of n steps is longer than the one before. */
static void irregular(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  const int n = 1000;
  double t = 0, area = 0, before = 0;
  (void)state;
  for (int i = 0; i <= n; i++) {
    double h = (double)i / 512, p = i % 2 == 0 ? 64 : 192;
    t += h;
    if (i > 0)
      area += (p + before) / 2 * h;
    before = p;
    add_power(m, t, p);
  }
  /* every step is at 128 W on average */
  assert_true(area == 128.0 * n * (n + 1) / 2 / 512);
  assert_near(sum_up(m).energy_j, area, 1e-14);
}

static void one_reading_has_no_energy(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  struct dl_kind_total s = (sum = dl_power_meter_summarise(m, NAN)).total;
  assert_int_equal(m->n, 0);
  assert_true(isnan(s.energy_j) && isnan(s.power_w) && isnan(sum.missing));
  assert_true(dl_power_meter_energy(m) == 0);
  add(m, 0, 100, 0.5, 7000);
  assert_true(dl_power_meter_energy(m) == 0);
  s = sum_up(m);
  assert_int_equal(last.n, 1);
  assert_true(isnan(s.energy_j) && isnan(s.integral_j) && isnan(s.counter_j));
  assert_true(isnan(sum.interval_s) && isnan(sum.missing));
  assert_true(s.power_w == 100 && s.util == 0.5 && s.peak_w == 100);
}

static void truncates_watts(void **state) {
  struct dl_power_meter *m =
      new_meter((struct dl_meter_options){.truncate_watts = true});
  (void)state;
  add_power(m, 0, 99.99);
  add_power(m, 1, 100.01);
  add_power(m, 2, 101.5);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.energy_j == 99.5 + 100.5);
  assert_true(s.power_w == 100 && s.peak_w == 101);
}

/* --- gaps */

/* 20 s at 100 W, a gap, 20 s at 300 W. */
static struct dl_power_meter *with_gap(struct dl_meter_options o, double gap_s,
                                       double *last_gap_s) {
  struct dl_power_meter *m = new_meter(o);

  for (int i = 0; i <= 20; i++)
    add_power(m, i, 100);
  *last_gap_s = add(m, 20 + gap_s, 300, NAN, NAN);
  for (int i = 1; i <= 20; i++)
    add_power(m, 20 + gap_s + i, 300);
  return m;
}

static void bridges_gaps(void **state) {
  double found_s;
  struct dl_kind_total s =
      sum_up(with_gap((struct dl_meter_options){0}, 60, &found_s));
  (void)state;
  assert_true(found_s == 60);
  assert_true(s.energy_j == 2000 + 200 * 60 + 6000);
  assert_int_equal(last.n_gaps, 1);
  assert_true(last.gap_s == 60);
  /* 101 samples expected, 42 there */
  assert_near(sum.missing, 59.0 / 101, 1e-15);
}

static void cuts_gaps(void **state) {
  double found_s;
  struct dl_kind_total s = sum_up(
      with_gap((struct dl_meter_options){.cut_gaps = true}, 60, &found_s));
  (void)state;
  assert_true(found_s == 60);
  assert_true(s.energy_j == 2000 + 6000);
  assert_true(last.gap_s == 60);
}

/* Ten usual intervals, ten seconds at least; or what the user says. */
static void finds_gaps(void **state) {
  static const struct {
    double max_gap_s, pause_s;
    bool gap;
  } cases[] = {{0, 10, false}, {0, 10.5, true},   {5, 5, false},
               {5, 5.5, true}, {1000, 60, false}, {0.5, 1, true}};
  double found_s;
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct dl_power_meter *m =
        new_meter((struct dl_meter_options){.max_gap_s = cases[i].max_gap_s});
    for (int k = 0; k < 100; k++)
      found_s = add(m, k * 0.25, 100, NAN, NAN);
    assert_true(found_s == 0);
    found_s = add(m, 24.75 + cases[i].pause_s, 100, NAN, NAN);
    assert_true(found_s == (cases[i].gap ? cases[i].pause_s : 0));
    free(m);
  }
  /* a sample a minute */
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  for (int k = 0; k < 100; k++)
    add_power(m, k * 60, 100);
  add_power(m, 99 * 60 + 550, 100);
  assert_true(add(m, 99 * 60 + 550 + 650, 100, NAN, NAN) == 650);
  free(m);
}

/* What the user calls a gap is one at the beginning as well. */
static void first_interval_may_be_a_gap(void **state) {
  struct dl_power_meter *m =
      new_meter((struct dl_meter_options){.max_gap_s = 5, .cut_gaps = true});
  (void)state;
  add_power(m, 0, 100);
  assert_true(add(m, 100, 100, NAN, NAN) == 100);
  add_power(m, 101, 100);
  assert_true(sum_up(m).energy_j == 100);
  /* of itself it is the usual one */
  m = new_meter((struct dl_meter_options){0});
  add_power(m, 0, 100);
  add_power(m, 100, 100);
  assert_true(sum_up(m).energy_j == 10000);
}

/* --- missing values */

/* The power goes straight over a stretch of "[N/A]". */
static void bridges_unknown_power(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  for (int i = 0; i <= 10; i++)
    add_power(m, i, i > 3 && i < 7 ? NAN : i <= 3 ? 100 : 200);
  struct dl_kind_total s = sum_up(m);
  assert_int_equal(last.n, 11);
  assert_int_equal(last.n_power, 8);
  assert_true(s.energy_j == 300 + 150 * 4 + 600);
  assert_true(s.power_w == 150);
  assert_near(sum.missing, 3.0 / 11, 1e-15);
}

static void long_unknown_stretch_is_a_gap(void **state) {
  struct dl_power_meter *m =
      new_meter((struct dl_meter_options){.cut_gaps = true});
  (void)state;
  for (int i = 0; i < 100; i++)
    if (i == 80)
      assert_true(add(m, i, 100, NAN, NAN) == 61);
    else
      add_power(m, i, i > 19 && i < 80 ? NAN : 100);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.energy_j == 1900 + 1900);
  assert_near(sum.missing, 0.6, 1e-15);
}

/* Before the first power and behind the last one nothing is known. */
static void unknown_at_both_ends(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  for (int i = 0; i < 40; i++)
    add_power(m, i, i < 10 || i >= 30 ? NAN : 100);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.energy_j == 1900);
  assert_true(last.last_ns - last.first_ns == 39 * DL_SECOND);
  assert_near(sum.missing, 0.5, 1e-15);
}

static void no_power_at_all(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  for (int i = 0; i < 10; i++)
    add(m, i, NAN, 0.5, NAN);
  struct dl_kind_total s = sum_up(m);
  assert_true(isnan(s.energy_j) && isnan(s.power_w) && isnan(s.peak_w));
  assert_true(s.util == 0.5 && last.n_power == 0 && last.n == 10);
  assert_near(sum.interval_s, 1, 1e-15);
}

/* --- counters */

static void prefers_the_counter(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  for (int i = 0; i <= 10; i++)
    add(m, i, 100, NAN, 5000 + 110 * i);
  assert_true(dl_power_meter_energy(m) == 1100);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.energy_j == 1100 && s.counter_j == 1100);
  assert_true(s.integral_j == 1000);
}

/* The counter goes over gaps, also where those of the power are cut. */
static void counts_over_gaps(void **state) {
  struct dl_power_meter *m =
      new_meter((struct dl_meter_options){.cut_gaps = true});
  (void)state;
  for (int i = 0; i <= 10; i++)
    add(m, i, 100, NAN, 100 * i);
  assert_true(add(m, 110, 100, NAN, 9000) == 100);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.energy_j == 9000 && s.integral_j == 1000);
}

static void counter_is_reset(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  add(m, 0, NAN, NAN, 5000);
  add(m, 1, NAN, NAN, 5100);
  assert_int_equal(m->n_resets, 0);
  /* 30 J or more, in a second that took 100 J before */
  add(m, 2, NAN, NAN, 30);
  assert_int_equal(m->n_resets, 1);
  add(m, 3, NAN, NAN, 130);
  add(m, 4, NAN, NAN, 130);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.energy_j == 100 + 100 + 100);
  assert_int_equal(last.n_resets, 1);
  assert_int_equal(last.n_power, 0);
  assert_true(isnan(s.integral_j) && isnan(s.power_w));
}

static void counter_with_holes(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  for (int i = 0; i <= 10; i++)
    add(m, i, 50, NAN, i > 2 && i < 6 ? (double)NAN : 1000 + 50 * i);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.energy_j == 500 && s.integral_j == 500);
}

/* A power that is unknown for a while is bridged beside a counter too: both
 * are compared. */
static void power_with_holes_beside_a_counter(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  for (int i = 0; i <= 10; i++)
    add(m, i, i > 2 && i < 6 ? NAN : 50, NAN, 1000 + 50 * i);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.counter_j == 500);
  assert_true(s.integral_j == 500);
  assert_true(sum.missing == 0);
}

/* A smart plug that counts whole steps while its node takes 305 W, and whose
 * power reads too much by a share. The counter is wrong by up to a step, the
 * power by its share of two steps at most, and a reading's interval. */
static void divides_steps_of_a_coarse_counter(void **state) {
  static const struct {
    double step_j, share;
    int each_s, length_s;
  } cases[] = {{3600, 0, 1, 300},      {3600, 0.1, 1, 300},
               {36000, 0, 1, 300},     {36000, 0, 5, 1800},
               {36000, -0.05, 5, 900}, {36000, 0.05, 10, 3600}};
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    for (int start_j = 0; start_j < 36000; start_j += 1700) {
      struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
      for (int t = 0; t <= cases[i].length_s; t += cases[i].each_s)
        add(m, t, 305 * (1 + cases[i].share), NAN,
            floor((start_j + 305.0 * t) / cases[i].step_j) * cases[i].step_j);
      double energy_j = 305.0 * cases[i].length_s;
      double ends_j = fmin(2 * cases[i].step_j, energy_j);
      double tolerance_j =
          fabs(cases[i].share) * ends_j + 305.0 * cases[i].each_s;
      assert_true(fabs(sum_up(m).energy_j - energy_j) <= tolerance_j);
      assert_true(sum.coarse_step_j == 0);
    }
}

/* Without a power, steps of a quarter of the energy are worth a doubt, and
 * those of a hundredth are not. */
static void doubts_coarse_counters_without_a_power(void **state) {
  (void)state;
  for (int length_s = 600; length_s <= 60000; length_s *= 100) {
    struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
    for (int t = 0; t <= length_s; t += 10)
      add(m, t, NAN, NAN, floor(t * 240 / 36000.0) * 36000);
    assert_true(sum_up(m).energy_j == length_s * 240);
    assert_true(sum.coarse_step_j == (length_s == 600 ? 36000 : 0));
  }
}

/* --- the rest of the summary */

static void median_interval(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  double t = 0;
  (void)state;
  /* 60 of 0.5 s, 50 of 2 s, 1 of 9 s, in turn */
  for (int i = 0; i < 110; i++) {
    add_power(m, t, 100);
    t += i % 11 < 6 ? 0.5 : 2;
  }
  add_power(m, t, 100);
  add_power(m, t + 9, 100);
  sum_up(m);
  assert_near(sum.interval_s, 0.5, 1e-12);
  /* 139 s: 279 samples by that interval, of which 112 are there */
  assert_near(sum.missing, 1 - 112.0 / 279, 1e-15);
}

/* Whatever the interval, its bin is not broader than 3 % of it. */
static void intervals_of_all_lengths(void **state) {
  (void)state;
  for (double h = 2e-6; h < 1e6; h *= 1.7) {
    struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
    double t = 0;
    for (int i = 0; i < 31; i++, t += h)
      add(m, t, 1, NAN, NAN);
    sum_up(m);
    assert_near(sum.interval_s, h, 0.03);
  }
}

static void repeats_do_not_count_twice(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  for (int i = 0; i <= 10; i++)
    for (int k = 0; k < 2; k++)
      add_power(m, i, 100);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.energy_j == 1000);
  assert_int_equal(last.n, 22);
  assert_int_equal(last.n_repeats, 11);
  assert_near(sum.interval_s, 1, 1e-15);
  assert_true(sum.missing == 0);
}

static void all_at_one_time(void **state) {
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  add(m, 0, 100, NAN, 10);
  add(m, 0, 200, NAN, 20);
  struct dl_kind_total s = sum_up(m);
  assert_true(isnan(s.energy_j) && isnan(s.integral_j) && isnan(s.counter_j));
  assert_true(isnan(sum.interval_s) && isnan(sum.missing));
  assert_true(s.power_w == 150);
}

static void peak_and_idle(void **state) {
  static const double power[] = {30, 20, 250, 350, 300, 40};
  static const double util[] = {0, 0, 0.5, 1, NAN, 0};
  struct dl_power_meter *m = new_meter((struct dl_meter_options){0});
  (void)state;
  for (size_t i = 0; i < COUNT(power); i++)
    add(m, (double)i, power[i], util[i], NAN);
  struct dl_kind_total s = sum_up(m);
  assert_true(s.peak_w == 350);
  assert_true(s.idle_w == 30);
  assert_near(s.util, 0.3, 1e-15);
  assert_true(s.power_w == 165);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constant),
      cmocka_unit_test(ramp),
      cmocka_unit_test(sine),
      cmocka_unit_test(irregular),
      cmocka_unit_test(one_reading_has_no_energy),
      cmocka_unit_test(truncates_watts),
      cmocka_unit_test(bridges_gaps),
      cmocka_unit_test(cuts_gaps),
      cmocka_unit_test(finds_gaps),
      cmocka_unit_test(first_interval_may_be_a_gap),
      cmocka_unit_test(bridges_unknown_power),
      cmocka_unit_test(long_unknown_stretch_is_a_gap),
      cmocka_unit_test(unknown_at_both_ends),
      cmocka_unit_test(no_power_at_all),
      cmocka_unit_test(prefers_the_counter),
      cmocka_unit_test(counts_over_gaps),
      cmocka_unit_test(counter_is_reset),
      cmocka_unit_test(counter_with_holes),
      cmocka_unit_test(power_with_holes_beside_a_counter),
      cmocka_unit_test(divides_steps_of_a_coarse_counter),
      cmocka_unit_test(doubts_coarse_counters_without_a_power),
      cmocka_unit_test(median_interval),
      cmocka_unit_test(intervals_of_all_lengths),
      cmocka_unit_test(repeats_do_not_count_twice),
      cmocka_unit_test(all_at_one_time),
      cmocka_unit_test(peak_and_idle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
