/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of the time and the energy of an epoch. */

#ifndef DL_PHYSICS_TRAINING_TRAINING_PARTS_H
#define DL_PHYSICS_TRAINING_TRAINING_PARTS_H

#include "physics/fit_row.h"
#include "physics/training/training_cost.h"

/* Parts of an epoch. */
struct dl_physical_parts {
  double time_s, gpu_energy_j, gpu_power_w; /* energy, power: of one GPU */
  /* Time each would take alone, s; they overlap. */
  double compute_s, memory_s, kernels_s, launch_s, fixed_s, waiting_s;
  const char *software; /* "eager", "ngc", "mlperf": whose constants are used */
  const char *bound;    /* "compute", "memory", "kernels", "launch", "input" */
  double input_s;       /* of the input pipeline alone; 0: it keeps up */
  bool input_assumed;   /* a loader that the user says nothing of */
  double input_workers; /* its processes per GPU */
  double input_core_s;  /* time of cores that reads and decodes; NaN */
  double input_doubt;   /* 90 % half-width of its logarithm */
  double input_rate, gpu_rate; /* samples per second that the input pipeline
                                  delivers, and that the GPUs could take */
  double static_w;             /* static power, of a GPU that waits */
  double gpu_share; /* of the time in which kernels run on the GPU, those that
                       wait for other GPUs included: its utilization */
};

/* Finds the parts of a row, whose inputs are struct dl_training_inputs, which
 * is predicted with them. Time, energy and power are sums of the parts, without
 * what is learnt from the residuals of near configurations. */
void dl_training_parts_of(struct dl_fit_row *row,
                          struct dl_physical_parts *parts);

#endif
