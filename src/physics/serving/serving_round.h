/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intermediate values of the physics of LLM serving (serving_cost.h), which its
 * derivatives build on. */

#ifndef DL_PHYSICS_SERVING_SERVING_ROUND_H
#define DL_PHYSICS_SERVING_SERVING_ROUND_H

#include "physics/power_limit.h"
#include "physics/serving/serving_cost.h"

/* Times in s: of a step, and of the prompt of a request. */
struct dl_serving_times {
  double prompt;         /* tokens of the prompt */
  double context, pairs; /* mean tokens attended to, decoding; pairs of tokens
                            of the prompt */
  double context_slope, pairs_slope; /* derivatives by the prompt */
  double memory, compute, layers, exchange, host;
  double prompt_compute, prompt_exchange;
  double keys;             /* part of memory: the KV cache */
  double attention;        /* part of compute */
  double latency;          /* part of exchange */
  double prompt_attention; /* part of prompt_compute */
};

/* A round of requests without a power limit; s, W. */
struct dl_serving_round {
  struct dl_serving_times t;
  double decode, prefill, host, time;
  double base, board;           /* static power; factor of the board's power */
  double decode_ws, prefill_ws; /* energy beyond the static power, W s */
  struct dl_power_limit limit;
};

void dl_serving_round_of(struct dl_serving_round *r, const double *c,
                         const double *fx,
                         const struct dl_serving_inputs *inputs);

/* The physics' gradient (physics.h), in serving_gradient.c. */
void dl_serving_gradient(const double *c, const double *fx, const void *inputs,
                         double *log_target, struct dl_gradient *g);

/* Logarithms of the targets of a round. */
void dl_serving_targets(const struct dl_serving_round *r,
                        const struct dl_serving_inputs *inputs,
                        double log_target[DL_N_SERVING_TARGETS]);

#endif
