/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/serving/serving_cost.h"

#include <math.h>

static const struct dl_serving_info constants[] = {
    [DL_SV_EM] = {"em", NULL, 0.7, 0.25, "share of the bandwidth reached"},
    [DL_SV_EC] = {"ec", NULL, 0.55, 0.3, "share of the peak rate, decoding"},
    [DL_SV_EP] = {"ep", NULL, 0.5, 0.4, "share of the peak rate, prompts"},
    [DL_SV_TAU] = {"tau", "s", 60e-6, 0.5, "a layer"},
    [DL_SV_ALPHA] = {"alpha", "s", 12e-6, 0.6, "an exchange between GPUs"},
    [DL_SV_XL] = {"xl", NULL, 0.5, 0.6, "share of the links' rate"},
    [DL_SV_C0] = {"c0", "s", 2e-3, 0.8, "a step on the host"},
    [DL_SV_C1] = {"c1", "s", 20e-6, 0.8, "and for each request"},
    [DL_SV_OLD] = {"old", NULL, 3, 0.6, "host of 2024, relative"},
    [DL_SV_UNEVEN] = {"uneven", NULL, 1.2, 0.3, "work of experts, relative"},
    [DL_SV_PA] = {"pa", NULL, 0.15, 0.3, "power awake, share of TDP"},
    [DL_SV_PU] = {"pu", NULL, 0.25, 0.3, "power of being busy"},
    [DL_SV_PF] = {"pf", NULL, 0.6, 0.3, "power at the peak rate"},
    [DL_SV_PM] = {"pm", NULL, 0.35, 0.3, "power at the full bandwidth"},
    [DL_SV_PCAP] = {"pcap", NULL, 0.97, 0.04, "most power, share of TDP"},
    [DL_SV_KAPPA] = {"kappa", NULL, 0.5, 0.5, "slower under a power cap"},
};

static const struct dl_serving_effect_info effects[] = {
    [DL_SF_GPU_COMPUTE] = {DL_SB_GPU, 0.15},
    [DL_SF_GPU_MEMORY] = {DL_SB_GPU, 0.15},
    [DL_SF_GPU_POWER] = {DL_SB_GPU, 0.1},
    [DL_SF_ARCH_TIME] = {DL_SB_ARCH, 0.12},
    [DL_SF_ARCH_POWER] = {DL_SB_ARCH, 0.05},
    [DL_SF_PROMPT] = {DL_SB_PROMPTS, 0},
};

const struct dl_serving_info *dl_serving_info(enum dl_serving_constant i) {
  return &constants[i];
}

const struct dl_serving_effect_info *
dl_serving_effect_info(enum dl_serving_effect i) {
  return &effects[i];
}

/* Power at which the clocks would be lowest, as a share of the base. */
#define IDLE_SHARE 0.6

/* (x^-8 + most^-8)^(-1/8) by products. */
static double capped(double x, double most) {
  double x2 = (x / most) * (x / most), x4 = x2 * x2;
  return x / sqrt(sqrt(sqrt(1 + x4 * x4)));
}

static double slow_down(double kappa, double idle, double wanted, double got) {
  double left = (got - idle) / fmax(wanted - idle, 1e-9);
  double logarithm = log(fmin(fmax(left, 0.02), 1));
  return exp(kappa * logarithm * logarithm);
}

/* Times of a step and of a prompt. */
struct times {
  double memory, compute, layers, exchange, host; /* of a step */
  double prompt_compute, prompt_exchange;         /* of a request */
};

static struct times times_of(const double *c, const double *fx,
                             const struct dl_serving_load *l, double prompt) {
  struct times t = {0};
  double b = l->batch, n = l->n_gpus, at = prompt + l->answer / 2;
  double uneven = l->experts > 0 ? c[DL_SV_UNEVEN] : 1;
  double picked = l->experts > 0 ? -expm1(b * log1p(-l->share)) : 0;
  double net = exp(fx[DL_SF_ARCH_TIME]);
  double rate = l->peak * n * exp(fx[DL_SF_GPU_COMPUTE]) / (net * uneven);
  double bandwidth =
      c[DL_SV_EM] * l->bandwidth * n * exp(fx[DL_SF_GPU_MEMORY]) / net;
  t.memory = (l->weight_bytes * uneven * (l->weights + picked * l->experts) +
              l->kept_bytes * b * at * l->kept) /
             bandwidth;
  t.compute =
      2 * b * (l->token_weights + at * l->pair_macs) / (c[DL_SV_EC] * rate);
  t.layers = net * l->layers * c[DL_SV_TAU];
  t.host = (c[DL_SV_C0] + c[DL_SV_C1] * b) * (l->old ? c[DL_SV_OLD] : 1);
  t.prompt_compute = prompt * (2 * l->token_weights + prompt * l->pair_macs) /
                     (c[DL_SV_EP] * rate);
  if (n > 1) {
    double link = c[DL_SV_XL] * l->link * n / (n - 1);
    t.exchange =
        net * 2 * l->layers * (c[DL_SV_ALPHA] + 4 * b * l->width / link);
    t.prompt_exchange = net * 8 * l->layers * prompt * l->width / link;
  }
  return t;
}

void dl_serving_round(const double *c, const double *fx,
                      const struct dl_serving_load *l,
                      struct dl_serving_cost *cost) {
  struct times t = times_of(c, fx, l, l->prompt * exp(fx[DL_SF_PROMPT]));
  double b = l->batch, v = l->answer,
         ours = exp(fx[DL_SF_GPU_POWER] + fx[DL_SF_ARCH_POWER]);
  double decode = v * (t.memory + t.compute + t.layers + t.exchange);
  double prefill = b * (t.prompt_compute + t.prompt_exchange);
  double host = v * t.host, time = decode + prefill + host;
  double base = c[DL_SV_PA] * l->tdp;
  /* Beyond the base, in W s: of decoding and of prompts. */
  double more_decode = l->tdp * (c[DL_SV_PU] * decode +
                                 c[DL_SV_PF] * c[DL_SV_EC] * v * t.compute +
                                 c[DL_SV_PM] * c[DL_SV_EM] * v * t.memory);
  double more_prefill =
      l->tdp * (c[DL_SV_PU] * prefill +
                c[DL_SV_PF] * c[DL_SV_EP] * b * t.prompt_compute);
  double wanted = (base + (more_decode + more_prefill) / time) * ours;
  double power = capped(wanted, c[DL_SV_PCAP] * l->tdp);
  double slow = slow_down(c[DL_SV_KAPPA], IDLE_SHARE * base, wanted, power);
  double longer = (slow * (decode + prefill) + host) / time;
  *cost = (struct dl_serving_cost){
      .time_s = time * longer,
      .power_w = power,
      .prefill_s = slow * prefill,
      .decode_s = slow * decode + host,
      .memory_s = slow * v * t.memory,
      .compute_s = slow * v * t.compute,
      .layers_s = slow * v * t.layers,
      .exchange_s = slow * v * t.exchange,
      .host_s = host,
      .base_w = base,
  };
  /* Both parts are cut by the cap alike. */
  double all = l->n_gpus * power * cost->time_s;
  double in_prefill = base * prefill + more_prefill;
  double in_all = base * time + more_decode + more_prefill;
  cost->prefill_j = all * in_prefill / in_all;
  cost->decode_j = all - cost->prefill_j;
}
