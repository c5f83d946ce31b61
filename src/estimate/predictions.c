/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/predictions.h"

#include <math.h>
#include <string.h>

#include "estimate/methods/cpu_inference.h"
#include "estimate/methods/input_bound.h"
#include "estimate/methods/inference.h"
#include "estimate/methods/language_training.h"
#include "estimate/conditioning/lowered_clock.h"
#include "estimate/methods/methods.h"
#include "estimate/methods/work.h"
#include "physics/conditioning/joint_prediction.h"
#include "physics/conditioning/gpu_waiting.h"
#include "physics/cpu/cpu_inputs.h"
#include "physics/training/training_inputs.h"
#include "run/setup/training_setup.h"

/* A job, and its row as the fits see it that were asked so far. */
struct fit_rows {
  const struct dl_engine *ctx;
  const struct dl_job *job;
  struct dl_predictor_row at[DL_N_FITS];
  bool read[DL_N_FITS];
};

/* The row as fit i sees it; NULL without that fit. */
static struct dl_predictor_row *row_of(struct fit_rows *a, enum dl_fit_of i) {
  if (!a->ctx->fit[i].p)
    return NULL;
  if (!a->read[i])
    dl_predictor_take(a->ctx->fit[i].p, a->job->row, &a->at[i]);
  a->read[i] = true;
  return &a->at[i];
}

/* Returns the row if it has all that the fit of a physics needs, else NULL. */
static struct dl_fit_row *fit_row(struct fit_rows *a, enum dl_fit_of i) {
  struct dl_predictor_row *at = row_of(a, i);
  return at && !at->lacks ? &at->of_fit : NULL;
}

/* Predicts by the fits from `first` to `last`. */
static enum dl_status ask(struct dl_job_predictions *p, struct fit_rows *a,
                          enum dl_fit_of first, enum dl_fit_of last,
                          struct dl_diag *d) {
  for (size_t i = first; i <= last; i++) {
    struct dl_predictor_row *at = row_of(a, i);
    if (at)
      DL_TRY(dl_predict(at, &p->of[i], d));
  }
  return DL_OK;
}

/* Bounds of the mean power, into *b without what variables beyond their range
 * add: from the residuals of powers, as wide as the joint posterior of energy,
 * power and time has it. False without. */
static bool take_power(struct dl_job_predictions *p, struct fit_rows *a,
                       struct dl_log_bounds *b) {
  const struct dl_predictor *of = a->ctx->fit[DL_PHYSICAL_POWER].p;
  struct dl_predictor_row *epoch = row_of(a, DL_PHYSICAL_EPOCH);
  if (!of || !epoch || epoch->lacks || !dl_predictor_bounds(of, epoch, b))
    return false;
  double more = b->repeats > 0 ? 0 : p->of[DL_PHYSICAL_EPOCH].extrapolation;
  p->power_repeats = b->repeats > 0;
  p->power_low = -hypot(b->low, more);
  p->power_high = hypot(b->high, more);
  return true;
}

/* The interval of the time of an epoch, from the residuals of times that were
 * measured with its software. Where the fit's own runs, and so its energies,
 * had none of that, the energy's interval joins the time's and the power's, in
 * squares. */
static void take_times(struct dl_job_predictions *p, struct fit_rows *a) {
  struct dl_prediction *time = &p->of[DL_PHYSICAL_TIME];
  struct dl_prediction *energy = &p->of[DL_PHYSICAL_EPOCH];
  struct dl_log_bounds b;
  struct dl_log_bounds power;
  bool has_power = take_power(p, a, &power);
  if (!isnan(time->value) || isnan(energy->value) || !p->parts.bound ||
      !dl_predictor_times(row_of(a, DL_PHYSICAL_EPOCH), p->parts.software, &b))
    return;
  double more = b.apart || b.repeats > 0 ? 0 : energy->extrapolation;
  *time =
      (struct dl_prediction){.value = p->parts.time_s,
                             .low = p->parts.time_s * exp(-hypot(b.low, more)),
                             .high = p->parts.time_s * exp(hypot(b.high, more)),
                             .novelty = b.novelty,
                             .groups = b.groups,
                             .repeats = b.repeats};
  if (!b.apart || !has_power || energy->repeats > 0)
    return;
  *energy = (struct dl_prediction){
      .value = energy->value,
      .low = energy->value * exp(-hypot(b.low, power.low)),
      .high = energy->value * exp(hypot(b.high, power.high)),
      .novelty = b.novelty,
      .groups = b.groups,
      .all_seen = b.all_seen,
      .of_stack = true};
}

