/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/assumptions.h"

#include <math.h>

#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "catalog/sample_kinds.h"
#include "estimate/node/division.h"
#include "estimate/node/peak_memory.h"
#include "estimate/node/serving_groups.h"
#include "physics/cpu/cpu_inputs.h"
#include "physics/language/language_inputs.h"
#include "physics/rows/inputs.h"
#include "run/setup/fine_tune.h"
#include "run/setup/training_setup.h"

/* A training reaches this share of the peak rate: MosaicML's MPT models in bf16
 * reach 0.40 on H100 and 0.51 to 0.54 on A100 (median). */
#define EFFICIENCY 0.3
#define EFFICIENCY_OF_TOKENS 0.4

/* Returns the precision that frameworks take by default, or that scripts and
 * pipelines take for language and diffusion models (`half`), which seldom fit
 * otherwise. TPUs and their like round the operands of convolutions and
 * products to 16 bits: no FP32 rate is published. CPUs without BF16 compute
 * encoders in FP32. */
static enum dl_precision usual_precision(const struct dl_row *row, bool half) {
  const struct dl_accelerator *gpu = row->found.gpu;
  bool rounds = isnan(gpu->peak_fp32_tflops);
  if (!half && !isnan(gpu->peak_tf32_tflops))
    return DL_PRECISION_TF32;
  if (!half && rounds && !isnan(gpu->peak_bf16_tensor_tflops))
    return DL_PRECISION_BF16;
  if (!half)
    return rounds && !isnan(gpu->peak_fp16_tensor_tflops) ? DL_PRECISION_FP16
                                                          : DL_PRECISION_FP32;
  if (!isnan(gpu->peak_bf16_tensor_tflops))
    return DL_PRECISION_BF16;
  if (dl_is_cpu(gpu) && row->found.arch && dl_encodes(row->found.arch))
    return DL_PRECISION_FP32;
  /* Weights are kept in 16 bits where that makes nothing faster, too. */
  return dl_run_is_inference(&row->run) || !isnan(gpu->peak_fp16_tensor_tflops)
             ? DL_PRECISION_FP16
             : DL_PRECISION_FP32;
}

/* Kernels that do not store the scores take 16 bits (FlashAttention, arXiv
 * 2205.14135), and none adds scores of relative positions. */
static void assume_attention(struct dl_row *row) {
  enum dl_precision p = row->run.precision;
  const struct dl_transformer *t = row->found.arch->transformer;
  bool stores = p == DL_PRECISION_FP32 || p == DL_PRECISION_TF32 ||
                p == DL_PRECISION_FP64 || (t && t->disentangled > 0);
  if (row->run.attention == DL_ATTENTION_UNKNOWN)
    dl_assume_word(row, DL_RUN_attention,
                   stores ? DL_ATTENTION_EAGER : DL_ATTENTION_FLASH);
}

/* A training of a language model takes more than its steps: its start-up;
 * evaluation, saving and interruptions. A known duration of known work includes
 * these, and a known time of a step or an epoch is used without them. */
static void assume_whole_training(struct dl_row *row) {
  static const enum dl_run_id times[] = {
      DL_RUN_epoch_s, DL_RUN_step_s, DL_RUN_samples_per_s, DL_RUN_tokens_per_s};
  for (size_t i = 0; i < DL_LENGTH(times); i++)
    if (dl_run_set_has(&row->given, times[i]))
      return;
  /* Times of MLPerf begin at the first step. */
  bool from_start =
      dl_says_work(row) && dl_stack_of(&row->run) != DL_SOFTWARE_MLPERF;
  if (dl_run_set_has(&row->given, DL_RUN_duration_s) && !from_start)
    return;
  /* A known mean power is of all the time. */
  if (isnan(row->run.startup_s) && isnan(row->run.gpu_power_w))
    dl_assume_number(row, DL_RUN_startup_s, dl_language_startup_s(&row->run));
  if (isnan(row->run.overhead))
    dl_assume_number(row, DL_RUN_overhead, DL_LANGUAGE_OVERHEAD);
}

/* The set-up of the training of a language model. */
void dl_assume_language_setup(struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  const struct dl_accelerator *gpu = row->found.gpu;
  if (!arch || !gpu || !dl_is_language_model(arch) ||
      dl_run_is_inference(&row->run))
    return;
  if (row->run.precision == DL_PRECISION_UNKNOWN)
    dl_assume_word(row, DL_RUN_precision, usual_precision(row, true));
  if (!arch->transformer || isnan(dl_usable_gb(gpu)) || isnan(row->run.n_gpus))
    return;
  enum dl_fine_tune tune = dl_fine_tune_of(&row->run);
  if ((tune == DL_TUNE_LORA || tune == DL_TUNE_QLORA) &&
      isnan(row->run.lora_rank))
    dl_assume_number(row, DL_RUN_lora_rank, dl_usual_rank(arch->transformer));
  assume_attention(row);
  assume_whole_training(row);
  dl_assume_division(row);
}

/* The scripts of Diffusers train adapters on 4 samples a step (examples/
 * dreambooth, train_dreambooth_lora_*.py). */
#define BATCH_OF_ADAPTERS 4

static bool adapts_images(const struct dl_row *row) {
  enum dl_fine_tune tune = dl_fine_tune_of(&row->run);
  const struct dl_architecture *arch = row->found.arch;
  return arch && !arch->transformer && !dl_run_is_inference(&row->run) &&
         (tune == DL_TUNE_LORA || tune == DL_TUNE_QLORA);
}

/* Adapters of networks for images: their rank, and activations of diffusion
 * models computed again where one sample would not fit otherwise. */
