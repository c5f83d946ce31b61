/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Working and waiting by what is known of a training. Cases by hand, and
 * posteriors that tests/reference/waiting_reference.py finds by brute force. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "physics/conditioning/gpu_waiting.h"
#include "unit.h"

/* Nothing known. */
static const struct dl_gpu_waiting_known unknown = {NAN, NAN, NAN};

/* A GPU whose work takes 300 s at 300 W, and that waits at 60 W, as good as
 * exactly. */
static const struct dl_gpu_waiting_prior exact = {.time = 5.703782474656201,
                                                  .power = 5.703782474656201,
                                                  .var_time = 4e-4,
                                                  .var_power = 1e-6,
                                                  .most_power = INFINITY,
                                                  .static_share = 0.2,
                                                  .var_util = 1e-3,
                                                  .waits = 0.2,
                                                  .input = NAN};

static struct dl_gpu_waiting given(const struct dl_gpu_waiting_prior *prior,
                                   struct dl_gpu_waiting_known known) {
  struct dl_gpu_waiting w;
  dl_gpu_waiting_posterior(prior, &known, 0.9, &w);
  return w;
}

/* 300 s of 1000 s at 300 W and 700 s at 60 W: 90 kJ + 42 kJ. */
static void waits_70_percent(void **state) {
  struct dl_gpu_waiting_known known = unknown;
  known.time = log(1000);
  struct dl_gpu_waiting w = given(&exact, known);
  (void)state;
  assert_near(exp(w.energy), 132000, 1e-3);
  assert_near(w.busy, 0.3, 1e-3);
  assert_near(exp(w.time), 1000, 1e-9);
  assert_true(w.energy_low < w.energy && w.energy < w.energy_high);
}

/* The time that was expected: no waiting, 90 kJ. */
static void expected_time(void **state) {
  struct dl_gpu_waiting_known known = unknown;
  known.time = log(300);
  struct dl_gpu_waiting w = given(&exact, known);
  (void)state;
  assert_near(exp(w.energy), 90000, 2e-3);
  assert_true(w.busy > 0.99);
}

/* Half the time: the work is done in it. Of power it says cov / var of the
 * logarithm: ln(1/2) x -0.3 = 0.208, 369 W for 150 s. */
static void shorter_time(void **state) {
  struct dl_gpu_waiting_prior prior = exact;
  struct dl_gpu_waiting_known known = unknown;
  prior.var_time = 0.09;
  prior.var_power = 0.04;
  prior.cov = -0.3 * prior.var_time;
  known.time = log(150);
  struct dl_gpu_waiting w = given(&prior, known);
  (void)state;
  assert_near(exp(w.energy), 300 * pow(2, 0.3) * 150, 0.01);
  assert_true(w.busy > 0.99);
  /* A board draws no more than its limit, 330 W. */
  prior.most_power = log(330);
  assert_near(exp(given(&prior, known).energy), 330 * 150.0, 0.01);
}

/* Busy for 40 % of an unknown time: 300 s / 0.4 = 750 s, and 90 kJ + 450 s x
 * 60 W = 117 kJ. */
static void utilization_without_time(void **state) {
  struct dl_gpu_waiting_known known = unknown;
  known.util = log(0.4);
  struct dl_gpu_waiting w = given(&exact, known);
  (void)state;
  assert_near(exp(w.time), 750, 3e-3);
  assert_near(exp(w.energy), 117000, 3e-3);
  assert_near(w.busy, 0.4, 2e-3);
}

/* Power times time is the energy, to within what meters are off. */
static void power_and_time(void **state) {
  struct dl_gpu_waiting_known known = unknown;
  known.time = log(1000);
  known.power = log(132);
  struct dl_gpu_waiting w = given(&exact, known);
  (void)state;
  assert_near(exp(w.energy), 132000, 1e-9);
  assert_near(w.energy_high - w.energy, 1.645 * 0.03, 1e-3);
  assert_near(w.busy, 0.3, 0.02);
}