/* Takes what the posterior says of two targets of a row. */
static void take_work(struct dl_expected *e, const struct dl_fit_row *row,
                      size_t time, size_t power) {
  struct dl_joint_prediction all;
  dl_predict_jointly(row, &all);
  e->time = all.mean[time];
  e->power = all.mean[power];
  e->var_time = all.cov[time][time];
  e->var_power = all.cov[power][power];
  e->cov = all.cov[time][power];
}

/* Powers of groups that were held out are off by more than the fit believes,
 * even where the time is known. What it says of the power stays as the fit has
 * it. */
static void trust_intervals(struct dl_expected *e,
                            const struct dl_prediction *power,
                            double coverage) {
  double sd = dl_interval_sd(log(power->low / power->value),
                             log(power->high / power->value), coverage);
  if (sd > 0)
    e->var_power = sd * sd + e->cov * e->cov / e->var_time;
}

/* Rates are off by more as well, and by less in groups that are like the fit's.
 * A deviation of the rate moves the power as the fit has it. */
static void trust_rate(struct dl_expected *e, const struct dl_prediction *rate,
                       double coverage) {
  double sd = dl_interval_sd(log(rate->low / rate->value),
                             log(rate->high / rate->value), coverage);
  if (!(sd > 0))
    return;
  e->cov *= sd / sqrt(e->var_time);
  e->var_time = sd * sd;
}

/* Power in a time beyond the work that no utilization calls waiting
 * (docs/lab/known-times.md): language models draw this share of their power,
 * and its logarithm has this standard deviation. Trainings of images wait, but
 * where the host and the input take their share of a step, that share of the
 * time beyond draws a third of what work adds to the static power: a slow host
 * still launches short kernels, which keep clocks up. */
#define LANGUAGE_SURPLUS 0.9
#define LANGUAGE_SURPLUS_SD 0.2
#define IMAGE_SURPLUS (1.0 / 3)
#define IMAGE_SURPLUS_SD 0.5

/* The standard deviation that half of an interval of a logarithm stands for. */
static double half_width_sd(const struct dl_prediction *p, double coverage) {
  double half = log(p->high / p->low) / 2;
  return dl_interval_sd(-half, half, coverage);
}

/* Without a time, energies and powers are as uncertain as their intervals say.
 * Errors of the two hardly correlate where a GPU is held out (.15 over seven,
 * from -.54 to .76), so that a known power leaves the energy as it is, unless
 * it makes waiting likely (docs/lab/known-times.md). */
static void trust_energy(struct dl_expected *e,
                         const struct dl_prediction *energy,
                         const struct dl_prediction *power, double coverage) {
  double sd_energy = half_width_sd(energy, coverage);
  double sd_power = half_width_sd(power, coverage);
  if (!(sd_energy > 0 && sd_power > 0))
    return;
  e->var_power = sd_power * sd_power;
  e->var_time = sd_energy * sd_energy + e->var_power;
  e->cov = -e->var_power;
}

static void take_input(struct dl_expected *e,
                       const struct dl_physical_parts *parts, double epochs) {
  double sd = dl_interval_sd(-parts->input_doubt, parts->input_doubt, 0.9);
  e->input = parts->input_s > 0 ? log(parts->input_s * epochs) : (double)NAN;
  e->var_input = sd * sd;
}

/* The share of the time, in squares, that the host and the input take. */
static double share_of_host(const struct dl_physical_parts *parts) {
  double alone = parts->time_s, input = parts->input_s;
  if (input > 0)
    alone = input * parts->input_rate / parts->gpu_rate;
  double share = alone * parts->gpu_share / hypot(alone, input);
  return 1 - share * share;
}

/* What a known duration has beside its steps, unless their time is known: the
 * start-up, and a share of the steps' time. */
