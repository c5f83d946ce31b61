/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/cpu/cpu_tokens.h"

#include <math.h>

#define CLIENT_BANDWIDTH 0.72
#define SERVER_BANDWIDTH 0.55
#define STEP_RATE 0.3  /* share of the FP32 peak */
#define WAIT_S 6e-6    /* a layer, for each core */
#define CALLS_S 0.6e-3 /* a layer, of PyTorch */
#define CLIENT_DOUBT 0.4
#define SERVER_DOUBT 0.6

void dl_cpu_tokens_of(const struct dl_cpu_tokens *in,
                      struct dl_cpu_tokens_cost *cost) {
  double share = in->client ? CLIENT_BANDWIDTH : SERVER_BANDWIDTH;
  double bandwidth =
      fmin(share * in->bandwidth, in->cores_bandwidth) / sqrt(in->sockets);
  double memory = (in->weights_b + in->batch * in->kept_b) / bandwidth;
  double compute = 2 * in->batch * in->step_macs / (STEP_RATE * in->peak);
  double layer = WAIT_S * in->cores + (in->plain ? CALLS_S : 0);
  double prompts =
      2 * in->batch * in->prompt_macs / (in->prompt_rate * in->peak);
  double step = hypot(memory, compute) + in->layers * layer;
  bool reads = !(in->answer > 0) && prompts < step;
  double steps = reads ? 1 : in->answer;
  *cost = (struct dl_cpu_tokens_cost){
      .prompts_s = reads ? 0 : prompts,
      .memory_s = steps * memory,
      .compute_s = steps * (hypot(memory, compute) - memory),
      .layers_s = steps * in->layers * layer,
  };
}

double dl_cpu_answer_doubt(const struct dl_cpu_tokens *in) {
  return in->client ? CLIENT_DOUBT : SERVER_DOUBT;
}
