/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/physical_model.h"

#include <math.h>

static const struct dl_physics_info physics[] = {
    [DL_PH_EC] = {"ec", NULL, 0.9, 0.3, "share of the FP32 peak reached"},
    [DL_PH_EC_TF32] = {"ec_tf32", NULL, 0.55, 0.2, "share of the TF32 peak"},
    [DL_PH_EC_HALF] = {"ec_half", NULL, 0.4, 0.3, "share of the 16-bit peak"},
    [DL_PH_EM] = {"em", NULL, 0.65, 0.2, "share of the bandwidth reached"},
    [DL_PH_TAU] = {"tau", "s", 8e-6, 0.6, "a kernel on the GPU"},
    [DL_PH_LAMBDA] = {"lambda", "s", 12e-6, 0.6, "a launch on the host"},
    [DL_PH_C0] = {"c0", "s", 1.5e-3, 0.8, "a step on the host"},
    [DL_PH_BK] = {"bk", NULL, 2, 0.05, "backward pass, in forward passes"},
    [DL_PH_INP] = {"inp", "s", 1e-5, 0.3, "input of a sample of 128 px"},
    [DL_PH_T0] = {"t0", "s", 0.3, 1, "an epoch"},
    [DL_PH_WOPT] = {"wopt", NULL, 8, 0.4, "passes over the weights a step"},
    [DL_PH_CA] = {"ca", NULL, 7, 0.15, "traffic by outputs of dense layers"},
    [DL_PH_PA] = {"pa", NULL, 0.15, 0.25, "power awake, share of TDP"},
    [DL_PH_PB] = {"pb", "W s/GB", 0.055, 0.3, "power of GDDR6 by bandwidth"},
    [DL_PH_PU] = {"pu", NULL, 0.25, 0.3, "power of being busy"},
    [DL_PH_PF] = {"pf", NULL, 0.6, 0.4, "power at the peak rate"},
    [DL_PH_PM] = {"pm", NULL, 0.35, 0.4, "power at the full bandwidth"},
    [DL_PH_PCAP] = {"pcap", NULL, 0.97, 0.04, "most power, share of TDP"},
    [DL_PH_PTC] = {"ptc", NULL, 0.75, 0.2, "without tensor cores, relative"},
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
    [DL_FX_SOURCE_COMPUTE] = {"source_compute", DL_BY_SOURCE, 0.3},
    [DL_FX_SOURCE_MEMORY] = {"source_memory", DL_BY_SOURCE, 0.3},
    [DL_FX_SOURCE_LAUNCH] = {"source_launch", DL_BY_SOURCE, 0.3},
    [DL_FX_SOURCE_POWER] = {"source_power", DL_BY_SOURCE, 0.05},
};

const struct dl_physics_info *dl_physics_info(enum dl_physics i) {
  return &physics[i];
}

const struct dl_effect_info *dl_effect_info(enum dl_effect i) {
  return &effects[i];
}

/* How sharply the power bends at its cap. */
#define CAP_POWER 8

/* Constants and effects as factors. */
struct factors {
  const double *c;
  double fx[DL_N_EFFECTS];
};

enum mode { VALIDATION, FROZEN, FULL };

/* One step: time, power, and where the time goes. */
struct step {
  double time, power;
  double compute, memory, launch, input;
};

static double cap(double power, double most) {
  return pow(pow(power, -CAP_POWER) + pow(most, -CAP_POWER), -1.0 / CAP_POWER);
}

static double power_factor(const struct factors *f) {
  return f->fx[DL_FX_GPU_POWER] * f->fx[DL_FX_ARCH_POWER] *
         f->fx[DL_FX_SOURCE_POWER];
}

static double base_power(const struct factors *f, const struct dl_load *l) {
  return (f->c[DL_PH_PA] * l->tdp + f->c[DL_PH_PB] * l->gddr) * power_factor(f);
}

