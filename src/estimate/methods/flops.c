/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Energy from floating-point operations:
 *
 *   T = total FLOPs / (peak FLOP/s * efficiency * GPUs),  E = TDP * T * GPUs
 *
 * 1 MAC = 2 FLOPs; a training step counts as three forward passes, with a
 * frozen base as one and two more of the classifier, a validation step as
 * one. Inference is forward passes, and for language models steps bound by
 * memory (work.h). The peak rate is that of the
 * precision (work.h, frame.c), the efficiency is the user's or the default
 * that the output states. */

#include <math.h>

#include "estimate/methods/methods.h"
#include "estimate/methods/work.h"

double dl_flops_duration(const struct dl_job *job) {
  struct dl_work w;
  dl_work_of(job, &w);
  return w.duration_s;
}

static const char *missing(const struct dl_job *job) {
  struct dl_work w;
  dl_work_of(job, &w);
  if (w.lacks)
    return w.lacks;
  if (isnan(job->tdp_w))
    return "gpu.tdp_w";
  if (isnan(job->run->efficiency))
    return "efficiency";
  if (isnan(job->run->n_gpus))
    return "n_gpus";
  return "peak_tflops";
}

/* The method has a duration of its own: a given one does not enter. */
static enum dl_status estimate(const struct dl_context *ctx,
                               const struct dl_job *job,
                               const struct dl_job_predictions *p,
                               struct dl_estimate *est, struct dl_diag *d) {
  (void)ctx;
  (void)p;
  (void)d;
  est->boundary = "gpu";
  est->duration_s = dl_flops_duration(job);
  est->duration_from = "flops";
  est->power_w = job->tdp_w * job->run->n_gpus;
  est->energy_j = est->power_w * est->duration_s;
  if (isnan(est->energy_j))
    est->lacks = missing(job);
  return DL_OK;
}

static const char *const needs[] = {"gpu.tdp_w", "gpu.peak_fp32_tflops",
                                    "arch.macs_g", "dataset.train_samples",
                                    NULL};

const struct dl_estimator dl_flops = {
    .name = "flops",
    .summary = "operations / (peak rate x efficiency) x TDP",
    .source = "common practice; training = 3 forward passes",
    .rank_given = 1,
    .rank_open = 3,
    .needs = needs,
    .estimate = estimate,
};