static void by_brute_force(void **state) {
  struct dl_gpu_waiting_prior prior = {.time = 5.703782474656201,
                                       .power = 5.521460917862246,
                                       .var_time = 0.09,
                                       .var_power = 0.0225,
                                       .cov = -0.015,
                                       .most_power = INFINITY,
                                       .static_share = 0.2,
                                       .var_util = 0.04,
                                       .waits = 0.2,
                                       .var_input = 0.09};
  static const struct {
    double time, power, util, input; /* 0: unknown */
    double energy, log_time, busy, low, high;
  } cases[] = {
      {300, 0, 0, 0, 11.2164, 5.7038, 0.9875, 10.9707, 11.4515},
      {450, 0, 0, 0, 11.5117, 6.1092, 0.9328, 11.1770, 11.7823},
      {800, 0, 0, 0, 11.5946, 6.6846, 0.4630, 11.2400, 12.0061},
      {1000, 0, 0, 0, 11.6573, 6.9078, 0.3468, 11.3341, 12.0071},
      {180, 0, 0, 0, 10.7974, 5.1930, 0.9969, 10.5662, 11.0329},
      {0, 0, 0.4, 0, 11.4769, 6.5796, 0.4250, 10.9840, 11.9723},
      {0, 120, 0, 0, 11.5304, 6.7429, 0.3715, 10.9939, 12.0796},
      {700, 0, 0.5, 0, 11.5324, 6.5511, 0.4976, 11.2525, 11.8111},
      {700, 140, 0, 0, 11.4927, 6.5511, 0.4680, 11.4434, 11.5421},
      {300, 0, 0, 300, 11.0245, 5.7038, 0.7246, 10.7341, 11.3051},
      {450, 0, 0, 300, 11.3357, 6.1092, 0.6940, 11.0219, 11.6275},
      {800, 0, 0, 700, 11.5395, 6.6846, 0.4065, 11.2119, 11.8687},
      {1000, 0, 0, 100, 11.6572, 6.9078, 0.3468, 11.3341, 12.0096},
  };
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct dl_gpu_waiting_known known = unknown;
    if (cases[i].time > 0)
      known.time = log(cases[i].time);
    if (cases[i].power > 0)
      known.power = log(cases[i].power);
    if (cases[i].util > 0)
      known.util = log(cases[i].util);
    prior.input = cases[i].input > 0 ? log(cases[i].input) : (double)NAN;
    struct dl_gpu_waiting w = given(&prior, known);
    assert_near(w.energy, cases[i].energy, 2e-4);
    assert_near(w.time, cases[i].log_time, 2e-4);
    assert_near(w.busy, cases[i].busy, 2e-3);
    assert_near(w.energy_low, cases[i].low, 5e-4);
    assert_near(w.energy_high, cases[i].high, 5e-4);
  }
}

/* Input that alone takes 400 s makes 300 s of work a run of 500 s: 90 kJ and
 * 200 s at 60 W. If the run is known to take 1000 s, and the input 800 s of it,
 * the GPU works 600 s: 180 kJ and 24 kJ. */
static void waits_for_input(void **state) {
  struct dl_gpu_waiting_prior prior = exact;
  struct dl_gpu_waiting_known known = unknown;
  (void)state;
  prior.waits = 0;
  prior.var_time = prior.var_input = 1e-4;
  prior.input = log(400);
  struct dl_gpu_waiting w = given(&prior, known);
  assert_near(exp(w.energy), 102000, 2e-3);
  assert_near(exp(w.time), 500, 2e-3);
  assert_near(w.busy, 0.6, 2e-3);
  prior.var_time = 1;
  prior.input = log(800);
  known.time = log(1000);
  w = given(&prior, known);
  assert_near(exp(w.energy), 204000, 2e-3);
  assert_near(w.busy, 0.6, 2e-3);
}

