/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Experts divided among GPUs: memory and bytes of a step, by hand. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimate/node/peak_memory.h"
#include "physics/language/language_inputs.h"
#include "job_bench.h"

/* The shape of Mixtral 8x7B (arXiv 2401.04088), and weights of its experts: 3
 * matrices each. */
#define MIXTRAL                                                                \
  "transformer:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,experts=8," \
  "active_experts=2,gated=1,vocab=32000,seq=4096"
#define EXPERTS (32 * 8 * 3 * 4096 * 14336.)

/* Sequences of 4,096 tokens on GPUs of which 8 are joined by NVLink at 200
 * GB/s, and nodes at 400 Gbit/s per GPU. */
static int start(void **state) {
  struct bench *x = new_bench();

  take_shape(x, MIXTRAL);
  x->gpu.memory_gb = 80;
  x->gpu.peak_bf16_tensor_tflops = 989;
  x->gpu.peak_fp32_tflops = 60;
  x->gpu.bandwidth_gb_s = 3350;
  x->gpu.tdp_w = 700;
  x->gpu.link_gb_s = 200;
  x->gpu.link_domain = 8;
  x->run.params_m = x->arch.params_m;
  x->run.acts_m = x->arch.acts_m;
  x->run.macs_g = x->arch.macs_g;
  x->run.precision = DL_PRECISION_BF16;
  x->run.attention = DL_ATTENTION_FLASH;
  x->run.n_gpus = 64;
  x->run.batch_size = 1;
  x->run.network_gbps = 400;
  x->job = (struct dl_job){.run = &x->run,
                           .seq_len = 4096,
                           .found = {.arch = &x->arch, .gpu = &x->gpu}};
  *state = x;
  return 0;
}

/* 2 bytes of a weight, 2 of its gradient and 12 of the optimizer: experts on 8
 * of 64 GPUs, of which ZeRO divides the rest among the 8 that have the same. */
static void memory(void **state) {
  struct bench *x = *state;
  struct dl_memory_need m;
  double all = 1e6 * x->arch.params_m, dense = all - EXPERTS;
  double own = dense + EXPERTS / 8;
  const struct {
    const char *sharding;
    double bytes;
  } cases[] = {
      {"ddp", 16 * own},
      {"zero1", 4 * own + 12 * (dense / 64 + EXPERTS / 8 / 8)},
      {"zero2", 2 * own + 14 * (dense / 64 + EXPERTS / 8 / 8)},
      {"zero3", 16 * (dense / 64 + EXPERTS / 8 / 8)},
  };

  x->run.expert_parallel = 8;
  for (size_t i = 0; i < COUNT(cases); i++) {
    dl_run_lend_text(&x->run, DL_RUN_sharding, cases[i].sharding);
    dl_memory_of(&x->job, &m);
    assert_near(m.states_gb, cases[i].bytes / 1e9, 1e-9);
  }
  /* A pipeline of 4 leaves 16 copies, of which 2 have the same experts. */
  x->run.sharding = DL_SHARDING_ZERO1;
  x->run.pipeline_parallel = 4;
  dl_memory_of(&x->job, &m);
  assert_near(m.states_gb, (4 * own + 12 * all / 16) / 4 / 1e9, 1e-9);
  /* Frozen weights of 2 bytes; there is one adapter a layer, not divided. */
  x->run.pipeline_parallel = 1;
  x->run.fine_tune = DL_TUNE_LORA;
  x->run.lora_rank = 16;
  dl_memory_of(&x->job, &m);
  double trained = 16 * 32 * (4096 * 6 + 2 * 1024. + 3 * (4096 + 14336.));
  assert_near(m.states_gb, (2 * own + trained * (4 + 12 / 64.)) / 1e9, 1e-9);
}

static void read_inputs(struct bench *x, struct dl_language_inputs *in) {
  const struct dl_physics_row row = {
      .run = &x->run, .gpu = &x->gpu, .arch = &x->arch};
  assert_null(dl_language_inputs_read(&row, in));
  assert_null(dl_language_inputs_check(in));
}

/* Seconds of exchange of a step, where all constants are 1 but those of
 * collectives' latency, which is next to none. */
