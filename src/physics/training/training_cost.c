/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and energy of a training epoch. */

#include "physics/training/training_cost.h"

#include <math.h>

#include "physics/training/training_step.h"

const struct dl_stack_constants *
dl_training_stack_of(const struct dl_training_inputs *l) {
  static const struct dl_stack_constants stacks[] = {
      [DL_STACK_EAGER] = {{DL_TRAIN_EC, DL_TRAIN_EC_TF32, DL_TRAIN_EC_HALF},
                          DL_TRAIN_EM,
                          DL_TRAIN_TAU,
                          DL_TRAIN_LAMBDA,
                          DL_TRAIN_C0,
                          DL_TRAIN_WOPT},
      [DL_STACK_NGC] = {{DL_TRAIN_NGC_EC, DL_TRAIN_NGC_TF32, DL_TRAIN_NGC_HALF},
                        DL_TRAIN_NGC_EM,
                        DL_TRAIN_NGC_TAU,
                        DL_TRAIN_NGC_LAMBDA,
                        DL_TRAIN_NGC_C0,
                        DL_TRAIN_TUNED_WOPT},
      /* All entries use 16 bits or fewer. */
      [DL_STACK_MLPERF] = {{DL_TRAIN_NGC_EC, DL_TRAIN_NGC_TF32,
                            DL_TRAIN_MLPERF_HALF},
                           DL_TRAIN_MLPERF_EM,
                           DL_TRAIN_MLPERF_TAU,
                           DL_TRAIN_MLPERF_LAMBDA,
                           DL_TRAIN_MLPERF_C0,
                           DL_TRAIN_TUNED_WOPT},
  };
  return &stacks[l->stack];
}

static double bandwidth_share(const double *c,
                              const struct dl_training_inputs *l) {
  return c[dl_training_stack_of(l)->em] * (l->has_tensor ? 1 : c[DL_TRAIN_MTC]);
}

