/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physical method: time and power of a training step from what the step
 * does and what the machine can do (math/physical_model.h, docs/estimation.md),
 *
 *   E = e * epochs      e: GPU and memory of the node
 *   E = P * T           where the duration is given: the GPU alone
 *
 * On several GPUs each takes its share of the samples at the batch size of
 * one, and they exchange gradients at the end of every step. */

#include <math.h>

#include "estimate/methods.h"

double dl_physical_duration(const struct dl_job *job) {
  return job->physical.time.value * job->epochs / job->n_gpus;
}

static void scale(struct dl_estimate *est, const struct dl_prediction *p,
                  double by) {
  est->energy_j = p->value * by;
  est->low_j = p->low * by;
  est->high_j = p->high * by;
}

static void by_power(const struct dl_context *ctx, const struct dl_job *job,
                     struct dl_estimate *est) {
  const struct dl_prediction *p = &job->physical.power;
  est->boundary = "gpu";
  est->model = ctx->physical.power.model;
  est->power_w = p->value * job->n_gpus;
  scale(est, p, job->duration_s * job->n_gpus);
  if (isnan(p->value))
    est->lacks = dl_fit_lacks(&ctx->physical.power, job);
  else
    dl_note_limits(est, ctx->physical.power.fit, job, p);
}

static void by_epoch(const struct dl_context *ctx, const struct dl_job *job,
                     struct dl_estimate *est) {
  const struct dl_prediction *p = &job->physical.epoch;
  const struct dl_fit *fit = ctx->physical.epoch.fit;
  est->boundary = fit && fit->boundary ? fit->boundary : "gpu+ram";
  est->model = ctx->physical.epoch.model;
  scale(est, p, job->epochs);
  est->duration_s = dl_physical_duration(job);
  est->duration_from = isnan(est->duration_s) ? NULL : dl_physical_method.name;
  est->power_w = est->energy_j / est->duration_s;
  if (isnan(p->value))
    est->lacks = dl_fit_lacks(&ctx->physical.epoch, job);
  else if (isnan(est->energy_j))
    est->lacks = "epochs";
  else
    dl_note_limits(est, fit, job, p);
}

static enum dl_status estimate(const struct dl_context *ctx,
                               const struct dl_job *job,
                               struct dl_estimate *est, struct dl_diag *d) {
  (void)d;
  if (isnan(job->duration_s))
    by_epoch(ctx, job, est);
  else
    by_power(ctx, job, est);
  return DL_OK;
}

const struct dl_estimator dl_physical_method = {
    .name = "physical",
    .summary = "time and power of a step from what it does",
    .source = "dlest, docs/estimation.md",
    .rank_given = 6,
    .rank_open = 6,
    .estimate = estimate,
};
