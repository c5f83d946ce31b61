/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/training/training_cost.h"

#include <math.h>

#include "physics/power_limit.h"

/* Constants and effects as factors. */
struct factors {
  const double *c;
  double fx[DL_N_TRAINING_EFFECTS];
  double base; /* W awake */
};

enum mode { VALIDATION, FROZEN, FULL };

/* One step: time, power, and where the time goes. */
struct step {
  double time, power;
  double compute, memory, kernels, launch;
};

static double efficiency(const double *c, const struct dl_training_inputs *l) {
  return l->in_tensor == 0   ? c[DL_PH_EC]
         : l->in_tensor == 1 ? c[DL_PH_EC_TF32]
                             : c[DL_PH_EC_HALF];
}

static double bandwidth_share(const double *c,
                              const struct dl_training_inputs *l) {
  return c[DL_PH_EM] * (l->has_tensor ? 1 : c[DL_PH_MTC]);
}

/* What a step would draw without a limit. */
static double demand(const struct factors *f,
                     const struct dl_training_inputs *l, const struct step *s) {
  const double *c = f->c;
  double gpu = s->compute + s->memory + s->kernels;
  double busy = (c[DL_PH_PU] * gpu + c[DL_PH_PF] * c[DL_PH_EC] * s->compute +
                 c[DL_PH_PM] * bandwidth_share(c, l) * s->memory) /
                s->time;
  double ptc = l->has_tensor ? 1 : c[DL_PH_PTC];
  return f->base +
         l->tdp * ptc * busy * f->fx[DL_FX_GPU_POWER] * f->fx[DL_FX_ARCH_POWER];
}

static struct step one_step(const struct factors *f,
                            const struct dl_training_inputs *l,
                            enum mode mode) {
  const double *c = f->c, *fx = f->fx;
  double m = mode == FULL ? 3 : 1;
  double bytes = l->bytes * (l->bytes_known ? 1 : c[DL_PH_CA]);
  double kernels =
      m * l->kernels * fx[DL_FX_ARCH_KERNELS] * fx[DL_FX_FACTS_KERNELS];
  double weights = mode == FULL ? l->weights : mode == FROZEN ? l->head : 0;
  double samples =
      m * l->batch * fx[DL_FX_ARCH_TIME] * fx[DL_FX_FRAMEWORK_TIME];
  double bandwidth =
      bandwidth_share(c, l) * l->bandwidth * fx[DL_FX_GPU_MEMORY];
  struct step s = {0};
  s.compute = samples * l->flops * fx[DL_FX_FACTS_FLOPS] /
              (efficiency(c, l) * l->peak * fx[DL_FX_GPU_COMPUTE]);
  s.memory =
      (samples * bytes * fx[DL_FX_FACTS_BYTES] + c[DL_PH_WOPT] * weights) /
      bandwidth;
  s.kernels = kernels * c[DL_PH_TAU];
  s.launch = (kernels * c[DL_PH_LAMBDA] + c[DL_PH_C0]) * fx[DL_FX_HOST_LAUNCH] *
             fx[DL_FX_FRAMEWORK_LAUNCH] * (l->server > 0 ? c[DL_PH_SERVER] : 1);
  double gpu = s.compute + s.memory + s.kernels;
  s.time = sqrt(gpu * gpu + s.launch * s.launch);
  double wanted = demand(f, l, &s);
  s.power = dl_capped_power(wanted, c[DL_PH_PCAP] * fmin(l->tdp, l->limit));
  gpu *= dl_clock_slowdown(c[DL_PH_KAPPA], DL_LOWEST_CLOCK_SHARE * f->base,
                           wanted, s.power);
  s.time = sqrt(gpu * gpu + s.launch * s.launch);
  return s;
}

static void add_steps(struct dl_cost *cost, const struct step *s, double n) {
  cost->time += n * s->time;
  cost->energy += n * s->time * s->power;
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

void dl_training_epoch(const double *c, const double *fx,
                       const struct dl_training_inputs *l,
                       struct dl_cost *cost) {
  struct factors f = {.c = c};
  for (size_t i = 0; i < DL_N_TRAINING_EFFECTS; i++)
    f.fx[i] = fx[i] < 0 || fx[i] > 0 ? exp(fx[i]) : 1;
  f.base = (c[DL_PH_PA] * l->tdp + c[DL_PH_PB] * l->gddr) *
           f.fx[DL_FX_GPU_POWER] * f.fx[DL_FX_ARCH_POWER];
  *cost = (struct dl_cost){0};
  double n = steps(l->train, l->batch);
  if (l->frozen < 1) {
    struct step s = one_step(&f, l, FULL);
    add_steps(cost, &s, n * (1 - l->frozen));
  }
  if (l->frozen > 0) {
    struct step s = one_step(&f, l, FROZEN);
    add_steps(cost, &s, n * l->frozen);
  }
  if (l->val > 0) {
    struct step s = one_step(&f, l, VALIDATION);
    add_steps(cost, &s, steps(l->val, l->batch));
  }
  cost->fixed = l->mid_run ? 0 : c[DL_PH_T0] * f.fx[DL_FX_HOST_EPOCH];
  cost->time += cost->fixed;
  cost->energy += cost->fixed * f.base;
}
