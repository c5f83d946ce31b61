/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Derivatives of the physics of training, by the chain rule from the time and
 * the energy of an epoch back to the times of each step and from there, each a
 * product, to the logarithms of its factors. */

#include <math.h>

#include "physics/training/training_step.h"

/* Each function adds to g the derivatives, times d, of the logarithm of a time
 * or a power of epoch k. */

static void by_part(const struct dl_training_epoch *k, struct dl_gradient *g,
                    enum dl_stack_part part, double d) {
  const enum dl_training_constant *of = dl_training_part(k->in, part);
  for (size_t i = 0; i < 2; i++)
    if (of[i] < DL_N_TRAINING_CONSTANTS)
      g->c[of[i]] += d;
}

static void by_bandwidth(const struct dl_training_epoch *k,
                         struct dl_gradient *g, double d) {
  by_part(k, g, DL_PART_EM, d);
  if (!k->in->has_tensor)
    g->c[DL_TRAIN_MTC] += d;
}

static void by_samples(struct dl_gradient *g, double d) {
  g->fx[DL_EFFECT_ARCH_TIME] += d;
  g->fx[DL_EFFECT_FRAMEWORK_TIME] += d;
}

static void by_compute(const struct dl_training_epoch *k, struct dl_gradient *g,
                       const struct dl_training_step *s, double d) {
  by_samples(g, d);
  g->fx[DL_EFFECT_FACTS_FLOPS] += d;
  g->fx[DL_EFFECT_GPU_COMPUTE] -= d;
  g->fx[DL_EFFECT_FAMILY_COMPUTE] -= d;
  by_part(k, g, s->efficiency, -d);
}

static void by_depthwise(const struct dl_training_epoch *k,
                         struct dl_gradient *g, double d) {
  by_samples(g, d);
  by_part(k, g, DL_PART_DEPTHWISE, -d);
}

/* Traffic of the layers, between them, and of the weights: d of each second. */
static void by_memory(const struct dl_training_epoch *k, struct dl_gradient *g,
                      const struct dl_training_step *s, double d) {
  double weights = d * s->weights, between = d * s->between;
  double activations = d * s->memory - weights;
  by_samples(g, activations);
  g->fx[DL_EFFECT_FACTS_BYTES] += activations;
  if (!k->in->bytes_known)
    g->c[DL_TRAIN_CA] += activations - between;
  by_part(k, g, dl_training_between(k->in), between);
  by_part(k, g, DL_PART_WOPT, weights);
  by_bandwidth(k, g, -activations - weights);
  g->fx[DL_EFFECT_GPU_MEMORY] -= activations + weights;
  g->fx[DL_EFFECT_FAMILY_MEMORY] -= activations + weights;
}

static void by_kernels(struct dl_gradient *g, double d) {
  g->fx[DL_EFFECT_ARCH_KERNELS] += d;
  g->fx[DL_EFFECT_FACTS_KERNELS] += d;
}

/* The launches of the kernels, the fixed cost of a step on the host, and
 * proposals: d of each second. */
static void by_launch(const struct dl_training_epoch *k, struct dl_gradient *g,
                      const struct dl_training_step *s, double d) {
  double per_step = d * s->per_step, regions = d * s->regions;
  double all = d * s->launch;
  by_kernels(g, all - per_step - regions);
  by_part(k, g, DL_PART_LAMBDA, all - per_step - regions);
  g->c[DL_TRAIN_BESIDE] += d * s->beside;
  by_part(k, g, DL_PART_C0, per_step);
  by_part(k, g, DL_PART_REGIONS, regions);
  g->fx[DL_EFFECT_HOST_LAUNCH] += all;
  g->fx[DL_EFFECT_FRAMEWORK_LAUNCH] += all;
  if (k->in->server > 0)
    g->c[DL_TRAIN_SERVER] += all;
}

static void by_board_power(struct dl_gradient *g, double d) {
  g->fx[DL_EFFECT_GPU_POWER] += d;
  g->fx[DL_EFFECT_ARCH_POWER] += d;
}

