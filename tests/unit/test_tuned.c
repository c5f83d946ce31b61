/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inference by tuned software: the formula against an independent
 * implementation (tests/reference/tuned_reference.py), and its derivatives. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "physics/tuned/tuned_inputs.h"
#include "gradient.h"
#include "unit.h"

#define MATCH 1e-9

/* Inputs of the reference, in its order. */
static const double constants[DL_N_TUNED] = {
    [DL_TUNED_EC] = .5,     [DL_TUNED_EM] = 1.2,  [DL_TUNED_GAMMA] = .3,
    [DL_TUNED_TAU] = 3e-6,  [DL_TUNED_PA] = .15,  [DL_TUNED_PE] = 1e-12,
    [DL_TUNED_PM] = 30e-12, [DL_TUNED_PCAP] = .97};

/* Factors; 0 stands for 1. */
static const double none[DL_N_TUNED_EFFECTS];
static const double some[DL_N_TUNED_EFFECTS] = {
    [DL_TUNED_EFFECT_GPU_COMPUTE] = 1.1, [DL_TUNED_EFFECT_GPU_MEMORY] = .9,
    [DL_TUNED_EFFECT_GPU_POWER] = 1.2,   [DL_TUNED_EFFECT_FAMILY_COMPUTE] = .95,
    [DL_TUNED_EFFECT_ARCH_TIME] = 1.3,   [DL_TUNED_EFFECT_ARCH_POWER] = .8};

#define H100 .peak = 1979e12, .bandwidth = 3350e9, .tdp = 700
#define T4 .peak = 130e12, .bandwidth = 320e9, .tdp = 70
#define RESNET                                                                 \
  .flops = 8.22e9, .bytes = 22.22e6, .weights = 25.56e6, .kernels = 175,       \
  .n_gpus = 1
#define BERT                                                                   \
  .flops = 110.8e9, .bytes = 156.4e6, .weights = 672e6, .kernels = 290,        \
  .n_gpus = 1

static const struct {
  const double *fx;
  struct dl_tuned_inputs load;
} cases[] = {
    {none, {H100, RESNET, .batch = 2048, .element = 1, .limit = 700}},
    {some, {H100, RESNET, .batch = 2048, .element = 1, .limit = 700}},
    {none, {H100, RESNET, .batch = 1, .element = 1, .limit = 700}},
    {none, {T4, RESNET, .batch = 128, .element = 1, .limit = 70}},
    {some, {H100, RESNET, .batch = 512, .element = 1, .limit = 250}},
    {none, {T4, RESNET, .batch = 512, .element = 1, .limit = 100}},
    {some, {H100, BERT, .batch = 64, .element = 2, .limit = 700}},
};

/* What tuned_reference.py prints: time and power. */
static const struct {
  const char *name;
  double x[2];
} expected[] = {
    {"large", {0.024015798063626737, 667.45217695768679}},
    {"effects", {0.030905193647422745, 618.55773850360936}},
    {"one", {0.00054282522060301267, 121.37099950327131}},
    {"capped", {0.019371951500183619, 62.842823060755208}},
    {"lowered", {0.01248554988220074, 242.47951736551295}},
    {"raised", {0.069331260652843812, 74.857352649413144}},
    {"in_16_bits", {0.014790231066802087, 676.35134584887408}},
};

enum { CASES = sizeof cases / sizeof *cases };

static void logs(const double *factors, double fx[DL_N_TUNED_EFFECTS]) {
  for (size_t i = 0; i < DL_N_TUNED_EFFECTS; i++)
    fx[i] = factors[i] > 0 ? log(factors[i]) : 0;
}

static void as_the_reference(void **state) {
  (void)state;
  assert_int_equal(CASES, sizeof expected / sizeof *expected);
  for (size_t i = 0; i < CASES; i++) {
    double fx[DL_N_TUNED_EFFECTS];
    struct dl_tuned_cost c;
    logs(cases[i].fx, fx);
    dl_tuned_cost_of(constants, fx, &cases[i].load, &c);
    const double got[] = {c.time_s, c.power_w};
    for (size_t j = 0; j < 2; j++)
      if (!(fabs(got[j] - expected[i].x[j]) <= MATCH * expected[i].x[j]))
        fail_msg("%s: value %zu is %.17g, not %.17g", expected[i].name, j,
                 got[j], expected[i].x[j]);
  }
}

static void derivatives_as_differences(void **state) {
  (void)state;
  for (size_t i = 0; i < CASES; i++) {
    double fx[DL_N_TUNED_EFFECTS];
    logs(cases[i].fx, fx);
    check_gradient(&dl_tuned_physics, constants, fx, &cases[i].load);
  }
}

/* A lower limit never makes a batch faster, nor the power higher. */
static void a_lower_limit_slows_down(void **state) {
  (void)state;
  for (size_t i = 0; i < CASES; i++) {
    struct dl_tuned_inputs in = cases[i].load;
    double time_s = INFINITY, power_w = 0;
    for (in.limit = 50; in.limit < 900; in.limit *= 1.1) {
      struct dl_tuned_cost c;
      dl_tuned_cost_of(constants, none, &in, &c);
      assert_true(c.time_s <= time_s * (1 + 1e-9));
      assert_true(c.power_w >= power_w * (1 - 1e-9));
      time_s = c.time_s;
      power_w = c.power_w;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_the_reference),
      cmocka_unit_test(derivatives_as_differences),
      cmocka_unit_test(a_lower_limit_slows_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
