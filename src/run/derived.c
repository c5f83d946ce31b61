/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities of a run that follow from others, and those that jobs have by
 * default. */

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "run/plan_private.h"
#include "run/setup/training_setup.h"

static double product(const double *x, const struct dl_row *row,
                      const struct dl_row_ref *word) {
  (void)row, (void)word;
  return x[0] * x[1];
}

static double ratio(const double *x, const struct dl_row *row,
                    const struct dl_row_ref *word) {
  (void)row, (void)word;
  return x[0] / x[1];
}

static double same(const double *x, const struct dl_row *row,
                   const struct dl_row_ref *word) {
  (void)row, (void)word;
  return x[0];
}

/* The rate that frameworks reach by default, 1e12 FLOP/s: TF32 where there is
 * any, of which about half is reached on data-centre boards; else FP32. */
static double usual_peak(const double *x, const struct dl_row *row,
                         const struct dl_row_ref *word) {
  (void)row, (void)word;
  return isnan(x[0]) ? (double)NAN : fmax(x[0], dl_or(0.5 * x[1], 0));
}

/* Computes the samples per optimizer step for one on each accelerator: n_gpus /
 * (tensor x pipeline x context), times grad_accum; x is n_gpus and these four.
 * In strong scaling, batch_size covers all accelerators. */
static double replicas(const double *x, const struct dl_row *row,
                       const struct dl_row_ref *scaling) {
  double data =
      dl_or(x[0], 1) / dl_or(x[1], 1) / dl_or(x[2], 1) / dl_or(x[3], 1);
  return dl_row_word(row, scaling) == DL_SCALE_STRONG ? 1 : data;
}

static double batch_of_global(const double *x, const struct dl_row *row,
                              const struct dl_row_ref *scaling) {
  return x[0] / (replicas(x + 1, row, scaling) * dl_or(x[5], 1));
}

static double global_of_batch(const double *x, const struct dl_row *row,
                              const struct dl_row_ref *scaling) {
  return x[0] * replicas(x + 1, row, scaling) * dl_or(x[5], 1);
}

/* Computes the accumulation steps from global_batch, batch_size and the
 * accelerators. */
static double accumulated(const double *x, const struct dl_row *row,
                          const struct dl_row_ref *scaling) {
  return x[0] / (x[1] * replicas(x + 2, row, scaling));
}

static double of_inference(const double *x, const struct dl_row *row,
                           const struct dl_row_ref *phase) {
  return dl_row_word(row, phase) == DL_PHASE_INFERENCE ? x[0] : (double)NAN;
}

/* Requests that a known rate serves in a known time. */
static double served_requests(const double *x, const struct dl_row *row,
                              const struct dl_row_ref *phase) {
  double served = x[0] * dl_or(x[1], x[2]);
  return of_inference(&served, row, phase);
}

static double rank_in(const double *x, const struct dl_row *row,
                      const struct dl_row_ref *fine_tune) {
  (void)x;
  return dl_rank_in(dl_row_text(row, fine_tune));
}

static double trains_head(const double *x, const struct dl_row *row,
                          const struct dl_row_ref *fine_tune) {
  unsigned tune = dl_row_word(row, fine_tune);
  (void)x;
  return tune == DL_TUNE_UNKNOWN ? (double)NAN : tune == DL_TUNE_HEAD;
}

/* --- Usual values. */

static bool is_language(const struct dl_row *row) {
  return row->found.arch && dl_is_language_model(row->found.arch);
}

/* The epochs follow recipes: defaults of scripts, and commands of their README
 * files. Diffusion models are trained by steps: 500 of one image with four
 * accumulated (huggingface/diffusers, examples/dreambooth/README_sdxl.md). */
enum {
  EPOCHS = 90,       /* pytorch/examples, imagenet/main.py */
  TUNING_EPOCHS = 5, /* huggingface/transformers, image-classification */
  LANGUAGE_TUNING_EPOCHS = 3, /* tatsu-lab/stanford_alpaca, README.md */
  DIFFUSION_SAMPLES = 500 * 4
};
static const struct {
  const char *family;
  double epochs;
} family_epochs[] = {
    {"yolo", 100},        /* ultralytics/ultralytics, cfg/default.yaml */
    {"detr", 300},        /* facebookresearch/detr, main.py */
    {"rcnn", 26},         /* pytorch/vision, references/detection/README.md */
    {"retinanet", 26},    /* as rcnn */
    {"ssd", 120},         /* as rcnn, SSD300 VGG16 */
    {"segmentation", 30}, /* pytorch/vision, references/segmentation/train.py */
    {"recommendation",
     1},            /* NVIDIA/DeepLearningExamples, Recommendation/DLRM */
    {"graph", 500}, /* snap-stanford/ogb, nodeproppred/arxiv/gnn.py */
};

static double usual_epochs(const struct dl_row *row) {
  const struct dl_run *run = &row->run;
  const struct dl_architecture *arch = row->found.arch;
  const bool tunes = run->fine_tune != DL_TUNE_UNKNOWN;
  if (dl_run_is_inference(run))
    return NAN;
  if (is_language(row))
    return tunes ? LANGUAGE_TUNING_EPOCHS : 1;
  if (arch && !isnan(arch->denoising_steps))
    return fmax(1, round(DIFFUSION_SAMPLES /
                         dl_or(run->train_samples, DIFFUSION_SAMPLES)));
  if (tunes)
    return TUNING_EPOCHS;
  for (size_t i = 0; arch && i < DL_LENGTH(family_epochs); i++)
    if (dl_same_text(arch->family, family_epochs[i].family))
      return family_epochs[i].epochs;
  return EPOCHS;
}

