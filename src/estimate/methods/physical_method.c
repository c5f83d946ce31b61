/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physical method: time and power of a training step from what the step
 * does and what the machine can do (physics/training/training_cost.h,
 * docs/lab/estimation.md),
 *
 *   E = e * epochs      e: GPU and memory of the node
 *   E = P * T           where the duration is given: the GPU alone
 *
 * What else is known of a run conditions both (conditioning/conditioned.h).
 *
 * Inference is in inference.h.
 *
 * On several GPUs each takes its share of the samples at the batch size of one,
 * and they exchange gradients at the end of every step; energies count all
 * GPUs. */

#include <math.h>
#include <string.h>

#include "estimate/methods/cpu_inference.h"
#include "estimate/methods/inference.h"
#include "estimate/methods/language_training.h"
#include "estimate/methods/methods.h"
#include "estimate/methods/plain_software.h"
#include "estimate/methods/work.h"
#include "physics/conditioning/gpu_waiting.h"
#include "physics/rows/inputs.h"
#include "physics/training/input_pipeline.h"
#include "physics/training/training_inputs.h"
#include "run/setup/training_setup.h"

static const char *const needs[] = {
    "gpu.tdp_w",   "gpu.bandwidth_gb_s",    "gpu.peak_fp32_tflops",
    "arch.macs_g", "dataset.train_samples", NULL};

double dl_physical_duration(const struct dl_job *job,
                            const struct dl_job_predictions *p) {
  double epoch_s = p->of[DL_PHYSICAL_TIME].value;
  if (dl_run_is_inference(job->run))
    return p->served.time_s;
  if (p->language)
    return p->conditioned.applies ? p->conditioned.duration_s.x
                                  : dl_language_duration(job, p);
  if (p->conditioned.applies)
    return p->conditioned.duration_s.x;
  if (isnan(epoch_s))
    epoch_s = p->parts.time_s;
  return epoch_s * job->epochs;
}

/* A known duration has all in it. */
static double beside(const struct dl_job *job, double x) {
  bool given = dl_run_set_has(&job->row->given, DL_RUN_duration_s);
  return given ? 0 : dl_or(x, 0);
}

double dl_startup_s(const struct dl_job *job) {
  return beside(job, job->run->startup_s) + beside(job, job->run->idle_tail_s);
}

double dl_overhead(const struct dl_job *job) {
  return beside(job, job->run->overhead);
}

double dl_with_overhead(const struct dl_job *job, double steps_s) {
  return steps_s * (1 + dl_overhead(job)) + dl_startup_s(job);
}

double dl_without_overhead(const struct dl_job *job, double duration_s) {
  return (duration_s - dl_startup_s(job)) / (1 + dl_overhead(job));
}

static void scale(struct dl_estimate *est, const struct dl_prediction *p,
                  double by) {
  est->energy_j.x = p->value * by;
  est->energy_j.low = p->low * by;
  est->energy_j.high = p->high * by;
}

static void by_power(const struct dl_engine *ctx, const struct dl_job *job,
                     const struct dl_job_predictions *all,
                     struct dl_estimate *est) {
  const struct dl_prediction *p = &all->of[DL_PHYSICAL_POWER];
  const double gpus_s = job->known.run_s * job->run->n_gpus;
  est->boundary = "gpu";
  est->model = ctx->fit[DL_PHYSICAL_POWER].model;
  est->power_w.x = p->value * job->run->n_gpus;
  scale(est, p, gpus_s);
  dl_allow_waiting(&est->energy_j, all->parts.static_w * gpus_s, ctx->coverage);
  if (isnan(p->value))
    est->lacks = dl_fit_lacks(&ctx->fit[DL_PHYSICAL_POWER], job);
  else
    dl_note_limits(ctx, est, ctx->fit[DL_PHYSICAL_POWER].fit, job, p);
}