/* The power that the work of a step adds to the static power, W. */
static double dynamic_power(const struct dl_training_factors *f,
                            const struct dl_training_inputs *l,
                            const struct dl_training_step *s) {
  const double *c = f->c;
  double busy =
      (c[DL_TRAIN_PU] * s->gpu + c[DL_TRAIN_PF] * c[DL_TRAIN_EC] * s->compute +
       c[DL_TRAIN_PM] * bandwidth_share(c, l) * s->memory) /
      s->unlimited;
  double ptc = l->has_tensor ? 1 : c[DL_TRAIN_PTC];
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

/* What the other GPUs add to a step that trains so many bytes of weights; none
 * where nothing is trained. */
static void exchange(struct dl_training_step *s, const double *c,
                     const struct dl_training_inputs *l, double weights) {
  double n = l->n_gpus, inside = fmin(l->per_node, n);
  double bytes = weights * l->gradients;
  s->link = s->network = 0;
  s->slowest = 1;
  if (n > 1 && weights > 0) {
    s->link = 2 * bytes * (1 - 1 / inside) / (c[DL_TRAIN_XL] * l->link);
    s->network = 2 * bytes * (1 - inside / n) / (c[DL_TRAIN_XN] * l->network);
    s->slowest += c[DL_TRAIN_XS] * log2(n);
  }
  s->time = hypot(s->alone, s->link + s->network) * s->slowest;
}

static void step_of(struct dl_training_step *s,
                    const struct dl_training_factors *f,
                    const struct dl_training_inputs *l,
                    enum dl_training_mode mode) {
  const double *c = f->c, *fx = f->fx;
  const struct dl_stack_constants *of = dl_training_stack_of(l);
  double m = mode == DL_FULL ? 3 : 1;
  double bytes = l->bytes * (l->bytes_known ? 1 : c[DL_TRAIN_CA]);
  double kernels =
      m * l->kernels * fx[DL_EFFECT_ARCH_KERNELS] * fx[DL_EFFECT_FACTS_KERNELS];
  double weights = mode == DL_FULL     ? l->weights
                   : mode == DL_FROZEN ? l->head
                                       : 0;
  double samples =
      m * l->batch * fx[DL_EFFECT_ARCH_TIME] * fx[DL_EFFECT_FRAMEWORK_TIME];
  double bandwidth = bandwidth_share(c, l) * l->bandwidth *
                     fx[DL_EFFECT_GPU_MEMORY] * fx[DL_EFFECT_FAMILY_MEMORY];
  double host = fx[DL_EFFECT_HOST_LAUNCH] * fx[DL_EFFECT_FRAMEWORK_LAUNCH] *
                (l->server > 0 ? c[DL_TRAIN_SERVER] : 1);
  s->compute = samples * l->flops * fx[DL_EFFECT_FACTS_FLOPS] /
               (c[of->efficiency[l->in_tensor]] * l->peak *
                fx[DL_EFFECT_GPU_COMPUTE] * fx[DL_EFFECT_FAMILY_COMPUTE]);
  s->weights = c[of->wopt] * weights / bandwidth;
  s->memory =
      (samples * bytes * fx[DL_EFFECT_FACTS_BYTES] + c[of->wopt] * weights) /
      bandwidth;
  s->kernels = kernels * c[of->tau];
  s->per_step = c[of->c0] * host;
  s->launch = (kernels * c[of->lambda] + c[of->c0]) * host;
  s->gpu = s->compute + s->memory + s->kernels;
  s->unlimited = sqrt(s->gpu * s->gpu + s->launch * s->launch);
  s->dynamic = dynamic_power(f, l, s);
  s->limit = (struct dl_power_limit){.kappa = kappa(c, l),
                                     .wanted = f->base + s->dynamic,
                                     .limit = c[DL_TRAIN_PCAP] *
                                              fmin(l->tdp, l->limit),
                                     .lowest = DL_LOWEST_CLOCK_SHARE * f->base};
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
  cost->launch += n * s->launch;
}

/* Steps of an epoch: the last, smaller batch is dropped, and kept as a part of
 * one where there is but one. */
static double steps(double samples, double batch) {
  double n = samples / batch;
  return n < 1 ? n : floor(n);
}

static void set_factors(struct dl_training_factors *f, const double *c,
                        const double *fx, const struct dl_training_inputs *l) {
  f->c = c;
  for (size_t i = 0; i < DL_N_TRAINING_EFFECTS; i++)
    f->fx[i] = fx[i] < 0 || fx[i] > 0 ? exp(fx[i]) : 1;
  f->base = (c[DL_TRAIN_PA] * l->tdp + c[DL_TRAIN_PB] * l->gddr) *
            f->fx[DL_EFFECT_GPU_POWER] * f->fx[DL_EFFECT_ARCH_POWER];
}

void dl_training_epoch_of(struct dl_training_epoch *e, const double *c,
                          const double *fx,
                          const struct dl_training_inputs *l) {
  double train = steps(l->train / l->n_gpus, l->batch);
  set_factors(&e->f, c, fx, l);
  e->n[DL_FULL] = l->frozen < 1 ? train * (1 - l->frozen) : 0;
  e->n[DL_FROZEN] = l->frozen > 0 ? train * l->frozen : 0;
  e->n[DL_VALIDATION] = l->val > 0 ? steps(l->val / l->n_gpus, l->batch) : 0;
  e->cost = (struct dl_cost){0};
  for (size_t i = 0; i < DL_N_TRAINING_MODES; i++)
    if (e->n[i] > 0) {
      step_of(&e->step[i], &e->f, l, (enum dl_training_mode)i);
      add_steps(&e->cost, &e->step[i], e->n[i]);
    }
  e->cost.fixed =
      l->mid_run ? 0 : c[DL_TRAIN_T0] * e->f.fx[DL_EFFECT_HOST_EPOCH];
  e->cost.time += e->cost.fixed;
  e->cost.energy += e->cost.fixed * e->f.base;
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
