/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of jobs, by hand. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimate/methods/work.h"
#include "job_bench.h"

/* The shape of by_hand in test_transformer.c: a token takes 1664 MACs and 32
 * for each that it attends to, of which 32 elements are kept; 1888 weights are
 * read in a step. */
#define SMALL "transformer:layers=2,hidden=8,heads=2,vocab=16,seq=16"

static int start(void **state) {
  struct bench *x = new_bench();

  x->run.efficiency = 0.5;
  x->run.peak_tflops = 0.01;
  x->job = (struct dl_job){.run = &x->run,
                           .val_samples = NAN,
                           .epochs = NAN,
                           .train_samples = NAN,
                           .bandwidth_gb_s = 1};
  *state = x;
  return 0;
}

static void take(struct bench *x, const char *text) {
  take_shape(x, text);
  x->job.found.arch = &x->arch;
  x->run.macs_g = x->arch.macs_g;
}

static void training(void **state) {
  struct bench *x = *state;
  struct dl_work w;

  x->run.macs_g = 2;
  dl_work_of(&x->job, &w);
  assert_string_equal(w.lacks, "train_samples");
  x->job.train_samples = 10;
  x->job.val_samples = 5;
  dl_work_of(&x->job, &w);
  assert_string_equal(w.lacks, "epochs");
  x->job.epochs = 7;
  dl_work_of(&x->job, &w);
  assert_null(w.lacks);
  assert_false(w.inference);
  assert_near(w.flop, 4e9 * 35 * 7, 1e-15);
  assert_near(w.duration_s, 4e9 * 35 * 7 / 5e9, 1e-15);
  x->run.frozen_base = 1;
  x->run.n_gpus = 2;
  dl_work_of(&x->job, &w);
  assert_near(w.duration_s, 4e9 * 15 * 7 / 1e10, 1e-15);
}

/* Ten tokens in, three out, four requests at once. */
static void ask(struct bench *x) {
  take(x, SMALL);
  x->run.phase = DL_PHASE_INFERENCE;
  x->run.precision = DL_PRECISION_FP16;
  x->run.prompt_tokens = 10;
  x->run.output_tokens = 3;
  x->run.requests = x->run.batch_size = 4;
}

static void prefill_and_decode(void **state) {
  struct bench *x = *state;
  struct dl_work w;

  ask(x);
  dl_work_of(&x->job, &w);
  assert_null(w.lacks);
  assert_true(w.inference && w.writes);
  assert_near(w.prefill_flop, 4 * 2 * (10 * 1664 + 32 * 100), 1e-15);
  assert_near(w.prefill_s, w.prefill_flop / 5e9, 1e-15);
  assert_near(w.decode_flop, 4 * 2 * (3 * 1664 + 32 * (11 + 12 + 13)), 1e-15);
  assert_near(w.decode_bytes, 3 * 2 * 1888 + 4 * 2 * 32 * 36, 1e-15);
  /* 5 GFLOP/s, 1 GB/s: memory takes longer */
  assert_near(w.decode_s, w.decode_bytes / 1e9, 1e-14);
  assert_near(w.duration_s, w.prefill_s + w.decode_s, 1e-15);
  assert_near(w.flop, w.prefill_flop + w.decode_flop, 1e-15);
  x->run.n_gpus = 2;
  dl_work_of(&x->job, &w);
  assert_near(w.decode_s, w.decode_bytes / 2e9, 1e-14);
}

static void decode_bound_by_rate(void **state) {
  struct bench *x = *state;
  struct dl_work w;

  ask(x);
  x->run.peak_tflops = 2e-3;
  dl_work_of(&x->job, &w);
  assert_near(w.decode_s, w.decode_flop / 1e9, 1e-14);
  /* At 2.4 GFLOP/s step 1 takes 16128 FLOPs, 6592 bytes; step 2 16384, 6848;
   * step 3 16640, 7104: only the first is bound by the rate. */
  x->run.peak_tflops = 4.8e-3;
  dl_work_of(&x->job, &w);
  assert_near(w.decode_s, 16128 / 2.4e9 + (6848 + 7104) / 1e9, 1e-14);
}

