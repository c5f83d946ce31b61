/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Energy from floating-point operations:
 *
 *   T = total FLOPs / (peak FLOP/s * efficiency * GPUs),  E = TDP * T * GPUs
 *
 * 1 MAC = 2 FLOPs; a training step counts as three forward passes (one with
 * a frozen base), a validation step as one. The peak rate is that of the
 * precision assumed (frame.c), the efficiency is the user's or the default
 * that the output states. */

#include <math.h>

#include "estimate/methods.h"

static double passes(const struct dl_job *job) {
  double train = job->frozen_base > 0 ? 1 : 3;
  double val = isnan(job->val_samples) ? 0 : job->val_samples;
  return train * job->train_samples + val;
}

double dl_flops_duration(const struct dl_job *job) {
  double flop = 2e9 * job->macs_g * passes(job) * job->epochs;
  return flop / (1e12 * job->peak_tflops * job->efficiency * job->n_gpus);
}

static const char *missing(const struct dl_job *job) {
  if (isnan(job->macs_g))
    return "macs_g";
  if (isnan(job->train_samples))
    return "train_samples";
  if (isnan(job->epochs))
    return "epochs";
  if (isnan(job->tdp_w))
    return "gpu.tdp_w";
  if (isnan(job->efficiency))
    return "efficiency";
  if (isnan(job->n_gpus))
    return "n_gpus";
  return "peak_tflops";
}

/* The method has a duration of its own: a given one does not enter. */
static enum dl_status estimate(const struct dl_context *ctx,
                               const struct dl_job *job,
                               struct dl_estimate *est, struct dl_diag *d) {
  (void)ctx;
  (void)d;
  est->boundary = "gpu";
  est->duration_s = dl_flops_duration(job);
  est->duration_from = "flops";
  est->power_w = job->tdp_w * job->n_gpus;
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