static void take_beside(struct dl_expected *e, const struct dl_job *job) {
  const struct dl_known *known = &job->known;
  double most = log(DL_STARTUP_FACTOR);
  if (!dl_run_set_has(&job->row->given, DL_RUN_duration_s) || !known->of_work ||
      known->steps_s < known->run_s)
    return;
  e->startup_s = dl_or(job->run->startup_s, 0);
  e->startup_sd = dl_is_assumed(job->row, DL_RUN_startup_s)
                      ? dl_interval_sd(-most, most, 0.9)
                      : 0;
  e->time += log1p(dl_or(job->run->overhead, 0));
}

/* False if the fit does not have it. */
static bool expect_training(const struct dl_job_predictions *p,
                            struct fit_rows *a, struct dl_expected *e) {
  const struct dl_prediction *power = &p->of[DL_PHYSICAL_POWER];
  const struct dl_job *job = a->job;
  double n = job->run->n_gpus;
  if (!p->parts.bound || isnan(power->value))
    return false;
  take_work(e, fit_row(a, DL_PHYSICAL_EPOCH), DL_TARGET_TIME, DL_TARGET_POWER);
  if (isnan(job->known.run_s))
    trust_energy(e, &p->of[DL_PHYSICAL_EPOCH], power, a->ctx->coverage);
  else
    trust_intervals(e, power, a->ctx->coverage);
  const struct dl_prediction *time = &p->of[DL_PHYSICAL_TIME];
  double sd = half_width_sd(time, a->ctx->coverage);
  e->var_alone = isnan(sd) ? e->var_time : sd * sd;
  double epochs = dl_or(job->epochs, 1); /* unknown: what they share counts */
  e->time += log(epochs * p->slower);
  e->power = log(power->value * n);
  e->static_w = p->parts.static_w * n;
  e->surplus_w = e->static_w + IMAGE_SURPLUS * share_of_host(&p->parts) *
                                   fmax(exp(e->power) - e->static_w, 0);
  e->surplus_sd = IMAGE_SURPLUS_SD;
  e->most_w = dl_limit_of_all_w(job);
  e->util = p->parts.gpu_share;
  take_input(e, &p->parts, epochs);
  return true;
}

static bool expect_language(const struct dl_job_predictions *p,
                            struct fit_rows *a, struct dl_expected *e) {
  const struct dl_job *job = a->job;
  if (isnan(p->of[DL_LANGUAGE_RATE].value) || isnan(p->step.cost.power))
    return false;
  take_work(e, fit_row(a, DL_LANGUAGE_RATE), DL_LANG_TARGET_RATE,
            DL_LANG_TARGET_POWER);
  e->cov = -e->cov; /* a time, not a rate */
  trust_rate(e, &p->of[DL_LANGUAGE_RATE], a->ctx->coverage);
  dl_language_deviations(a->ctx, job, p, e);
  e->var_alone = e->var_time;
  e->time = log(dl_language_work_s(job, p));
  e->power = log(p->step.cost.power * job->run->n_gpus);
  e->static_w = p->step.static_w * job->run->n_gpus;
  e->surplus_w = LANGUAGE_SURPLUS * exp(e->power);
  e->surplus_sd = LANGUAGE_SURPLUS_SD;
  e->most_w = dl_limit_of_all_w(job);
  e->util = p->step.gpu_share;
  take_input(e, &p->parts, 1);
  return true;
}

/* The power of inference is known no better than this, at 90 %, where its
 * interval is the time's. */
#define LEAST_POWER_DOUBT 0.2

static double sd_of(const struct dl_interval *x, double coverage) {
  double half = log(x->high / x->low) / 2;
  return dl_interval_sd(-half, half, coverage);
}

