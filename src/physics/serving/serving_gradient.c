/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Derivatives of the physics of LLM serving, by the chain rule from the time
 * and the power of a round back to the times of its parts and from there, each
 * a product, to the logarithms of their factors. */

#include <math.h>

#include "physics/serving/serving_round.h"

/* What a derivative is taken of, and where it goes. */
struct chain {
  const double *c;
  const struct dl_serving_inputs *in;
  const struct dl_serving_round *r;
  struct dl_gradient *g;
};

/* Derivatives by the times of a round's parts. */
struct by_time {
  double memory, compute, layers, exchange, prompt_compute, prompt_exchange;
};

/* d: derivative by the logarithm of a time. */

static void by_rate(const struct chain *k, enum dl_serving_constant share,
                    double d) {
  k->g->c[share] -= d;
  k->g->fx[DL_SERVE_EFFECT_GPU_COMPUTE] -= d;
  if (k->in->experts > 0)
    k->g->c[DL_SERVE_UNEVEN] += d;
}

/* Of the logarithm of the tokens attended to, by that of the prompt. */
static double by_length(const struct dl_serving_times *t) {
  return t->context > 0 ? t->context_slope * t->prompt / t->context : 0;
}

static void by_memory(const struct chain *k, double d) {
  const struct dl_serving_times *t = &k->r->t;
  k->g->c[DL_SERVE_EM] -= d;
  k->g->fx[DL_SERVE_EFFECT_GPU_MEMORY] -= d;
  if (k->in->experts > 0)
    k->g->c[DL_SERVE_UNEVEN] += d * (1 - t->keys / t->memory);
  k->g->fx[DL_SERVE_EFFECT_PROMPT] += d * t->keys / t->memory * by_length(t);
}

static void by_compute(const struct chain *k, double d) {
  const struct dl_serving_times *t = &k->r->t;
  by_rate(k, DL_SERVE_EC, d);
  k->g->fx[DL_SERVE_EFFECT_PROMPT] +=
      d * t->attention / t->compute * by_length(t);
}

static void by_prompt_compute(const struct chain *k, double d) {
  const struct dl_serving_times *t = &k->r->t;
  double pairs = t->pairs > 0 ? t->pairs_slope * t->prompt / t->pairs : 2;
  by_rate(k, DL_SERVE_EP, d);
  k->g->fx[DL_SERVE_EFFECT_PROMPT] +=
      d * (1 + (pairs - 1) * t->prompt_attention / t->prompt_compute);
}

static void by_exchange(const struct chain *k, double exchange, double prompt) {
  double latency = k->r->t.latency / k->r->t.exchange;
  k->g->c[DL_SERVE_ALPHA] += exchange * latency;
  k->g->c[DL_SERVE_XL] -= exchange * (1 - latency) + prompt;
  k->g->fx[DL_SERVE_EFFECT_PROMPT] += prompt;
}

/* d: derivative by the time of a round's steps on the host. */
static void by_host(const struct chain *k, double d) {
  double per_request = k->c[DL_SERVE_C1] * k->in->batch;
  double all = k->c[DL_SERVE_C0] + per_request;
  d *= k->r->host;
  k->g->c[DL_SERVE_C0] += d * k->c[DL_SERVE_C0] / all;
  k->g->c[DL_SERVE_C1] += d * per_request / all;
  if (k->in->old)
    k->g->c[DL_SERVE_OLD] += d;
}

/* d: derivative by the energy beyond the static power, W s. */
static void by_work(const struct chain *k, double d, struct by_time *by) {
  const double *c = k->c;
  const struct dl_serving_times *t = &k->r->t;
  double b = k->in->batch, v = k->in->answer;
  double compute = d * k->in->tdp * c[DL_SERVE_PF] * c[DL_SERVE_EC] * v;
  double prompt = d * k->in->tdp * c[DL_SERVE_PF] * c[DL_SERVE_EP] * b;
  double memory = d * k->in->tdp * c[DL_SERVE_PM] * c[DL_SERVE_EM] * v;
  k->g->c[DL_SERVE_PU] +=
      d * k->in->tdp * c[DL_SERVE_PU] * (k->r->decode + k->r->prefill);
  k->g->c[DL_SERVE_PF] += compute * t->compute + prompt * t->prompt_compute;
  k->g->c[DL_SERVE_EC] += compute * t->compute;
  k->g->c[DL_SERVE_EP] += prompt * t->prompt_compute;
  k->g->c[DL_SERVE_PM] += memory * t->memory;
  k->g->c[DL_SERVE_EM] += memory * t->memory;
  by->compute += compute;
  by->prompt_compute += prompt;
  by->memory += memory;
}