/* Returns the usual batch, at a rate of requests the most at a time. Language
 * models have an assumption for their memory instead (estimate/assumptions.c).
 */
static double usual_batch(const struct dl_row *row) {
  if (dl_run_is_inference(&row->run))
    return dl_run_has(&row->run, DL_RUN_request_rate) ? DL_USUAL_BATCH : 1;
  return is_language(row) ? (double)NAN : dl_trained_batch(row->found.arch);
}

/* One, or as many as a batch on each accelerator where a duration is given. */
static double usual_requests(const struct dl_row *row) {
  const struct dl_run *run = &row->run;
  if (!dl_run_is_inference(run))
    return NAN;
  return dl_run_has(run, DL_RUN_duration_s)
             ? dl_or(run->batch_size, 1) * dl_or(run->n_gpus, 1)
             : 1;
}

#define PARALLEL                                                               \
  DL_RUN_n_gpus, DL_RUN_tensor_parallel, DL_RUN_pipeline_parallel,             \
      DL_RUN_context_parallel
#define IDS(...)                                                               \
  {__VA_ARGS__}, .n_inputs = sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t)
#define BY(...)                                                                \
  .by = {__VA_ARGS__}, .n_by = sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t)
#define COPY(from)                                                             \
  { IDS(DL_OF_##from), .compute = same, .n_needed = 1 }
#define RATIO(a, b)                                                            \
  { IDS(DL_RUN_##a, DL_RUN_##b), .compute = ratio, .n_needed = 2 }
#define PRODUCT(a, b)                                                          \
  { IDS(DL_RUN_##a, DL_RUN_##b), .compute = product, .n_needed = 2 }

/* A quantity stands behind those that it follows from. Where two follow from
 * each other (duration_s, epoch_s) each builds on what the user gave for the
 * other. */
const struct derivation dl_derivations[DL_N_RUN_MEMBERS] = {
    [DL_RUN_macs_g] = COPY(ARCH_macs_g),
    [DL_RUN_params_m] = COPY(ARCH_params_m),
    [DL_RUN_acts_m] = COPY(ARCH_acts_m),
    [DL_RUN_image_px] = COPY(ARCH_image_px),
    [DL_RUN_launches] = COPY(ARCH_launches),
    [DL_RUN_denoising_steps] = {IDS(DL_OF_ARCH_denoising_steps),
                                .compute = of_inference, .n_needed = 1,
                                .word = DL_RUN_phase},
    [DL_RUN_power_limit_w] = COPY(GPU_power_limit_w),
    [DL_RUN_peak_tflops] = {IDS(DL_OF_GPU_peak_fp32_tflops,
                                DL_OF_GPU_peak_tf32_tflops),
                            .compute = usual_peak, .n_needed = 1},
    [DL_RUN_frozen_base] = {.compute = trains_head, .word = DL_RUN_fine_tune},
    [DL_RUN_lora_rank] = {.compute = rank_in,
                          .word = DL_RUN_fine_tune,
                          .of_text = true},
    [DL_RUN_epochs] = {BY(DL_RUN_arch, DL_RUN_phase, DL_RUN_fine_tune,
                          DL_RUN_train_samples),
                       .usual = usual_epochs},
    [DL_RUN_batch_size] = {IDS(DL_RUN_global_batch, PARALLEL,
                               DL_RUN_grad_accum),
                           .compute = batch_of_global, .n_needed = 1,
                           .word = DL_RUN_scaling, .of_given = true,
                           BY(DL_RUN_arch, DL_RUN_phase, DL_RUN_request_rate),
                           .usual = usual_batch},
    [DL_RUN_grad_accum] = {IDS(DL_RUN_global_batch, DL_RUN_batch_size,
                               PARALLEL),
                           .compute = accumulated, .n_needed = 2,
                           .word = DL_RUN_scaling, .of_given = true},
    [DL_RUN_global_batch] = {IDS(DL_RUN_batch_size, PARALLEL,
                                 DL_RUN_grad_accum),
                             .compute = global_of_batch, .n_needed = 1,
                             .word = DL_RUN_scaling},
    [DL_RUN_gpus_per_node] = RATIO(n_gpus, n_nodes),
    [DL_RUN_tokens] = PRODUCT(train_tokens, epochs),
    [DL_RUN_duration_s] = PRODUCT(epoch_s, epochs),
    [DL_RUN_epoch_s] = RATIO(duration_s, epochs),
    [DL_RUN_requests] =
        {IDS(DL_RUN_duration_s, DL_RUN_request_rate, DL_RUN_samples_per_s),
         .compute = served_requests, .n_needed = 1, .word = DL_RUN_phase,
         BY(DL_RUN_phase, DL_RUN_duration_s, DL_RUN_batch_size, DL_RUN_n_gpus),
         .usual = usual_requests},
    [DL_RUN_samples_per_s] = RATIO(tokens_per_s, seq_len),
    [DL_RUN_tokens_per_s] = PRODUCT(samples_per_s, seq_len),
    [DL_RUN_epoch_energy_j] = RATIO(energy_j, epochs),
    [DL_RUN_gpu_power_w] = RATIO(gpu_energy_j, duration_s),
};
