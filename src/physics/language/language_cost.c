/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and power of an optimizer step (language_cost.h). */

#include "physics/language/language_cost.h"

#include <assert.h>
#include <math.h>

#include "physics/language/language_cost_private.h"
#include "physics/tape.h"
#include "run/setup/training_setup.h"

static_assert(DL_N_LANGUAGE + DL_N_LANGUAGE_EFFECTS <= DL_TAPE_PARAMETERS,
              "derivatives by all parameters");

/* An optimizer step by the physics: what it is computed from, and its parts. */
struct language_step {
  const double *c, *fx;
  const struct dl_language_inputs *in;
  struct dl_tape *tape; /* NULL: values alone */
  double copies;        /* D */
  double split;         /* T P */
  double per_part;      /* tokens of a micro-batch / split */
  struct dl_taped compute, attention, memory, optimizer, launch, exchange;
  struct dl_taped dispatch;
  struct dl_taped behind; /* the backward pass, by weights */
  struct dl_taped reduce;
  struct dl_taped unlimited, time, power, rate;
};

/* Multiplies a by parameter i, whose value is c, to the power of n. */
static void times(const struct language_step *k, struct dl_taped *a, size_t i,
                  double c, double n) {
  *a = dl_taped_times(k->tape, *a, i, c, n);
}

static void by(const struct language_step *k, struct dl_taped *a,
               enum dl_language_constant i, double n) {
  times(k, a, i, k->c[i], n);
}

/* x by constant i to the power of n. */
static inline struct dl_taped term(const struct language_step *k, double x,
                                   enum dl_language_constant i, double n) {
  struct dl_taped t = dl_taped_of(x);
  by(k, &t, i, n);
  return t;
}

static inline void add(struct dl_taped *a, struct dl_taped b) {
  *a = dl_taped_sum(*a, b);
}

static inline void scale(struct dl_taped *a, double by) {
  *a = dl_taped_scaled(*a, by);
}

/* Factors by which the GPU's time is found to differ. */
static void by_effects(const struct language_step *k, struct dl_taped *a) {
  static const enum dl_language_effect effects[] = {
      DL_LANG_EFFECT_GPU_TIME, DL_LANG_EFFECT_ARCH_TIME,
      DL_LANG_EFFECT_STACK_TIME, DL_LANG_EFFECT_FRAMEWORK_TIME,
      DL_LANG_EFFECT_PAIR_TIME};
  for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
    if (k->tape || k->fx[effects[i]] < 0 || k->fx[effects[i]] > 0)
      times(k, a, DL_N_LANGUAGE + effects[i], exp(k->fx[effects[i]]), 1);
}

/* Weights that a GPU has, of what layers' division leaves. */
static double held(const struct language_step *k, double all, double experts) {
  return experts > 0 ? all - experts + experts / k->in->expert_parallel : all;
}

/* Time that products `width` wide of some tokens take, relative to their work.
 */
static struct dl_taped shape(const struct language_step *k, double width,
                             double tokens) {
  const struct dl_language_inputs *in = k->in;
  struct dl_taped narrow = term(k, in->tensor / width, DL_LANG_H0, 1);
  add(&narrow,
      dl_taped_of(1 + IDLE * in->tiles * in->tensor / (tokens * width)));
  return narrow;
}

/* Products of all layers, by the weights that a token is multiplied with. */
static struct dl_taped shapes(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  double tokens = in->sequences * in->tokens, copies = tokens * in->chosen;
  struct dl_taped t = shape(k, in->hidden, tokens);
  scale(&t,
        (in->linear - in->expert_linear) / (in->systolic > 0 ? SYSTOLIC : 1));
  if (in->expert_linear > 0) {
    struct dl_taped of_experts = shape(k, in->expert_width, copies);
    add(&of_experts, dl_taped_of(HALF_TILE * in->own_experts / copies));
    add(&t, dl_taped_scaled(of_experts, in->expert_linear));
  }
  return t;
}

