/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/language_training.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/architecture/token_costs.h"
#include "catalog/architecture/transformer.h"
#include "estimate/measured.h"
#include "estimate/methods/methods.h"
#include "estimate/methods/work.h"
#include "physics/conditioning/gpu_waiting.h"
#include "physics/training/input_pipeline.h"
#include "run/setup/padding.h"
#include "run/setup/training_setup.h"

/* An interval of 90 % widens by this where the software is not given: whole
 * trainings of five laboratories differ from the rate of their steps by a
 * standard deviation of .2 in the logarithm (docs/lab/language-models.md). */
#define SOFTWARE_DOUBT 0.33

/* The interval widens by this where the software is given: laboratories differ
 * with one software, too. Rates are off by as much more where their source is
 * left out of the fit than where a configuration is: a standard deviation of
 * .08 (docs/lab/designs.md). */
#define SOURCE_DOUBT 0.13

/* The interval widens by this for each trait that no run of the fit had:
 * experts, adapters (but MLPerf's), software that a compiler makes, the family
 * of the accelerator. Published speeds with one of these are off by more than a
 * network, a GPU or a source that is held out; of the half of their sources
 * that was examined more than this leaves no more inside
 * (docs/lab/published-speeds.md). */
#define UNSEEN_DOUBT 0.45

/* The interval widens by this, times the share of plain software: scripts
 * differ in evaluation, sampling, logging and loading. */
#define PLAIN_DOUBT 0.45

/* The interval of the power widens by this: 1.645 times the standard deviation
 * of the logarithm over 21 trainings whose sources were left out
 * (docs/lab/language-models.md). */
#define POWER_DOUBT 0.22

/* Standard deviations in the half-width of an interval of 90 %. */
#define OF_90_PERCENT 1.645

/* Validation has one of the three passes of training. */
#define VALIDATION_SHARE (1.0 / 3)

bool dl_trains_language(const struct dl_engine *ctx, const struct dl_job *job) {
  const struct dl_architecture *arch = job->found.arch;
  if (job->run->precision == DL_PRECISION_FP64)
    return false; /* none was measured */
  return !dl_run_is_inference(job->run) && arch && dl_is_language_model(arch) &&
         ctx->fit[DL_LANGUAGE_RATE].p;
}

static double tokens_of(const struct dl_job *job) {
  double val = dl_or(job->val_samples, 0);
  return (job->train_samples + VALIDATION_SHARE * val) * job->seq_len *
         job->epochs;
}

double dl_language_work_s(const struct dl_job *job,
                          const struct dl_job_predictions *p) {
  return dl_padding(job->row) * tokens_of(job) / p->of[DL_LANGUAGE_RATE].value;
}

double dl_language_duration(const struct dl_job *job,
                            const struct dl_job_predictions *p) {
  double alone = dl_language_work_s(job, p);
  return p->parts.input_s > 0 ? dl_input_together(alone, p->parts.input_s)
                              : alone;
}

static const char *lacks(const struct dl_engine *ctx,
                         const struct dl_job *job) {
  const char *name = dl_predictor_lacks(ctx->fit[DL_LANGUAGE_RATE].p, job->row);
  if (name)
    return name;
  if (isnan(job->known.run_s) && isnan(tokens_of(job)))
    return isnan(job->train_samples) ? "tokens" : "epochs";
  return "a value within the model's domain";
}

