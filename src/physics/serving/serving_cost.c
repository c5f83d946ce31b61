/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and power of a round of requests. */

#include "physics/serving/serving_cost.h"

#include <math.h>

#include "physics/serving/serving_round.h"

/* Tokens that a layer with a window attends to, from 0 to x. */
static double attended(double window, double x) {
  return x <= window ? x * x / 2 : window * x - window * window / 2;
}

static void lengths_of(struct dl_serving_times *t,
                       const struct dl_serving_inputs *l, double prompt) {
  double u = prompt, v = l->answer, w = l->window, z = l->windowed;
  double mean = fmin(u, w), slope = u < w;
  if (v > 0) {
    mean = (attended(w, u + v) - attended(w, u)) / v;
    slope = (fmin(u + v, w) - fmin(u, w)) / v;
  }
  *t = (struct dl_serving_times){.prompt = u,
                                 .context = (1 - z) * (u + v / 2) + z * mean,
                                 .context_slope = 1 - z + z * slope,
                                 .pairs =
                                     (1 - z) * u * u / 2 + z * attended(w, u),
                                 .pairs_slope = (1 - z) * u + z * fmin(u, w)};
}

static void times_of(struct dl_serving_times *t, const double *c,
                     const double *fx, const struct dl_serving_inputs *l) {
  double b = l->batch, n = l->n_gpus, prompt = t->prompt, at = t->context;
  double uneven = l->experts > 0 ? c[DL_SERVE_UNEVEN] : 1;
  double picked = l->experts > 0 ? -expm1(b * log1p(-l->share)) : 0;
  double net = exp(fx[DL_SERVE_EFFECT_ARCH_TIME]);
  double gpus = n * exp(fx[DL_SERVE_EFFECT_GPU_COMPUTE]) / (net * uneven);
  double rate = l->peak * gpus, rate_keys = l->peak_keys * gpus;
  double bandwidth = c[DL_SERVE_EM] * l->bandwidth * n *
                     exp(fx[DL_SERVE_EFFECT_GPU_MEMORY]) / net;
  double keys = l->kept_bytes * b * at * l->kept;
  t->keys = keys / bandwidth;
  t->memory =
      (l->weight_bytes * uneven * (l->weights + picked * l->experts) + keys) /
      bandwidth;
  t->attention = 2 * b * at * l->pair_macs / (c[DL_SERVE_EC] * rate_keys);
  t->compute =
      2 * b * l->token_weights / (c[DL_SERVE_EC] * rate) + t->attention;
  t->layers = net * l->layers * c[DL_SERVE_TAU];
  t->host =
      (c[DL_SERVE_C0] + c[DL_SERVE_C1] * b) * (l->old ? c[DL_SERVE_OLD] : 1);
  t->prompt_attention =
      2 * t->pairs * l->pair_macs / (c[DL_SERVE_EP] * rate_keys);
  t->prompt_compute = 2 * prompt * l->token_weights / (c[DL_SERVE_EP] * rate) +
                      t->prompt_attention;
  if (n > 1) {
    double link = c[DL_SERVE_XL] * l->link * n / (n - 1);
    t->latency = net * 2 * l->layers * c[DL_SERVE_ALPHA];
    t->exchange =
        net * 2 * l->layers * (c[DL_SERVE_ALPHA] + 4 * b * l->width / link);
    t->prompt_exchange = net * 8 * l->layers * prompt * l->width / link;
  }
}

void dl_serving_round_of(struct dl_serving_round *r, const double *c,
                         const double *fx, const struct dl_serving_inputs *l) {
  struct dl_serving_times *t = &r->t;
  double prompt = l->prompt * exp(fx[DL_SERVE_EFFECT_PROMPT]);
  double b = l->batch, v = l->answer;
  *r = (struct dl_serving_round){0};
  lengths_of(t, l, prompt);
  times_of(t, c, fx, l);
  r->decode = v * (t->memory + t->compute + t->layers + t->exchange);
  r->prefill = b * (t->prompt_compute + t->prompt_exchange);
  r->host = v * t->host;
  r->time = r->decode + r->prefill + r->host;
  r->base = c[DL_SERVE_PA] * l->tdp;
  r->decode_ws = l->tdp * (c[DL_SERVE_PU] * r->decode +
                           c[DL_SERVE_PF] * c[DL_SERVE_EC] * v * t->compute +
                           c[DL_SERVE_PM] * c[DL_SERVE_EM] * v * t->memory);
  r->prefill_ws =
      l->tdp * (c[DL_SERVE_PU] * r->prefill +
                c[DL_SERVE_PF] * c[DL_SERVE_EP] * b * t->prompt_compute);
  r->board =
      exp(fx[DL_SERVE_EFFECT_GPU_POWER] + fx[DL_SERVE_EFFECT_ARCH_POWER]);
  r->limit = (struct dl_power_limit){
      .kappa = c[DL_SERVE_KAPPA],
      .wanted = (r->base + (r->decode_ws + r->prefill_ws) / r->time) * r->board,
      .limit = c[DL_SERVE_PCAP] * l->tdp,
      .lowest = DL_LOWEST_CLOCK_SHARE * r->base};
  dl_power_limit_apply(&r->limit);
}

void dl_serving_targets(const struct dl_serving_round *r,
                        const struct dl_serving_inputs *l,
                        double log_target[DL_N_SERVING_TARGETS]) {
  double time = r->limit.slow * (r->decode + r->prefill) + r->host;
  log_target[DL_SERVE_TARGET_TIME] = log(time / l->batch);
  log_target[DL_SERVE_TARGET_POWER] = log(r->limit.power);
  log_target[DL_SERVE_TARGET_ENERGY] = log_target[DL_SERVE_TARGET_TIME] +
                                       log_target[DL_SERVE_TARGET_POWER] +
                                       log(l->n_gpus);
}

static const char *longest(const struct dl_serving_cost *cost) {
  static const char *const names[] = {"memory",   "compute", "layers",
                                      "exchange", "host",    "prompts"};
  const double part[] = {cost->memory_s,   cost->compute_s, cost->layers_s,
                         cost->exchange_s, cost->host_s,    cost->prefill_s};
  size_t most = 0;
  for (size_t i = 1; i < sizeof part / sizeof *part; i++)
    if (part[i] > part[most])
      most = i;
  return names[most];
}

void dl_serving_cost_of(const double *c, const double *fx,
                        const struct dl_serving_inputs *l,
                        struct dl_serving_cost *cost) {
  struct dl_serving_round r;
  dl_serving_round_of(&r, c, fx, l);
  double slow = r.limit.slow, v = l->answer;
  *cost = (struct dl_serving_cost){
      .time_s = slow * (r.decode + r.prefill) + r.host,
      .power_w = r.limit.power,
      .prefill_s = slow * r.prefill,
      .decode_s = slow * r.decode + r.host,
      .memory_s = slow * v * r.t.memory,
      .compute_s = slow * v * r.t.compute,
      .layers_s = slow * v * r.t.layers,
      .exchange_s = slow * v * r.t.exchange,
      .host_s = r.host,
      .static_w = r.base,
  };
  /* Both parts are cut by the limit alike. */
  double all = l->n_gpus * r.limit.power * cost->time_s;
  double in_prefill = r.base * r.prefill + r.prefill_ws;
  double in_all = r.base * r.time + r.decode_ws + r.prefill_ws;
  cost->prefill_j = all * in_prefill / in_all;
  cost->decode_j = all - cost->prefill_j;
  cost->bound = longest(cost);
}