/* Derivatives by each part where the time on the GPU has derivative d. */
static void by_gpu_time(const struct chain *k, double d, struct by_time *by) {
  double b = k->in->batch, v = k->in->answer;
  by->memory += v * d;
  by->compute += v * d;
  by->layers += v * d;
  by->exchange += v * d;
  by->prompt_compute += b * d;
  by->prompt_exchange += b * d;
}

static void by_parts(const struct chain *k, const struct by_time *by) {
  const struct dl_serving_times *t = &k->r->t;
  double memory = by->memory * t->memory, compute = by->compute * t->compute;
  double layers = by->layers * t->layers;
  double prompt_compute = by->prompt_compute * t->prompt_compute;
  double exchange = by->exchange * t->exchange;
  double prompt_exchange = by->prompt_exchange * t->prompt_exchange;
  k->g->fx[DL_SERVE_EFFECT_ARCH_TIME] +=
      memory + compute + layers + prompt_compute + exchange + prompt_exchange;
  k->g->c[DL_SERVE_TAU] += layers;
  by_memory(k, memory);
  by_compute(k, compute);
  if (t->prompt_compute > 0)
    by_prompt_compute(k, prompt_compute);
  if (t->exchange > 0)
    by_exchange(k, exchange, prompt_exchange);
}

/* The derivatives of by_time time + by_power power. */
static void add_round(const struct chain *k, double by_time, double by_power) {
  const struct dl_serving_round *r = k->r;
  struct by_time by = {0};
  struct dl_power_limit limit;
  double gpu = r->decode + r->prefill, ws = r->decode_ws + r->prefill_ws;
  dl_power_limit_gradient(&r->limit, by_time * gpu, by_power, &limit);
  double by_demand = limit.wanted / r->limit.wanted * r->board;
  k->g->c[DL_SERVE_KAPPA] += limit.kappa;
  k->g->c[DL_SERVE_PCAP] += limit.limit;
  k->g->fx[DL_SERVE_EFFECT_GPU_POWER] += limit.wanted;
  k->g->fx[DL_SERVE_EFFECT_ARCH_POWER] += limit.wanted;
  k->g->c[DL_SERVE_PA] += limit.lowest + by_demand * r->base;
  double by_round = -by_demand * ws / r->time / r->time;
  double by_gpu = by_time * r->limit.slow + by_round;
  by_work(k, by_demand / r->time, &by);
  by_gpu_time(k, by_gpu + by_demand / r->time * k->in->tdp * k->c[DL_SERVE_PU],
              &by);
  by_host(k, by_time + by_round);
  by_parts(k, &by);
}

void dl_serving_gradient(const double *c, const double *fx, const void *inputs,
                         double *log_target, struct dl_gradient *g) {
  const struct dl_serving_inputs *in = inputs;
  struct dl_serving_round r;
  dl_serving_round_of(&r, c, fx, in);
  dl_serving_targets(&r, in, log_target);
  double time = r.limit.slow * (r.decode + r.prefill) + r.host;
  struct chain by_time = {c, in, &r, &g[DL_SERVE_TARGET_TIME]};
  struct chain by_power = {c, in, &r, &g[DL_SERVE_TARGET_POWER]};
  struct chain by_energy = {c, in, &r, &g[DL_SERVE_TARGET_ENERGY]};
  for (size_t t = 0; t < DL_N_SERVING_TARGETS; t++)
    g[t] = (struct dl_gradient){0};
  add_round(&by_time, 1 / time, 0);
  add_round(&by_power, 0, 1 / r.limit.power);
  add_round(&by_energy, 1 / time, 1 / r.limit.power);
}
