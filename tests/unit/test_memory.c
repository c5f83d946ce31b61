/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of jobs, by hand and against a published formula. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimate/node/memory_remedy.h"
#include "estimate/node/peak_memory.h"
#include "job_bench.h"

/* A GPU of which programs can use so many 1e9 bytes: CUDA reports .987 of the
 * GiB, a context takes half a GB. */
static void holds(struct bench *x, double usable) {
  x->gpu.memory_gb = (usable + 0.5) / (0.987 * 1.073741824);
}

/* A network of images: 100 M parameters, 10 M activations, a head of 10 M, on
 * 24 GB. */
static int start(void **state) {
  struct bench *x = new_bench();

  holds(x, 24);
  x->arch.head_params_m = 10;
  x->run.batch_size = 32;
  x->run.params_m = 100;
  x->run.acts_m = 10;
  x->job = (struct dl_job){.run = &x->run,
                           .found = {.arch = &x->arch, .gpu = &x->gpu}};
  *state = x;
  return 0;
}

static void take(struct bench *x, const char *text) {
  take_shape(x, text);
  x->run.params_m = x->arch.params_m;
  x->run.acts_m = x->arch.acts_m;
  x->job.seq_len = x->arch.seq_len;
}

/* 16 bytes a parameter, 2.97 x 4 an activation and sample; in 16 bits 2.2 x 2.
 */
static void training(void **state) {
  struct bench *x = *state;
  struct dl_memory_need m;

  dl_memory_of(&x->job, &m);
  assert_near(m.model_gb, 1.6, 1e-14);
  assert_near(m.sample_gb, 0.1188, 1e-14);
  assert_near(m.need_gb, 1.6 + 32 * 0.1188, 1e-14);
  assert_false(m.over);
  assert_true(m.fits == 160); /* (24 - 1.6) / 0.1188 = 188.6 */
  x->run.batch_size = 256;
  dl_memory_of(&x->job, &m);
  assert_true(m.over);
}

/* CUDA reports 79.15 GiB of an A100-80GB, 14.75 of a T4 with ECC. */
static void usable(void **state) {
  struct bench *x = *state;

  x->gpu.memory_gb = 80;
  assert_near(dl_usable_gb(&x->gpu), 79.15 * 1.0737 - 0.5, 5e-3);
  x->gpu.memory_gb = 16;
  x->gpu.ecc_share = 0.0625;
  assert_near(dl_usable_gb(&x->gpu), 14.75 * 1.0737 - 0.5, 5e-3);
  assert_true(isnan(dl_usable_gb(NULL)));
}

static void precisions(void **state) {
  static const struct {
    const char *name;
    double model, sample;
  } cases[] = {{"fp32", 1.6, 0.1188}, {"tf32", 1.6, 0.1188},
               {"amp", 1.8, 0.044},   {"fp16", 1.8, 0.044},
               {"bf16", 1.8, 0.044},  {"fp8", 1.8, 0.044},
               {"fp64", 3.2, 0.2376}};
  struct bench *x = *state;
  struct dl_memory_need m;

  for (size_t i = 0; i < COUNT(cases); i++) {
    dl_run_lend_text(&x->run, DL_RUN_precision, cases[i].name);
    dl_memory_of(&x->job, &m);
    assert_near(m.model_gb, cases[i].model, 1e-14);
    assert_near(m.sample_gb, cases[i].sample, 1e-14);
  }
  x->run.precision = DL_PRECISION_INT8;
  dl_memory_of(&x->job, &m);
  assert_true(isnan(m.need_gb) && !m.over);
}

/* All weights, 12 bytes more for those of the head, a quarter of the
 * activations. */
static void frozen(void **state) {
  struct bench *x = *state;
  struct dl_memory_need m;

  x->run.frozen_base = 1;
  dl_memory_of(&x->job, &m);
  assert_near(m.model_gb, 0.4 + 0.12, 1e-14);
  assert_near(m.sample_gb, 0.01, 1e-14);
}

static void inference(void **state) {
  struct bench *x = *state;
  struct dl_memory_need m;

  x->run.phase = DL_PHASE_INFERENCE;
  x->run.precision = DL_PRECISION_FP16;
  x->run.requests = 8; /* fewer than a batch */
  dl_memory_of(&x->job, &m);
  assert_near(m.model_gb, 0.2, 1e-14);
  assert_near(m.sample_gb, 0.005, 1e-14);
  assert_near(m.need_gb, 0.2 + 8 * 0.005, 1e-14);
}