static struct dl_taped products_in_format(const struct language_step *k) {
  static const enum dl_language_constant share[] = {
      [DL_LANG_16_BIT] = DL_LANG_EC,
      [DL_LANG_TF32] = DL_LANG_EC_TF32,
      [DL_LANG_FP32] = DL_LANG_EC_FP32,
      [DL_LANG_FP8] = DL_LANG_EC_FP8};
  const struct dl_language_inputs *in = k->in;
  double per_w = in->peak_16 / in->tdp / PEAK_PER_W_0;
  struct dl_taped t = shapes(k);
  scale(&t, 2 * k->per_part * (in->passes + in->again) / in->peak);
  by(k, &t, share[in->format], -1);
  if (in->format != DL_LANG_FP32 && per_w > 1 && !(in->systolic > 0)) {
    struct dl_taped slow =
        dl_taped_exponential(k->tape, per_w, DL_LANG_TH, k->c[DL_LANG_TH], 1);
    t = dl_taped_product(t, slow);
  }
  by_effects(k, &t);
  return t;
}

/* Libraries that may use TF32 take plain FP32 where that is faster. */
static struct dl_taped products(const struct language_step *k) {
  struct dl_taped t = products_in_format(k);
  if (!(k->in->plain > 0))
    return t;
  struct dl_language_inputs in = *k->in;
  struct language_step plain = *k;
  in.format = DL_LANG_FP32;
  in.peak = in.plain;
  in.tiles = 0;
  plain.in = &in;
  struct dl_taped in_fp32 = products_in_format(&plain);
  return in_fp32.x < t.x ? in_fp32 : t;
}

static struct dl_taped attention(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  struct dl_taped t = dl_taped_exponential(k->tape, in->peak_16 / PEAK_0,
                                           DL_LANG_PHI, k->c[DL_LANG_PHI], -1);
  scale(&t, 2 * k->per_part * in->attention * in->attention_passes / PEAK_0);
  by(k, &t, DL_LANG_EA, -1);
  by_effects(k, &t);
  return t;
}

/* Copies of tokens for their experts, read and written; bytes. */
static double copies(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  double times = COPIED + (in->expert_parallel > 1 ? SORTED_AGAIN : 0);
  return times * in->element * in->chosen * in->moe_layers * in->hidden *
         (in->passes + in->again) / 3 * k->per_part;
}

/* Traffic of adapters beside the products; bytes. */
static double adapters(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  double times = ADAPTED + ADAPTED_AGAIN * in->again;
  return in->element * in->adapted * times * k->per_part *
         (1 + UNDIVIDED * (in->tensor - 1));
}

/* Mixes what tuned software takes with what plain software does, by the share
 * of plain software. */
static double by_software(const struct dl_language_inputs *in, double tuned,
                          double plain) {
  return tuned + in->untuned * (plain - tuned);
}

/* Activations, scores and weights of a micro-batch. */
static struct dl_taped traffic(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  double passes = in->passes / 3 * (1 + AGAIN * in->again);
  double plain = in->composed ? COMPOSED_TRAFFIC : PLAIN_TRAFFIC;
  double more =
      by_software(in, 1, in->element > 2 ? WITHOUT_CASTS * plain : plain);
  double logit = by_software(in, 2 * in->element, PLAIN_LOGIT);
  struct dl_taped t = term(k,
                           in->element * TRAFFIC * in->layers * in->hidden *
                               passes * more * k->per_part,
                           DL_LANG_CT, 1);
  add(&t, dl_taped_of(adapters(k)));
  if (in->fused)
    by(k, &t, DL_LANG_FUSED, 1);
  add(&t, term(k, SCORE_PASSES * in->element * in->scores * k->per_part,
               DL_LANG_EAGER, 1));
  add(&t, dl_taped_of(copies(k) + logit * in->vocabulary * k->per_part +
                      (in->passes * in->element + in->unpack) *
                          held(k, in->params, in->experts) / k->split));
  scale(&t, 1 / in->bandwidth);
  by(k, &t, DL_LANG_EM, -1);
  by_effects(k, &t);
  return t;
}

