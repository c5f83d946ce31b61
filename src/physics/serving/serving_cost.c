/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and power of a round of requests (serving_cost.h). */

#include "physics/serving/serving_cost.h"

#include <assert.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/memory.h"
#include "physics/tape.h"

static_assert(DL_N_SERVING + DL_N_SERVING_EFFECTS <= DL_TAPE_PARAMETERS,
              "derivatives by all parameters");

/* A round of requests by the physics: what it is computed from, and its parts.
 * Times in s: of a step of decoding and of the prompt of a request, then of
 * all, without a power limit. */
struct serving_round {
  const double *c, *fx;
  const struct dl_serving_inputs *in;
  struct dl_serving_inputs once; /* a step in the place of prompts alone */
  struct dl_tape *tape;          /* NULL: values alone */
  struct dl_taped memory, compute, layers, exchange;
  struct dl_taped prompt_compute, prompt_exchange;
  struct dl_taped decode, prefill, host, all;
  struct dl_taped base;                  /* static power, W */
  struct dl_taped decode_ws, prefill_ws; /* energy beyond it, W s */
  struct dl_taped power, slow;           /* within the power limit */
  struct dl_taped time;                  /* likewise */
};

static void by(const struct serving_round *k, struct dl_taped *a,
               enum dl_serving_constant i, double n) {
  *a = dl_taped_times(k->tape, *a, i, k->c[i], n);
}

static void by_effect(const struct serving_round *k, struct dl_taped *a,
                      enum dl_serving_effect i, double n) {
  *a = dl_taped_times(k->tape, *a, (size_t)DL_N_SERVING + i, exp(k->fx[i]), n);
}

/* x by constant i. */
static struct dl_taped term(const struct serving_round *k, double x,
                            enum dl_serving_constant i) {
  struct dl_taped t = dl_taped_of(x);
  by(k, &t, i, 1);
  return t;
}

static void add(struct dl_taped *a, struct dl_taped b) {
  *a = dl_taped_sum(*a, b);
}

/* Tokens that a layer with a window attends to, from 0 to x. */
static double attended(double window, double x) {
  return x <= window ? x * x / 2 : window * x - window * window / 2;
}

/* Mean tokens attended to, decoding. */
static struct dl_taped context_of(const struct dl_serving_inputs *l,
                                  struct dl_taped prompt) {
  double u = prompt.x, v = l->answer, w = l->window, z = l->windowed;
  double mean = fmin(u, w), slope = u < w;
  if (v > 0) {
    mean = (attended(w, u + v) - attended(w, u)) / v;
    slope = (fmin(u + v, w) - fmin(u, w)) / v;
  }
  return dl_taped_function(prompt, (1 - z) * (u + v / 2) + z * mean,
                           1 - z + z * slope);
}

/* Pairs of tokens of a prompt. */
static struct dl_taped pairs_of(const struct dl_serving_inputs *l,
                                struct dl_taped prompt) {
  double u = prompt.x, w = l->window, z = l->windowed;
  return dl_taped_function(prompt, (1 - z) * u * u / 2 + z * attended(w, u),
                           (1 - z) * u + z * fmin(u, w));
}

/* Products with so many weights, and with so many keys, by a share of the peak
 * rate. */
static struct dl_taped arithmetic(const struct serving_round *k,
                                  enum dl_serving_constant share,
                                  struct dl_taped weights,
                                  struct dl_taped keys) {
  const struct dl_serving_inputs *l = k->in;
  struct dl_taped t = dl_taped_scaled(weights, 2 / (l->peak * l->n_gpus));
  add(&t, dl_taped_scaled(keys, 2 / (l->peak_keys * l->n_gpus)));
  by(k, &t, share, -1);
  by_effect(k, &t, DL_SERVE_EFFECT_GPU_COMPUTE, -1);
  by_effect(k, &t, DL_SERVE_EFFECT_ARCH_TIME, 1);
  if (l->experts > 0)
    by(k, &t, DL_SERVE_UNEVEN, 1);
  return t;
}

/* Reading so many bytes of weights, and so many for each token before. */
static struct dl_taped traffic(const struct serving_round *k, double weights,
                               struct dl_taped context, double kept) {
  const struct dl_serving_inputs *l = k->in;
  double rate = l->bandwidth * l->n_gpus;
  struct dl_taped t = dl_taped_of(weights / rate);
  if (l->experts > 0)
    by(k, &t, DL_SERVE_UNEVEN, 1);
  add(&t, dl_taped_scaled(context, kept / rate));
  by(k, &t, DL_SERVE_EM, -1);
  by_effect(k, &t, DL_SERVE_EFFECT_GPU_MEMORY, -1);
  by_effect(k, &t, DL_SERVE_EFFECT_ARCH_TIME, 1);
  return t;
}

