/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the time of a round of requests consists of. */

#include "physics/serving/serving_parts.h"

void dl_serving_parts_of(const struct dl_fit_row *row,
                         struct dl_serving_parts *parts) {
  static const char *const names[] = {"memory",   "compute", "layers",
                                      "exchange", "host",    "prompts"};
  const double *c = row->fit->c;
  const struct dl_serving_inputs *inputs = (const void *)row->inputs;
  struct dl_serving_cost cost;
  dl_serving_cost_of(c, row->fx, inputs, &cost);
  *parts = (struct dl_serving_parts){
      .time_s = cost.time_s,
      .energy_j = cost.prefill_j + cost.decode_j,
      .prefill_s = cost.prefill_s,
      .decode_s = cost.decode_s,
      .prefill_j = cost.prefill_j,
      .decode_j = cost.decode_j,
      .memory_s = cost.memory_s,
      .compute_s = cost.compute_s,
      .layers_s = cost.layers_s,
      .exchange_s = cost.exchange_s,
      .host_s = cost.host_s,
      .static_w = cost.base_w,
  };
  const double part[] = {cost.memory_s,   cost.compute_s, cost.layers_s,
                         cost.exchange_s, cost.host_s,    cost.prefill_s};
  size_t most = 0;
  for (size_t i = 1; i < sizeof part / sizeof *part; i++)
    if (part[i] > part[most])
      most = i;
  parts->bound = names[most];
}