/* Intervals of what runs of this very configuration have measured stay. */
static void keep_repeats(const struct dl_job_predictions *all,
                         const struct dl_estimate *was,
                         struct dl_estimate *est) {
  if (all->of[DL_PHYSICAL_EPOCH].repeats > 0)
    est->energy_j = was->energy_j;
  if (all->of[DL_PHYSICAL_TIME].repeats > 0)
    est->duration_s = was->duration_s;
  if (all->power_repeats)
    est->power_w = was->power_w;
}

/* Widens an energy whose time is not known by its uncertainty beyond the fit.
 * Times of waiting for other GPUs are known worse than times of computing. */
static void widen_epoch(const struct dl_engine *ctx, const struct dl_job *job,
                        const struct dl_job_predictions *all,
                        struct dl_estimate *est) {
  const struct dl_prediction *p = &all->of[DL_PHYSICAL_EPOCH];
  const struct dl_estimate was = *est;
  double doubt, waiting = all->parts.waiting_s / all->parts.time_s;
  double software = dl_software_doubt(job->run);
  dl_facts_assumed(job, &doubt);
  dl_note_limits(ctx, est, ctx->fit[DL_PHYSICAL_EPOCH].fit, job, p);
  est->software_matters =
      !job->run->stack && !p->of_stack && software > 0 && p->repeats == 0;
  dl_widen(ctx, est, p->of_stack ? doubt : hypot(waiting, doubt));
  struct dl_estimate upper = *est;
  dl_widen(ctx, est, p->of_stack ? 0 : software);
  if (!job->run->stack) {
    dl_widen(ctx, &upper, dl_recipe_doubt(job));
    est->energy_j.high = upper.energy_j.high;
    est->duration_s.high = upper.duration_s.high;
  }
  keep_repeats(all, &was, est);
}

/* Estimates by what is known of the run. */
static void by_known(const struct dl_engine *ctx, const struct dl_job *job,
                     const struct dl_job_predictions *all,
                     struct dl_estimate *est) {
  const struct dl_conditioned *known = &all->conditioned;
  const struct dl_prediction *p = &all->of[DL_PHYSICAL_POWER];
  bool timed = !isnan(job->known.run_s);
  est->boundary = "gpu";
  est->model = ctx->fit[DL_PHYSICAL_POWER].model;
  est->energy_j = known->energy_j;
  est->duration_s = known->duration_s;
  est->duration_from = all->duration_from;
  est->duration_s.low = known->duration_s.low;
  est->duration_s.high = known->duration_s.high;
  est->power_w.x = est->energy_j.x / est->duration_s.x;
  est->power_w.low = known->power_w.low;
  est->power_w.high = known->power_w.high;
  est->busy_share = known->busy;
  if (isnan(est->energy_j.x)) {
    est->lacks = "epochs";
    return;
  }
  est->energy_j.low = isnan(p->low) ? NAN : known->energy_j.low;
  est->energy_j.high = isnan(p->low) ? NAN : known->energy_j.high;
  if (!timed && ctx->fit[DL_PHYSICAL_EPOCH].fit)
    widen_epoch(ctx, job, all, est);
  else if (isnan(job->known.power_w) || !timed)
    dl_note_limits(ctx, est, ctx->fit[DL_PHYSICAL_POWER].fit, job, p);
}

/* The interval of the mean power, in which GPUs wait for their input. */
static void set_power(const struct dl_engine *ctx, const struct dl_job *job,
                      const struct dl_job_predictions *all,
                      struct dl_estimate *est) {
  const struct dl_physical_parts *parts = &all->parts;
  double gpu_w = est->power_w.x - est->memory_w,
         epoch_s = est->duration_s.x / job->epochs;
  double static_w = parts->static_w * job->run->n_gpus;
  struct dl_input_wait wait = {0, 0, 0};
  if (parts->input_s > 0) {
    double alone = parts->input_s * parts->input_rate / parts->gpu_rate;
    wait =
        dl_input_wait(alone, parts->input_s, parts->input_doubt * ctx->of_90);
    gpu_w = (gpu_w * epoch_s - wait.s * static_w) / alone;
    epoch_s = alone;
  }
  est->power_w.low = gpu_w * exp(all->power_low);
  est->power_w.high = gpu_w * exp(all->power_high);
  dl_widen_power(est, epoch_s, static_w, &wait);
  est->power_w.low += est->memory_w;
  est->power_w.high += est->memory_w;
}

