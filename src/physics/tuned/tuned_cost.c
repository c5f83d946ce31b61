/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and power of a batch by tuned software (tuned_cost.h). */

#include "physics/tuned/tuned_cost.h"

#include <assert.h>
#include <math.h>

#include "physics/tape.h"

static_assert(DL_N_TUNED + DL_N_TUNED_EFFECTS <= DL_TAPE_PARAMETERS,
              "derivatives by all parameters");

/* Exponent by which the rate falls with the power beyond the static one, where
 * the limit is lowered: power grows with the third power of the clock. A100 and
 * H100 of four systems have about .23 to .40, products on a B300 .23 to .59. */
#define SLOWED (1.0 / 3)

/* The least power beyond the static one, relative to that at the TDP. */
#define LEAST_SHARE 0.02

struct tuned_batch {
  const double *c, *fx;
  const struct dl_tuned_inputs *in;
  struct dl_tape *tape; /* NULL: values alone */
  struct dl_taped compute, memory, weights, kernels, time;
  struct dl_taped base, power;
  struct dl_taped slow; /* factor of the time by a lowered limit */
};

static void by(const struct tuned_batch *k, struct dl_taped *a,
               enum dl_tuned_constant i, double n) {
  *a = dl_taped_times(k->tape, *a, i, k->c[i], n);
}

static void by_effect(const struct tuned_batch *k, struct dl_taped *a,
                      enum dl_tuned_effect i, double n) {
  *a = dl_taped_times(k->tape, *a, (size_t)DL_N_TUNED + i, exp(k->fx[i]), n);
}

/* x by constant i to the power of n. */
static struct dl_taped term(const struct tuned_batch *k, double x,
                            enum dl_tuned_constant i, double n) {
  struct dl_taped t = dl_taped_of(x);
  by(k, &t, i, n);
  return t;
}

static struct dl_taped difference(struct dl_taped a, struct dl_taped b) {
  return dl_taped_sum(a, dl_taped_scaled(b, -1));
}

/* sqrt(a^2 + b^2). */
static struct dl_taped together(struct dl_taped a, struct dl_taped b) {
  double y = hypot(a.x, b.x);
  return dl_taped_step(y, a, a.x / y, b, b.x / y);
}

static void set_times(struct tuned_batch *k) {
  const struct dl_tuned_inputs *l = k->in;
  double watts = fmax(l->limit, l->tdp);
  double x = l->element * l->peak / watts / DL_TUNED_OPS_PER_J;
  k->compute = term(k, l->batch * l->flops / l->peak, DL_TUNED_EC, -1);
  k->compute = dl_taped_product(k->compute,
                                dl_taped_exponential(k->tape, x, DL_TUNED_GAMMA,
                                                     k->c[DL_TUNED_GAMMA], 1));
  by_effect(k, &k->compute, DL_TUNED_EFFECT_GPU_COMPUTE, -1);
  by_effect(k, &k->compute, DL_TUNED_EFFECT_FAMILY_COMPUTE, -1);
  k->memory = term(k, l->batch * l->bytes / l->bandwidth, DL_TUNED_EM, -1);
  by_effect(k, &k->memory, DL_TUNED_EFFECT_GPU_MEMORY, -1);
  k->weights = term(k, l->weights / l->bandwidth, DL_TUNED_EM, -1);
  k->kernels = term(k, l->kernels, DL_TUNED_TAU, 1);
  k->time = together(k->compute, k->memory);
  by_effect(k, &k->time, DL_TUNED_EFFECT_ARCH_TIME, 1);
  k->time = dl_taped_sum(k->time, k->weights);
  k->time = dl_taped_sum(k->time, k->kernels);
}

/* The power that is left of `wanted` below a limit. */
static struct dl_taped capped(const struct tuned_batch *k,
                              struct dl_taped wanted, double limit) {
  struct dl_taped slow;
  return dl_taped_limit(wanted, term(k, limit, DL_TUNED_PCAP, 1),
                        dl_taped_of(1), k->base, &slow);
}

/* Lowers the power to a limit below the TDP, and slows the batch down. */
static void lower(struct tuned_batch *k) {
  struct dl_taped at_tdp = k->power;
  k->power = capped(k, at_tdp, k->in->limit);
  struct dl_taped left = dl_taped_ratio(difference(k->power, k->base),
                                        difference(at_tdp, k->base));
  double share = fmax(left.x, LEAST_SHARE);
  double slope = left.x > LEAST_SHARE ? -SLOWED / left.x : 0;
  double slow = pow(share, -SLOWED);
  k->slow = dl_taped_function(left, slow, slow * slope);
  k->time = dl_taped_product(k->time, k->slow);
}

static void set_power(struct tuned_batch *k) {
  const struct dl_tuned_inputs *l = k->in;
  struct dl_taped joules =
      term(k, l->element * l->batch * l->flops, DL_TUNED_PE, 1);
  joules = dl_taped_sum(joules, term(k, l->batch * l->bytes, DL_TUNED_PM, 1));
  by_effect(k, &joules, DL_TUNED_EFFECT_GPU_POWER, 1);
  by_effect(k, &joules, DL_TUNED_EFFECT_ARCH_POWER, 1);
  k->base = term(k, l->tdp, DL_TUNED_PA, 1);
  struct dl_taped wanted = dl_taped_ratio(joules, k->time);
  wanted = dl_taped_sum(wanted, k->base);
  k->power = capped(k, wanted, fmax(l->limit, l->tdp));
  k->slow = dl_taped_of(1);
  if (l->limit < l->tdp)
    lower(k);
}

static void batch_of(struct tuned_batch *k, const double *c, const double *fx,
                     const struct dl_tuned_inputs *in, struct dl_tape *tape) {
  *k = (struct tuned_batch){.c = c, .fx = fx, .in = in, .tape = tape};
  set_times(k);
  set_power(k);
}

void dl_tuned_gradient(const double *c, const double *fx, const void *inputs,
                       double *log_target, struct dl_gradient *g) {
  const struct dl_tuned_inputs *in = inputs;
  struct dl_tape tape;
  struct tuned_batch k;
  dl_tape_begin(&tape);
  batch_of(&k, c, fx, in, g ? &tape : NULL);
  struct dl_taped target[DL_N_TUNED_TARGETS];
  target[DL_TUNED_TARGET_TIME] =
      dl_taped_scaled(k.time, 1 / (in->batch * in->n_gpus));
  target[DL_TUNED_TARGET_POWER] = k.power;
  for (size_t t = 0; t < DL_N_TUNED_TARGETS; t++) {
    log_target[t] = log(target[t].x);
    if (g)
      dl_taped_gradient(target[t], &dl_tuned_physics, &g[t]);
  }
}

void dl_tuned_cost_of(const double *c, const double *fx,
                      const struct dl_tuned_inputs *in,
                      struct dl_tuned_cost *cost) {
  struct tuned_batch k;
  batch_of(&k, c, fx, in, NULL);
  double network = k.slow.x * exp(fx[DL_TUNED_EFFECT_ARCH_TIME]);
  *cost = (struct dl_tuned_cost){.time_s = k.time.x,
                                 .power_w = k.power.x,
                                 .compute_s = network * k.compute.x,
                                 .memory_s = network * k.memory.x +
                                             k.slow.x * k.weights.x,
                                 .kernels_s = k.slow.x * k.kernels.x,
                                 .static_w = k.base.x,
                                 .bound = "compute"};
  if (cost->memory_s > cost->compute_s)
    cost->bound = "memory";
  if (cost->kernels_s > fmax(cost->compute_s, cost->memory_s))
    cost->bound = "kernels";
}
