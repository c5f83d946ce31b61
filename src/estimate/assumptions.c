/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/assumptions.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "estimate/node/peak_memory.h"
#include "physics/rows/inputs.h"
#include "run/setup/training_setup.h"

/* Of the peak rate: of MosaicML's MPT models in bf16, 0.40 on H100 and 0.51 to
 * 0.54 on A100 (median). */
#define EFFICIENCY 0.3
#define EFFICIENCY_OF_TOKENS 0.4

/* Tokens of an optimizer step of pre-training, the order of what large models
 * are trained with, and of fine-tuning; of a micro-batch, with full
 * checkpointing four times that. A run on fewer tokens than these fine-tunes,
 * as far as its batch goes. */
#define PRE_TRAINING_BATCH 4194304.0
#define FINE_TUNING_BATCH 65536.0
#define MICRO_BATCH_TOKENS 4096.0
#define PRE_TRAINING_TOKENS 2e9

/* Micro-batches of a step for each stage of a pipeline, so that stages wait
 * for less than a fifth of it (Huang et al., arXiv 1811.06965). */
#define MICRO_BATCHES_PER_STAGE 4.0

/* Virtual stages of a pipeline stage, at most: the largest trainings published
 * have so many (Llama 3.1 405B, arXiv 2407.21783; MLPerf's GPT-3, 4 to 8). */
#define MOST_VIRTUAL_STAGES 8.0

/* GPUs that divide experts, at most: as in DeepSeek-V3 (arXiv 2412.19437). */
enum { MOST_EXPERT_PARALLEL = 64 };

/* GPUs of a node, and those from which on layers are divided among them. */
#define GPUS_PER_NODE 8
#define MANY_GPUS 64

/* What frameworks take by default, and scripts and pipelines of language and
 * diffusion models (`half`), which seldom fit otherwise. TPUs and their like
 * round the operands of convolutions and products to 16 bits: no FP32 rate is
 * published. */
static const char *usual_precision(const struct dl_row *row, bool half) {
  const struct dl_accelerator *gpu = row->found.gpu;
  bool rounds = isnan(gpu->peak_fp32_tflops);
  if (!half && !isnan(gpu->peak_tf32_tflops))
    return "tf32";
  if (!half && rounds && !isnan(gpu->peak_bf16_tensor_tflops))
    return "bf16";
  if (!half)
    return rounds && !isnan(gpu->peak_fp16_tensor_tflops) ? "fp16" : "fp32";
  if (!isnan(gpu->peak_bf16_tensor_tflops))
    return "bf16";
  /* Weights are kept in 16 bits where that makes nothing faster, too. */
  return dl_run_is_inference(&row->run) || !isnan(gpu->peak_fp16_tensor_tflops)
             ? "fp16"
             : "fp32";
}

/* What the memory of a row's accelerator is asked with. */
static struct dl_job job_of(const struct dl_row *row) {
  const struct dl_run *run = &row->run;
  return (struct dl_job){
      .row = row,
      .run = run,
      .found = row->found,
      .seq_len = isnan(run->seq_len) ? row->found.arch->seq_len : run->seq_len};
}

/* Samples at once that fit, in usual numbers; 0: none. */
static double most_that_fit(const struct dl_row *row) {
  const struct dl_job job = job_of(row);
  struct dl_memory_need m;
  dl_memory_of(&job, &m);
  return m.fits;
}

/* The GPUs of a node among which layers may be taken to be divided: parallelism
 * is not given, and whole nodes of GPUs with fast links are many. 1: none.
 */
static double dividing_layers(const struct dl_row *row) {
  const struct dl_run *run = &row->run;
  const struct dl_accelerator *gpu = row->found.gpu;
  double heads = row->found.arch->transformer->heads, n = GPUS_PER_NODE;
  double domain = dl_or(gpu->link_domain, GPUS_PER_NODE);
  if (run->sharding || !isnan(run->tensor_parallel) ||
      !isnan(run->pipeline_parallel) || !isnan(run->context_parallel) ||
      !(gpu->link_gb_s > DL_SLOWEST_NVLINK_GB_S) || run->n_gpus < MANY_GPUS ||
      fmod(run->n_gpus, fmax(domain, GPUS_PER_NODE)) > 0)
    return 1;
  double experts = dl_or(run->expert_parallel, 1);
  while (n > 1 && (fmod(heads, n) > 0 || fmod(run->n_gpus / n, experts) > 0))
    n /= 2;
  return n;
}

static void divide_layers(struct dl_row *row, double n) {
  dl_run_set_number(&row->run, DL_RUN_tensor_parallel, n > 1 ? n : (double)NAN);
  dl_run_set_put(&row->assumed, DL_RUN_tensor_parallel, n > 1);
}

static void divide_experts(struct dl_row *row, double n) {
  dl_run_set_number(&row->run, DL_RUN_expert_parallel, n > 1 ? n : (double)NAN);
  dl_run_set_put(&row->assumed, DL_RUN_expert_parallel, n > 1);
}

/* The fewest GPUs that divide the experts so that `wanted` samples fit, as many
 * of a node as can, then of several. Whether there are any. */