static void by_epoch(const struct dl_engine *ctx, const struct dl_job *job,
                     const struct dl_job_predictions *all,
                     struct dl_estimate *est) {
  const struct dl_prediction *p = &all->of[DL_PHYSICAL_EPOCH];
  const struct dl_fit *fit = ctx->fit[DL_PHYSICAL_EPOCH].fit;
  est->boundary = fit && fit->boundary ? fit->boundary : "gpu+ram";
  est->memory_w = strcmp(est->boundary, "gpu+ram") == 0
                      ? dl_training_memory_w(job->found.gpu)
                      : 0;
  est->model = ctx->fit[DL_PHYSICAL_EPOCH].model;
  scale(est, p, job->epochs);
  est->duration_s.x = dl_physical_duration(job, all);
  est->duration_from =
      isnan(est->duration_s.x) ? NULL : dl_physical_method.name;
  est->duration_s.low = all->of[DL_PHYSICAL_TIME].low * job->epochs;
  est->duration_s.high = all->of[DL_PHYSICAL_TIME].high * job->epochs;
  est->power_w.x = est->energy_j.x / est->duration_s.x;
  set_power(ctx, job, all, est);
  if (isnan(p->value))
    est->lacks = dl_fit_lacks(&ctx->fit[DL_PHYSICAL_EPOCH], job);
  else if (isnan(est->energy_j.x))
    est->lacks = "epochs";
  else
    widen_epoch(ctx, job, all, est);
}

/* A forward pass has the interval of the energy of trainings, by what is new of
 * network and GPU. */
static void forward_interval(const struct dl_engine *ctx,
                             const struct dl_job *job, double busy_j,
                             struct dl_estimate *est) {
  const struct dl_bound_fit *b = &ctx->fit[DL_PHYSICAL_EPOCH];
  struct dl_log_bounds bounds;
  struct dl_predictor_row at;
  dl_predictor_take(b->p, job->row, &at);
  /* The usual spread, also where a table or a data set has training samples. */
  at.lacks = "train_samples";
  if (!dl_predictor_bounds(b->p, &at, &bounds))
    return;
  est->energy_j.low = est->energy_j.x + busy_j * expm1(bounds.low);
  est->energy_j.high = est->energy_j.x + busy_j * expm1(bounds.high);
  double doubt;
  dl_facts_assumed(job, &doubt);
  dl_widen(ctx, est, doubt);
  est->interval_from = dl_held_out_group_name(bounds.novelty);
  est->interval_groups = b->fit->held_out_residuals[bounds.novelty].n;
}

/* A forward pass has the interval of the times of trainings in PyTorch, too. */
static void forward_times(const struct dl_engine *ctx, const struct dl_job *job,
                          const struct dl_served *s, struct dl_estimate *est) {
  const struct dl_bound_fit *b = &ctx->fit[DL_PHYSICAL_EPOCH];
  struct dl_log_bounds bounds;
  struct dl_predictor_row at;
  double gpu_s = s->prefill_s - s->plain_s;
  dl_predictor_take(b->p, job->row, &at);
  at.lacks = "train_samples";
  if (job->run->request_rate > 0 || !dl_predictor_times(&at, "eager", &bounds))
    return;
  est->duration_s.low = s->time_s + gpu_s * expm1(-fabs(bounds.low));
  est->duration_s.high = s->time_s + gpu_s * expm1(fabs(bounds.high));
}