/* Lists what no run of the fit had, as names of quantities. */
static size_t find_unseen(const struct dl_engine *ctx, const struct dl_job *job,
                          const char *unseen[DL_MOST_OUTSIDE]) {
  const struct dl_run *run = job->run;
  const struct dl_transformer *t = job->found.arch->transformer;
  enum dl_fine_tune tune = dl_fine_tune_of(run);
  bool adapters = tune == DL_TUNE_LORA || tune == DL_TUNE_QLORA;
  const struct {
    bool is;
    const char *name;
  } all[] = {{t && t->experts > 1, "arch.experts"},
             {tune == DL_TUNE_HEAD || tune == DL_TUNE_QLORA ||
                  (adapters && dl_stack_of(run) != DL_SOFTWARE_MLPERF),
              "fine_tune"},
             {dl_stack_of(run) == DL_SOFTWARE_COMPILED, "stack"},
             {ctx->families.n > 0 && job->found.gpu &&
                  dl_strlist_find(&ctx->families,
                                  dl_measured_family(job->found.gpu)) < 0,
              "gpu.family"}};
  size_t n = 0;
  for (size_t i = 0; i < DL_LENGTH(all); i++)
    if (all[i].is)
      unseen[n++] = all[i].name;
  return n;
}

/* Returns what software, source and all that was not seen add to the half-width
 * of the logarithm of an interval of 90 % of the rate. */
static double doubt_of(const struct dl_engine *ctx, const struct dl_job *job,
                       const struct dl_job_predictions *p) {
  const struct dl_prediction *rate = &p->of[DL_LANGUAGE_RATE];
  const char *unseen[DL_MOST_OUTSIDE];
  size_t n = find_unseen(ctx, job, unseen);
  /* Boards under a power limit differ by more than their speed without. */
  bool limited = job->run->power_limit_w < job->tdp_w;
  double source = rate->own_runs && !limited ? 0 : SOURCE_DOUBT;
  if (rate->repeats > 0)
    return 0;
  double software = hypot(job->run->stack ? source : SOFTWARE_DOUBT,
                          PLAIN_DOUBT * p->step.untuned);
  return hypot(software, UNSEEN_DOUBT * sqrt((double)n));
}

/* Software that is not known may be tuned or plain: the interval reaches from
 * the time of one to the time of the other. */
static void cover_software(const struct dl_language_parts *step,
                           struct dl_interval *of) {
  of->low = of->x * exp(-hypot(log(of->x / of->low), step->if_tuned));
  of->high = of->x * exp(hypot(log(of->high / of->x), step->if_plain));
}

/* Software may pack texts that are taken to be padded. */
static void cover_packing(double padding, struct dl_interval *of) {
  of->low = of->x * exp(-hypot(log(of->x / of->low), log(padding)));
}

/* Returns what widens the interval of the power. */
static double power_doubt(const struct dl_engine *ctx,
                          const struct dl_job_predictions *p) {
  return p->power_repeats ? p->power_high / ctx->of_90 : POWER_DOUBT;
}

void dl_language_deviations(const struct dl_engine *ctx,
                            const struct dl_job *job,
                            const struct dl_job_predictions *p,
                            struct dl_expected *e) {
  double rate = doubt_of(ctx, job, p) / OF_90_PERCENT;
  double power = power_doubt(ctx, p) / OF_90_PERCENT;
  double software = (p->step.if_plain - p->step.if_tuned) / 2 / OF_90_PERCENT;
  e->var_time += rate * rate + software * software;
  e->var_power = fmax(e->var_power, power * power);
}

static void note_unseen(const struct dl_engine *ctx, const struct dl_job *job,
                        struct dl_estimate *est) {
  const char *unseen[DL_MOST_OUTSIDE];
  size_t n = find_unseen(ctx, job, unseen);
  for (size_t i = 0; i < n && est->n_outside < DL_MOST_OUTSIDE; i++)
    est->outside[est->n_outside++] = unseen[i];
}

/* Takes the estimate that follows from what is known of the run. */
static void take_known(const struct dl_job_predictions *p,
                       struct dl_estimate *est) {
  const struct dl_conditioned *known = &p->conditioned;
  est->energy_j = known->energy_j;
  est->energy_j.low = known->energy_j.low;
  est->energy_j.high = known->energy_j.high;
  est->duration_s = known->duration_s;
  est->duration_from = p->duration_from;
  est->duration_s.low = known->duration_s.low;
  est->duration_s.high = known->duration_s.high;
  est->power_w.x = known->energy_j.x / known->duration_s.x;
  est->power_w.low = known->power_w.low;
  est->power_w.high = known->power_w.high;
  est->busy_share = known->busy;
}