/* 2 layers x 2 (keys, values) x 8 wide x (10 + 3) tokens. */
static void keys_and_values(void **state) {
  struct bench *x = *state;
  struct dl_memory_need m;

  take(x, "transformer:layers=2,hidden=8,heads=2,vocab=16,seq=16");
  x->run.phase = DL_PHASE_INFERENCE;
  x->run.requests = x->run.batch_size = 1;
  x->run.prompt_tokens = 10;
  x->run.output_tokens = 3;
  dl_memory_of(&x->job, &m);
  double with = m.need_gb;
  x->run.output_tokens = 0;
  dl_memory_of(&x->job, &m);
  assert_near(with - m.need_gb, 3 * 2 * 2 * 8 * 4 / 1e9, 1e-9);
}

/* Of a layer at a time: scores of 2 heads x 10 x 10 tokens, unless the kernel
 * does not store them. All else is the same. */
static void scores_of_prompts(void **state) {
  struct bench *x = *state;
  struct dl_memory_need m;

  take(x, "transformer:layers=2,hidden=8,heads=2,vocab=16,seq=16");
  x->run.phase = DL_PHASE_INFERENCE;
  x->run.precision = DL_PRECISION_BF16;
  x->run.requests = x->run.batch_size = 3;
  x->run.prompt_tokens = 10;
  x->run.output_tokens = 0;
  x->run.attention = DL_ATTENTION_EAGER;
  dl_memory_of(&x->job, &m);
  double eager = m.need_gb;
  x->run.attention = DL_ATTENTION_FLASH;
  dl_memory_of(&x->job, &m);
  assert_near(eager - m.need_gb, 3 * 2 * 10 * 10 * 2 / 1e9, 1e-9);
  /* Linear in the prompt: keys and values of 2 layers, 32 a token, and of a
   * layer 8 queries, 16 keys and values, 8 mixed values, 8 outputs, 32 + 8 of
   * the feed-forward part, half of the 16 logits. */
  assert_near(m.sample_gb, 10 * (32 + 80 + 8) * 2 / 1e9, 1e-9);
}

/* Korthikanti et al., arXiv 2205.05198, table 3: the models of 22 and 175
 * billion parameters; equation 2 has s b h L (34 + 5 a s / h) bytes. */
static void published(void **state) {
  static const struct {
    const char *shape;
    double layers, hidden, heads;
  } models[] = {
      {"transformer:layers=48,hidden=6144,heads=64,vocab=51200,seq=2048", 48,
       6144, 64},
      {"transformer:layers=96,hidden=12288,heads=96,vocab=51200,seq=2048", 96,
       12288, 96},
  };
  struct bench *x = *state;
  struct dl_memory_need m;

  x->run.precision = DL_PRECISION_AMP;
  for (size_t i = 0; i < COUNT(models); i++) {
    double h = models[i].hidden, s = 2048;
    take(x, models[i].shape);
    dl_memory_of(&x->job, &m);
    assert_near(m.sample_gb,
                s * h * models[i].layers * (34 + 5 * models[i].heads * s / h) /
                    1e9,
                0.02);
  }
}

/* Rajbhandari et al., arXiv 1910.02054, table 1 and figure 1: 7.5 billion
 * parameters on 64 GPUs, Adam in mixed precision. */
static void zero(void **state) {
  static const struct {
    const char *sharding;
    double gb;
  } cases[] = {{NULL, 120},
               {"ddp", 120},
               {"zero1", 31.4},
               {"zero2", 16.6},
               {"zero3", 1.88}};
  struct bench *x = *state;
  struct dl_memory_need m;

  take(x, "transformer:layers=32,hidden=4096,heads=32,vocab=32000,seq=1024");
  x->run.params_m = 7500;
  x->run.precision = DL_PRECISION_FP16;
  x->run.n_gpus = 64;
  for (size_t i = 0; i < COUNT(cases); i++) {
    dl_run_lend_text(&x->run, DL_RUN_sharding, cases[i].sharding);
    dl_memory_of(&x->job, &m);
    assert_near(m.states_gb, cases[i].gb, 0.01);
  }
  /* Tensor and pipeline parallelism divide all; 4 copies are left of 64. */
  x->run.tensor_parallel = 8;
  x->run.pipeline_parallel = 2;
  x->run.sharding = DL_SHARDING_ZERO1;
  dl_memory_of(&x->job, &m);
  assert_near(m.states_gb, (4 * 7.5 + 12 * 7.5 / 4) / 16, 1e-12);
}

