/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the physics of language models reads of a run, by hand. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "physics/language/language_inputs.h"
#include "job_bench.h"

static int start(void **state) {
  struct bench *x = new_bench();

  take_shape(x, "transformer:layers=12,hidden=768,heads=12,ffn=3072,"
                "vocab=50257,seq=1024");
  x->gpu.peak_fp16_tensor_tflops = 125;
  x->gpu.peak_fp32_tflops = 15.7;
  x->gpu.bandwidth_gb_s = 900;
  x->gpu.tdp_w = 300;
  x->run.params_m = x->arch.params_m;
  x->run.macs_g = x->arch.macs_g;
  x->run.precision = DL_PRECISION_FP16;
  x->run.stack = "ngc";
  *state = x;
  return 0;
}

static struct dl_language_inputs inputs_of(struct bench *x) {
  const struct dl_physics_row row = {
      .run = &x->run, .gpu = &x->gpu, .arch = &x->arch};
  struct dl_language_inputs in;
  assert_null(dl_language_inputs_read(&row, &in));
  return in;
}

static double attention_passes(struct bench *x) {
  return inputs_of(x).attention_passes;
}

/* Three passes and half of one for the scores, in half of the time by kernels
 * of FlashAttention-2, "Ampere, Ada, or Hopper GPUs" (its README), and of
 * cuDNN, "compute capability 8.0 or later" (its guide): not on a V100 or T4. */
static void kernels_need_ampere(void **state) {
  struct bench *x = *state;

  x->run.attention = DL_ATTENTION_FLASH;
  assert_true(attention_passes(x) == 3.5);
  x->gpu.peak_bf16_tensor_tflops = 312;
  assert_true(attention_passes(x) == 3.5 / 2);
  x->run.stack = "tuned";
  assert_true(attention_passes(x) == 3.5);
  x->run.stack = "ngc";
  x->run.attention = DL_ATTENTION_EAGER;
  assert_true(attention_passes(x) == 3);
}

/* An L40 and an L40S are the same chip: 142 multiprocessors, of which one does
 * 181.05e12 / 142 / 2490e6 = 512 FLOP a clock on the L40, 1,012 on the L40S. */
static void half_rate_tensor_cores_wait_less(void **state) {
  struct bench *x = *state;

  x->gpu.multiprocessors = 142;
  x->gpu.vendor = "nvidia";
  x->gpu.boost_mhz = 2490;
  x->gpu.peak_fp16_tensor_tflops = x->gpu.peak_bf16_tensor_tflops = 181.05;
  x->gpu.peak_fp8_tensor_tflops = 362.1;
  assert_near(inputs_of(x).peak, 1.3 * 181.05e12, 1e-12);
  assert_near(inputs_of(x).peak_16, 181.05e12, 1e-12);
  x->run.precision = DL_PRECISION_FP8;
  assert_near(inputs_of(x).peak, 362.1e12, 1e-12);
  x->run.precision = DL_PRECISION_FP16;
  x->gpu.boost_mhz = 2520;
  x->gpu.peak_fp16_tensor_tflops = x->gpu.peak_bf16_tensor_tflops = 362.05;
  assert_near(inputs_of(x).peak, 362.05e12, 1e-12);
  x->gpu.boost_mhz = 2490;
  x->gpu.vendor = "amd";
  x->gpu.peak_fp16_tensor_tflops = x->gpu.peak_bf16_tensor_tflops = 181.05;
  assert_near(inputs_of(x).peak, 181.05e12, 1e-12);
  x->gpu.vendor = "nvidia";
  x->gpu.boost_mhz = NAN;
  x->gpu.peak_fp16_tensor_tflops = x->gpu.peak_bf16_tensor_tflops = 181.05;
  assert_near(inputs_of(x).peak, 181.05e12, 1e-12);
}

/* Products of 768 in and 768 out for queries, keys, values and output, of 768
 * and 3072 either way in the feed-forward part: 12 x (4 x 1536 + 2 x 3840)
 * values. NVIDIA's containers adapt 768 to 3 x 768 and 768 to 768. */
static void adapters_by_software(void **state) {
  struct bench *x = *state;

  assert_true(inputs_of(x).adapted == 0);
  x->run.fine_tune = DL_TUNE_LORA;
  x->run.lora_rank = 8;
  assert_true(inputs_of(x).adapted == 12 * (4 * 768 + 2 * 768));
  assert_true(inputs_of(x).trained == 8 * 12 * 6 * 768);
  x->run.stack = "tuned";
  assert_true(inputs_of(x).adapted == 12 * (4 * 1536 + 2 * 3840));
}

/* Software that is not known is plain on one GPU, and less so on more. */
static void plain_software_by_gpus(void **state) {
  struct bench *x = *state;

  x->run.stack = NULL;
  assert_true(inputs_of(x).untuned == 1);
  x->run.n_gpus = 8;
  assert_true(inputs_of(x).untuned == 1. / 8);
  x->run.stack = "transformers";
  assert_true(inputs_of(x).untuned == 1 && !inputs_of(x).unknown);
  x->run.stack = "tuned";
  assert_true(inputs_of(x).untuned == 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(kernels_need_ampere), TEST(half_rate_tensor_cores_wait_less),
      TEST(adapters_by_software), TEST(plain_software_by_gpus)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
