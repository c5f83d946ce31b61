/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Networks on CPUs: the formula by hand, its derivatives, what it refuses, and
 * what of a row it reads. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "physics/cpu/cpu_inputs.h"
#include "gradient.h"
#include "unit.h"
#include "tests/messages.h"

static const double constants[DL_N_CPU] = {[DL_CPU_FP32] = .8,
                                           [DL_CPU_AVX2] = .6,
                                           [DL_CPU_VNNI] = .65,
                                           [DL_CPU_BF16] = .5,
                                           [DL_CPU_AMX] = .4,
                                           [DL_CPU_CLOCK] = 1.25,
                                           [DL_CPU_ELEMENTS] = 20,
                                           [DL_CPU_MEMORY] = .7,
                                           [DL_CPU_MEMORY_PLAIN] = .6,
                                           [DL_CPU_PASS] = 2e-3,
                                           [DL_CPU_SHARE_FLOAT] = .9,
                                           [DL_CPU_SHARE_FLOAT + 1] = 1.1,
                                           [DL_CPU_SHARE_FLOAT + 2] = 1.2,
                                           [DL_CPU_SHARE_FLOAT + 3] = .95,
                                           [DL_CPU_SHARE_INT8] = .7,
                                           [DL_CPU_SHARE_INT8 + 1] = .8,
                                           [DL_CPU_SHARE_INT8 + 2] = .9,
                                           [DL_CPU_SHARE_INT8 + 3] = .75,
                                           [DL_CPU_SOFTWARE_ELEMENTS] = 2,
                                           [DL_CPU_SOFTWARE_ELEMENTS + 1] = 3,
                                           [DL_CPU_SOFTWARE_ELEMENTS + 2] = 1.5,
                                           [DL_CPU_SOFTWARE_ELEMENTS + 3] = 2.5,
                                           [DL_CPU_LAYER] = 1e-4,
                                           [DL_CPU_LAYER + 1] = 5e-5,
                                           [DL_CPU_LAYER + 2] = 3e-5,
                                           [DL_CPU_LAYER + 3] = 2e-5};
static const double none[DL_N_CPU_EFFECTS];
static const double some[DL_N_CPU_EFFECTS] = {.1, -.05, .2, -.1};

/* A network of 4e9 products, a tenth of them depthwise, on a machine of 10e12
 * FLOP/s in FP32. */
#define NETWORK                                                                \
  .macs = 4e9, .depthwise = .1, .activations = 1e7, .weights = 2.5e7,          \
  .layers = 50
#define MACHINE .vector_bytes = 10e12, .bandwidth = 4e11
#define IN_FP32                                                                \
  .matrix = 10e12, .vector = 10e12, .matrix_share = DL_CPU_FP32,               \
  .vector_share = DL_CPU_FP32, .bytes = 4
#define IN_TILES                                                               \
  .matrix = 160e12, .vector = 40e12, .matrix_share = DL_CPU_AMX,               \
  .vector_share = DL_CPU_VNNI, .bytes = 1

static const struct dl_cpu_inputs cases[] = {
    {NETWORK, MACHINE, IN_FP32, .batch = 32, .streams = 2},
    {NETWORK, MACHINE, IN_TILES, .batch = 32, .streams = 2},
    {NETWORK, MACHINE, IN_FP32, .batch = 1, .streams = 10,
     .software = DL_CPU_PYTORCH},
    {NETWORK, MACHINE, IN_TILES, .batch = 4, .streams = 1, .client = 1,
     .software = DL_CPU_ONNXRUNTIME},
    {NETWORK, MACHINE, IN_FP32, .batch = 1, .streams = 10, .client = 1,
     .software = DL_CPU_TENSORFLOW},
};

