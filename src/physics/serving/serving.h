/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The regression of language models that serve: what it takes as features,
 * and what else it tells.
 *
 * As with the physical one (physical.h) its features are the columns below, in
 * this order, as they are. The target is the logarithm of a time, an energy or
 * a power. */

#ifndef DL_PHYSICS_SERVING_SERVING_H
#define DL_PHYSICS_SERVING_SERVING_H

#include <stddef.h>

#include "physics/serving/serving_cost.h"

enum dl_serving_column {
  DL_SC_TARGET,        /* enum dl_serving_target */
  DL_SC_BATCH,         /* requests at once, on all GPUs */
  DL_SC_PROMPT,        /* tokens of a request */
  DL_SC_ANSWER,        /* tokens written for it */
  DL_SC_STEP_WEIGHTS,  /* 1e6 parameters of all but the experts */
  DL_SC_EXPERTS,       /* 1e6 of all experts */
  DL_SC_SHARE,         /* of them that a token goes through */
  DL_SC_TOKEN_WEIGHTS, /* 1e6 that a token is multiplied with */
  DL_SC_PAIR_MACS,     /* attention: with each token before */
  DL_SC_KEPT,          /* keys and values of a token, elements */
  DL_SC_LAYERS,
  DL_SC_WIDTH,
  DL_SC_WEIGHT_BYTES, /* of an element */
  DL_SC_KEPT_BYTES,   /* of a key or value */
  DL_SC_GPUS,
  DL_SC_PEAK,      /* 1e12 FLOP/s of one, at the precision in use */
  DL_SC_BANDWIDTH, /* GB/s of one */
  DL_SC_LINK,      /* GB/s between them, one direction */
  DL_SC_TDP,       /* W */
  DL_SC_OLD,       /* 1: a server of 2024 */
  DL_SC_GPU,       /* keys: numbers that stand for names, 0 for none */
  DL_SC_ARCH,
  DL_SC_PROMPTS,      /* kind of requests */
  DL_SC_PROMPT_DOUBT, /* sd of the logarithm by which DL_SC_PROMPT may be off */
  DL_SC_TIME,         /* measured beside the target, in fits alone: s */
  DL_SC_POWER,        /* W of one GPU */
  DL_SC_N
};

/* A round: the requests that are served at once, each to its end. */
struct dl_serving_parts {
  double time_s, energy_j; /* all GPUs */
  double prefill_s, decode_s, prefill_j, decode_j;
  /* Of decoding: time each takes; they add up. */
  double memory_s, compute_s, layers_s, exchange_s, host_s;
  double awake_w;    /* of one GPU with nothing to do, the model loaded */
  const char *bound; /* which takes longest: "memory", "compute", "layers",
                        "exchange", "host" or "prompts" */
};

/* For a fitted state and a row of DL_SC_N columns. */
void dl_serving_explain(const void *state, const double *row,
                        struct dl_serving_parts *parts);

/* The inputs of a row of DL_SC_N columns. */
void dl_serving_inputs_of(const double *row, struct dl_serving_inputs *in);

#endif