static double exchange_s(const struct dl_language_inputs *in) {
  double c[DL_N_LANGUAGE], fx[DL_N_LANGUAGE_EFFECTS] = {0};
  struct dl_language_cost cost;
  for (size_t i = 0; i < DL_N_LANGUAGE; i++)
    c[i] = 1;
  c[DL_LANG_ALPHA] = 1e-30;
  dl_language_cost_of(c, fx, in, &cost);
  return cost.exchange;
}

/* All-to-all within a node: 7 of 8 of the 2 copies of a token's 4,096 values of
 * 2 bytes leave the GPU, to the experts and back in both passes, in 32 layers.
 * Gradients: 2 (n - 1) / n times the dense part, and of own experts. */
static void exchange_in_a_node(void **state) {
  struct bench *x = *state;
  struct dl_language_inputs in;
  double dense = 1e6 * x->arch.params_m - EXPERTS;
  double sent = 4 * 32 * 4096 * 2 * 4096. * 2 * 7 / 8;

  x->run.expert_parallel = 8;
  x->run.sharding = DL_SHARDING_ZERO1;
  read_inputs(x, &in);
  assert_true(in.to_members == 2 * 7 / 8. && in.to_nodes == 0);
  /* Eight adapters share the dense gradients; their 400 GB/s are more than the
   * link has. Experts of 8 nodes have an adapter each. */
  double reduced =
      2 * 63 / 64. * 2 * dense / 200e9 + 2 * 7 / 8. * 2 * EXPERTS / 8 / 50e9;
  assert_near(exchange_s(&in), sent / 200e9 + reduced, 1e-9);
  /* On one node nothing but the dense gradients is summed up. */
  x->run.n_gpus = 8;
  read_inputs(x, &in);
  assert_near(exchange_s(&in), sent / 200e9 + 2 * 7 / 8. * 2 * dense / 200e9,
              1e-9);
  /* A pass more to the experts and back. */
  x->run.checkpointing = DL_CHECKPOINT_FULL;
  read_inputs(x, &in);
  assert_near(exchange_s(&in),
              1.5 * sent / 200e9 + 2 * 7 / 8. * 2 * dense / 200e9, 1e-9);
}

/* 4 of the 8 GPUs in each of two nodes (layers are divided by 2): a token's 2
 * experts are both on its own node with the odds 4/8 x 3/7. */
static void exchange_between_nodes(void **state) {
  struct bench *x = *state;
  struct dl_language_inputs in;
  double dense = 1e6 * x->arch.params_m - EXPERTS;
  double of_token = 4 * 32 * 2 * 4096. / 2, beyond = 1 - 4 / 8. * 3 / 7.;

  x->run.expert_parallel = 8;
  x->run.tensor_parallel = 2;
  x->run.n_gpus = 16;
  read_inputs(x, &in);
  assert_true(in.members == 4);
  assert_true(in.to_members == 2 * 3 / 4.);
  assert_true(fabs(in.to_nodes - beyond) < 1e-12);
  double link = 4096 * of_token * 1.5 / 200e9;
  double network = 4096 * of_token * beyond / 50e9;
  double sent = pow(pow(link, 4) + pow(network, 4), .25);
  /* Four all-reduces a layer among two GPUs. */
  double tensor = 4 * 32 * 2 * 2 * 4096. * 4096 / 2 / 200e9;
  double reduced = 2 * 7 / 8. * 2 * dense / 2 / 200e9;
  assert_near(exchange_s(&in), sent + tensor + reduced, 1e-9);
}

/* ZeRO-3 gathers the weights of dense layers on all GPUs, those of experts on
 * the 8 that have the same ones. */
static void gathers(void **state) {
  struct bench *x = *state;
  struct dl_language_inputs in;
  double dense = 1e6 * x->arch.params_m - EXPERTS;
  double sent = 4 * 32 * 4096 * 2 * 4096. * 2 * 7 / 8;

  x->run.expert_parallel = 8;
  x->run.sharding = DL_SHARDING_ZERO3;
  read_inputs(x, &in);
  assert_near(exchange_s(&in),
              sent / 200e9 + 63 / 64. * 2 * 3 * dense / 200e9 +
                  7 / 8. * 2 * 3 * EXPERTS / 8 / 50e9,
              1e-9);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(memory),
      TEST(exchange_in_a_node),
      TEST(exchange_between_nodes),
      TEST(gathers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