static void check(size_t i, double compute, double elements, double memory,
                  double layers) {
  struct dl_cpu_cost cost;
  dl_cpu_cost_of(constants, none, &cases[i], &cost);
  const double want[] = {compute, elements, memory, layers};
  const double got[] = {cost.compute_s, cost.elements_s, cost.memory_s,
                        cost.layers_s};
  double sum = 0;
  for (size_t k = 0; k < 4; k++) {
    assert_true(fabs(got[k] - want[k]) <= 1e-12);
    sum += want[k];
  }
  assert_true(fabs(cost.time_s - sum) <= 1e-12);
}

static void as_by_hand(void **state) {
  (void)state;
  check(0, 8e9 / (.8 * 10e12), 20 * 4e7 / 10e12, 1e8 / 32 / (.7 * 4e11), 0);
  check(1, 7.2e9 / (.4 * 160e12) + .8e9 / (.65 * 40e12), 20 * 1e7 / 10e12,
        2.5e7 / 32 / (.7 * 4e11), 0);
  check(2, 8e9 / (.8 * 10e12) / .9, 2 * 20 * 4e7 / 10e12, 1e8 / (.6 * 4e11),
        (50 * 1e-4 + 2e-3) / 10);
  check(3, (7.2e9 / (.4 * 160e12) + .8e9 / (.65 * 40e12)) / (1.25 * .9),
        1.5 * 20 * 1e7 / 10e12 / 1.25, 2.5e7 / 4 / (.6 * 4e11),
        (50 * 3e-5 + 2e-3) / 4);
}

static void derivatives_as_differences(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_gradient(&dl_cpu_physics, constants, none, &cases[i]);
    check_gradient(&dl_cpu_physics, constants, some, &cases[i]);
  }
}

/* A row as the fit reads it: INT8 on a CPU with tiles, with dot products, and
 * with neither. */
static void reads_rates(void **state) {
  struct dl_run run = dl_run_unknown;
  struct dl_accelerator cpu;
  struct dl_architecture arch;
  struct dl_cpu_inputs in;
  const struct dl_physics_row row = {&run, &cpu, &arch, {NAN, NAN, NAN, NAN}};
  (void)state;
  dl_descriptor_init(&cpu.head, DL_ACCELERATOR);
  dl_descriptor_init(&arch.head, DL_ARCHITECTURE);
  cpu.form = "socket";
  cpu.peak_fp32_tflops = 7;
  cpu.peak_int8_tops = 28;
  cpu.peak_int8_tensor_tops = 200;
  cpu.bandwidth_gb_s = 300;
  cpu.multiprocessors = 50;
  run.n_gpus = 2;
  run.cpu_cores = 25;
  run.batch_size = 8;
  run.macs_g = 4;
  run.acts_m = 10;
  run.params_m = 25;
  dl_run_lend_text(&run, DL_RUN_precision, "int8");
  dl_run_lend_text(&run, DL_RUN_stack, "mlperf");
  assert_null(dl_cpu_inputs_read(&row, &in));
  assert_int_equal(in.matrix_share, DL_CPU_AMX);
  assert_int_equal(in.vector_share, DL_CPU_VNNI);
  assert_true(fabs(in.matrix / 100e12 - 1) < 1e-12);
  assert_true(fabs(in.vector / 14e12 - 1) < 1e-12);
  assert_null(dl_cpu_inputs_check(&in));
  cpu.peak_int8_tensor_tops = NAN;
  dl_cpu_inputs_read(&row, &in);
  assert_int_equal(in.matrix_share, DL_CPU_VNNI);
  cpu.peak_int8_tops = NAN;
  dl_cpu_inputs_read(&row, &in);
  assert_int_equal(in.matrix_share, DL_CPU_AVX2);
  assert_true(fabs(in.matrix / 7e12 - 1) < 1e-12);
  cpu.bandwidth_gb_s = NAN;
  assert_string_equal(dl_cpu_inputs_read(&row, &in), "gpu.bandwidth_gb_s");
  in.bandwidth = 0;
  assert_string_equal(dl_cpu_inputs_check(&in), MSG_batch_work_activations);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_by_hand),
      cmocka_unit_test(derivatives_as_differences),
      cmocka_unit_test(reads_rates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