/* gb_s: of the memory. */
static void by_static_power(const struct dl_training_epoch *k,
                            struct dl_gradient *g, double gb_s, double d) {
  const double *c = k->c;
  double tdp = c[DL_TRAIN_PA] * k->in->tdp, memory = c[DL_TRAIN_PB] * gb_s;
  by_board_power(g, d);
  g->c[DL_TRAIN_PA] += d * tdp / (tdp + memory);
  g->c[DL_TRAIN_PB] += d * memory / (tdp + memory);
}

/* Times of a step, by which derivatives are taken. */
enum { GPU, COMPUTE, MEMORY, LAUNCH, N_TIMES };

/* The demand beyond the static power, tdp ptc busy: by its constants, and *by
 * the times that busy is made of. */
static void by_dynamic_power(const struct dl_training_epoch *k,
                             struct dl_gradient *g,
                             const struct dl_training_step *s, double d,
                             double by[N_TIMES]) {
  const double *c = k->c;
  double share = dl_training_bandwidth_share(c, k->in);
  double gpu = c[DL_TRAIN_PU] * s->gpu;
  double compute = c[DL_TRAIN_PF] * c[DL_TRAIN_EC] * s->compute;
  double memory = c[DL_TRAIN_PM] * share * s->memory;
  double each = d / (gpu + compute + memory);
  double by_unlimited = -d / s->unlimited / s->unlimited;
  by_board_power(g, d);
  if (!k->in->has_tensor)
    g->c[DL_TRAIN_PTC] += d;
  g->c[DL_TRAIN_PU] += each * gpu;
  g->c[DL_TRAIN_PF] += each * compute;
  g->c[DL_TRAIN_EC] += each * compute;
  g->c[DL_TRAIN_PM] += each * memory;
  by_bandwidth(k, g, each * memory);
  by[GPU] += each * c[DL_TRAIN_PU] + by_unlimited * s->gpu;
  by[COMPUTE] += each * c[DL_TRAIN_PF] * c[DL_TRAIN_EC];
  by[MEMORY] += each * c[DL_TRAIN_PM] * share;
  by[LAUNCH] += by_unlimited * s->launch;
}

/* The exchange with other GPUs: adds the derivatives of by_time time of a step
 * and returns that by its time alone. */
static double by_exchange(struct dl_gradient *g,
                          const struct dl_training_step *s, double by_time) {
  double exchange = s->link + s->network;
  double both = dl_training_overlap(s->alone, exchange);
  double each = by_time * s->slowest * pow(exchange / both, 3);
  g->c[DL_TRAIN_XL] -= each * s->link;
  g->c[DL_TRAIN_XN] -= each * s->network;
  g->c[DL_TRAIN_XS] += by_time * (s->time - s->late) * (1 - 1 / s->slowest);
  g->c[DL_TRAIN_XK] += by_time * s->late;
  return by_time * s->slowest * pow(s->alone / both, 3);
}

/* Adds the derivatives of by_time time + by_alone time alone + by_power power
 * of a step. */
static void add_step(const struct dl_training_epoch *k, struct dl_gradient *g,
                     const struct dl_training_step *s, double by_time,
                     double by_alone, double by_power) {
  double slowed = s->gpu * s->limit.slow;
  double d = by_alone + by_exchange(g, s, by_time);
  double by[N_TIMES] = {[GPU] = d * slowed / s->alone * s->limit.slow,
                        [LAUNCH] = d * s->launch / s->alone};
  struct dl_power_limit limit;
  dl_power_limit_gradient(&s->limit, d * slowed / s->alone * s->gpu, by_power,
                          &limit);
  g->c[DL_TRAIN_KAPPA] += limit.kappa;
  g->c[DL_TRAIN_PCAP] += limit.limit;
  double by_wanted = limit.wanted / s->limit.wanted;
  by_static_power(k, g, k->in->chips, limit.lowest);
  by_static_power(k, g, k->in->gddr, by_wanted * k->base);
  if (s->dynamic > 0)
    by_dynamic_power(k, g, s, by_wanted * s->dynamic, by);
  by_compute(k, g, s, (by[GPU] + by[COMPUTE]) * s->compute);
  by_depthwise(k, g, by[GPU] * s->depthwise);
  by_memory(k, g, s, by[GPU] + by[MEMORY]);
  by_kernels(g, by[GPU] * s->kernels + by_time * s->late);
  by_part(k, g, DL_PART_TAU, by[GPU] * s->kernels + by_time * s->late);
  by_launch(k, g, s, by[LAUNCH]);
}