/* Weights and the KV cache of a step. */
static struct dl_taped step_traffic(const struct serving_round *k,
                                    struct dl_taped context) {
  const struct dl_serving_inputs *l = k->in;
  double rows = l->batch * l->beams;
  double picked = l->experts > 0 ? -expm1(rows * log1p(-l->share)) : 0;
  return traffic(k, l->weight_bytes * (l->weights + picked * l->experts),
                 context, l->kept_bytes * rows * l->kept);
}

/* The results of so many tokens between GPUs. */
static struct dl_taped exchange(const struct serving_round *k,
                                struct dl_taped tokens) {
  const struct dl_serving_inputs *l = k->in;
  double n = l->n_gpus;
  struct dl_taped t =
      dl_taped_scaled(tokens, 8 * l->layers * l->width * (n - 1) / n / l->link);
  by(k, &t, DL_SERVE_X, -1);
  by_effect(k, &t, DL_SERVE_EFFECT_ARCH_TIME, 1);
  return t;
}

/* A cost of each of so many layers. */
static struct dl_taped by_layer(const struct serving_round *k, double layers,
                                enum dl_serving_constant each) {
  struct dl_taped t = term(k, layers, each);
  by_effect(k, &t, DL_SERVE_EFFECT_ARCH_TIME, 1);
  return t;
}

static struct dl_taped host_of(const struct serving_round *k) {
  double rows = k->in->batch * k->in->beams;
  struct dl_taped t = term(k, 1, DL_SERVE_C0);
  add(&t, term(k, rows, DL_SERVE_C1));
  if (k->in->n_gpus > 1)
    add(&t, term(k, rows, DL_SERVE_C2));
  if (k->in->old)
    by(k, &t, DL_SERVE_OLD, 1);
  return t;
}

static void set_times(struct serving_round *r) {
  const struct serving_round *k = r;
  const struct dl_serving_inputs *l = k->in;
  double b = l->batch, rows = b * l->beams, v = l->answer;
  struct dl_taped prompt = dl_taped_of(l->prompt);
  by_effect(k, &prompt, DL_SERVE_EFFECT_PROMPT, 1);
  struct dl_taped context = context_of(l, prompt), pairs = pairs_of(l, prompt);
  r->memory = step_traffic(k, context);
  r->compute = arithmetic(k, DL_SERVE_EC, dl_taped_of(rows * l->token_weights),
                          dl_taped_scaled(context, rows * l->pair_macs));
  struct dl_taped products = dl_taped_scaled(prompt, l->token_weights);
  struct dl_taped keys = dl_taped_scaled(pairs, l->pair_macs);
  if (l->encode_macs > 0) {
    products = dl_taped_of(l->encode_macs);
    keys = dl_taped_of(0);
  }
  r->prompt_compute = arithmetic(k, DL_SERVE_EP, products, keys);
  r->layers = by_layer(k, l->layers, DL_SERVE_TAU);
  r->exchange = r->prompt_exchange = dl_taped_of(0);
  if (l->n_gpus > 1) {
    r->exchange = exchange(k, dl_taped_of(rows));
    add(&r->exchange, by_layer(k, 2 * l->layers, DL_SERVE_ALPHA));
    r->prompt_exchange = exchange(k, prompt);
  }
  r->decode = dl_taped_sum(r->memory, r->compute);
  add(&r->decode, r->layers);
  add(&r->decode, r->exchange);
  r->decode = dl_taped_scaled(r->decode, v);
  r->prefill = dl_taped_sum(r->prompt_compute, r->prompt_exchange);
  r->prefill = dl_taped_scaled(r->prefill, b);
  if (l->encode_macs > 0) {
    add(&r->prefill,
        traffic(k, l->weight_bytes * l->encoder_weights, dl_taped_of(0), 0));
    add(&r->prefill, by_layer(k, l->encoder_layers, DL_SERVE_TAU));
  }
  r->host = host_of(k);
  r->host = dl_taped_scaled(r->host, v);
  r->all = dl_taped_sum(r->decode, r->prefill);
  add(&r->all, r->host);
}

/* Adds what a part of the time draws: by constant `of`, at a share of a rate or
 * (DL_N_SERVING) while it lasts. */
static void draw(const struct serving_round *k, struct dl_taped *ws,
                 struct dl_taped time, double times,
                 enum dl_serving_constant of, enum dl_serving_constant share) {
  struct dl_taped more = dl_taped_scaled(time, times * k->in->tdp);
  by(k, &more, of, 1);
  if (share < DL_N_SERVING)
    by(k, &more, share, 1);
  add(ws, more);
}

