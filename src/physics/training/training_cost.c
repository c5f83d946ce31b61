/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and energy of a training epoch. */

#include "physics/training/training_cost.h"

#include <math.h>

#include "physics/training/training_step.h"
#include "run/setup/training_setup.h"

#define ALONE(C)                                                               \
  { DL_TRAIN_##C, DL_N_TRAINING_CONSTANTS }
#define RELATIVE(C)                                                            \
  { DL_TRAIN_NGC_##C, DL_TRAIN_MLPERF_##C }
#define NO_PART                                                                \
  { DL_N_TRAINING_CONSTANTS, DL_N_TRAINING_CONSTANTS }

const enum dl_training_constant *
dl_training_part(const struct dl_training_inputs *l, enum dl_stack_part part) {
  static const enum dl_training_constant
      stacks[DL_N_TRAINING_STACKS][DL_N_STACK_PARTS][2] = {
          [DL_STACK_EAGER] = {ALONE(EC), ALONE(EC_TF32), ALONE(EC_HALF),
                              ALONE(EM), ALONE(TAU), ALONE(LAMBDA), ALONE(C0),
                              ALONE(WOPT), NO_PART, NO_PART, ALONE(NGC_REGIONS),
                              ALONE(EAGER_DEPTHWISE)},
          [DL_STACK_NGC] = {ALONE(NGC_EC), ALONE(NGC_TF32), ALONE(NGC_HALF),
                            ALONE(NGC_EM), ALONE(NGC_TAU), ALONE(NGC_LAMBDA),
                            ALONE(NGC_C0), ALONE(TUNED_WOPT),
                            ALONE(NGC_BETWEEN_32), ALONE(NGC_BETWEEN_16),
                            ALONE(NGC_REGIONS), ALONE(DEPTHWISE)},
          /* All entries use 16 bits or fewer. */
          [DL_STACK_MLPERF] = {ALONE(NGC_EC), ALONE(NGC_TF32), RELATIVE(HALF),
                               RELATIVE(EM), RELATIVE(TAU), RELATIVE(LAMBDA),
                               RELATIVE(C0), ALONE(TUNED_WOPT),
                               ALONE(MLPERF_BETWEEN), ALONE(MLPERF_BETWEEN),
                               ALONE(MLPERF_REGIONS), ALONE(DEPTHWISE)},
      };
  return stacks[l->stack][part];
}

enum dl_stack_part dl_training_between(const struct dl_training_inputs *l) {
  return l->in_tensor == 2 ? DL_PART_BETWEEN_16 : DL_PART_BETWEEN_32;
}

const char *dl_training_software(const void *inputs) {
  const struct dl_training_inputs *l = inputs;
  static const char *const names[] = {[DL_STACK_EAGER] = "eager",
                                      [DL_STACK_NGC] = "ngc",
                                      [DL_STACK_MLPERF] = "mlperf"};
  return names[l->stack];
}

static double part(const double *c, const struct dl_training_inputs *l,
                   enum dl_stack_part which) {
  const enum dl_training_constant *of = dl_training_part(l, which);
  return (of[0] < DL_N_TRAINING_CONSTANTS ? c[of[0]] : 1) *
         (of[1] < DL_N_TRAINING_CONSTANTS ? c[of[1]] : 1);
}

double dl_training_bandwidth_share(const double *c,
                                   const struct dl_training_inputs *l) {
  return part(c, l, DL_PART_EM) * (l->has_tensor ? 1 : c[DL_TRAIN_MTC]);
}

/* The part of the power of their work that boards of Ada draw in formats of 32
 * bits: RTX 4090 .38 to .71 of the TDP, L40S .61 to .69, where boards of the
 * generation before draw .82 to .95 in the same code. */
#define ADA_32 0.45

/* The power that the work of a step adds to the static power, W. */
static double dynamic_power(const struct dl_training_epoch *f,
                            const struct dl_training_inputs *l,
                            const struct dl_training_step *s) {
  const double *c = f->c;
  double busy =
      (c[DL_TRAIN_PU] * s->gpu + c[DL_TRAIN_PF] * c[DL_TRAIN_EC] * s->compute +
       c[DL_TRAIN_PM] * dl_training_bandwidth_share(c, l) * s->memory) /
      s->unlimited;
  double ptc = (l->has_tensor ? 1 : c[DL_TRAIN_PTC]) * (l->ada_32 ? ADA_32 : 1);
  return l->tdp * ptc * busy * f->fx[DL_EFFECT_GPU_POWER] *
         f->fx[DL_EFFECT_ARCH_POWER];
}

/* Tuned software: in full from this share below the TDP on. */
#define LOWERED 0.25

static double kappa(const double *c, const struct dl_training_inputs *l) {
  double lowered = fmax(1 - l->limit / l->tdp, 0) / LOWERED;
  return c[DL_TRAIN_KAPPA] *
         (l->stack == DL_STACK_EAGER ? 1 : fmin(lowered, 1));
}

double dl_training_overlap(double alone, double exchange) {
  double a = alone * alone, x = exchange * exchange;
  return sqrt(sqrt(a * a + x * x));
}

/* Adds the exchange with other GPUs to a step that trains so many bytes of
 * weights; none where nothing is trained. */
static void exchange(struct dl_training_step *s, const double *c,
                     const struct dl_training_inputs *l, double weights) {
  double n = l->n_gpus, inside = fmin(l->per_node, n);
  double bytes = weights * l->gradients;
  s->link = s->network = s->late = 0;
  s->slowest = 1;
  if (n > 1 && weights > 0) {
    s->link = 2 * bytes * (1 - 1 / inside) / (c[DL_TRAIN_XL] * l->link);
    s->network = 2 * bytes * (1 - inside / n) / (c[DL_TRAIN_XN] * l->network);
    s->slowest += c[DL_TRAIN_XS] * log2(n);
    if (l->stack == DL_STACK_NGC)
      s->late = c[DL_TRAIN_XK] * log2(inside) * s->kernels;
  }
  s->time = dl_training_overlap(s->alone, s->link + s->network) * s->slowest +
            s->late;
}

/* Arithmetic of a forward pass of one sample, s without effects, in the faster
 * format. */
static double arithmetic(struct dl_training_step *s, const double *c,
                         const struct dl_training_inputs *l) {
  const enum dl_stack_part first = DL_PART_FP32;
  enum dl_stack_part other = first + (unsigned)l->other_in_tensor;
  s->efficiency = first + (unsigned)l->in_tensor;
  double time = l->flops / (part(c, l, s->efficiency) * l->peak);
  if (!(l->other_peak > 0))
    return time;
  double in_other = l->other_flops / (part(c, l, other) * l->other_peak);
  if (in_other < time)
    s->efficiency = other;
  return fmin(time, in_other);
}

/* Times of the parts of a step on a batch of n samples, with so many passes
 * over it, which trains `weights` bytes. */
static void set_times(struct dl_training_step *s,
                      const struct dl_training_epoch *f,
                      const struct dl_training_inputs *l, double n,
                      double passes, double weights) {
  const double *c = f->c, *fx = f->fx;
  double bytes = l->bytes * (l->bytes_known ? 1 : c[DL_TRAIN_CA]);
  double kernels = passes * l->kernels * fx[DL_EFFECT_ARCH_KERNELS] *
                   fx[DL_EFFECT_FACTS_KERNELS];
  double samples =
      passes * n * fx[DL_EFFECT_ARCH_TIME] * fx[DL_EFFECT_FRAMEWORK_TIME];
  double bandwidth = dl_training_bandwidth_share(c, l) * l->bandwidth *
                     fx[DL_EFFECT_GPU_MEMORY] * fx[DL_EFFECT_FAMILY_MEMORY];
  double host = fx[DL_EFFECT_HOST_LAUNCH] * fx[DL_EFFECT_FRAMEWORK_LAUNCH] *
                (l->server > 0 ? c[DL_TRAIN_SERVER] : 1);
  double moved = samples * fx[DL_EFFECT_FACTS_BYTES] / bandwidth;
  s->compute = samples * arithmetic(s, c, l) * fx[DL_EFFECT_FACTS_FLOPS] /
               (fx[DL_EFFECT_GPU_COMPUTE] * fx[DL_EFFECT_FAMILY_COMPUTE]);
  s->depthwise =
      l->depthwise > 0
          ? samples * l->depthwise / (part(c, l, DL_PART_DEPTHWISE) * l->plain)
          : 0;
  s->weights = part(c, l, DL_PART_WOPT) * weights / bandwidth;
  s->between = part(c, l, dl_training_between(l)) * moved * l->between;
  s->memory = moved * bytes + s->between + s->weights;
  s->kernels = kernels * part(c, l, DL_PART_TAU) / l->clock;
  s->per_step = part(c, l, DL_PART_C0) * host;
  s->regions = l->regions * n * part(c, l, DL_PART_REGIONS) * host;
  double each = part(c, l, DL_PART_LAMBDA) * host * kernels / l->kernels;
  s->beside = each * l->beside * c[DL_TRAIN_BESIDE];
  s->launch =
      each * (l->kernels - l->beside) + s->beside + s->per_step + s->regions;
  s->gpu = s->compute + s->memory + s->kernels + s->depthwise;
}

static void step_of(struct dl_training_step *s,
                    const struct dl_training_epoch *f,
                    const struct dl_training_inputs *l, double n, double passes,
                    double weights) {
  const double *c = f->c;
  set_times(s, f, l, n, passes, weights);
  s->unlimited = sqrt(s->gpu * s->gpu + s->launch * s->launch);
  s->dynamic = dynamic_power(f, l, s);
  s->limit = (struct dl_power_limit){.kappa = kappa(c, l),
                                     .wanted = f->base + s->dynamic,
                                     .limit = c[DL_TRAIN_PCAP] *
                                              fmin(l->tdp, l->limit),
                                     .lowest = f->lowest};
  dl_power_limit_apply(&s->limit);
  double gpu = s->gpu * s->limit.slow;
  s->alone = sqrt(gpu * gpu + s->launch * s->launch);
  exchange(s, c, l, weights);
}

double dl_training_busy(const struct dl_training_step *s) {
  return DL_TRAINING_BUSY_ALONE * s->alone +
         (1 - DL_TRAINING_BUSY_ALONE) * s->time;
}

static void add_steps(struct dl_cost *cost, const struct dl_training_step *s,
                      double n) {
  cost->time += n * s->time;
  cost->energy += n * s->limit.power * dl_training_busy(s);
  cost->waiting += n * (s->time - s->alone);
  cost->compute += n * s->compute;
  cost->memory += n * s->memory;
  cost->kernels += n * s->kernels;
  cost->depthwise += n * s->depthwise;
  cost->launch += n * s->launch;
}

/* The share of full steps and of last ones that train with a mode. */
static void share_out(double n[DL_N_TRAINING_MODES],
                      const struct dl_training_inputs *l, double train,
                      double val) {
  n[DL_FULL] = l->frozen < 1 ? train * (1 - l->frozen) : 0;
  n[DL_FROZEN] = l->frozen > 0 ? train * l->frozen : 0;
  n[DL_AGAIN] = train * l->again;
  n[DL_VALIDATION] = val;
}

static void set_factors(struct dl_training_epoch *f, const double *c,
                        const double *fx, const struct dl_training_inputs *l) {
  f->in = l;
  f->c = c;
  for (size_t i = 0; i < DL_N_TRAINING_EFFECTS; i++)
    f->fx[i] = fx[i] < 0 || fx[i] > 0 ? exp(fx[i]) : 1;
  double board = f->fx[DL_EFFECT_GPU_POWER] * f->fx[DL_EFFECT_ARCH_POWER];
  f->base = (c[DL_TRAIN_PA] * l->tdp + c[DL_TRAIN_PB] * l->gddr) * board;
  f->lowest = DL_LOWEST_CLOCK_SHARE *
              (c[DL_TRAIN_PA] * l->tdp + c[DL_TRAIN_PB] * l->chips) * board;
}

/* Bytes of the weights that a step of a mode trains. */
static double trained_bytes(const struct dl_training_inputs *l, size_t mode) {
  switch (mode) {
  case DL_FULL:
    return l->weights;
  case DL_FROZEN:
    return l->head;
  default:
    return 0;
  }
}

void dl_training_epoch_of(struct dl_training_epoch *e, const double *c,
                          const double *fx,
                          const struct dl_training_inputs *l) {
  const struct dl_epoch_batches train = dl_epoch_batches_of(l->train, l->batch,
                                                            l->n_gpus),
                                val = dl_epoch_batches_of(l->val, l->batch,
                                                          l->n_gpus);
  set_factors(e, c, fx, l);
  share_out(e->n, l, train.full, val.full);
  share_out(e->n + DL_N_TRAINING_MODES, l, train.last > 0, val.last > 0);
  e->cost = (struct dl_cost){0};
  for (size_t i = 0; i < DL_N_TRAINING_STEPS; i++) {
    size_t mode = i % DL_N_TRAINING_MODES;
    double last = mode == DL_VALIDATION ? val.last : train.last;
    if (e->n[i] > 0) {
      step_of(&e->step[i], e, l, i < DL_N_TRAINING_MODES ? l->batch : last,
              mode == DL_FULL ? 3 - l->spared : 1, trained_bytes(l, mode));
      add_steps(&e->cost, &e->step[i], e->n[i]);
    }
  }
  e->cost.fixed = l->mid_run ? 0 : c[DL_TRAIN_T0] * e->fx[DL_EFFECT_HOST_EPOCH];
  e->cost.time += e->cost.fixed;
  e->cost.energy += e->cost.fixed * e->base;
}

void dl_training_epoch(const double *c, const double *fx,
                       const struct dl_training_inputs *l,
                       struct dl_cost *cost) {
  struct dl_training_epoch e;
  dl_training_epoch_of(&e, c, fx, l);
  *cost = e.cost;
}

void dl_training_targets(const struct dl_cost *cost,
                         const struct dl_training_inputs *in,
                         double log_target[DL_N_PHYSICAL_TARGETS]) {
  log_target[DL_TARGET_POWER] = log(cost->energy / cost->time);
  log_target[DL_TARGET_ENERGY] =
      log(in->n_gpus * cost->energy + in->ram_w * cost->time);
  log_target[DL_TARGET_TIME] = log(cost->time);
}