/* Adds the derivatives of by_time time + by_energy energy of an epoch. */
static void add_epoch(const struct dl_training_epoch *e, struct dl_gradient *g,
                      double by_time, double by_energy) {
  for (size_t i = 0; i < DL_N_TRAINING_STEPS; i++) {
    const struct dl_training_step *s = &e->step[i];
    if (!(e->n[i] > 0))
      continue;
    double energy = e->n[i] * by_energy;
    double alone = energy * s->limit.power * DL_TRAINING_BUSY_ALONE;
    add_step(e, g, s, e->n[i] * by_time + energy * s->limit.power - alone,
             alone, energy * dl_training_busy(s));
  }
  double fixed = e->cost.fixed * (by_time + by_energy * e->base);
  g->c[DL_TRAIN_T0] += fixed;
  g->fx[DL_EFFECT_HOST_EPOCH] += fixed;
  by_static_power(e, g, e->in->gddr, e->cost.fixed * by_energy * e->base);
}

/* a x + b y */
static void combine(struct dl_gradient *out, double a,
                    const struct dl_gradient *x, double b,
                    const struct dl_gradient *y) {
  for (size_t i = 0; i < DL_N_TRAINING_CONSTANTS; i++)
    out->c[i] = a * x->c[i] + b * y->c[i];
  for (size_t i = 0; i < DL_N_TRAINING_EFFECTS; i++)
    out->fx[i] = a * x->fx[i] + b * y->fx[i];
}

/* The derivatives of the logarithm of each target by the time and by the energy
 * of an epoch. */
enum { BY_TIME, BY_ENERGY, N_COSTS };

static void by_costs(double by[DL_N_PHYSICAL_TARGETS][N_COSTS],
                     const struct dl_cost *cost,
                     const struct dl_training_inputs *in) {
  double with_ram = in->n_gpus * cost->energy + in->ram_w * cost->time;
  by[DL_TARGET_TIME][BY_TIME] = 1 / cost->time;
  by[DL_TARGET_TIME][BY_ENERGY] = 0;
  by[DL_TARGET_POWER][BY_TIME] = -1 / cost->time;
  by[DL_TARGET_POWER][BY_ENERGY] = 1 / cost->energy;
  by[DL_TARGET_ENERGY][BY_TIME] = in->ram_w / with_ram;
  by[DL_TARGET_ENERGY][BY_ENERGY] = in->n_gpus / with_ram;
}

void dl_training_gradient(const double *c, const double *fx, const void *inputs,
                          double *log_target, struct dl_gradient *g) {
  const struct dl_training_inputs *in = inputs;
  struct dl_training_epoch e;
  struct dl_gradient time = {0}, energy = {0};
  double by[DL_N_PHYSICAL_TARGETS][N_COSTS];
  dl_training_epoch_of(&e, c, fx, in);
  dl_training_targets(&e.cost, in, log_target);
  add_epoch(&e, &time, 1, 0);
  add_epoch(&e, &energy, 0, 1);
  by_costs(by, &e.cost, in);
  for (size_t t = 0; t < DL_N_PHYSICAL_TARGETS; t++)
    combine(&g[t], by[t][BY_TIME], &time, by[t][BY_ENERGY], &energy);
}

double dl_training_squares(const double *c, const double *fx,
                           const void *inputs, const double *mean,
                           const double *scale, struct dl_gradient *g) {
  const struct dl_training_inputs *in = inputs;
  struct dl_training_epoch e;
  double by[DL_N_PHYSICAL_TARGETS][N_COSTS], by_time = 0, by_energy = 0;
  double y[DL_N_PHYSICAL_TARGETS], squares = 0;
  dl_training_epoch_of(&e, c, fx, in);
  dl_training_targets(&e.cost, in, y);
  by_costs(by, &e.cost, in);
  for (size_t t = 0; t < DL_N_PHYSICAL_TARGETS; t++) {
    if (!(scale[t] > 0))
      continue;
    double r = (y[t] - mean[t]) * scale[t];
    squares += r * r;
    by_time += r * scale[t] * by[t][BY_TIME];
    by_energy += r * scale[t] * by[t][BY_ENERGY];
  }
  *g = (struct dl_gradient){0};
  add_epoch(&e, g, by_time, by_energy);
  return squares;
}