/* Adds what the GPUs wait for their input at static power. */
static void add_waiting(const struct dl_engine *ctx, const struct dl_job *job,
                        const struct dl_job_predictions *p,
                        struct dl_estimate *est) {
  const struct dl_input_wait w = dl_input_wait(
      est->duration_s.x, p->parts.input_s, p->parts.input_doubt * ctx->of_90);
  const struct dl_estimate work = *est;
  double static_w = p->step.static_w * job->run->n_gpus;
  double doubt_j = w.s * static_w * (dl_static_factor(0, ctx->coverage) - 1);
  double less = hypot((w.s - w.low_s) * static_w, doubt_j);
  double more = hypot((w.high_s - w.s) * static_w, doubt_j);
  est->energy_j.x += w.s * static_w;
  est->energy_j.low =
      fmax(work.energy_j.low,
           est->energy_j.x - hypot(work.energy_j.x - work.energy_j.low, less));
  est->energy_j.high =
      est->energy_j.x + hypot(work.energy_j.high - work.energy_j.x, more);
  est->duration_s.x += w.s;
  est->duration_s.low =
      fmax(work.duration_s.low,
           est->duration_s.x -
               hypot(work.duration_s.x - work.duration_s.low, w.s - w.low_s));
  est->duration_s.high =
      est->duration_s.x +
      hypot(work.duration_s.high - work.duration_s.x, w.high_s - w.s);
  est->power_w.x = est->energy_j.x / est->duration_s.x;
  dl_widen_power(est, work.duration_s.x, static_w, &w);
}

void dl_estimate_language(const struct dl_engine *ctx, const struct dl_job *job,
                          const struct dl_job_predictions *p,
                          struct dl_estimate *est) {
  const struct dl_prediction *rate = &p->of[DL_LANGUAGE_RATE];
  bool given = !isnan(job->known.run_s);
  est->boundary = "gpu";
  est->model = ctx->fit[DL_LANGUAGE_RATE].model;
  est->power_w.x = p->step.cost.power * job->run->n_gpus;
  est->duration_s.x = given ? job->known.run_s : dl_language_work_s(job, p);
  if (given)
    est->duration_from = "given";
  else
    est->duration_from =
        isnan(est->duration_s.x) ? NULL : dl_physical_method.name;
  est->energy_j.x = est->power_w.x * est->duration_s.x;
  if (isnan(est->energy_j.x)) {
    est->lacks = lacks(ctx, job);
    return;
  }
  /* A lower rate is a higher energy. */
  est->energy_j.low = est->energy_j.x * (given ? 1 : rate->value / rate->high);
  est->energy_j.high = est->energy_j.x * (given ? 1 : rate->value / rate->low);
  dl_note_interval(est, ctx->fit[DL_LANGUAGE_RATE].fit, rate);
  if (!given && rate->repeats == 0)
    note_unseen(ctx, job, est);
  if (p->conditioned.applies) {
    take_known(p, est);
    return;
  }
  if (!given) {
    est->software_matters = !job->run->stack && rate->repeats == 0;
    dl_widen(ctx, est, doubt_of(ctx, job, p));
    if (rate->repeats == 0)
      cover_software(&p->step, &est->energy_j);
    cover_packing(dl_padding(job->row), &est->energy_j);
  }
  /* The interval covers the rate alone so far. */
  double low = est->energy_j.low, high = est->energy_j.high;
  double power = power_doubt(ctx, p) * ctx->of_90;
  est->power_w.low = est->power_w.x * exp(-power);
  est->power_w.high = est->power_w.x * exp(power);
  dl_widen(ctx, est, power_doubt(ctx, p));
  est->duration_s.low = given ? NAN : low / est->power_w.x;
  est->duration_s.high = given ? NAN : high / est->power_w.x;
  if (!given && p->parts.input_s > 0)
    add_waiting(ctx, job, p, est);
}