/* Where nothing says that GPUs waited, 700 s beyond 300 s of work draw .9 of
 * 300 W: 90 kJ + 189 kJ; a utilization of .3 makes them wait: 90 + 42 kJ. Input
 * that takes 800 of 1000 s, to within a hundredth, is what GPUs wait for: 600 s
 * of work as above. */
static void draws_in_surplus_time(void **state) {
  struct dl_gpu_waiting_prior prior = exact;
  struct dl_gpu_waiting_known known = unknown;
  (void)state;
  prior.surplus_share = 0.9;
  prior.surplus_sd = 0.1;
  known.time = log(1000);
  struct dl_gpu_waiting w = given(&prior, known);
  assert_near(exp(w.energy), 279000, 2e-3);
  assert_near(w.busy, 0.3, 1e-3);
  /* Its logarithm is uncertain by .1 in 189 of 279 kJ. */
  assert_near(w.energy_high - w.energy, 1.645 * 0.1 * 189 / 279, 0.1);
  known.util = log(0.3);
  assert_near(exp(given(&prior, known).energy), 132000, 2e-3);
  known.util = NAN;
  prior.waits = 0;
  prior.var_time = 1;
  prior.var_input = 1e-4;
  prior.input = log(800);
  assert_near(exp(given(&prior, known).energy), 204000, 1e-2);
}

/* A longer time is never less energy, nor a busier GPU, however rarely
 * trainings wait. */
static void rises_with_time(void **state) {
  static const double waits[] = {0.5, 0.2, 0.02, 0.001};
  struct dl_gpu_waiting_prior prior = exact;
  (void)state;
  prior.var_power = 0.01;
  for (size_t i = 0; i < 4 * COUNT(waits); i++) {
    struct dl_gpu_waiting before = {.energy_low = 0, .busy = 1};
    prior.waits = waits[i / 4];
    prior.surplus_share = i / 2 % 2 ? 0.9 : 0;
    prior.surplus_sd = 0.2;
    prior.var_time = i % 2 ? 0.3 : 0.05;
    for (double t = 4; t < 10; t += 0.05) {
      struct dl_gpu_waiting_known known = unknown;
      known.time = t;
      struct dl_gpu_waiting w = given(&prior, known);
      assert_true(w.busy <= before.busy + 1e-12);
      assert_true(w.energy >= before.energy - 1e-3);
      assert_true(w.energy_low >= before.energy_low - 1e-3);
      assert_true(w.energy_high >= before.energy_high - 1e-3);
      assert_true(w.energy_low < w.energy && w.energy < w.energy_high);
      before = w;
    }
  }
}

/* Of one training and time, a busier GPU is no less energy, also where its
 * power falls faster than its work grows longer. */
static void rises_with_utilization(void **state) {
  struct dl_gpu_waiting_prior prior = exact;
  (void)state;
  prior.var_power = 0.2;
  prior.var_util = 1e-3;
  for (size_t i = 0; i < 60; i++) {
    double before = 0;
    prior.var_time = 0.05 + 0.05 * (double)(i % 4);
    prior.cov = -0.03 * (double)(i % 5 + 1) / 2;
    for (double util = 0.05; util <= 1; util *= 1.1) {
      struct dl_gpu_waiting_known known = unknown;
      known.time = prior.time + 0.1 * (double)i;
      known.util = log(util);
      struct dl_gpu_waiting w = given(&prior, known);
      assert_true(w.energy >= before - 1e-6);
      before = w.energy;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(waits_70_percent),
      cmocka_unit_test(expected_time),
      cmocka_unit_test(shorter_time),
      cmocka_unit_test(utilization_without_time),
      cmocka_unit_test(power_and_time),
      cmocka_unit_test(by_brute_force),
      cmocka_unit_test(waits_for_input),
      cmocka_unit_test(draws_in_surplus_time),
      cmocka_unit_test(rises_with_time),
      cmocka_unit_test(rises_with_utilization),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