/* Bytes of a trained parameter, for 1e9 of them. */
static void optimizers(void **state) {
  static const struct {
    const char *optimizer;
    double mixed, full;
  } cases[] = {{NULL, 16, 16},       {"adamw", 16, 16},   {"sgd", 12, 12},
               {"adam8bit", 10, 10}, {"adafactor", 8, 8}, {"lion", 16, 16}};
  struct bench *x = *state;
  struct dl_memory_need m;

  take(x, "transformer:layers=2,hidden=64,heads=2,vocab=16,seq=16");
  x->run.params_m = 1000;
  for (size_t i = 0; i < COUNT(cases); i++) {
    x->run.optimizer = cases[i].optimizer;
    x->run.precision = DL_PRECISION_BF16;
    dl_memory_of(&x->job, &m);
    assert_near(m.states_gb, cases[i].mixed, 1e-12);
    x->run.precision = DL_PRECISION_FP32;
    dl_memory_of(&x->job, &m);
    assert_near(m.states_gb, cases[i].full, 1e-12);
  }
}

/* 65 billion parameters in 4 bits, 3 % scales: Dettmers et al., arXiv
 * 2305.14314, fine-tune them on one GPU of 48 GB. Adapters of rank r beside a
 * product of m x n weights have r (m + n). */
static void adapters(void **state) {
  struct bench *x = *state;
  struct dl_memory_need m;
  double h = 8192, f = 22016, trained = 64 * 80 * (8 * h + 3 * (h + f));

  take(x, "transformer:layers=80,hidden=8192,heads=64,ffn=22016,vocab=32000,"
          "seq=512");
  holds(x, 51.5); /* a board of 48 GiB */
  x->run.params_m = 65200;
  x->run.precision = DL_PRECISION_BF16;
  x->run.fine_tune = DL_TUNE_QLORA;
  x->run.lora_rank = 64;
  x->run.batch_size = 1;
  x->run.attention = DL_ATTENTION_FLASH;
  x->run.checkpointing = DL_CHECKPOINT_FULL;
  dl_memory_of(&x->job, &m);
  /* Embedding, output layer and 161 norms stay in 16 bits; others
   * have 4, of each 64 a scale of 8, and of each 256 of these one of 32. */
  double plain = 2 * 32000 * h + 161 * h;
  double each = (4 + (8 + 32.0 / 256) / 64) / 8;
  assert_near(m.states_gb,
              (2 * plain + (65.2e9 - plain) * each + 16 * trained) / 1e9,
              1e-12);
  assert_false(m.over);
  x->run.fine_tune = DL_TUNE_LORA; /* in 16 bits: 130 GB */
  dl_memory_of(&x->job, &m);
  assert_near(m.states_gb, 65.2 * 2 + 16 * trained / 1e9, 1e-12);
  assert_true(m.over);
}

/* Weights of 4 bits: of an 8B with 128 k vocabulary the 1.05e9 of embedding and
 * output layer stay in 16, once where they are one; so do norms. Experts are
 * quantized. */
static void quantized_weights(void **state) {
  const double h = 4096, rows = 128256 * h, nf4 = 0.515869140625;
  const struct {
    const char *shape;
    double params, plain;
  } of[] = {{"transformer:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,"
             "vocab=128256,gated=1,seq=512",
             8030.26e6, 2 * rows + 65 * h},
            {"transformer:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,"
             "vocab=128256,gated=1,tied=1,seq=512",
             7504.9e6, rows + 65 * h},
            {"transformer:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,"
             "vocab=128256,gated=1,experts=8,active_experts=2,seq=512",
             47e9, 2 * rows + 65 * h}};
  struct bench *x = *state;
  for (size_t i = 0; i < DL_LENGTH(of); i++) {
    struct dl_memory_need m[2];
    take(x, of[i].shape);
    x->run.params_m = of[i].params / 1e6;
    x->run.precision = DL_PRECISION_BF16;
    x->run.lora_rank = 8;
    x->run.batch_size = 1;
    x->run.fine_tune = DL_TUNE_LORA;
    dl_memory_of(&x->job, &m[0]);
    x->run.fine_tune = DL_TUNE_QLORA;
    dl_memory_of(&x->job, &m[1]);
    double saved = (of[i].params - of[i].plain) * (2 - nf4) / 1e9;
    assert_near(m[0].states_gb - m[1].states_gb, saved, 1e-9);
  }
}