/* The power of forward passes has the interval of trainings' powers. */
static void forward_power(const struct dl_engine *ctx, const struct dl_job *job,
                          double busy_j, struct dl_estimate *est) {
  const struct dl_bound_fit *b = &ctx->fit[DL_PHYSICAL_POWER];
  struct dl_log_bounds bounds;
  struct dl_predictor_row at;
  if (!b->p || job->run->request_rate > 0)
    return;
  dl_predictor_take(b->p, job->row, &at);
  at.lacks = "train_samples";
  if (!dl_predictor_bounds(b->p, &at, &bounds))
    return;
  double busy = busy_j / est->energy_j.x;
  est->power_w.low = est->power_w.x * (1 + busy * expm1(-fabs(bounds.low)));
  est->power_w.high = est->power_w.x * (1 + busy * expm1(fabs(bounds.high)));
}

/* Sets the interval of the power of requests at a rate, whose time is known, to
 * that which the energy has. */
static void power_at_rate(const struct dl_job *job, struct dl_estimate *est) {
  if (!(job->run->request_rate > 0))
    return;
  est->power_w.low = est->energy_j.low / est->duration_s.x;
  est->power_w.high = est->energy_j.high / est->duration_s.x;
}

/* Intervals of time and power of requests that do not wait for others. With a
 * rate the time follows from it. */
static void serving_rates(const struct dl_job *job, const struct dl_served *s,
                          const struct dl_job_predictions *all,
                          struct dl_estimate *est) {
  const struct dl_prediction *time = &all->of[DL_SERVING_TIME];
  const struct dl_prediction *power = &all->of[DL_SERVING_POWER];
  if (s->idle_s > 0 || job->run->request_rate > 0)
    return;
  double gpu_s = s->time_s - s->plain_s;
  est->duration_s.low = s->time_s + gpu_s * (time->low / time->value - 1);
  est->duration_s.high = s->time_s + gpu_s * (time->high / time->value - 1);
  est->power_w.low = est->power_w.x * power->low / power->value;
  est->power_w.high = est->power_w.x * power->high / power->value;
}

/* The static power of GPUs that wait or idle is uncertain, too: a part of the
 * figure, in its unit, adds to the bounds in squares. */
static void widen_by_static(struct dl_interval *i, double part,
                            double coverage) {
  double factor = dl_static_factor(0, coverage);
  i->low = i->x - hypot(i->x - i->low, part * (1 - 1 / factor));
  i->high = i->x + hypot(i->high - i->x, part * (factor - 1));
}

static void serving_interval(const struct dl_fit *fit,
                             const struct dl_prediction *p, double busy_j,
                             struct dl_estimate *est) {
  est->energy_j.low = est->energy_j.x + busy_j * (p->low / p->value - 1);
  est->energy_j.high = est->energy_j.x + busy_j * (p->high / p->value - 1);
  dl_note_interval(est, fit, p);
}

/* Powers in the workloads of MLPerf, by the only system whose limit is known,
 * are .7 to 1.1 of the estimate (docs/lab/inference.md); a power is that
 * uncertain, at 90 %. */
#define TUNED_POWER_DOUBT 0.3

/* A single sample does not fill a GPU, and what it takes is known by a factor
 * of 1.6, at 90 %: MLPerf's results for one and for eight samples at a time. */
#define SINGLE_DOUBT 0.5

/* Times on a generation of GPUs that was held out are known worse than on a GPU
 * of a generation in the fit: 90 % within a factor of 1.45 in place of 1.3. */
#define FAMILY_DOUBT 0.25

/* No run in FP4 was measured. Products of NVFP4 that take more than 300 us
 * reach .1 to .6 of the peak rate on B200 and GB200, 90 % of them within this
 * logarithm of their mean. */
#define FP4_DOUBT 0.4

static double fp4_doubt(const struct dl_job *job) {
  return job->run->precision == DL_PRECISION_FP4 ? FP4_DOUBT : 0;
}