/* Time and power of inference are as uncertain as their intervals say. */
static bool expect_inference(const struct dl_job_predictions *p,
                             struct fit_rows *a, struct dl_expected *e) {
  const struct dl_served *s = &p->served;
  const struct dl_job *job = a->job;
  struct dl_estimate est = {.power_w = DL_NO_INTERVAL,
                            .duration_s = {NAN, NAN, NAN}};
  double n = job->run->n_gpus, coverage = a->ctx->coverage;
  if (isnan(s->time_s))
    return false;
  dl_estimate_inference(a->ctx, job, p, &est);
  double energy = sd_of(&est.energy_j, coverage);
  double time = dl_or(sd_of(&est.duration_s, coverage), energy);
  double least = dl_interval_sd(-LEAST_POWER_DOUBT, LEAST_POWER_DOUBT, 0.9);
  double power = dl_or(sd_of(&est.power_w, coverage),
                       sqrt(fmax(energy * energy - time * time, 0)));
  power = fmax(power, least);
  double static_w =
      dl_is_cpu(job->found.gpu) ? s->static_w : dl_waiting_w(job, s->static_w);
  *e = (struct dl_expected){.time = log(s->time_s),
                            .power = log(est.power_w.x),
                            .var_time = time * time,
                            .var_alone = time * time,
                            .var_power = power * power,
                            .static_w = n * static_w,
                            .surplus_sd = IMAGE_SURPLUS_SD,
                            .most_w = dl_limit_of_all_w(job),
                            .util = 1,
                            .input = NAN};
  e->surplus_w =
      e->static_w + IMAGE_SURPLUS * fmax(est.power_w.x - e->static_w, 0);
  return time > 0;
}

/* Whether something is known of a training that conditions its estimate; a
 * duration of work that is not known does where a loader is described. */
static bool has_condition(const struct dl_job_predictions *p,
                          const struct dl_job *job) {
  const struct dl_known *known = &job->known;
  if (dl_run_is_inference(job->run))
    return known->run_s > 0 && !known->impossible &&
           !(job->run->request_rate > 0 || job->run->idle_s > 0);
  if (!isnan(known->run_s) && p->parts.input_s > 0)
    return true;
  return (known->of_work && !isnan(known->steps_s)) || !isnan(known->util) ||
         !isnan(known->power_w);
}

static bool expect(const struct dl_job_predictions *p, struct fit_rows *a,
                   struct dl_expected *e) {
  if (dl_run_is_inference(a->job->run))
    return expect_inference(p, a, e);
  return p->language ? expect_language(p, a, e) : expect_training(p, a, e);
}

/* The expectation has the uncertainty of intervals of 90 %, whatever is asked
 * for: intervals of other coverages are no normal distribution's. */
static enum dl_status condition(struct dl_job_predictions *p,
                                struct fit_rows *a, struct dl_diag *d) {
  struct dl_expected e = {.startup_s = 0};
  bool expected;
  p->conditioned = (struct dl_conditioned){.applies = false, .busy = NAN};
  if (!has_condition(p, a->job))
    return DL_OK;
  if (a->ctx->at_90) {
    struct fit_rows at_90 = {.ctx = a->ctx->at_90, .job = a->job};
    struct dl_job_predictions q;
    DL_TRY(dl_predictions_make(&q, a->ctx->at_90, a->job, d));
    expected = expect(&q, &at_90, &e);
  } else {
    expected = expect(p, a, &e);
  }
  take_beside(&e, a->job);
  if (expected)
    dl_condition(&p->conditioned, &e, &a->job->known, a->ctx->coverage);
  return DL_OK;
}

/* Settles on the user's duration, else the physical method's, PRE's or the one
 * by FLOPs. */
static void settle_duration(struct dl_job_predictions *p,
                            const struct dl_job *job) {
  p->duration_s = dl_with_overhead(job, job->known.run_s);
  p->duration_from = "given";
  if (isnan(p->duration_s)) {
    p->duration_s = dl_with_overhead(job, dl_physical_duration(job, p));
    p->duration_from = dl_physical_method.name;
  }
  if (isnan(p->duration_s) && dl_pre_learnt_precision(job)) {
    p->duration_s = dl_pre_duration(job, p);
    p->duration_from = dl_pre_epoch.name;
  }
  if (isnan(p->duration_s)) {
    struct dl_work w;
    dl_work_of(job, &w);
    p->duration_s = w.duration_s;
    p->duration_from = isnan(p->duration_s) ? NULL : dl_flops.name;
  }
}

/* The power of a language model by runs of a calibration. */
static void repeat_power(struct dl_job_predictions *p, struct dl_fit_row *step,
                         double coverage) {
  const size_t power = DL_LANG_TARGET_POWER;
  double n = dl_fit_row_repeats(step, power);
  p->step.cost.power *=
      exp(dl_expected_residual(step->fit, &step->place, power));
  p->power_repeats = n > 0;
  if (n > 0)
    p->power_high =
        dl_residual_repeats(step->fit->physics->calibration, n, coverage);
  p->power_low = -p->power_high;
}

