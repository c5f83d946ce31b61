/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/methods/lowered_clock.h"

#include <math.h>

#include "physics/cpu/cpu_inputs.h"
#include "physics/gpu_clock.h"

/* The share of reading a prompt that the core's clock bounds. */
#define OF_PROMPTS 0.9

double dl_relative_clock(const struct dl_job *job) {
  const struct dl_accelerator *gpu = job->found.gpu;
  double x = gpu && !dl_is_cpu(gpu) ? job->run->gpu_clock_mhz / gpu->boost_mhz
                                    : (double)NAN;
  return x < 1 ? x : (double)NAN;
}

static struct dl_gpu_clock lower(const struct dl_job *job, double bound,
                                 double power, double lowest) {
  struct dl_gpu_clock l = {.x = dl_relative_clock(job),
                           .power = power,
                           .lowest = lowest,
                           .limit = dl_or(job->run->power_limit_w, job->tdp_w),
                           .bound = bound};
  dl_gpu_clock_apply(&l);
  return l;
}

static void scale(struct dl_prediction *p, double by) {
  p->value *= by;
  p->low *= by;
  p->high *= by;
}

static void lower_language(const struct dl_job *job,
                           struct dl_job_predictions *p) {
  struct dl_language_cost *cost = &p->step.cost;
  double core = cost->compute + cost->attention;
  double all =
      core + cost->memory + cost->optimizer + cost->launch + cost->exchange;
  struct dl_gpu_clock l = lower(job, core / all, cost->power, p->step.static_w);
  scale(&p->of[DL_LANGUAGE_RATE], 1 / l.time);
  cost->time *= l.time;
  cost->power *= l.at_power;
}

static void lower_images(const struct dl_job *job,
                         struct dl_job_predictions *p) {
  struct dl_physical_parts *parts = &p->parts;
  double core = parts->compute_s + parts->kernels_s;
  double all = core + parts->memory_s + parts->launch_s + parts->fixed_s +
               parts->waiting_s;
  struct dl_gpu_clock l =
      lower(job, core / all, parts->gpu_power_w, parts->static_w);
  p->slower *= l.time;
  scale(&p->of[DL_PHYSICAL_TIME], l.time);
  scale(&p->of[DL_PHYSICAL_EPOCH], l.time * l.at_power);
  scale(&p->of[DL_PHYSICAL_POWER], l.at_power);
  parts->time_s *= l.time;
  parts->gpu_power_w *= l.at_power;
  parts->gpu_energy_j *= l.time * l.at_power;
  parts->compute_s += (l.time - 1) * parts->time_s / l.time;
}

void dl_lower_clock(const struct dl_job *job, struct dl_job_predictions *p) {
  if (dl_run_is_inference(job->run) || isnan(dl_relative_clock(job)))
    return;
  if (p->language && !isnan(p->step.cost.power))
    lower_language(job, p);
  else if (!p->language && p->parts.bound)
    lower_images(job, p);
}

/* Lowers the clock of prompts, which are forward passes of images, or of
 * decoding. */
static void lower_part(const struct dl_job *job, double bound, double static_w,
                       double *seconds, double *joules) {
  if (!(*seconds > 0))
    return;
  double power = *joules / *seconds / job->run->n_gpus;
  struct dl_gpu_clock l = lower(job, bound, power, static_w);
  *seconds *= l.time;
  *joules *= l.time * l.at_power;
}

void dl_lower_clock_of_round(const struct dl_job *job,
                             struct dl_serving_cost *r) {
  if (isnan(dl_relative_clock(job)) || isnan(r->time_s))
    return;
  double core = r->compute_s + r->layers_s;
  double share = core / (core + r->memory_s + r->exchange_s + r->host_s);
  double busy_s = r->prefill_s + r->decode_s;
  double decode_s = r->decode_s;
  bool tokens = decode_s > 0;
  lower_part(job, tokens ? OF_PROMPTS : share, r->static_w, &r->prefill_s,
             &r->prefill_j);
  lower_part(job, share, r->static_w, &r->decode_s, &r->decode_j);
  r->compute_s +=
      tokens ? r->decode_s - decode_s : r->prefill_s + r->decode_s - busy_s;
  r->time_s += r->prefill_s + r->decode_s - busy_s;
  r->power_w = (r->prefill_j + r->decode_j) / (r->prefill_s + r->decode_s) /
               job->run->n_gpus;
}