static double family_doubt(const struct dl_fit *fit, const struct dl_job *job) {
  const char *family = job->found.gpu ? job->found.gpu->family : NULL;
  const char *name, *within;
  for (size_t i = 0;
       dl_hierarchical_level(fit->state, "family", i, &name, &within); i++)
    if (dl_is_word(family, name))
      return 0;
  return FAMILY_DOUBT;
}

/* Most systems whose power MLPerf has measured lower the limits of boards of
 * more than 200 W, to about .35 to .7 of the TDP, at .65 to .9 of the speed;
 * smaller boards hardly slow down. Where no limit is given it may be lowered,
 * which adds this to the bounds of power and time of tuned software, and of the
 * power of nodes that serve by any. A board that would draw its TDP, .15 of
 * which are static, takes (.85 / .2)^(1/3) = e^.48 times as long at .35 of it
 * (tuned_cost.h). The energy falls, by less than its interval has room for. */
#define LOWERED_FROM_W 200
#define LOWERED_POWER 0.6
#define LOWERED_TIME 0.48

static bool may_be_lowered(const struct dl_job *job) {
  return dl_run_is_inference(job->run) && !dl_passes_on_cpu(job) &&
         job->tdp_w > LOWERED_FROM_W && !(job->run->power_limit_w > 0);
}

bool dl_limit_matters(const struct dl_job *job) {
  return (dl_infers_tuned(job) || dl_runs_engine(job->run)) &&
         may_be_lowered(job);
}

/* Intervals of forward passes by tuned software: of the time by what is new of
 * network and GPU; time and power are independent. */
static void tuned_interval(const struct dl_engine *ctx,
                           const struct dl_job *job, const struct dl_served *s,
                           struct dl_estimate *est) {
  const struct dl_bound_fit *b = &ctx->fit[DL_TUNED_TIME];
  double busy_j = s->prefill_j + s->decode_j, busy_s = s->time_s - s->idle_s;
  double power = TUNED_POWER_DOUBT * ctx->of_90;
  double each = fmax(s->batch / job->run->n_gpus, 1);
  double more = ctx->of_90 * hypot(hypot(SINGLE_DOUBT / sqrt(each),
                                         family_doubt(b->fit, job)),
                                   fp4_doubt(job));
  double lowered = dl_limit_matters(job) ? ctx->of_90 : 0;
  double lower = lowered * LOWERED_POWER, slower = lowered * LOWERED_TIME;
  struct dl_log_bounds bounds;
  struct dl_predictor_row at;
  dl_predictor_take(b->p, job->row, &at);
  if (!dl_predictor_bounds(b->p, &at, &bounds))
    return;
  double low = hypot(bounds.low, more), high = hypot(bounds.high, more);
  est->energy_j.low = est->energy_j.x + busy_j * expm1(-hypot(low, power));
  est->energy_j.high = est->energy_j.x + busy_j * expm1(hypot(high, power));
  if (!(job->run->request_rate > 0)) {
    est->duration_s.low = est->duration_s.x + busy_s * expm1(-low);
    est->duration_s.high =
        est->duration_s.x + busy_s * expm1(hypot(high, slower));
    est->power_w.low = est->power_w.x * exp(-hypot(power, lower));
    est->power_w.high = est->power_w.x * exp(power);
  }
  est->interval_from = dl_held_out_group_name(bounds.novelty);
  est->interval_groups = b->fit->held_out_residuals[bounds.novelty].n;
}

/* Makes room for a lowered limit in time and power of a served model. */
static void lower_limit(const struct dl_engine *ctx, struct dl_estimate *est) {
  struct dl_interval *t = &est->duration_s, *w = &est->power_w;
  t->high = t->x * exp(hypot(log(t->high / t->x), ctx->of_90 * LOWERED_TIME));
  w->low = w->x * exp(-hypot(log(w->x / w->low), ctx->of_90 * LOWERED_POWER));
}

