/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/serving/serving_cost.h"

#include <math.h>

#include "physics/power_limit.h"

/* Times of a step and of a prompt. */
struct times {
  double memory, compute, layers, exchange, host; /* of a step */
  double prompt_compute, prompt_exchange;         /* of a request */
};

static struct times times_of(const double *c, const double *fx,
                             const struct dl_serving_inputs *l, double prompt) {
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
                      const struct dl_serving_inputs *l,
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
  double power = dl_capped_power(wanted, c[DL_SV_PCAP] * l->tdp);
  double slow = dl_clock_slowdown(c[DL_SV_KAPPA], DL_LOWEST_CLOCK_SHARE * base,
                                  wanted, power);
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
