/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the time of an epoch consists of. */

#include "physics/training/training_parts.h"

void dl_training_parts_of(const struct dl_hierarchical_fit *fit,
                          const struct dl_training_inputs *inputs,
                          struct dl_physical_parts *parts) {
  static const char *const names[] = {"compute", "memory", "kernels", "launch"};
  double fx[DL_MAX_EFFECTS];
  struct dl_cost cost;
  dl_hierarchical_effects(fit, inputs, fx);
  dl_training_epoch(fit->c, fx, inputs, &cost);
  *parts = (struct dl_physical_parts){.time_s = cost.time,
                                      .gpu_energy_j = cost.energy,
                                      .gpu_power_w = cost.energy / cost.time,
                                      .compute_s = cost.compute,
                                      .memory_s = cost.memory,
                                      .kernels_s = cost.kernels,
                                      .launch_s = cost.launch,
                                      .fixed_s = cost.fixed,
                                      .waiting_s = cost.waiting};
  const double part[] = {cost.compute, cost.memory, cost.kernels, cost.launch};
  size_t most = 0;
  for (size_t i = 1; i < 4; i++)
    if (part[i] > part[most])
      most = i;
  parts->bound = names[most];
}