static bool experts_fit(struct dl_row *row, double wanted) {
  const struct dl_run *run = &row->run;
  double node = dl_or(run->gpus_per_node,
                      dl_or(row->found.gpu->link_domain, GPUS_PER_NODE));
  double most = fmax(floor(node / dl_degrees_of(run).tensor), 2);
  size_t n = (size_t)fmin(most, MOST_EXPERT_PARALLEL);
  while (n > 2 && !dl_divides_experts(row, (double)n))
    n--;
  for (; n <= MOST_EXPERT_PARALLEL; n++)
    if (dl_divides_experts(row, (double)n)) {
      divide_experts(row, (double)n);
      if (most_that_fit(row) >= wanted)
        return true;
    }
  divide_experts(row, 1);
  return false;
}

/* The plainest checkpointing, sharding, expert and tensor parallelism with
 * which the batch, or one sample, fits; where none does, the plainest of all.
 * What needs no gathering of weights comes first. */
static void assume_division(struct dl_row *row) {
  static const char *const kinds[] = {"none", "full"};
  static const struct {
    const char *sharding; /* NULL: none, or the one that is given */
    bool experts, layers;
  } ways[] = {{"ddp", false, false},  {"zero1", false, false},
              {"zero1", true, false}, {"zero1", false, true},
              {"zero1", true, true},  {"zero3", false, false}};
  enum { N_WAYS = sizeof ways / sizeof *ways };
  struct dl_run *run = &row->run;
  double wanted = isnan(run->batch_size) ? 1 : dl_micro_batch(run);
  const char *kind = run->checkpointing, *sharding = run->sharding;
  bool several = dl_degrees_of(run).data > 1;
  bool open = several && isnan(run->expert_parallel);
  double layers = dividing_layers(row);
  /* One more than there are: the plainest again. */
  for (size_t i = 0; i <= 2 * N_WAYS; i++) {
    size_t way = i % N_WAYS, of = i / N_WAYS % 2;
    if (i < 2 * N_WAYS &&
        ((kind && of > 0) || (ways[way].experts && !open) ||
         ((sharding || !several) && way > 0 && !ways[way].experts) ||
         (ways[way].layers && !(layers > 1))))
      continue;
    if (!kind)
      dl_assume_text(row, DL_RUN_checkpointing, kinds[of]);
    if (!sharding && several)
      dl_assume_text(row, DL_RUN_sharding, ways[way].sharding);
    if (layers > 1)
      divide_layers(row, ways[way].layers ? layers : 1);
    if (ways[way].experts ? experts_fit(row, wanted)
                          : most_that_fit(row) >= wanted)
      return;
  }
}

/* The largest divisor of n that is at most `most`, of which there are few. */
static double divisor(double n, double most) {
  double d = floor(fmin(n, fmax(most, 1)));
  while (d > 1 && fmod(n, d) > 0)
    d--;
  return d;
}

/* Of interleaved stages, which wait for less, at least one for each. */
static double fewest_micro_batches(const struct dl_row *row) {
  double stages = dl_degrees_of(&row->run).pipeline;
  double per_stage =
      MICRO_BATCHES_PER_STAGE / dl_or(row->run.virtual_stages, 1);
  return stages > 1 ? ceil(fmax(per_stage, 1) * stages) : 1;
}

/* Sequences of an optimizer step on each data-parallel GPU, in micro-batches of
 * `batch`, if the batch of all is not given. */
static double usual_sequences(const struct dl_row *row, double batch) {
  const struct dl_run *run = &row->run;
  double whole = dl_or(run->train_tokens, run->tokens);
  double seq_len = job_of(row).seq_len, data = dl_degrees_of(run).data;
  bool pre_training = dl_fine_tune_of(run) == DL_TUNE_FULL &&
                      run->tokens >= PRE_TRAINING_TOKENS;
  double tokens = pre_training ? PRE_TRAINING_BATCH : FINE_TUNING_BATCH;
  double n = tokens / (seq_len * data);
  if (dl_degrees_of(run).pipeline > 1)
    n = fmax(n, fewest_micro_batches(row) * batch);
  return fmin(n, dl_or(whole, INFINITY) / (seq_len * data));
}

/* A micro-batch that fits, and how many are added up per step. */
static void assume_batch(struct dl_row *row, double fitting) {
  struct dl_run *run = &row->run;
  double data = dl_degrees_of(run).data;
  bool full = dl_is_word(run->checkpointing, "full");
  double tokens = (full ? 4 : 1) * MICRO_BATCH_TOKENS;
  double most = fmin(fmax(fitting, 1), tokens / job_of(row).seq_len);
  if (dl_run_set_has(&row->given, DL_RUN_global_batch)) {
    double all = run->global_batch / data;
    most = fmin(most, all / fewest_micro_batches(row));
    run->batch_size = divisor(all, most);
    dl_assume_number(row, DL_RUN_batch_size, run->batch_size);
    dl_assume_number(row, DL_RUN_grad_accum, all / run->batch_size);
    return;
  }
  double accum = dl_or(run->grad_accum, fewest_micro_batches(row));
  double usual = usual_sequences(row, 0) / accum;
  double batch = fmax(exp2(floor(log2(fmin(most, usual)))), 1);
  bool strong = dl_is_word(run->scaling, "strong");
  dl_assume_number(row, DL_RUN_batch_size, strong ? batch * data : batch);
  double n = floor(usual_sequences(row, batch) / batch);
  if (isnan(run->grad_accum) && n >= 2)
    dl_assume_number(row, DL_RUN_grad_accum, n);
}