static struct dl_taped optimizer(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  /* Divided among all of them, the experts are so anyway. */
  double own =
      in->shards > 1 ? in->trained : held(k, in->trained, in->trained_experts);
  struct dl_taped t =
      term(k,
           by_software(in, 1, PLAIN_OPTIMIZER) * in->state_bytes * own /
               k->split / in->shards / in->bandwidth,
           DL_LANG_WOPT, 1);
  by(k, &t, DL_LANG_EM, -1);
  return t;
}

static struct dl_taped launches(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  double of_layer =
      by_software(in, KERNELS, in->composed ? COMPOSED_KERNELS : PLAIN_KERNELS);
  double kernels = of_layer * in->layers;
  if (in->launched > 0)
    kernels += (ROUTING + PRODUCTS * (in->launched - 1)) * in->moe_layers;
  struct dl_taped t = term(k, kernels / in->pipeline * (in->passes + in->again),
                           DL_LANG_TAU, 1);
  add(&t, term(k, 1, DL_LANG_C0, 1));
  if (in->graphs)
    by(k, &t, DL_LANG_GRAPH, 1);
  return t;
}

/* Launches of the host behind the backward pass, tensor by tensor. */
static struct dl_taped by_weight(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  return term(k, in->by_weight ? BY_WEIGHT * in->layers / in->pipeline : 0,
              DL_LANG_TAU, 1);
}

/* Copies of a weight, and the GPUs of a domain that they are on: of the dense
 * layers, or of the experts. */
static double copies_of(const struct language_step *k, bool experts) {
  return experts ? k->copies / k->in->expert_parallel : k->copies;
}

static double adapters_of(const struct language_step *k, bool experts) {
  const struct dl_language_inputs *in = k->in;
  double in_domain = in->domain / in->tensor / in->expert_parallel;
  return experts ? fmax(in_domain, 1) : in->domain;
}

/* `bytes` through the slowest link, and the latency of `calls`. Beyond the
 * domain the peers in it share the bytes, each by a network adapter of its own.
 */
static struct dl_taped collective(const struct language_step *k, bool experts,
                                  double bytes, double calls) {
  const struct dl_language_inputs *in = k->in;
  enum dl_language_constant share = in->pcie ? DL_LANG_XP : DL_LANG_XL;
  double link = k->c[share] * in->link,
         all = in->network * adapters_of(k, experts);
  bool beyond = in->n_gpus > in->domain && k->c[DL_LANG_XN] * all < link;
  struct dl_taped t = beyond ? term(k, bytes / all, DL_LANG_XN, -1)
                             : term(k, bytes / in->link, share, -1);
  add(&t,
      term(k, calls * log2(fmax(copies_of(k, experts), 1)), DL_LANG_ALPHA, 1));
  return t;
}

/* Messages of a micro-batch between stages of a pipeline. */
static struct dl_taped hand_over(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  double calls = 2 * in->virtual_stages;
  double bytes = calls * in->element * in->hidden * in->sequences * in->tokens /
                 in->tensor;
  enum dl_language_constant share = in->pcie ? DL_LANG_XP : DL_LANG_XL;
  struct dl_taped t = in->n_gpus > in->domain
                          ? term(k, bytes / in->network, DL_LANG_XN, -1)
                          : term(k, bytes / in->link, share, -1);
  add(&t, term(k, calls, DL_LANG_ALPHA, 1));
  return t;
}

/* Tokens of a micro-batch that go to their experts and back. */
static struct dl_taped dispatch(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  if (!(in->expert_parallel > 1))
    return dl_taped_of(0);
  double calls = ((in->passes > 1.5 ? 4 : 2) + 2 * in->again) * in->moe_layers /
                 in->pipeline;
  double bytes = calls * in->element * in->hidden * in->sequences * in->tokens /
                 in->tensor;
  struct dl_taped t = term(k, bytes * in->to_members / in->link,
                           in->pcie ? DL_LANG_XP : DL_LANG_XL, -1);
  struct dl_taped beyond =
      term(k, bytes * in->to_nodes / in->network, DL_LANG_XN, -1);
  t = dl_taped_overlap(t, beyond);
  add(&t, term(k, calls * log2(in->expert_parallel), DL_LANG_ALPHA, 1));
  return t;
}

/* Gathers of the weights (ZeRO-3) before each pass, and gradients that are
 * divided. */
