/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Energy from floating-point operations:
 *
 *   T = total FLOPs / (peak FLOP/s * efficiency * GPUs),  E = TDP * T * GPUs
 *
 * 1 MAC = 2 FLOPs; a training step counts as three forward passes, with a
 * frozen base as one and two more of the classifier, a validation step as
 * one. The peak rate is that of the
 * precision assumed (frame.c), the efficiency is the user's or the default
 * that the output states. */

#include <math.h>

#include "catalog/scaling.h"
#include "estimate/methods.h"

/* MACs (1e9) of a training step for one sample. */
static double training_macs(const struct dl_job *job) {
  if (!(job->frozen_base > 0))
    return 3 * job->macs_g;
  double head = job->found.arch ? dl_classifier_macs_g(job->found.arch) : NAN;
  return job->macs_g + (isnan(head) ? 0 : 2 * head);
}

double dl_flops_duration(const struct dl_job *job) {
  double val = isnan(job->val_samples) ? 0 : job->val_samples;
  double macs = training_macs(job) * job->train_samples + job->macs_g * val;
  double flop = 2e9 * macs * job->epochs;
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

const struct dl_estimator dl_flops = {
    .name = "flops",
    .summary = "operations / (peak rate x efficiency) x TDP",
    .source = "common practice; training = 3 forward passes",
    .rank_given = 1,
    .rank_open = 3,
    .estimate = estimate,
};
