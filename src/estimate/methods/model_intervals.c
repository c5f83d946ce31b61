/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals of estimators that are based on fitted models. */

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/methods/methods.h"
#include "estimate/methods/work.h"
#include "physics/rows/inputs.h"
#include "physics/training/input_pipeline.h"
#include "physics/training/training_inputs.h"

/* The effect of several GPUs is known but for a power of +-0.1 of their number,
 * as the effect of any quantity outside its range (predictor.c). */
static const double gpus_power = 0.1;

static void widen(double x, double *low, double *high, double by) {
  if (isnan(*low) || !(by > 0))
    return;
  double below = hypot(log(fmax(*low / x, 0)), by);
  double above = hypot(log(*high / x), by);
  *low = x * exp(-below);
  *high = x * exp(above);
}

void dl_widen(const struct dl_engine *ctx, struct dl_estimate *est, double by) {
  by *= ctx->of_90;
  widen(est->energy_j.x, &est->energy_j.low, &est->energy_j.high, by);
  widen(est->duration_s.x, &est->duration_s.low, &est->duration_s.high, by);
}

#define SOFTWARE_DOUBT 0.3
#define RECIPE_DOUBT 0.6

double dl_software_doubt(const struct dl_run *run) {
  static const char *const measured[] = {"eager", "ngc", "mlperf"};
  for (size_t i = 0; run->stack && i < DL_LENGTH(measured); i++)
    if (strcmp(run->stack, measured[i]) == 0)
      return 0;
  return dl_is_16_bit(run->precision) ? SOFTWARE_DOUBT : 0;
}

double dl_recipe_doubt(const struct dl_job *job) {
  const struct dl_run *run = job->run;
  const struct dl_architecture *arch = job->found.arch;
  bool attends = arch && (arch->heads > 0 || arch->attention_macs_g > 0);
  return attends && run->n_gpus > 1 && dl_is_16_bit(run->precision)
             ? RECIPE_DOUBT
             : 0;
}

void dl_widen_power(struct dl_estimate *est, double work_s, double static_w,
                    const struct dl_input_wait *wait) {
  const double s[] = {wait->high_s, wait->low_s};
  double *const w[] = {&est->power_w.low, &est->power_w.high};
  for (size_t i = 0; i < DL_LENGTH(w); i++)
    *w[i] = (*w[i] * work_s + static_w * s[i]) / (work_s + s[i]);
}

void dl_note_interval(struct dl_estimate *est, const struct dl_fit *fit,
                      const struct dl_prediction *p) {
  if (!isnan(p->low)) {
    est->interval_from =
        p->repeats > 0 ? "repeat" : dl_held_out_group_name(p->novelty);
    est->interval_groups = p->repeats > 0 ? p->repeats : p->groups;
    est->all_seen = p->all_seen;
  }
  est->n_outside = 0;
  for (size_t i = 0; i < fit->n_ranges && i < 32; i++)
    if (p->outside >> i & 1 && est->n_outside < DL_MOST_OUTSIDE)
      est->outside[est->n_outside++] = fit->range[i].name;
}

void dl_note_limits(const struct dl_engine *ctx, struct dl_estimate *est,
                    const struct dl_fit *fit, const struct dl_job *job,
                    const struct dl_prediction *p) {
  if (!fit)
    return;
  dl_note_interval(est, fit, p);
  /* Speeds of a stack were measured on several, too. */
  if (job->run->n_gpus > 1 && !p->of_stack) {
    double by = gpus_power * log(job->run->n_gpus);
    dl_widen(ctx, est, by);
    widen(est->power_w.x, &est->power_w.low, &est->power_w.high,
          by * ctx->of_90);
    if (est->n_outside < DL_MOST_OUTSIDE && p->repeats == 0)
      est->outside[est->n_outside++] = "n_gpus";
  }
}

/* Precisions in which nothing but language models was measured. */
static const char *const unlearnt[] = {
    [DL_PRECISION_FP64] = "measured runs in fp64",
    [DL_PRECISION_FP8] = "measured runs in fp8",
    [DL_PRECISION_INT8] = "measured runs in int8",
    [DL_PRECISION_FP4] = "measured runs in fp4",
    [DL_PRECISION_OTHER] = NULL};

const char *dl_unlearnt_precision(const struct dl_job *job) {
  return unlearnt[job->run->precision];
}

const char *dl_beyond_training(const struct dl_job *job) {
  const char *precision = dl_unlearnt_precision(job);
  if (dl_run_is_inference(job->run))
    return "measured runs of inference";
  if (precision)
    return precision;
  return isnan(job->run->tokens) ? NULL : "measured runs on tokens";
}

const char *dl_fit_lacks(const struct dl_bound_fit *b,
                         const struct dl_job *job) {
  const char *name = dl_beyond_training(job);
  if (name)
    return name;
  name = b->p ? dl_predictor_lacks(b->p, job->row) : "model";
  return name ? name : "a value within the model's domain";
}

/* Facts of a network that the physical method uses and a descriptor may lack.
 * They are taken from its FLOPs and layers instead
 * (physics/training/physical.c), and the interval grows by what that cost
 * when the networks of del Rey et al. were described so and held out in turn:
 * the mean error of the energy rose from 20 % to 26 % without the traffic of
 * the layers, and to 29 to 32 % without their activations or kernels
 * (docs/lab/estimation.md). Traffic by the operators of a block raised it
 * from 16.6 to 17.2 %. */

/* 1.645 sqrt(e^2 - .2^2) of the errors e above; of the last, with .166. */
#define DOUBT_TRAFFIC 0.27
#define DOUBT_BLOCK 0.08
#define DOUBT_KERNELS 0.38

static double doubt_of(bool network, bool traffic, bool block) {
  if (network)
    return DOUBT_KERNELS;
  if (traffic)
    return DOUBT_TRAFFIC;
  return block ? DOUBT_BLOCK : 0;
}

const char *dl_facts_assumed(const struct dl_job *job, double *doubt) {
  const struct dl_architecture *arch = job->found.arch;
  bool acts = isnan(job->run->acts_m);
  bool kernels = isnan(job->run->launches) && (!arch || isnan(arch->layers));
  bool traffic = !arch || isnan(dl_traffic_ratio(arch));
  bool block = !traffic && isnan(arch->traffic_ratio);
  if (doubt)
    *doubt = doubt_of(acts || kernels, traffic, block);
  if (acts)
    return kernels ? "activations and kernels" : "activations";
  if (kernels)
    return "kernels";
  return traffic ? "memory traffic" : NULL;
}
