/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data parallelism against what can be worked out by hand. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimate/node/parallel.h"
#include "unit.h"

/* 100 MB over 10 GB/s by 4 GPUs: 8 GB/s are reached, in four buckets. 2 x 3/4 x
 * 100 MB / 8 GB/s + 6 x 10 us x 4 = 18.99 ms. */
#define RING_S (0.01875 + 0.00024)

static void ring(void **state) {
  (void)state;
  assert_near(dl_ring_s(4, 100e6, 10), RING_S, 1e-14);
  assert_true(dl_ring_s(1, 100e6, 10) == 0);
  assert_near(dl_ring_s(4, 100e6, INFINITY), 0.00024, 1e-14);
  assert_true(dl_ring_s(4, 0, INFINITY) == 0);
  assert_true(isnan(dl_ring_s(4, 100e6, NAN)));
}

/* Half of the exchange is hidden, no longer than the backward pass lasts. */
static void waits(void **state) {
  (void)state;
  assert_near(dl_ring_wait_s(RING_S, 0.03), RING_S / 2, 1e-14);
  assert_near(dl_ring_wait_s(RING_S, 0.003), RING_S - 0.002, 1e-13);
  assert_near(dl_ring_wait_s(RING_S, 0), RING_S, 1e-15);
  assert_true(dl_ring_wait_s(0, 0.03) == 0);
}

/* The ring tends to 2 bytes / link, and messages that grow with the GPUs. */
static void many_gpus(void **state) {
  double before = 0;

  (void)state;
  for (double n = 2; n <= 1024; n *= 2) {
    assert_true(dl_ring_s(n, 100e6, 10) > before);
    before = dl_ring_s(n, 100e6, 10);
  }
  assert_near(dl_ring_s(1e4, 2e6, 10) - 2 * 9999 * 1e-5, 2 * 2e6 / 8e9, 2e-4);
}

static void of_a_job(void **state) {
  struct dl_accelerator gpu = {.head.kind = DL_ACCELERATOR};
  struct dl_architecture arch = {.head.kind = DL_ARCHITECTURE};
  struct dl_run run = dl_run_unknown;
  struct dl_job job = {.run = &run};
  struct dl_exchange e;

  (void)state;
  run.n_gpus = 1;
  run.params_m = 25;
  gpu.link_gb_s = 300;
  gpu.link_domain = NAN;
  arch.head_params_m = 2;
  job.found.arch = &arch;
  job.found.gpu = &gpu;
  dl_exchange_of(&job, &e);
  assert_true(isnan(e.link_gb_s) && isnan(e.bytes) && isnan(e.ring_s));
  run.n_gpus = 8;
  dl_exchange_of(&job, &e);
  assert_true(e.link_gb_s == 300 && !e.link_assumed);
  assert_near(e.bytes, 100e6, 1e-15);
  assert_near(e.ring_s, dl_ring_s(8, 100e6, 300), 1e-15);
  assert_true(isnan(e.share)); /* the work of a step is not known */
  run.precision = DL_PRECISION_AMP;
  run.scaling = DL_SCALE_STRONG;
  run.frozen_base = 1;
  gpu.link_gb_s = NAN;
  dl_exchange_of(&job, &e);
  assert_true(e.link_assumed);
  assert_near(e.link_gb_s, 15.8, 1e-15);
  assert_near(e.bytes, 4e6, 1e-15);
  run.precision = DL_PRECISION_FP8; /* no gradient is sent in a byte, */
  dl_exchange_of(&job, &e);
  assert_near(e.bytes, 4e6, 1e-15);
  run.precision = DL_PRECISION_FP64; /* and none in eight */
  dl_exchange_of(&job, &e);
  assert_near(e.bytes, 8e6, 1e-15);
}

static void batches(void **state) {
  (void)state;
  assert_true(dl_parallel_batch(256, 4, false) == 256);
  assert_true(dl_parallel_batch(256, 4, true) == 64);
  assert_true(dl_parallel_batch(10, 4, true) == 3);
  assert_true(dl_parallel_batch(2, 4, true) == 1);
  assert_true(isnan(dl_parallel_batch(NAN, 4, false)));
  assert_true(isnan(dl_parallel_batch(NAN, 4, true)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ring),      cmocka_unit_test(waits),
      cmocka_unit_test(many_gpus), cmocka_unit_test(of_a_job),
      cmocka_unit_test(batches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