static void set_power(struct serving_round *r) {
  const struct serving_round *k = r;
  const struct dl_serving_inputs *l = k->in;
  double b = l->batch, v = l->answer;
  struct dl_taped kappa = term(k, 1, DL_SERVE_KAPPA);
  struct dl_taped most = term(k, l->limit, DL_SERVE_PCAP);
  r->base = term(k, l->tdp, DL_SERVE_PA);
  r->decode_ws = r->prefill_ws = dl_taped_of(0);
  draw(k, &r->decode_ws, r->decode, 1, DL_SERVE_PU, DL_N_SERVING);
  draw(k, &r->decode_ws, r->compute, v, DL_SERVE_PF, DL_SERVE_EC);
  draw(k, &r->decode_ws, r->memory, v, DL_SERVE_PM, DL_SERVE_EM);
  draw(k, &r->prefill_ws, r->prefill, 1, DL_SERVE_PU, DL_N_SERVING);
  draw(k, &r->prefill_ws, r->prompt_compute, b, DL_SERVE_PF, DL_SERVE_EP);
  struct dl_taped wanted = dl_taped_sum(r->decode_ws, r->prefill_ws);
  wanted = dl_taped_ratio(wanted, r->all);
  add(&wanted, r->base);
  by_effect(k, &wanted, DL_SERVE_EFFECT_GPU_POWER, 1);
  by_effect(k, &wanted, DL_SERVE_EFFECT_ARCH_POWER, 1);
  r->power = dl_taped_limit(wanted, most, kappa, r->base, &r->slow);
  struct dl_taped gpu = dl_taped_sum(r->decode, r->prefill);
  r->time = dl_taped_product(gpu, r->slow);
  add(&r->time, r->host);
}

/* Prompts without an answer read the weights once, too: where their arithmetic
 * takes less time than a step, the round is a step. */
static void round_of(struct serving_round *r, const double *c, const double *fx,
                     const struct dl_serving_inputs *in, struct dl_tape *tape) {
  *r = (struct serving_round){.c = c, .fx = fx, .in = in, .tape = tape};
  set_times(r);
  if (!(in->answer > 0)) {
    const double prompts = r->prefill.x;
    r->once = *in;
    r->once.answer = 1;
    r->once.prompt = 0;
    r->in = &r->once;
    set_times(r);
    if (r->decode.x <= prompts) {
      r->in = in;
      set_times(r);
    }
  }
  set_power(r);
}

void dl_serving_gradient(const double *c, const double *fx, const void *inputs,
                         double *log_target, struct dl_gradient *g) {
  const struct dl_serving_inputs *in = inputs;
  struct dl_tape tape;
  struct serving_round r;
  dl_tape_begin(&tape);
  round_of(&r, c, fx, in, g ? &tape : NULL);
  struct dl_taped target[DL_N_SERVING_TARGETS];
  struct dl_taped time = dl_taped_scaled(r.time, 1 / in->batch);
  target[DL_SERVE_TARGET_TIME] = dl_taped_scaled(time, 1 / in->replicas);
  target[DL_SERVE_TARGET_POWER] = r.power;
  target[DL_SERVE_TARGET_ENERGY] = dl_taped_product(time, r.power);
  for (size_t t = 0; t < DL_N_SERVING_TARGETS; t++) {
    log_target[t] = log(target[t].x);
    if (g)
      dl_taped_gradient(target[t], &dl_serving_physics, &g[t]);
  }
  log_target[DL_SERVE_TARGET_ENERGY] += log(in->n_gpus);
}

static const char *longest(const struct dl_serving_cost *cost) {
  static const char *const names[] = {"memory",   "compute", "layers",
                                      "exchange", "host",    "prompts"};
  const double part[] = {cost->memory_s,   cost->compute_s, cost->layers_s,
                         cost->exchange_s, cost->host_s,    cost->prefill_s};
  return names[gsl_stats_max_index(part, 1, DL_LENGTH(part))];
}

void dl_serving_cost_of(const double *c, const double *fx,
                        const struct dl_serving_inputs *l,
                        struct dl_serving_cost *cost) {
  struct serving_round r;
  round_of(&r, c, fx, l, NULL);
  double slow = r.slow.x, v = r.in->answer;
  *cost = (struct dl_serving_cost){
      .time_s = r.time.x,
      .power_w = r.power.x,
      .prefill_s = slow * r.prefill.x,
      .decode_s = slow * r.decode.x + r.host.x,
      .memory_s = slow * v * r.memory.x,
      .compute_s = slow * v * r.compute.x,
      .layers_s = slow * v * r.layers.x,
      .exchange_s = slow * v * r.exchange.x,
      .host_s = r.host.x,
      .static_w = r.base.x,
  };
  /* Both parts are cut by the limit alike. */
  double all = l->n_gpus * cost->power_w * cost->time_s;
  double in_prefill = r.base.x * r.prefill.x + r.prefill_ws.x;
  double in_all = r.base.x * r.all.x + r.decode_ws.x + r.prefill_ws.x;
  cost->prefill_j = all * in_prefill / in_all;
  cost->decode_j = all - cost->prefill_j;
  cost->bound = longest(cost);
}
