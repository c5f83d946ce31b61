/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the time and the energy of a round of requests consist of. */

#ifndef DL_PHYSICS_SERVING_SERVING_PARTS_H
#define DL_PHYSICS_SERVING_SERVING_PARTS_H

#include "physics/fit_row.h"
#include "physics/serving/serving_cost.h"

/* A round: the requests that are served at once, each to its end. */
struct dl_serving_parts {
  double time_s, energy_j; /* all GPUs */
  double prefill_s, decode_s, prefill_j, decode_j;
  /* Of decoding: time each takes; they add up. */
  double memory_s, compute_s, layers_s, exchange_s, host_s;
  double static_w;   /* of one GPU with nothing to do, the model loaded */
  const char *bound; /* which takes longest: "memory", "compute", "layers",
                        "exchange", "host" or "prompts" */
};

/* Of a row, whose inputs are struct dl_serving_inputs. */
void dl_serving_parts_of(const struct dl_fit_row *row,
                         struct dl_serving_parts *parts);

#endif
