/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities of a run that follow from others, and those that jobs have by
 * default. */

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
#include "run/frame_private.h"
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
  return isnan(x[0]) ? (double)NAN : fmax(x[0], isnan(x[1]) ? 0 : 0.5 * x[1]);
}

/* Samples per optimizer step for one on each accelerator: n_gpus / (tensor x
 * pipeline x context), times grad_accum; x is n_gpus and these four. Of strong
 * scaling, batch_size is that of all accelerators. */
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

/* Of global_batch, batch_size and the accelerators. */
static double accumulated(const double *x, const struct dl_row *row,
                          const struct dl_row_ref *scaling) {
  return x[0] / (x[1] * replicas(x + 2, row, scaling));
}

static double of_inference(const double *x, const struct dl_row *row,
                           const struct dl_row_ref *phase) {
  return dl_row_word(row, phase) == DL_PHASE_INFERENCE ? x[0] : (double)NAN;
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

#define PARALLEL                                                               \
  "n_gpus", "tensor_parallel", "pipeline_parallel", "context_parallel"

/* Quantities that follow from others. Where two follow from each other
 * (duration_s, epoch_s) each builds on what the user gave for the other. */
static const struct derived derived[] = {
    {DL_RUN_macs_g, {"arch.macs_g"}, same, .n_needed = 1},
    {DL_RUN_params_m, {"arch.params_m"}, same, .n_needed = 1},
    {DL_RUN_acts_m, {"arch.acts_m"}, same, .n_needed = 1},
    {DL_RUN_image_px, {"arch.image_px"}, same, .n_needed = 1},
    {DL_RUN_launches, {"arch.launches"}, same, .n_needed = 1},
    {DL_RUN_denoising_steps,
     {"arch.denoising_steps"},
     of_inference,
     .n_needed = 1,
     .word = "phase"},
    {DL_RUN_power_limit_w, {"gpu.power_limit_w"}, same, .n_needed = 1},
    {DL_RUN_peak_tflops,
     {"gpu.peak_fp32_tflops", "gpu.peak_tf32_tflops"},
     usual_peak,
     .n_needed = 1},
    {DL_RUN_frozen_base, {NULL}, trains_head, .word = "fine_tune"},
    {DL_RUN_lora_rank, {NULL}, rank_in, .word = "fine_tune", .of_text = true},
    {DL_RUN_batch_size,
     {"global_batch", PARALLEL, "grad_accum"},
     batch_of_global,
     .n_needed = 1,
     .word = "scaling",
     .of_given = true},
    {DL_RUN_global_batch,
     {"batch_size", PARALLEL, "grad_accum"},
     global_of_batch,
     .n_needed = 1,
     .word = "scaling"},
    {DL_RUN_grad_accum,
     {"global_batch", "batch_size", PARALLEL},
     accumulated,
     .n_needed = 2,
     .word = "scaling",
     .of_given = true},
    {DL_RUN_gpus_per_node, {"n_gpus", "n_nodes"}, ratio, .n_needed = 2},
    {DL_RUN_tokens, {"train_tokens", "epochs"}, product, .n_needed = 2},
    {DL_RUN_requests, {"request_rate", "duration_s"}, product, .n_needed = 2},
    {DL_RUN_samples_per_s, {"tokens_per_s", "seq_len"}, ratio, .n_needed = 2},
    {DL_RUN_tokens_per_s, {"samples_per_s", "seq_len"}, product, .n_needed = 2},
    {DL_RUN_duration_s, {"epoch_s", "epochs"}, product, .n_needed = 2},
    {DL_RUN_epoch_s, {"duration_s", "epochs"}, ratio, .n_needed = 2},
    {DL_RUN_epoch_energy_j, {"energy_j", "epochs"}, ratio, .n_needed = 2},
    {DL_RUN_gpu_power_w, {"gpu_energy_j", "duration_s"}, ratio, .n_needed = 2},
};

const struct derived *dl_derived_of(const char *name) {
  for (size_t i = 0; i < DL_LENGTH(derived); i++)
    if (strcmp(dl_run_columns[derived[i].target].name, name) == 0)
      return &derived[i];
  return NULL;
}

/* --- Usual values. */

static bool is_language(const struct dl_row *row) {
  return row->found.arch && dl_is_language_model(row->found.arch);
}

static double usual_epochs(const struct dl_row *row) {
  return dl_run_is_inference(&row->run) ? (double)NAN
         : is_language(row)             ? 1
                                        : 90;
}

/* Of language models what is assumed for their memory (estimate/assumptions.c);
 * at a rate of requests the most at a time. */
static double usual_batch(const struct dl_row *row) {
  if (dl_run_is_inference(&row->run))
    return dl_run_has(&row->run, DL_RUN_request_rate) ? DL_USUAL_BATCH : 1;
  return is_language(row) ? (double)NAN : DL_USUAL_BATCH;
}

static double usual_requests(const struct dl_row *row) {
  return dl_run_is_inference(&row->run) ? 1 : (double)NAN;
}

static const struct usual usual[] = {
    {DL_RUN_epochs, {"arch", "phase"}, usual_epochs},
    {DL_RUN_batch_size, {"arch", "phase", "request_rate"}, usual_batch},
    {DL_RUN_requests, {"phase"}, usual_requests},
};

const struct usual *dl_usual_of(const char *name) {
  for (size_t i = 0; i < DL_LENGTH(usual); i++)
    if (strcmp(dl_run_columns[usual[i].target].name, name) == 0)
      return &usual[i];
  return NULL;
}
