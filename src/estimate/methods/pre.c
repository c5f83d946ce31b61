/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PRE, the estimate before training (del Rey et al., arXiv 2307.05520), with
 * the models that dlest ships or the user fitted:
 *
 *   pre-power   E = P * T           P predicted, T given or from pre-epoch
 *   pre-epoch   E = e * epochs      e = energy of an epoch, predicted
 *
 * The models were fitted on runs on one GPU. On several, ideal data parallelism
 * is assumed: an epoch takes an equal energy in a shorter time; n_gpus is then
 * named as outside of the model's range.
 *
 * They learnt from runs in FP32, in TF32 where the framework takes that: at
 * another precision they say so, and are not recommended.
 *
 * They were fitted on trainings on images and have no estimates of inference
 * and of runs in tokens.
 *
 * A duration follows from the two: T = e * epochs / (P + P_ram) / GPUs if there
 * is no model of the epoch time. */

#include <math.h>
#include <string.h>

#include "base/constants.h"
#include "estimate/methods/methods.h"

bool dl_pre_learnt_precision(const struct dl_job *job) {
  enum dl_precision p = job->run->precision;
  return p == DL_PRECISION_UNKNOWN || p == DL_PRECISION_FP32 ||
         p == DL_PRECISION_TF32;
}

static void note_limits(const struct dl_engine *ctx, struct dl_estimate *est,
                        const struct dl_fit *fit, const struct dl_job *job,
                        const struct dl_prediction *p) {
  dl_note_limits(ctx, est, fit, job, p);
  est->other_precision = !dl_pre_learnt_precision(job);
  if (est->other_precision && est->n_outside < DL_MOST_OUTSIDE)
    est->outside[est->n_outside++] = "precision";
}

static double limit_w(const struct dl_job *job) {
  return dl_or(job->run->power_limit_w, job->tdp_w);
}

/* No board draws more than its limit, whatever a regression makes of it. */
static struct dl_prediction within_limit(const struct dl_job *job,
                                         const struct dl_prediction *p) {
  const double most = limit_w(job);
  struct dl_prediction at_most = *p;
  if (p->value > most) {
    at_most.value = most;
    at_most.low = fmin(p->low, most);
  }
  if (p->high > most)
    at_most.high = most;
  return at_most;
}

double dl_pre_duration(const struct dl_job *job,
                       const struct dl_job_predictions *p) {
  double epoch_s = p->of[DL_PRE_TIME].value;
  if (isnan(epoch_s))
    epoch_s = p->of[DL_PRE_EPOCH].value /
              (within_limit(job, &p->of[DL_PRE_POWER]).value + DL_RUN_MEMORY_W);
  double own_s = epoch_s * job->epochs / job->run->n_gpus;
  return own_s < dl_least_duration(job) ? dl_least_duration(job) : own_s;
}

static void power(const struct dl_engine *ctx, const struct dl_job *job,
                  const struct dl_prediction *predicted,
                  struct dl_estimate *est) {
  const struct dl_prediction at_most = within_limit(job, predicted),
                             *p = &at_most;
  est->boundary = "gpu";
  double times = est->duration_s.x * job->run->n_gpus;
  est->model = ctx->fit[DL_PRE_POWER].model;
  est->power_w.x = p->value * job->run->n_gpus;
  est->energy_j.x = p->value * times;
  est->energy_j.low = p->low * times;
  est->energy_j.high = p->high * times;
  if (isnan(p->value))
    est->lacks = dl_fit_lacks(&ctx->fit[DL_PRE_POWER], job);
  else if (isnan(est->energy_j.x))
    est->lacks = "duration_s";
  else
    note_limits(ctx, est, ctx->fit[DL_PRE_POWER].fit, job, p);
}

/* PRE stands on its own feet: it takes the duration from pre-epoch where none
 * is given. The error of that guess is in the energy: the interval of the epoch
 * energy (relative) adds to the power's. */