/* Korthikanti et al., arXiv 2205.05198, table 2: 34 s b h a layer where scores
 * are not kept, 2 s b h where only the layer's input is; logits of 4 bytes. */
static void checkpoints(void **state) {
  static const struct {
    const char *attention, *checkpointing;
    double bytes; /* by s h L */
  } cases[] = {{"flash", NULL, 34},
               {"eager", "selective", 34},
               {"eager", "full", 2 + 34.0 / 48 + 5 * 64 * 2048 / 6144.0 / 48},
               {"flash", "full", 2 + 34.0 / 48}};
  struct bench *x = *state;
  struct dl_memory_need m;

  take(x, "transformer:layers=48,hidden=6144,heads=64,vocab=51200,seq=2048");
  x->run.precision = DL_PRECISION_BF16;
  for (size_t i = 0; i < COUNT(cases); i++) {
    dl_run_lend_text(&x->run, DL_RUN_attention, cases[i].attention);
    dl_run_lend_text(&x->run, DL_RUN_checkpointing, cases[i].checkpointing);
    dl_memory_of(&x->job, &m);
    assert_near(m.sample_gb,
                (cases[i].bytes * 2048 * 6144 * 48 + 4.0 * 51200 * 2048) / 1e9,
                0.02);
  }
}

/* MMDetection freezes the stem (64 channels at half the size of the image) and
 * the first stage (three blocks of 64 + 64 + 256 and a shortcut of 256 at a
 * quarter). Of the rest, inputs of convolutions and of batch norms are kept.
 * Three gradients of 256 channels at a quarter begin the backward pass. */
static void frozen_stages(void **state) {
  struct bench *x = *state;
  struct dl_memory_need m;
  double px = 1000, frozen = 64 / 4.0 + (3 * 384 + 256) / 16.0;
  x->arch.family = "rcnn";
  x->run.acts_m = 300;
  x->run.image_px = px;
  dl_memory_of(&x->job, &m);
  frozen -= 3 * 256 / 16.0 / 2;
  assert_near(m.sample_gb, (300e6 - frozen * px * px) * 2 * 4 / 1e9, 1e-12);
}

/* Cross-entropy in PyTorch: logits in 16 bits; logarithms, their gradient and
 * the logits' gradient in FP32. Transformers shifts a copy in FP32. */
static void logits(void **state) {
  static const struct {
    const char *stack;
    enum dl_fine_tune tune;
    double bytes;
  } cases[] = {{"mlperf", DL_TUNE_FULL, 4},
               {"eager", DL_TUNE_FULL, 2 + 4 + 4 + 4},
               {"eager", DL_TUNE_QLORA, 2 + 4 + 4 + 4 + 4}};
  struct bench *x = *state;
  struct dl_memory_need m[2];

  for (size_t i = 0; i < COUNT(cases); i++) {
    for (int wide = 0; wide < 2; wide++) {
      take(x, wide
                  ? "transformer:layers=2,hidden=64,heads=2,vocab=2000,seq=16"
                  : "transformer:layers=2,hidden=64,heads=2,vocab=1000,seq=16");
      x->run.precision = DL_PRECISION_BF16;
      x->run.attention = DL_ATTENTION_FLASH;
      x->run.stack = cases[i].stack;
      x->run.fine_tune = cases[i].tune;
      dl_memory_of(&x->job, &m[wide]);
    }
    assert_near(m[1].sample_gb - m[0].sample_gb,
                1000 * 16 * cases[i].bytes / 1e9, 1e-9);
  }
}

/* MLPerf trains adapters of Llama 2 70B in FP8 on B200, 8,192 tokens on each
 * GPU, which holds all weights: in 180 GB (mlcommons/training_results_v4.1). */