/* Requests that do not fill the batch go alone; twice as many go in turns. */
static void batches(void **state) {
  struct bench *x = *state;
  struct dl_work four, w;

  ask(x);
  dl_work_of(&x->job, &four);
  x->run.batch_size = 100;
  dl_work_of(&x->job, &w);
  assert_near(w.decode_s, four.decode_s, 1e-15);
  x->run.batch_size = 4;
  x->run.requests = 8;
  dl_work_of(&x->job, &w);
  assert_near(w.decode_s, 2 * four.decode_s, 1e-15);
  x->run.batch_size = NAN;
  x->run.requests = 1;
  dl_work_of(&x->job, &w);
  assert_near(w.decode_bytes, 3 * 2 * 1888 + 2 * 32 * 36, 1e-15);
  x->run.output_tokens = 0;
  dl_work_of(&x->job, &w);
  assert_true(w.decode_s == 0 && w.decode_flop == 0);
}

/* Two requests that each take one of four experts read 7 of 16 parts of them:
 * 2 layers x 4 x 3 x 8 x 20 weights. The rest: attention 2 x 256, routers
 * 2 x 32, norms 5 x 8, output 128. */
static void experts(void **state) {
  struct bench *x = *state;
  struct dl_work w;

  ask(x);
  take(x, SMALL ",ffn=20,experts=4,active_experts=1");
  x->run.output_tokens = 1;
  x->run.requests = 2;
  dl_work_of(&x->job, &w);
  double read = 2 * 4 * 480 * 7. / 16 + 512 + 64 + 40 + 128;
  assert_near(w.decode_bytes, 2 * read + 2 * 2 * 32 * 11, 1e-15);
}

static void what_is_missing(void **state) {
  struct bench *x = *state;
  struct dl_work w;

  ask(x);
  x->run.requests = NAN;
  dl_work_of(&x->job, &w);
  assert_string_equal(w.lacks, "requests");
  x->run.requests = 4;
  x->run.output_tokens = NAN;
  dl_work_of(&x->job, &w);
  assert_string_equal(w.lacks, "output_tokens");
  assert_true(isnan(w.duration_s));
  x->run.prompt_tokens = NAN;
  dl_work_of(&x->job, &w);
  assert_string_equal(w.lacks, "prompt_tokens");
  ask(x);
  x->job.bandwidth_gb_s = NAN;
  dl_work_of(&x->job, &w);
  assert_string_equal(w.lacks, "gpu.bandwidth_gb_s");
  x->job.bandwidth_gb_s = 1;
  x->job.found.arch = NULL;
  x->run.macs_g = NAN;
  dl_work_of(&x->job, &w);
  assert_string_equal(w.lacks, "macs_g");
}

/* What writes nothing has forward passes alone. */
static void forward_passes(void **state) {
  struct bench *x = *state;
  struct dl_work w;

  x->run.phase = DL_PHASE_INFERENCE;
  x->run.macs_g = 4;
  x->run.requests = 1000;
  dl_work_of(&x->job, &w);
  assert_null(w.lacks);
  assert_false(w.writes);
  assert_near(w.flop, 8e12, 1e-15);
  assert_near(w.duration_s, 1600, 1e-15);
}

/* NVIDIA A100 data sheet: 19.5 FP32, 156 TF32, 312 FP16, 624 INT8. */
static void peaks(void **state) {
  static const struct {
    const char *precision;
    double peak, bytes;
  } cases[] = {{NULL, 78, 4},    {"fp32", 19.5, 4}, {"tf32", 78, 4},
               {"fp16", 312, 2}, {"amp", 312, 2},   {"bf16", 312, 2},
               {"int8", 624, 1}, {"fp8", 312, 1},   {"fp4", 312, 0.5625},
               {"fp64", 78, 8}};
  struct bench *x = *state;

  x->gpu.peak_fp32_tflops = 19.5;
  x->gpu.peak_tf32_tflops = 156;
  x->gpu.peak_fp16_tensor_tflops = 312;
  x->gpu.peak_bf16_tensor_tflops = 312;
  x->gpu.peak_int8_tensor_tops = 624;
  x->job.found.gpu = &x->gpu;
  for (size_t i = 0; i < COUNT(cases); i++) {
    dl_run_lend_text(&x->run, DL_RUN_precision, cases[i].precision);
    x->run.peak_tflops = 78;
    x->job.peak_given = false;
    assert_true(dl_work_peak_tflops(&x->job) == cases[i].peak);
    assert_true(dl_work_bytes(&x->job) == cases[i].bytes);
    x->run.peak_tflops = 50;
    x->job.peak_given = true;
    assert_true(dl_work_peak_tflops(&x->job) == 50);
  }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(training),       TEST(prefill_and_decode),
      TEST(batches),        TEST(decode_bound_by_rate),
      TEST(experts),        TEST(what_is_missing),
      TEST(forward_passes), TEST(peaks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
