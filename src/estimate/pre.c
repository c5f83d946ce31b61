/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PRE, the estimate before training (del Rey et al., arXiv 2307.05520), with
 * the models that dlest ships or the user fitted:
 *
 *   pre-power   E = P * T           P predicted, T given or from pre-epoch
 *   pre-epoch   E = e * epochs      e = energy of an epoch, predicted
 *
 * The models know runs on one GPU. On several, ideal data parallelism is
 * assumed: the same energy an epoch, in a shorter time; n_gpus is then named
 * as outside of the model's range.
 *
 * They know trainings on images: of inference, and of runs that are told in
 * tokens, they say nothing.
 *
 * A duration follows from the two: T = e * epochs / (P + P_ram) / GPUs where
 * no model of the epoch's duration is at hand. */

#include <math.h>

#include "estimate/methods.h"
#include "estimate/work.h"

/* Memory power within the boundary gpu+ram: paper A's process of 6 to 13 GB
 * at 3.75e-4 W/MB takes 2.5 to 5 W. */
static const double ram_w = 3.7;

/* The effect of several GPUs is known but for a power of +-0.1 of their
 * number, as that of any quantity outside its range (predictor.c). */
static const double gpus_power = 0.1;

/* Adds a part to the relative half-width of an interval. Bounds below 0 are
 * as far as 0: log gives -infinity, low_j becomes 0. */
static void widen(struct dl_estimate *est, double by) {
  double low = hypot(log(fmax(est->low_j / est->energy_j, 0)), by);
  double high = hypot(log(est->high_j / est->energy_j), by);
  if (isnan(est->low_j))
    return;
  est->low_j = est->energy_j * exp(-low);
  est->high_j = est->energy_j * exp(high);
}

/* What the estimate's interval rests on, and where it extrapolates. */
static void note_limits(struct dl_estimate *est, const struct dl_fit *fit,
                        const struct dl_job *job,
                        const struct dl_prediction *p) {
  if (fit && !isnan(p->low)) {
    est->interval_from = dl_left_out_name(p->novelty);
    est->interval_groups = fit->left_out[p->novelty].n;
  }
  est->n_outside = 0;
  if (!fit)
    return;
  for (size_t i = 0; i < fit->n_ranges && i < 32; i++)
    if (p->outside >> i & 1 && est->n_outside < DL_MOST_OUTSIDE)
      est->outside[est->n_outside++] = fit->range[i].name;
  if (job->n_gpus > 1) {
    widen(est, gpus_power * log(job->n_gpus));
    if (est->n_outside < DL_MOST_OUTSIDE)
      est->outside[est->n_outside++] = "n_gpus";
  }
}

/* What no model has seen, or NULL. */
static const char *beyond(const struct dl_job *job) {
  if (dl_is_inference(job))
    return "measured runs of inference";
  return isnan(job->tokens) ? NULL : "measured runs on tokens";
}

static enum dl_status ask(const struct dl_predictor *p,
                          const struct dl_job *job, struct dl_prediction *out,
                          struct dl_diag *d) {
  *out = (struct dl_prediction){.value = NAN, .low = NAN, .high = NAN};
  if (!p || beyond(job) || dl_predictor_lacks(p, job->cells))
    return DL_OK;
  return dl_predict(p, job->cells, &job->found, out, d);
}

enum dl_status dl_ask_models(const struct dl_context *ctx, struct dl_job *job,
                             struct dl_diag *d) {
  enum dl_status status = ask(ctx->time, job, &job->said.time, d);
  if (status == DL_OK)
    status = ask(ctx->power, job, &job->said.power, d);
  if (status == DL_OK)
    status = ask(ctx->epoch, job, &job->said.epoch, d);
  return status;
}

double dl_pre_duration(const struct dl_job *job) {
  double epoch_s = job->said.time.value;
  if (isnan(epoch_s))
    epoch_s = job->said.epoch.value / (job->said.power.value + ram_w);
  return epoch_s * job->epochs / job->n_gpus;
}

static const char *lacking(const struct dl_predictor *p,
                           const struct dl_job *job) {
  const char *name = beyond(job);
  if (name)
    return name;
  name = p ? dl_predictor_lacks(p, job->cells) : "model";
  return name ? name : "a value within the model's domain";
}

