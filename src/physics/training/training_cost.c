/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Time and energy of a training epoch. */

#include "physics/training/training_cost.h"

#include <math.h>

#include "physics/training/training_step.h"

enum dl_training_constant
dl_training_efficiency(const struct dl_training_inputs *l) {
  return l->in_tensor == 0   ? DL_TRAIN_EC
         : l->in_tensor == 1 ? DL_TRAIN_EC_TF32
                             : DL_TRAIN_EC_HALF;
}

static double bandwidth_share(const double *c,
                              const struct dl_training_inputs *l) {
  return c[DL_TRAIN_EM] * (l->has_tensor ? 1 : c[DL_TRAIN_MTC]);
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

static void step_of(struct dl_training_step *s,
                    const struct dl_training_factors *f,
                    const struct dl_training_inputs *l,
                    enum dl_training_mode mode) {
  const double *c = f->c, *fx = f->fx;
  double m = mode == DL_FULL ? 3 : 1;
  double bytes = l->bytes * (l->bytes_known ? 1 : c[DL_TRAIN_CA]);
  double kernels =
      m * l->kernels * fx[DL_EFFECT_ARCH_KERNELS] * fx[DL_EFFECT_FACTS_KERNELS];
  double weights = mode == DL_FULL     ? l->weights
                   : mode == DL_FROZEN ? l->head
                                       : 0;
  double samples =
      m * l->batch * fx[DL_EFFECT_ARCH_TIME] * fx[DL_EFFECT_FRAMEWORK_TIME];
  double bandwidth =
      bandwidth_share(c, l) * l->bandwidth * fx[DL_EFFECT_GPU_MEMORY];
  double host = fx[DL_EFFECT_HOST_LAUNCH] * fx[DL_EFFECT_FRAMEWORK_LAUNCH] *
                (l->server > 0 ? c[DL_TRAIN_SERVER] : 1);
  s->compute =
      samples * l->flops * fx[DL_EFFECT_FACTS_FLOPS] /
      (c[dl_training_efficiency(l)] * l->peak * fx[DL_EFFECT_GPU_COMPUTE]);
  s->weights = c[DL_TRAIN_WOPT] * weights / bandwidth;
  s->memory = (samples * bytes * fx[DL_EFFECT_FACTS_BYTES] +
               c[DL_TRAIN_WOPT] * weights) /
              bandwidth;
  s->kernels = kernels * c[DL_TRAIN_TAU];
  s->per_step = c[DL_TRAIN_C0] * host;
  s->launch = (kernels * c[DL_TRAIN_LAMBDA] + c[DL_TRAIN_C0]) * host;
  s->gpu = s->compute + s->memory + s->kernels;
  s->unlimited = sqrt(s->gpu * s->gpu + s->launch * s->launch);
  s->dynamic = dynamic_power(f, l, s);
  s->limit = (struct dl_power_limit){.kappa = c[DL_TRAIN_KAPPA],
                                     .wanted = f->base + s->dynamic,
                                     .limit = c[DL_TRAIN_PCAP] *
                                              fmin(l->tdp, l->limit),
                                     .lowest = DL_LOWEST_CLOCK_SHARE * f->base};
  dl_power_limit_apply(&s->limit);
  double gpu = s->gpu * s->limit.slow;
  s->time = sqrt(gpu * gpu + s->launch * s->launch);
}

static void add_steps(struct dl_cost *cost, const struct dl_training_step *s,
                      double n) {
  cost->time += n * s->time;
  cost->energy += n * s->time * s->limit.power;
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
  double train = steps(l->train, l->batch);
  set_factors(&e->f, c, fx, l);
  e->n[DL_FULL] = l->frozen < 1 ? train * (1 - l->frozen) : 0;
  e->n[DL_FROZEN] = l->frozen > 0 ? train * l->frozen : 0;
  e->n[DL_VALIDATION] = l->val > 0 ? steps(l->val, l->batch) : 0;
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
  log_target[DL_TARGET_ENERGY] = log(cost->energy + in->ram_w * cost->time);
  log_target[DL_TARGET_TIME] = log(cost->time);
}
