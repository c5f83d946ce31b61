/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/training/training_cost.h"

#include <math.h>

static const struct dl_physics_info physics[] = {
    [DL_PH_EC] = {"ec", NULL, 0.9, 0.3, "share of the FP32 peak reached"},
    [DL_PH_EC_TF32] = {"ec_tf32", NULL, 0.55, 0.2, "share of the TF32 peak"},
    [DL_PH_EC_HALF] = {"ec_half", NULL, 0.4, 0.3, "share of the 16-bit peak"},
    [DL_PH_EM] = {"em", NULL, 0.65, 0.2, "share of the bandwidth reached"},
    [DL_PH_TAU] = {"tau", "s", 8e-6, 0.6, "a kernel on the GPU"},
    [DL_PH_LAMBDA] = {"lambda", "s", 12e-6, 0.6, "a launch on the host"},
    [DL_PH_C0] = {"c0", "s", 1.5e-3, 0.8, "a step on the host"},
    [DL_PH_SERVER] = {"srv", NULL, 1.5, 0.3, "launches of a server, relative"},
    [DL_PH_T0] = {"t0", "s", 0.3, 1, "an epoch"},
    [DL_PH_WOPT] = {"wopt", NULL, 8, 0.4, "passes over the weights a step"},
    [DL_PH_CA] = {"ca", NULL, 7, 0.15, "traffic by outputs of dense layers"},
    [DL_PH_PA] = {"pa", NULL, 0.15, 0.25, "power awake, share of TDP"},
    [DL_PH_PB] = {"pb", "W s/GB", 0.055, 0.3, "power of GDDR6 by bandwidth"},
    [DL_PH_PU] = {"pu", NULL, 0.25, 0.2, "power of being busy"},
    [DL_PH_PF] = {"pf", NULL, 1, 0.25, "power at the peak rate"},
    [DL_PH_PM] = {"pm", NULL, 0.35, 0.25, "power at the full bandwidth"},
    [DL_PH_PCAP] = {"pcap", NULL, 0.97, 0.04, "most power, share of TDP"},
    [DL_PH_PTC] = {"ptc", NULL, 0.75, 0.2, "without tensor cores, relative"},
    [DL_PH_MTC] = {"mtc", NULL, 1, 0.3, "bandwidth without tensor cores, rel."},
    [DL_PH_KAPPA] = {"kappa", NULL, 0.5, 0.5, "slower under a power cap"},
};

static const struct dl_effect_info effects[] = {
    [DL_FX_HOST_LAUNCH] = {"host_launch", DL_BY_HOST, 0.6},
    [DL_FX_HOST_EPOCH] = {"host_epoch", DL_BY_HOST, 0.5},
    [DL_FX_GPU_COMPUTE] = {"gpu_compute", DL_BY_GPU, 0.2},
    [DL_FX_GPU_MEMORY] = {"gpu_memory", DL_BY_GPU, 0.3},
    [DL_FX_GPU_POWER] = {"gpu_power", DL_BY_GPU, 0.1},
    [DL_FX_ARCH_TIME] = {"arch_time", DL_BY_ARCH, 0.12},
    [DL_FX_ARCH_KERNELS] = {"arch_kernels", DL_BY_ARCH, 0.2},
    [DL_FX_ARCH_POWER] = {"arch_power", DL_BY_ARCH, 0.05},
    [DL_FX_FRAMEWORK_LAUNCH] = {"framework_launch", DL_BY_FRAMEWORK, 0.2},
    [DL_FX_FRAMEWORK_TIME] = {"framework_time", DL_BY_FRAMEWORK, 0.2},
    [DL_FX_FACTS_FLOPS] = {"facts_flops", DL_BY_FACTS, 0},
    [DL_FX_FACTS_BYTES] = {"facts_bytes", DL_BY_FACTS, 0},
    [DL_FX_FACTS_KERNELS] = {"facts_kernels", DL_BY_FACTS, 0},
};

const struct dl_physics_info *dl_physics_info(enum dl_physics i) {
  return &physics[i];
}

const struct dl_effect_info *dl_effect_info(enum dl_effect i) {
  return &effects[i];
}

/* Power at which the clocks would be lowest, as a share of the base. */
#define IDLE_SHARE 0.6

/* Constants and effects as factors. */
struct factors {
  const double *c;
  double fx[DL_N_EFFECTS];
  double base; /* W awake */
};

enum mode { VALIDATION, FROZEN, FULL };

/* One step: time, power, and where the time goes. */
struct step {
  double time, power;
  double compute, memory, kernels, launch;
};

/* x^-8 and back, the sharpness of the bend at the power limit, by products:
 * pow() would take most of a fit. */
static double capped(double power, double most) {
  double x2 = (power / most) * (power / most), x4 = x2 * x2;
  return power / sqrt(sqrt(sqrt(1 + x4 * x4)));
}

/* Clocks fall to keep the limit: by a square law in the logarithm of the share
 * of the power above idle that is left. */
static double slow_down(const struct factors *f, double wanted, double got) {
  double idle = IDLE_SHARE * f->base;
  double left = (fmax(got, 1.02 * idle) - idle) / fmax(wanted - idle, 1e-9);
  double logarithm = log(fmin(fmax(left, 0.02), 1));
  return exp(f->c[DL_PH_KAPPA] * logarithm * logarithm);
}

static double efficiency(const double *c, const struct dl_load *l) {
  return l->in_tensor == 0   ? c[DL_PH_EC]
         : l->in_tensor == 1 ? c[DL_PH_EC_TF32]
                             : c[DL_PH_EC_HALF];
}

static double bandwidth_share(const double *c, const struct dl_load *l) {
  return c[DL_PH_EM] * (l->has_tensor ? 1 : c[DL_PH_MTC]);
}

/* What a step would draw without a limit. */
static double demand(const struct factors *f, const struct dl_load *l,
                     const struct step *s) {
  const double *c = f->c;
  double gpu = s->compute + s->memory + s->kernels;
  double busy = (c[DL_PH_PU] * gpu + c[DL_PH_PF] * c[DL_PH_EC] * s->compute +
                 c[DL_PH_PM] * bandwidth_share(c, l) * s->memory) /
                s->time;
  double ptc = l->has_tensor ? 1 : c[DL_PH_PTC];
  return f->base +
         l->tdp * ptc * busy * f->fx[DL_FX_GPU_POWER] * f->fx[DL_FX_ARCH_POWER];
}

static struct step one_step(const struct factors *f, const struct dl_load *l,
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
  s.power = capped(wanted, c[DL_PH_PCAP] * fmin(l->tdp, l->limit));
  gpu *= slow_down(f, wanted, s.power);
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

void dl_physical_constants_of(const double *theta, double c[DL_N_PHYSICS]) {
  for (size_t i = 0; i < DL_N_PHYSICS; i++)
    c[i] = exp(theta[i]);
}

void dl_physical_epoch(const double *c, const double *fx,
                       const struct dl_load *l, struct dl_cost *cost) {
  struct factors f = {.c = c};
  for (size_t i = 0; i < DL_N_EFFECTS; i++)
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