/* What a step would draw without a cap. */
static double demand(const struct factors *f, const struct dl_load *l,
                     double time, double gpu, double flop_s, double byte_s) {
  double pt = l->has_tensor ? 1 : f->c[DL_PH_PTC];
  double busy = f->c[DL_PH_PU] * gpu / time +
                f->c[DL_PH_PF] * flop_s / l->peak +
                f->c[DL_PH_PM] * byte_s / l->bandwidth;
  return base_power(f, l) + l->tdp * pt * busy * power_factor(f);
}

/* Clocks fall to keep the cap: by a square law in the logarithm of the share
 * of the power above idle that is left. */
static double slow_down(const struct factors *f, const struct dl_load *l,
                        double wanted, double got) {
  double idle = 0.6 * base_power(f, l);
  double left = (fmax(got, 1.02 * idle) - idle) / fmax(wanted - idle, 1e-9);
  double logarithm = log(fmin(fmax(left, 0.02), 1));
  return exp(f->c[DL_PH_KAPPA] * logarithm * logarithm);
}

static struct step one_step(const struct factors *f, const struct dl_load *l,
                            enum mode mode) {
  const double *c = f->c;
  double m = mode == FULL ? 1 + c[DL_PH_BK] : 1;
  double bytes = l->bytes * (l->bytes_known ? 1 : c[DL_PH_CA]);
  double kernels = m * l->kernels * f->fx[DL_FX_ARCH_KERNELS];
  double weights = mode == FULL ? l->weights : mode == FROZEN ? l->head : 0;
  double ec = l->in_tensor == 0   ? c[DL_PH_EC]
              : l->in_tensor == 1 ? c[DL_PH_EC_TF32]
                                  : c[DL_PH_EC_HALF];
  double flop = m * l->batch * l->flops * f->fx[DL_FX_ARCH_TIME];
  double moved =
      m * l->batch * bytes * f->fx[DL_FX_ARCH_TIME] + c[DL_PH_WOPT] * weights;
  struct step s;
  s.compute = flop / (ec * l->peak * f->fx[DL_FX_GPU_COMPUTE] *
                      f->fx[DL_FX_SOURCE_COMPUTE]);
  s.memory = moved / (c[DL_PH_EM] * l->bandwidth * f->fx[DL_FX_GPU_MEMORY] *
                      f->fx[DL_FX_SOURCE_MEMORY]);
  double gpu = s.compute + s.memory + kernels * c[DL_PH_TAU];
  s.launch = (kernels * c[DL_PH_LAMBDA] + c[DL_PH_C0]) *
             f->fx[DL_FX_HOST_LAUNCH] * f->fx[DL_FX_SOURCE_LAUNCH];
  s.input = l->batch * c[DL_PH_INP] * (l->px / 128) * (l->px / 128);
  s.time = sqrt(gpu * gpu + s.launch * s.launch + s.input * s.input);
  double wanted = demand(f, l, s.time, gpu, flop / s.time, moved / s.time);
  s.power = cap(wanted, f->c[DL_PH_PCAP] * fmin(l->tdp, l->limit));
  gpu *= slow_down(f, l, wanted, s.power);
  s.time = sqrt(gpu * gpu + s.launch * s.launch + s.input * s.input);
  return s;
}

static void add_steps(struct dl_cost *cost, const struct step *s, double n) {
  cost->time += n * s->time;
  cost->energy += n * s->time * s->power;
  cost->compute += n * s->compute;
  cost->memory += n * s->memory;
  cost->launch += n * s->launch;
  cost->input += n * s->input;
}

/* Steps of an epoch: the last, smaller batch is dropped in training and kept
 * as a part of one where there is but one. */
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
  cost->fixed = f.c[DL_PH_T0] * f.fx[DL_FX_HOST_EPOCH];
  cost->time += cost->fixed;
  cost->energy += cost->fixed * base_power(&f, l);
}
