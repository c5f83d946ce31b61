/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/assumptions.h"

#include <math.h>

#include "base/ascii.h"
#include "catalog/architecture/token_costs.h"
#include "estimate/node/peak_memory.h"
#include "run/setup/training_setup.h"

/* Of the peak rate: of MosaicML's MPT models in bf16, 0.40 on H100 and 0.51 to
 * 0.54 on A100 (median). */
#define EFFICIENCY 0.3
#define EFFICIENCY_OF_TOKENS 0.4

/* Per optimizer step: the order of what large models are trained with. */
#define MOST_TOKENS 4e6

static bool is_inference(const struct dl_row *row) {
  return row->run.phase && dl_strcasecmp(row->run.phase, "inference") == 0;
}

/* What frameworks take by default. TPUs and their like round the operands of
 * convolutions and products to 16 bits: no FP32 rate is published. */
static const char *usual_precision(const struct dl_row *row, bool language) {
  const struct dl_accelerator *gpu = row->found.gpu;
  bool rounds = isnan(gpu->peak_fp32_tflops);
  if (!language && !isnan(gpu->peak_tf32_tflops))
    return "tf32";
  if (!language && rounds && !isnan(gpu->peak_bf16_tensor_tflops))
    return "bf16";
  if (!language)
    return rounds && !isnan(gpu->peak_fp16_tensor_tflops) ? "fp16" : "fp32";
  if (!isnan(gpu->peak_bf16_tensor_tflops))
    return "bf16";
  /* Weights are kept in 16 bits where that makes nothing faster, too. */
  return is_inference(row) || !isnan(gpu->peak_fp16_tensor_tflops) ? "fp16"
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

/* The plainest sharding and checkpointing with which the batch, or one sample,
 * fits; where none does, the plainest of all. */
static void assume_sharding(struct dl_row *row) {
  static const char *const kinds[] = {"none", "full"};
  static const char *const shardings[] = {"ddp", "zero3"};
  struct dl_run *run = &row->run;
  double wanted = isnan(run->batch_size) ? 1 : dl_micro_batch(run);
  bool several = dl_degrees_of(run).data > 1;
  const char *kind = run->checkpointing, *sharding = run->sharding;
  for (size_t i = 0; i < 4; i++) {
    if ((kind && i >= 2) || ((sharding || !several) && i % 2 == 1))
      continue;
    if (!kind)
      dl_assume_text(row, DL_RUN_checkpointing, kinds[i / 2]);
    if (!sharding && several)
      dl_assume_text(row, DL_RUN_sharding, shardings[i % 2]);
    if (most_that_fit(row) >= wanted)
      return;
  }
  if (!kind)
    dl_assume_text(row, DL_RUN_checkpointing, kinds[0]);
  if (!sharding && several)
    dl_assume_text(row, DL_RUN_sharding, shardings[0]);
}

/* The largest divisor of n that is at most `most`, of which there are few. */
static double divisor(double n, double most) {
  double d = fmin(n, fmax(most, 1));
  while (d > 1 && fmod(n, d) > 0)
    d--;
  return d;
}

/* The largest batch that fits, of up to 4e6 tokens per step on all GPUs; where
 * the batch of all is given, a part of it. */
static void assume_batch(struct dl_row *row) {
  struct dl_run *run = &row->run;
  double fits = fmax(most_that_fit(row), 1), seq = job_of(row).seq_len;
  double data = dl_degrees_of(run).data;
  double accum = isnan(run->grad_accum) ? 1 : run->grad_accum;
  if (dl_run_set_has(&row->given, DL_RUN_global_batch)) {
    double all = run->global_batch / data;
    run->batch_size = divisor(all, fits);
    dl_assume_number(row, DL_RUN_batch_size, run->batch_size);
    dl_assume_number(row, DL_RUN_grad_accum, all / run->batch_size);
    return;
  }
  double whole = isnan(run->train_tokens) ? run->tokens : run->train_tokens;
  double most =
      fmin(MOST_TOKENS, isnan(whole) ? INFINITY : whole) / (seq * data * accum);
  double batch = fmax(exp2(floor(log2(fmin(fits, most)))), 1);
  bool strong = run->scaling && dl_strcasecmp(run->scaling, "strong") == 0;
  dl_assume_number(row, DL_RUN_batch_size, strong ? batch * data : batch);
}

/* The set-up of the training of a language model. */
static void assume_setup(struct dl_row *row) {
  const struct dl_accelerator *gpu = row->found.gpu;
  const char *p = row->run.precision;
  double all = row->run.global_batch / dl_degrees_of(&row->run).data;
  bool per_step = dl_run_set_has(&row->given, DL_RUN_global_batch);
  /* Given, or settled by the batch of all, or refused with it. */
  bool given = dl_run_set_has(&row->given, DL_RUN_batch_size) ||
               (per_step && (fmod(all, 1) > 0 ||
                             dl_run_set_has(&row->given, DL_RUN_grad_accum)));
  if (!p || isnan(gpu->memory_gb) || isnan(row->run.n_gpus) ||
      dl_fine_tune_of(&row->run) == DL_TUNE_HEAD)
    return;
  if (!row->run.attention)
    dl_assume_text(row, DL_RUN_attention,
                   dl_strcasecmp(p, "fp32") == 0 ||
                           dl_strcasecmp(p, "tf32") == 0 ||
                           dl_strcasecmp(p, "fp64") == 0
                       ? "eager"
                       : "flash");
  if (!given)
    row->run.batch_size = NAN; /* of the batch of all, it may not fit */
  assume_sharding(row);
  if (!given)
    assume_batch(row);
}

void dl_assume(struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  bool language = arch && dl_is_language_model(arch);
  if (!dl_run_set_has(&row->given, DL_RUN_efficiency))
    dl_run_set_number(&row->run, DL_RUN_efficiency,
                      language && !is_inference(row) ? EFFICIENCY_OF_TOKENS
                                                     : EFFICIENCY);
  if (!row->run.precision && row->found.gpu)
    dl_assume_text(row, DL_RUN_precision, usual_precision(row, language));
  if (language && row->found.gpu && arch->transformer && !is_inference(row))
    assume_setup(row);
}