static void power_with_duration(const struct dl_engine *ctx,
                                const struct dl_job *job,
                                const struct dl_job_predictions *p,
                                struct dl_estimate *est) {
  struct dl_prediction e = p->of[DL_PRE_EPOCH];
  double own_s = dl_pre_duration(job, p);
  if (isnan(job->known.run_s) && !isnan(own_s)) {
    est->duration_s.x = own_s;
    est->duration_from = dl_pre_epoch.name;
  }
  power(ctx, job, &p->of[DL_PRE_POWER], est);
  if (isnan(est->energy_j.x) || !isnan(job->known.run_s))
    return;
  if (isnan(e.value) || isnan(e.low)) {
    est->energy_j.low = est->energy_j.high = NAN;
    est->interval_from = NULL;
    est->interval_groups = 0;
    return;
  }
  /* Bounds below 0 are as far as 0: log gives -infinity, low_j becomes 0. */
  double low = hypot(log(fmax(est->energy_j.low / est->energy_j.x, 0)),
                     log(fmax(e.low / e.value, 0)));
  double high =
      hypot(log(est->energy_j.high / est->energy_j.x), log(e.high / e.value));
  est->energy_j.low = est->energy_j.x * exp(-low);
  est->energy_j.high = est->energy_j.x * exp(high);
}

static void epoch(const struct dl_engine *ctx, const struct dl_job *job,
                  const struct dl_job_predictions *all,
                  struct dl_estimate *est) {
  const struct dl_prediction *p = &all->of[DL_PRE_EPOCH];
  est->boundary =
      ctx->fit[DL_PRE_EPOCH].fit && ctx->fit[DL_PRE_EPOCH].fit->boundary
          ? ctx->fit[DL_PRE_EPOCH].fit->boundary
          : "gpu";
  est->memory_w = strcmp(est->boundary, "gpu+ram") == 0 ? DL_RUN_MEMORY_W : 0;
  est->model = ctx->fit[DL_PRE_EPOCH].model;
  est->energy_j.x = p->value * job->epochs;
  est->energy_j.low = p->low * job->epochs;
  est->energy_j.high = p->high * job->epochs;
  /* A duration that was given does not enter: with it, epochs that do not
   * belong to it would make an absurd power. */
  double own_s = dl_pre_duration(job, all);
  if (!isnan(own_s)) {
    est->duration_s.x = own_s;
    est->duration_from = dl_pre_epoch.name;
  }
  /* A duration by another method may be too short for this energy. */
  double least_s =
      est->energy_j.x / (limit_w(job) * job->run->n_gpus + est->memory_w);
  if (isnan(job->known.run_s) && est->duration_s.x < least_s) {
    est->duration_s.x = least_s;
    est->duration_from = dl_pre_epoch.name;
  }
  est->power_w.x = est->energy_j.x / est->duration_s.x;
  if (isnan(p->value))
    est->lacks = dl_fit_lacks(&ctx->fit[DL_PRE_EPOCH], job);
  else if (isnan(est->energy_j.x))
    est->lacks = "epochs";
  else
    note_limits(ctx, est, ctx->fit[DL_PRE_EPOCH].fit, job, p);
}

/* The models that ship need these; a user's own may need others. */
static const char *const power_needs[] = {
    "gpu.tdp_w",   "gpu.bandwidth_gb_s",    "gpu.peak_fp32_tflops",
    "arch.macs_g", "dataset.train_samples", NULL};
static const char *const epoch_needs[] = {
    "gpu.tdp_w",   "gpu.bandwidth_gb_s", "gpu.peak_fp32_tflops",
    "arch.macs_g", "arch.acts_m",        "dataset.train_samples",
    NULL};

const struct dl_estimator dl_pre_power = {
    .id = DL_METHOD_PRE_POWER,
    .name = "pre-power",
    .summary = "predicted mean power x duration (PRE-P)",
    .source = "del Rey et al., arXiv 2307.05520",
    .rank_given = 5,
    .rank_open = 4,
    .needs_regressions = true,
    .needs = power_needs,
    .estimate = power_with_duration,
};

const struct dl_estimator dl_pre_epoch = {
    .id = DL_METHOD_PRE_EPOCH,
    .name = "pre-epoch",
    .summary = "predicted energy of an epoch x epochs (PRE-E)",
    .source = "del Rey et al., arXiv 2307.05520",
    .rank_given = 4,
    .rank_open = 5,
    .needs_regressions = true,
    .needs = epoch_needs,
    .estimate = epoch,
};
