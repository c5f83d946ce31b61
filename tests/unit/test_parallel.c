/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data parallelism against what can be worked out by hand. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimate/node/parallel.h"
#include "unit.h"

/* 100 MB over 10 GB/s: 8 GB/s are reached, four buckets. */
static const struct dl_parallel usual = {.n = 4,
                                         .step_s = 0.03,
                                         .bytes = 100e6,
                                         .link_gb_s = 10,
                                         .busy_w = 300,
                                         .idle_w = 60};

static void one_gpu(void **state) {
  struct dl_parallel p = usual;
  struct dl_parallel_step s;

  (void)state;
  p.n = 1;
  for (int strong = 0; strong < 2; strong++) {
    p.strong = strong;
    dl_parallel_of(&p, &s);
    assert_true(s.step_s == 0.03 && s.comm_s == 0 && s.share == 0);
    assert_near(s.energy_j, 9, 1e-15);
    assert_near(s.power_w, 300, 1e-15);
    assert_true(s.extra == 0);
  }
}

/* 2 x 3/4 x 100 MB / 8 GB/s + 6 x 10 us x 4 = 18.99 ms, half of it hidden. */
static void ring(void **state) {
  struct dl_parallel_step s;
  const double comm = 0.01875 + 0.00024;

  (void)state;
  dl_parallel_of(&usual, &s);
  assert_near(s.comm_s, comm, 1e-14);
  assert_near(s.wait_s, comm / 2, 1e-14);
  assert_near(s.step_s, 0.03 + comm / 2, 1e-14);
  assert_near(s.share, comm / 2 / (0.03 + comm / 2), 1e-14);
  assert_near(s.energy_j, 4 * (0.03 * 300 + comm / 2 * 60), 1e-14);
  assert_near(s.power_w, s.energy_j / s.step_s, 1e-15);
}

/* The exchange is hidden no longer than the backward pass lasts. */
static void short_steps(void **state) {
  struct dl_parallel p = usual;
  struct dl_parallel_step s;

  (void)state;
  p.step_s = 0.003;
  dl_parallel_of(&p, &s);
  assert_near(s.wait_s, 0.01899 - 0.002, 1e-13);
  p.step_s = 0;
  dl_parallel_of(&p, &s);
  assert_near(s.step_s, s.comm_s, 1e-15);
  assert_near(s.share, 1, 1e-15);
}

/* A free exchange of nothing: time as for one, energy n times. */
static void ideal(void **state) {
  struct dl_parallel p = usual;
  struct dl_parallel_step s;

  (void)state;
  p.link_gb_s = INFINITY;
  dl_parallel_of(&p, &s);
  assert_near(s.comm_s, 0.00024, 1e-14); /* messages still take time */
  p.bytes = 0;
  dl_parallel_of(&p, &s);
  assert_true(s.step_s == 0.03 && s.share == 0 && s.extra == 0);
  assert_near(s.energy_j, 36, 1e-15);
}

/* Weak: the step's own time stays, the ring tends to 2 bytes / link. */
static void weak(void **state) {
  struct dl_parallel p = usual;
  struct dl_parallel_step s;
  double before = 0;

  (void)state;
  for (p.n = 2; p.n <= 1024; p.n *= 2) {
    dl_parallel_of(&p, &s);
    assert_near(s.step_s - s.wait_s, 0.03, 1e-14);
    assert_true(s.comm_s > before);
    before = s.comm_s;
  }
  p.bytes = 2e6;
  p.n = 1e4;
  dl_parallel_of(&p, &s);
  assert_near(s.comm_s - 2 * 9999 * 1e-5, 2 * 2e6 / 8e9, 2e-4);
}

/* Strong: without an exchange 1 / n of the time; with one, what is fixed and
 * the exchange remain. */
static void strong(void **state) {
  struct dl_parallel p = usual;
  struct dl_parallel_step s;

  (void)state;
  p.strong = true;
  p.bytes = 0;
  dl_parallel_of(&p, &s);
  assert_near(s.step_s, 0.0075, 1e-15);
  assert_near(s.energy_j, 9, 1e-15);
  p.fixed_s = 0.01;
  dl_parallel_of(&p, &s);
  assert_near(s.step_s, 0.015, 1e-15);
  p.fixed_s = 0;
  p.bytes = 100e6;
  p.link_gb_s = 1;
  p.n = 512;
  dl_parallel_of(&p, &s);
  assert_true(s.step_s > 0.03); /* slower than one GPU */
  assert_true(s.share > 0.99);
}

/* The bounds that the extra covers: free, and unhidden at half the speed. */
static void extra(void **state) {
  struct dl_parallel p = usual;
  struct dl_parallel_step s;
  const double worst = 0.03 + 2 * 0.01875 + 0.00024, step = 0.03 + 0.009495;

  (void)state;
  dl_parallel_of(&p, &s);
  assert_near(s.extra, worst / step - 1, 1e-13);
  assert_true(0.03 >= s.step_s * (1 - s.extra));
  p.link_gb_s = NAN;
  dl_parallel_of(&p, &s);
  assert_true(isnan(s.extra));
}

static void of_a_job(void **state) {
  struct dl_accelerator gpu = {.head.kind = DL_ACCELERATOR};
  struct dl_architecture arch = {.head.kind = DL_ARCHITECTURE};
  struct dl_run run = dl_run_unknown;
  struct dl_job job = {.run = &run};
  struct dl_parallel p;
  bool assumed;

  (void)state;
  run.n_gpus = 8;
  run.params_m = 25;
  gpu.link_gb_s = 300;
  arch.head_params_m = 2;
  job.found.arch = &arch;
  job.found.gpu = &gpu;
  dl_parallel_job(&job, &p, &assumed);
  assert_true(p.n == 8 && !p.strong && p.link_gb_s == 300 && !assumed);
  assert_near(p.bytes, 100e6, 1e-15);
  assert_true(isnan(p.step_s) && isnan(p.busy_w) && isnan(p.idle_w));
  run.precision = DL_PRECISION_AMP;
  run.scaling = DL_SCALE_STRONG;
  run.frozen_base = 1;
  gpu.link_gb_s = NAN;
  dl_parallel_job(&job, &p, &assumed);
  assert_true(p.strong && assumed);
  assert_near(p.link_gb_s, 15.8, 1e-15);
  assert_near(p.bytes, 4e6, 1e-15);
  run.precision = DL_PRECISION_FP8; /* no gradient is sent in a byte, */
  dl_parallel_job(&job, &p, &assumed);
  assert_near(p.bytes, 4e6, 1e-15);
  run.precision = DL_PRECISION_FP64; /* and none in eight */
  dl_parallel_job(&job, &p, &assumed);
  assert_near(p.bytes, 8e6, 1e-15);
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
      cmocka_unit_test(one_gpu),     cmocka_unit_test(ring),
      cmocka_unit_test(short_steps), cmocka_unit_test(ideal),
      cmocka_unit_test(weak),        cmocka_unit_test(strong),
      cmocka_unit_test(extra),       cmocka_unit_test(of_a_job),
      cmocka_unit_test(batches),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