static void power(const struct dl_context *ctx, const struct dl_job *job,
                  struct dl_estimate *est) {
  struct dl_prediction p = job->said.power;
  est->boundary = "gpu";
  double times = est->duration_s * job->n_gpus;
  est->model = ctx->model_name;
  est->power_w = p.value * job->n_gpus;
  est->energy_j = p.value * times;
  est->low_j = p.low * times;
  est->high_j = p.high * times;
  if (isnan(p.value))
    est->lacks = lacking(ctx->power, job);
  else if (isnan(est->energy_j))
    est->lacks = "duration_s";
  else
    note_limits(est, ctx->power_fit, job, &p);
}

/* Where the duration is pre-epoch's own guess, its error is in the energy:
 * the interval of the epoch energy (relative) adds to that of the power. */
static enum dl_status power_with_duration(const struct dl_context *ctx,
                                          const struct dl_job *job,
                                          struct dl_estimate *est,
                                          struct dl_diag *d) {
  struct dl_prediction e = job->said.epoch;
  (void)d;
  power(ctx, job, est);
  if (isnan(est->energy_j) || !isnan(job->duration_s))
    return DL_OK;
  if (isnan(e.value) || isnan(e.low)) {
    est->low_j = est->high_j = NAN;
    est->interval_from = NULL;
    est->interval_groups = 0;
    return DL_OK;
  }
  /* Bounds below 0 are as far as 0: log gives -infinity, low_j becomes 0. */
  double low = hypot(log(fmax(est->low_j / est->energy_j, 0)),
                     log(fmax(e.low / e.value, 0)));
  double high = hypot(log(est->high_j / est->energy_j), log(e.high / e.value));
  est->low_j = est->energy_j * exp(-low);
  est->high_j = est->energy_j * exp(high);
  return DL_OK;
}

static enum dl_status epoch(const struct dl_context *ctx,
                            const struct dl_job *job, struct dl_estimate *est,
                            struct dl_diag *d) {
  struct dl_prediction p = job->said.epoch;
  (void)d;
  est->boundary = ctx->epoch_fit && ctx->epoch_fit->boundary
                      ? ctx->epoch_fit->boundary
                      : "gpu";
  est->model = ctx->model_name;
  est->energy_j = p.value * job->epochs;
  est->low_j = p.low * job->epochs;
  est->high_j = p.high * job->epochs;
  /* A duration that was given does not enter: with it, epochs that do not
   * belong to it would make an absurd power. */
  double own_s = dl_pre_duration(job);
  if (!isnan(own_s)) {
    est->duration_s = own_s;
    est->duration_from = dl_pre_epoch.name;
  }
  est->power_w = est->energy_j / est->duration_s;
  if (isnan(p.value))
    est->lacks = lacking(ctx->epoch, job);
  else if (isnan(est->energy_j))
    est->lacks = "epochs";
  else
    note_limits(est, ctx->epoch_fit, job, &p);
  return DL_OK;
}

/* Of the models that ship; a user's own may need others. */
static const char *const power_needs[] = {
    "gpu.tdp_w",   "gpu.bandwidth_gb_s",    "gpu.peak_fp32_tflops",
    "arch.macs_g", "dataset.train_samples", NULL};
static const char *const epoch_needs[] = {
    "gpu.tdp_w",   "gpu.bandwidth_gb_s", "gpu.peak_fp32_tflops",
    "arch.macs_g", "arch.acts_m",        "dataset.train_samples",
    NULL};

const struct dl_estimator dl_pre_power = {
    .name = "pre-power",
    .summary = "predicted mean power x duration (PRE-P)",
    .source = "del Rey et al., arXiv 2307.05520",
    .rank_given = 5,
    .rank_open = 4,
    .needs = power_needs,
    .estimate = power_with_duration,
};

const struct dl_estimator dl_pre_epoch = {
    .name = "pre-epoch",
    .summary = "predicted energy of an epoch x epochs (PRE-E)",
    .source = "del Rey et al., arXiv 2307.05520",
    .rank_given = 4,
    .rank_open = 5,
    .needs = epoch_needs,
    .estimate = epoch,
};