static void assume_adapters(struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  struct dl_run *run = &row->run;
  if (!adapts_images(row))
    return;
  if (isnan(run->lora_rank))
    dl_assume_number(row, DL_RUN_lora_rank, dl_usual_rank(NULL));
  if (!(arch->denoising_steps > 0) ||
      run->checkpointing != DL_CHECKPOINT_UNKNOWN)
    return;
  struct dl_memory_need m;
  const struct dl_job job = {.row = row, .run = run, .found = row->found};
  dl_memory_of(&job, &m);
  double least =
      dl_run_set_has(&row->given, DL_RUN_batch_size) ? run->batch_size : 1;
  if (m.fits < least)
    dl_assume_word(row, DL_RUN_checkpointing, DL_CHECKPOINT_FULL);
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
  run->batch_size =
      at_rate ? DL_USUAL_BATCH : dl_trained_batch(row->found.arch);
  if (adapts_images(row) && row->found.arch->denoising_steps > 0)
    run->batch_size = BATCH_OF_ADAPTERS;
  const struct dl_job job = {
      .row = row,
      .run = run,
      .found = row->found,
      .seq_len = isnan(run->seq_len) ? row->found.arch->seq_len : run->seq_len};
  struct dl_memory_need m;
  dl_memory_of(&job, &m);
  /* Tables of embeddings that do not fit are kept elsewhere. */
  bool elsewhere = m.fits < 1 && run->batch_size > DL_USUAL_BATCH;
  if ((m.over && !elsewhere) ||
      (at_rate && m.need_gb > 0 && m.fits < DL_USUAL_BATCH))
    run->batch_size = exp2(floor(log2(fmax(m.fits, 1)))) *
                      (run->scaling == DL_SCALE_STRONG ? run->n_gpus : 1);
}

/* Whether a network runs in the software of its authors, not in Transformers:
 * Ultralytics, detectron2, torchvision. Its published times have no
 * pre-processing. */
static bool has_own_software(const struct dl_architecture *arch) {
  static const char *const families[] = {"yolo", "rcnn",         "retinanet",
                                         "ssd",  "efficientdet", "unet"};
  for (size_t i = 0; i < DL_LENGTH(families); i++)
    if (dl_is_word(arch->family, families[i]))
      return true;
  return false;
}

/* Plain software serves language models in FP32, which servers do not take, and
 * encoder-decoders, which few of them take; also single images of networks that
 * Transformers has, unless in the formats of tuned networks. A known pause or
 * rate leaves the host's time to the user. */
static void assume_software(struct dl_row *row) {
  struct dl_run *r = &row->run;
  const struct dl_architecture *arch = row->found.arch;
  bool full = r->precision == DL_PRECISION_FP32 ||
              r->precision == DL_PRECISION_TF32 ||
              r->precision == DL_PRECISION_FP64;
  bool tuned = r->precision == DL_PRECISION_INT8 ||
               r->precision == DL_PRECISION_FP8 ||
               r->precision == DL_PRECISION_FP4;
  if (!dl_run_is_inference(r) || r->stack || !arch || dl_encodes(arch) ||
      dl_is_cpu(row->found.gpu) || r->idle_s > 0 || r->request_rate > 0)
    return;
  bool image = dl_samples_of_network(arch) == DL_SAMPLES_IMAGES;
  if (dl_is_language_model(arch)
          ? !full && !dl_has_encoder(arch)
          : tuned || !image || r->batch_size > 1 || has_own_software(arch))
    return;
  dl_run_lend_text(r, DL_RUN_stack,
                   dl_software_words[DL_SOFTWARE_TRANSFORMERS]);
  dl_run_set_put(&row->assumed, DL_RUN_stack, true);
}

/* Whether the recipe of a network's own software trains it in mixed precision:
 * Ultralytics' (amp=True) its YOLO, the guides of Transformers Whisper. */
static bool trains_mixed(const struct dl_row *row) {
  const struct dl_accelerator *gpu = row->found.gpu;
  const struct dl_architecture *arch = row->found.arch;
  bool recipe = arch && (dl_is_word(arch->family, "yolo") ||
                         dl_is_word(arch->family, "whisper"));
  return recipe && !dl_run_is_inference(&row->run) &&
         !(isnan(gpu->peak_fp16_tensor_tflops) &&
           isnan(gpu->peak_bf16_tensor_tflops));
}

void dl_assume(struct dl_row *row) {
  const struct dl_architecture *arch = row->found.arch;
  bool language = arch && dl_is_language_model(arch);
  bool half = language || (arch && !isnan(arch->denoising_steps));
  if (!dl_run_set_has(&row->given, DL_RUN_efficiency))
    dl_run_set_number(&row->run, DL_RUN_efficiency,
                      language && !dl_run_is_inference(&row->run)
                          ? EFFICIENCY_OF_TOKENS
                          : EFFICIENCY);
  if (row->run.precision == DL_PRECISION_UNKNOWN && row->found.gpu)
    dl_assume_word(row, DL_RUN_precision,
                   trains_mixed(row) ? DL_PRECISION_AMP
                                     : usual_precision(row, half));
  if (language && dl_run_is_inference(&row->run) &&
      row->run.precision != DL_PRECISION_UNKNOWN)
    assume_attention(row);
  if (language)
    dl_assume_language_setup(row);
  assume_adapters(row);
  if (arch && (!language || dl_run_is_inference(&row->run)))
    fit_default_batch(row);
  if (language && dl_run_is_inference(&row->run))
    dl_assume_serving_groups(row);
  assume_software(row);
}