/* Known facts of inference replace their estimates. */
static void take_known(const struct dl_job_predictions *p,
                       struct dl_estimate *est) {
  const struct dl_conditioned *known = &p->conditioned;
  est->energy_j = known->energy_j;
  est->duration_s = known->duration_s;
  est->duration_from = p->duration_from;
  est->power_w.x = est->energy_j.x / est->duration_s.x;
  est->power_w.low = est->energy_j.low / est->duration_s.x;
  est->power_w.high = est->energy_j.high / est->duration_s.x;
  est->busy_share = known->busy;
}

void dl_estimate_inference(const struct dl_engine *ctx,
                           const struct dl_job *job,
                           const struct dl_job_predictions *p,
                           struct dl_estimate *est) {
  const struct dl_served *s = &p->served;
  est->boundary = "gpu";
  est->duration_s.x = s->time_s;
  est->duration_from = dl_physical_method.name;
  if (isnan(s->time_s)) {
    est->lacks = s->lacks;
    return;
  }
  double gpu_j = s->prefill_j + s->decode_j - s->plain_j;
  enum dl_fit_of other = s->tuned ? DL_TUNED_TIME : DL_PHYSICAL_EPOCH;
  est->model = ctx->fit[s->tokens ? DL_SERVING_EPOCH : other].model;
  est->energy_j.x = s->prefill_j + s->decode_j + s->idle_j;
  est->power_w.x = est->energy_j.x / s->time_s;
  if (s->on_cpu && s->tokens) {
    est->model = NULL;
    dl_cpu_tokens_interval(ctx, job, s, est);
  } else if (s->on_cpu) {
    dl_cpu_interval(ctx, job, p, est);
  } else if (s->tokens) {
    serving_interval(ctx->fit[DL_SERVING_EPOCH].fit, &p->of[DL_SERVING_EPOCH],
                     gpu_j, est);
    serving_rates(job, s, p, est);
    dl_widen(ctx, est, fp4_doubt(job));
    if (dl_limit_matters(job))
      lower_limit(ctx, est);
  } else if (s->tuned) {
    tuned_interval(ctx, job, s, est);
  } else {
    forward_interval(ctx, job, gpu_j, est);
    forward_times(ctx, job, s, est);
    forward_power(ctx, job, gpu_j, est);
    widen_by_static(&est->power_w, s->plain_j / s->time_s, ctx->coverage);
  }
  dl_widen_by_host(job, s, ctx->coverage, est);
  dl_widen(ctx, est, p->parts.input_doubt * s->input_s / s->time_s);
  if (s->idle_j > 0)
    widen_by_static(&est->energy_j, s->idle_j, ctx->coverage);
  power_at_rate(job, est);
  if (may_be_lowered(job) && !dl_limit_matters(job))
    est->capped = -expm1(-ctx->of_90 * LOWERED_POWER);
  if (p->conditioned.applies)
    take_known(p, est);
}

static void estimate(const struct dl_engine *ctx, const struct dl_job *job,
                     const struct dl_job_predictions *p,
                     struct dl_estimate *est) {
  if (dl_run_is_inference(job->run))
    dl_estimate_inference(ctx, job, p, est);
  else if (p->language)
    dl_estimate_language(ctx, job, p, est);
  else if (p->conditioned.applies)
    by_known(ctx, job, p, est);
  else if (isnan(job->known.run_s))
    by_epoch(ctx, job, p, est);
  else
    by_power(ctx, job, p, est);
  if (!dl_run_is_inference(job->run) && dl_is_cpu(job->found.gpu) &&
      isnan(job->known.power_w))
    dl_cpu_training_power(ctx, job, est);
}

const struct dl_estimator dl_physical_method = {
    .id = DL_METHOD_PHYSICAL,
    .name = "physical",
    .summary = "time and power of a step from arithmetic, traffic and launches",
    .source = "dlest, docs/lab/estimation.md",
    .rank_given = 6,
    .rank_open = 6,
    .needs = needs,
    .estimate = estimate,
};