static void frozen_in_8_bits(void **state) {
  struct bench *x = *state;
  struct dl_memory_need m;

  take(x, "transformer:layers=80,hidden=8192,heads=64,kv_heads=8,ffn=28672,"
          "gated=1,vocab=32000,seq=8192");
  holds(x, 180);
  x->run.precision = DL_PRECISION_FP8;
  x->run.stack = "mlperf";
  x->run.attention = DL_ATTENTION_FLASH;
  x->run.fine_tune = DL_TUNE_LORA;
  x->run.lora_rank = 16;
  x->run.batch_size = 1;
  dl_memory_of(&x->job, &m);
  assert_true(!m.over && m.need_gb > 120);
  assert_true(m.low_gb < m.need_gb && m.need_gb < m.high_gb);
  x->run.stack = "eager"; /* weights in 16 bits */
  dl_memory_of(&x->job, &m);
  assert_true(m.states_gb > 138 && m.over);
}

static void remedies(void **state) {
  struct bench *x = *state;
  struct dl_text text = {0};

  take(x, "transformer:layers=32,hidden=4096,heads=32,vocab=32000,seq=2048");
  x->run.precision = DL_PRECISION_BF16;
  x->run.attention = DL_ATTENTION_FLASH;
  x->run.batch_size = 1;
  holds(x, 80);
  /* 6.7 x 16 = 107 GB; two GPUs hold half, and 9 GB for a sample */
  assert_true(dl_memory_remedy(&x->job, &text));
  assert_string_equal(dl_text_str(&text), "fits with --sharding zero3 on 2 "
                                          "GPUs");
  dl_text_clear(&text);
  holds(x, 120); /* 107 fit, 116 do not but for checkpoints */
  x->run.batch_size = 2;
  assert_true(dl_memory_remedy(&x->job, &text));
  assert_string_equal(dl_text_str(&text),
                      "fits with --checkpointing full, or --sharding zero3 on "
                      "2 GPUs");
  dl_text_clear(&text);
  /* Eager scores of one layer: 5 x 32 x 65536^2 = 687 GB; a flash kernel keeps
   * 34 x 65536 x 4096 x 32 = 292 GB of all, beside 107 of the states. */
  take(x, "transformer:layers=32,hidden=4096,heads=32,vocab=32000,seq=65536");
  x->run.attention = DL_ATTENTION_EAGER;
  x->run.batch_size = 1;
  holds(x, 500);
  assert_true(dl_memory_remedy(&x->job, &text));
  assert_string_equal(dl_text_str(&text), "fits with --attention flash");
  dl_text_clear(&text);
  holds(x, 100);
  assert_true(dl_memory_remedy(&x->job, &text));
  assert_non_null(
      strstr(dl_text_str(&text), "with --attention flash it fits "));
  dl_text_clear(&text);
  holds(x, 0.5);
  assert_false(dl_memory_remedy(&x->job, &text));
  dl_text_free(&text);
}

static void scaling(void **state) {
  struct bench *x = *state;
  struct dl_memory_need m;

  x->run.n_gpus = 4;
  dl_memory_of(&x->job, &m);
  assert_true(m.batch == 32);
  x->run.scaling = DL_SCALE_STRONG;
  dl_memory_of(&x->job, &m);
  assert_true(m.batch == 8);
  assert_near(m.need_gb, 1.6 + 8 * 0.1188, 1e-14);
}

/* GPUs of other sizes, and what is not known. */
static void fits(void **state) {
  static const struct {
    double gb, fits;
  } cases[] = {{1, 0},    {1.6, 0},  {1.71, 0}, {1.72, 1}, {2.3, 4},
               {5.5, 32}, {9.1, 32}, {9.3, 64}, {80, 640}};
  struct bench *x = *state;
  struct dl_memory_need m;

  for (size_t i = 0; i < COUNT(cases); i++) {
    holds(x, cases[i].gb);
    dl_memory_of(&x->job, &m);
    assert_true(m.fits == cases[i].fits);
  }
  x->job.found.gpu = NULL;
  x->job.found.arch = NULL;
  x->run.acts_m = NAN;
  dl_memory_of(&x->job, &m);
  assert_true(isnan(m.need_gb) && !m.over);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(usable),
      TEST(training),
      TEST(precisions),
      TEST(frozen),
      TEST(inference),
      TEST(keys_and_values),
      TEST(scores_of_prompts),
      TEST(published),
      TEST(scaling),
      TEST(fits),
      TEST(zero),
      TEST(optimizers),
      TEST(adapters),
      TEST(quantized_weights),
      TEST(checkpoints),
      TEST(frozen_stages),
      TEST(logits),
      TEST(frozen_in_8_bits),
      TEST(remedies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