/* Sets the parts of an epoch of a training, or of a step of a language model.
 * The whole time of the epoch has the residual that energies have. */
static void explain(struct dl_job_predictions *p, struct fit_rows *a,
                    bool trains) {
  struct dl_fit_row *epoch = trains ? fit_row(a, DL_PHYSICAL_EPOCH) : NULL;
  struct dl_fit_row *step = p->language ? fit_row(a, DL_LANGUAGE_RATE) : NULL;
  if (step) {
    dl_language_parts_of(step, &p->step);
    p->step.static_w = dl_waiting_w(a->job, p->step.static_w);
    repeat_power(p, step, a->ctx->coverage);
  }
  if (!epoch)
    return;
  dl_training_parts_of(epoch, &p->parts);
  p->parts.static_w = dl_waiting_w(a->job, p->parts.static_w);
  p->parts.time_s = exp(dl_fit_row_value(epoch, DL_TARGET_TIME));
}

enum dl_status dl_predictions_make(struct dl_job_predictions *p,
                                   const struct dl_engine *ctx,
                                   const struct dl_job *job,
                                   struct dl_diag *d) {
  static const struct dl_prediction none = {
      .value = NAN, .low = NAN, .high = NAN};
  bool trains = !dl_beyond_training(job) && !dl_trains_language(ctx, job),
       given = !isnan(job->known.run_s);
  struct fit_rows a;
  a.ctx = ctx;
  a.job = job;
  memset(a.read, 0, sizeof a.read);
  for (size_t i = 0; i < DL_N_FITS; i++)
    p->of[i] = none;
  p->parts = (struct dl_physical_parts){.time_s = NAN, .input_core_s = NAN};
  p->step.cost.power = NAN;
  p->power_low = p->power_high = NAN;
  p->power_repeats = false;
  p->language = dl_trains_language(ctx, job);
  explain(p, &a, trains);
  /* A run whose duration is known has no energy of its own. */
  if (trains && (given || has_condition(p, job)))
    DL_TRY(ask(p, &a, DL_PHYSICAL_POWER, DL_PHYSICAL_POWER, d));
  if (trains && !given)
    DL_TRY(
        ask(p, &a,
            ctx->needs_physical_energy ? DL_PHYSICAL_EPOCH : DL_PHYSICAL_TIME,
            DL_PHYSICAL_TIME, d));
  if (dl_run_is_inference(job->run))
    DL_TRY(ask(p, &a, DL_SERVING_POWER, DL_SERVING_TIME, d));
  if (dl_passes_on_cpu(job))
    DL_TRY(ask(p, &a, DL_CPU_TIME, DL_CPU_TIME, d));
  if (p->language)
    DL_TRY(ask(p, &a, DL_LANGUAGE_RATE, DL_LANGUAGE_RATE, d));
  if (trains && !given && ctx->needs_physical_energy)
    take_times(p, &a);
  dl_bound_by_peak(p, job);
  dl_lower_clock(job, p);
  if (trains)
    dl_find_input(p, job, given || has_condition(p, job));
  if (p->language)
    dl_find_tokenising(p, job);
  if (dl_run_is_inference(job->run))
    dl_find_inference_input(p, job);
  dl_infer(ctx, job, &p->served);
  DL_TRY(condition(p, &a, d));
  const struct dl_fit *epoch = ctx->fit[DL_PHYSICAL_EPOCH].fit;
  bool gpu = epoch && dl_is_word(epoch->boundary, "gpu");
  if (trains && !given &&
      !p->conditioned.applies) /* its energies have the memory */
    dl_bound_by_input(p, ctx, job,
                      gpu ? 0 : dl_training_memory_w(job->found.gpu));
  /* PRE gives the duration where the physical method has none. */
  bool pre =
      ctx->needs_regressions || (!given && isnan(dl_physical_duration(job, p)));
  if (trains && pre)
    DL_TRY(ask(p, &a, DL_PRE_POWER, DL_PRE_TIME, d));
  settle_duration(p, job);
  return DL_OK;
}