static struct dl_taped gathers(const struct language_step *k, bool experts,
                               double params, double trained, double calls) {
  double copies = copies_of(k, experts), ring = (copies - 1) / copies;
  return collective(k, experts,
                    ring * k->in->element * (2 * params + trained) / k->split,
                    calls);
}

/* Exchanges of a micro-batch: ZeRO-3 gathers the weights before each pass and
 * divides the gradients of trained ones; tensor parallelism sums up the
 * activations of each layer, two times a pass. */
static struct dl_taped exchanges(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  struct dl_taped t = dl_taped_of(0);
  if (in->gathers && k->copies > 1)
    t = gathers(k, false, in->params - in->experts,
                in->trained - in->trained_experts, 6 * in->layers);
  if (in->gathers && in->experts > 0 && copies_of(k, true) > 1)
    add(&t,
        gathers(k, true, in->experts / in->expert_parallel,
                in->trained_experts / in->expert_parallel, 3 * in->moe_layers));
  if (in->tensor > 1) {
    double calls = (4 + 2 * in->again) * in->layers / in->pipeline;
    double bytes = 2 * in->element * in->hidden * in->sequences * in->tokens *
                   (in->tensor - 1) / in->tensor;
    add(&t, term(k, calls * bytes / in->link,
                 in->pcie ? DL_LANG_XP : DL_LANG_XTP, -1));
    add(&t, term(k, calls, DL_LANG_ALPHA, 1));
  }
  if (in->pipeline > 1)
    add(&t, hand_over(k));
  return t;
}

static struct dl_taped reduction(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  double ring = (k->copies - 1) / k->copies;
  if (in->gathers || !(k->copies > 1))
    return dl_taped_of(0);
  struct dl_taped t = collective(
      k, false,
      2 * ring * in->element * (in->trained - in->trained_experts) / k->split,
      4 * in->layers);
  double copies = copies_of(k, true);
  ring = (copies - 1) / copies;
  if (in->trained_experts > 0 && copies > 1)
    add(&t, collective(k, true,
                       2 * ring * in->element * in->trained_experts /
                           in->expert_parallel / k->split,
                       2 * in->moe_layers));
  return t;
}

/* Time of a step without a power limit. */
static void step_of(struct language_step *s) {
  const struct language_step *k = s;
  const struct dl_language_inputs *in = k->in;
  s->compute = products(k);
  s->attention = attention(k);
  s->memory = traffic(k);
  s->optimizer = optimizer(k);
  s->launch = launches(k);
  s->exchange = exchanges(k);
  s->dispatch = dispatch(k);
  s->reduce = reduction(k);
  s->behind = by_weight(k);
  struct dl_taped gpu = dl_taped_sum(s->compute, s->attention);
  struct dl_taped beside = s->exchange;
  add(&gpu, s->memory);
  /* Experts wait for their tokens, but where they are on several nodes: another
   * micro-batch is computed meanwhile. */
  add(in->to_nodes > 0 ? &beside : &gpu, s->dispatch);
  struct dl_taped one = dl_taped_overlap(gpu, s->launch);
  one = dl_taped_overlap(one, beside);
  struct dl_taped last = in->reduces_last ? dl_taped_sum(one, s->reduce)
                                          : dl_taped_overlap(one, s->reduce);
  add(&one, s->behind);
  add(&last, s->behind);
  double rounds =
      dl_pipeline_rounds(in->micro_batches, in->pipeline, in->virtual_stages);
  struct dl_taped t = dl_taped_scaled(one, rounds - 1);
  add(&t, last);
  add(&t, s->optimizer);
  if (in->nodes > 1) {
    struct dl_taped slow = term(k, log2(in->nodes), DL_LANG_STRAG, 1);
    add(&slow, dl_taped_of(1));
    t = dl_taped_product(t, slow);
  }
  s->unlimited = t;
}

static void by_board(const struct language_step *k, struct dl_taped *power) {
  static const size_t effects[] = {DL_LANG_EFFECT_GPU_POWER,
                                   DL_LANG_EFFECT_SOURCE_POWER};
  for (size_t i = 0; i < DL_LENGTH(effects); i++)
    times(k, power, DL_N_LANGUAGE + effects[i], exp(k->fx[effects[i]]), 1);
}

