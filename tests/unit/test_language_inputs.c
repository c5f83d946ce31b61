/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the physics of language models reads of a run, by hand. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

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
  x->run.precision = "fp16";
  x->run.stack = "ngc";
  *state = x;
  return 0;
}

static double attention_passes(struct bench *x) {
  const struct dl_physics_row row = {
      .run = &x->run, .gpu = &x->gpu, .arch = &x->arch};
  struct dl_language_inputs in;
  assert_null(dl_language_inputs_read(&row, &in));
  return in.attention_passes;
}

/* Three passes and half of one for the scores, in half of the time by kernels
 * of FlashAttention-2, "Ampere, Ada, or Hopper GPUs" (its README), and of
 * cuDNN, "compute capability 8.0 or later" (its guide): not on a V100 or T4. */
static void kernels_need_ampere(void **state) {
  struct bench *x = *state;

  x->run.attention = "flash";
  assert_true(attention_passes(x) == 3.5);
  x->gpu.peak_bf16_tensor_tflops = 312;
  assert_true(attention_passes(x) == 3.5 / 2);
  x->run.stack = "eager";
  assert_true(attention_passes(x) == 3.5);
  x->run.stack = "ngc";
  x->run.attention = "eager";
  assert_true(attention_passes(x) == 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void) {
  const struct CMUnitTest tests[] = {TEST(kernels_need_ampere)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