/* A pipeline needs several micro-batches per step. */
static void assume_accumulation(struct dl_row *row) {
  struct dl_run *run = &row->run;
  double batch = dl_micro_batch(run);
  double n = floor(usual_sequences(row, batch) / batch);
  if (isnan(run->grad_accum) &&
      !dl_run_set_has(&row->given, DL_RUN_global_batch) &&
      dl_degrees_of(run).pipeline > 1 && n > 1)
    dl_assume_number(row, DL_RUN_grad_accum, n);
}

/* Kernels that do not store the scores take 16 bits (FlashAttention, arXiv
 * 2205.14135), and none adds those of relative positions. */
static void assume_attention(struct dl_row *row) {
  const char *p = row->run.precision;
  const struct dl_transformer *t = row->found.arch->transformer;
  bool stores = dl_is_word(p, "fp32") || dl_is_word(p, "tf32") ||
                dl_is_word(p, "fp64") || (t && t->disentangled > 0);
  if (!row->run.attention)
    dl_assume_text(row, DL_RUN_attention, stores ? "eager" : "flash");
}

/* The set-up of the training of a language model. */
void dl_assume_language_setup(struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  const struct dl_accelerator *gpu = row->found.gpu;
  if (!arch || !gpu || !dl_is_language_model(arch) ||
      dl_run_is_inference(&row->run))
    return;
  if (!row->run.precision)
    dl_assume_text(row, DL_RUN_precision, usual_precision(row, true));
  if (!arch->transformer || isnan(gpu->memory_gb) || isnan(row->run.n_gpus))
    return;
  double all = row->run.global_batch / dl_degrees_of(&row->run).data;
  bool per_step = dl_run_set_has(&row->given, DL_RUN_global_batch);
  /* Given, or settled by the batch of all, or refused with it. */
  bool given = dl_run_set_has(&row->given, DL_RUN_batch_size) ||
               (per_step && (fmod(all, 1) > 0 ||
                             dl_run_set_has(&row->given, DL_RUN_grad_accum)));
  assume_attention(row);
  if (!given)
    row->run.batch_size = NAN; /* of the batch of all, it may not fit */
  double interleaved = dl_most_virtual_stages(row, MOST_VIRTUAL_STAGES);
  if (isnan(row->run.virtual_stages) && interleaved > 1)
    dl_assume_number(row, DL_RUN_virtual_stages, interleaved);
  /* Until it is known: as many as it will be with single samples. */
  bool open = isnan(row->run.grad_accum) && row->run.pipeline_parallel > 1;
  if (open)
    row->run.grad_accum =
        floor(per_step ? all : fmax(usual_sequences(row, 1), 1));
  assume_division(row);
  double fitting = most_that_fit(row);
  if (open)
    row->run.grad_accum = NAN;
  if (given)
    assume_accumulation(row);
  else
    assume_batch(row, fitting);
}

/* The usual batch where none is given, or the largest power of two
 * that fits; where not even one sample does, one. Of requests that come at a
 * rate: the most at a time, however few there are. */
static void fit_default_batch(struct dl_row *row) {
  struct dl_run *run = &row->run;
  bool at_rate = dl_run_is_inference(run) && run->request_rate > 0;
  if (isnan(run->batch_size) || (dl_run_is_inference(run) && !at_rate) ||
      dl_run_set_has(&row->given, DL_RUN_batch_size) ||
      dl_run_set_has(&row->given, DL_RUN_global_batch))
    return;
  run->batch_size = DL_USUAL_BATCH;
  const struct dl_job job = job_of(row);
  struct dl_memory_need m;
  dl_memory_of(&job, &m);
  if (m.over || (at_rate && m.need_gb > 0 && m.fits < DL_USUAL_BATCH))
    run->batch_size = exp2(floor(log2(fmax(m.fits, 1)))) *
                      (dl_is_word(run->scaling, "strong") ? run->n_gpus : 1);
}

void dl_assume(struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  bool language = arch && dl_is_language_model(arch);
  bool diffuses = arch && !isnan(arch->denoising_steps);
  if (!dl_run_set_has(&row->given, DL_RUN_efficiency))
    dl_run_set_number(&row->run, DL_RUN_efficiency,
                      language && !dl_run_is_inference(&row->run)
                          ? EFFICIENCY_OF_TOKENS
                          : EFFICIENCY);
  if (!row->run.precision && row->found.gpu)
    dl_assume_text(row, DL_RUN_precision,
                   usual_precision(row, language || diffuses));
  if (language && dl_run_is_inference(&row->run) && row->run.precision)
    assume_attention(row);
  if (language)
    dl_assume_language_setup(row);
  if (arch && (!language || dl_run_is_inference(&row->run)))
    fit_default_batch(row);
}