/* gddr: GB/s of that memory. */
static struct dl_taped static_power(const struct language_step *k,
                                    double gddr) {
  struct dl_taped base = term(k, k->in->tdp, DL_LANG_PA, 1);
  add(&base, term(k, gddr, DL_LANG_PB, 1));
  by_board(k, &base);
  return base;
}

/* The limit of the board, in the derivatives of power and time. */
static void limit(struct language_step *s, struct dl_taped wanted) {
  const struct language_step *k = s;
  const struct dl_language_inputs *in = k->in;
  struct dl_taped most = term(k, in->limit, DL_LANG_PCAP, 1);
  struct dl_taped kappa = term(k, 1, DL_LANG_KAPPA, 1);
  struct dl_taped slow;
  s->power =
      dl_taped_limit(wanted, most, kappa, static_power(k, in->chips), &slow);
  s->time = dl_taped_product(s->unlimited, slow);
  if (in->unknown)
    by(k, &s->time, DL_LANG_UNKNOWN, 1);
}

static void power_of(struct language_step *s) {
  const struct language_step *k = s;
  const struct dl_language_inputs *in = k->in;
  struct dl_taped wanted = term(k, in->tdp, DL_LANG_PU, 1);
  struct dl_taped compute = dl_taped_sum(s->compute, s->attention);
  struct dl_taped memory = dl_taped_scaled(s->memory, in->micro_batches);
  scale(&compute, in->micro_batches * in->tdp);
  add(&memory, s->optimizer);
  scale(&memory, in->tdp);
  by(k, &compute, DL_LANG_PF, 1);
  by(k, &memory, DL_LANG_PM, 1);
  add(&compute, memory);
  add(&wanted, dl_taped_ratio(compute, s->unlimited));
  by_board(k, &wanted);
  add(&wanted, static_power(k, in->gddr));
  limit(s, wanted);
}

static double tokens_of(const struct language_step *k) {
  const struct dl_language_inputs *in = k->in;
  return in->sequences * in->tokens * in->micro_batches * k->copies;
}

static struct language_step step_from(const double *c, const double *fx,
                                      const struct dl_language_inputs *in,
                                      struct dl_tape *tape) {
  double split = in->tensor * in->pipeline;
  return (struct language_step){.c = c,
                                .fx = fx,
                                .tape = tape,
                                .in = in,
                                .copies = in->n_gpus / split,
                                .split = split,
                                .per_part = in->sequences * in->tokens / split};
}

void dl_language_cost_of(const double *c, const double *fx,
                         const struct dl_language_inputs *in,
                         struct dl_language_cost *cost) {
  struct language_step s = step_from(c, fx, in, NULL);
  double m = in->micro_batches;
  step_of(&s);
  power_of(&s);
  *cost = (struct dl_language_cost){
      .compute = m * s.compute.x,
      .attention = m * s.attention.x,
      .memory = m * s.memory.x,
      .optimizer = s.optimizer.x,
      .launch = m * (s.launch.x + s.behind.x),
      .exchange = m * (s.exchange.x + s.dispatch.x) + s.reduce.x,
      .time = s.time.x,
      .power = s.power.x,
      .tokens = tokens_of(&s)};
}

void dl_language_gradient(const double *c, const double *fx, const void *inputs,
                          double *log_target, struct dl_gradient *g) {
  struct dl_tape tape;
  struct language_step s = step_from(c, fx, inputs, g ? &tape : NULL);
  dl_tape_begin(&tape);
  step_of(&s);
  power_of(&s);
  s.rate = dl_taped_ratio(dl_taped_of(tokens_of(&s)), s.time);
  log_target[DL_LANG_TARGET_RATE] = log(s.rate.x);
  log_target[DL_LANG_TARGET_POWER] = log(s.power.x);
  if (!g)
    return;
  dl_taped_gradient(s.rate, &dl_language_physics, &g[DL_LANG_TARGET_RATE]);
  dl_taped_gradient(s.power, &dl_language_physics, &g[DL_LANG_TARGET_POWER]);
}
