/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the time of an epoch. */

#include "physics/training/training_parts.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "base/memory.h"
#include "physics/training/training_step.h"

/* Time of the epoch with a kernel on the GPU, s. */
static double gpu_time(const struct dl_training_epoch *e) {
  double sum = e->cost.waiting;
  for (size_t i = 0; i < DL_N_TRAINING_STEPS; i++)
    if (e->n[i] > 0)
      sum += e->n[i] * e->step[i].gpu * e->step[i].limit.slow;
  return sum;
}

/* Distances, where a length scale is 0.6 by shares: a factor of e in the number
 * of kernels, 16-bit formats or others; other software is far. Networks differ
 * by more in software that is tuned for them. */
#define BY_KERNELS 0.9
#define BY_FORMAT 0.6
#define BY_SOFTWARE 9
#define TUNED 3

void dl_training_bound(const double *c, const void *inputs,
                       struct dl_place *to) {
  const struct dl_training_inputs *in = inputs;
  const double none[DL_N_TRAINING_EFFECTS] = {0};
  struct dl_cost cost;
  dl_training_epoch(c, none, in, &cost);
  const double part[] = {cost.compute, cost.memory, cost.kernels, cost.launch};
  double all = part[0] + part[1] + part[2] + part[3];
  bool eager = in->stack == DL_STACK_EAGER;
  double unit = eager ? 1 : TUNED;
  for (size_t i = 0; i < DL_LENGTH(part); i++)
    to->bound[i] = unit * part[i] / all;
  to->bound[4] = unit * BY_KERNELS * log(in->kernels);
  to->bound[5] =
      (eager ? 0 : BY_SOFTWARE) + (in->in_tensor == 2 ? BY_FORMAT : 0);
  to->rate[0] = in->has_tensor ? 0 : cost.depthwise / cost.time;
  to->rate[1] = in->has_tensor ? 0 : cost.kernels / cost.time;
}

void dl_training_parts_of(struct dl_fit_row *row,
                          struct dl_physical_parts *parts) {
  static const char *const names[] = {"compute", "memory", "kernels", "launch"};
  const struct dl_training_inputs *inputs = (const void *)row->inputs;
  struct dl_training_epoch e;
  dl_training_epoch_of(&e, row->fit->c, row->fx, inputs);
  dl_training_targets(&e.cost, inputs, row->y);
  row->predicted = true;
  const struct dl_cost cost = e.cost;
  *parts = (struct dl_physical_parts){.time_s = cost.time,
                                      .gpu_energy_j = cost.energy,
                                      .gpu_power_w = cost.energy / cost.time,
                                      .compute_s = cost.compute,
                                      .memory_s = cost.memory,
                                      .kernels_s = cost.kernels,
                                      .launch_s = cost.launch,
                                      .fixed_s = cost.fixed,
                                      .waiting_s = cost.waiting,
                                      .static_w = e.base,
                                      .software = dl_training_software(inputs),
                                      .gpu_share = gpu_time(&e) / cost.time};
  const double part[] = {cost.compute, cost.memory, cost.kernels, cost.launch};
  parts->bound = names[gsl_stats_max_index(part, 1, DL_LENGTH(part))];
}
