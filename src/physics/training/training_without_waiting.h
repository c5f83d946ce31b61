/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of a run whose GPUs waited. */

#ifndef DL_PHYSICS_TRAINING_TRAINING_WITHOUT_WAITING_H
#define DL_PHYSICS_TRAINING_TRAINING_WITHOUT_WAITING_H

#include "physics/hierarchical_fit.h"
#include "physics/training/training_cost.h"

/* The mean power of a GPU, W: as measured, else by the energy, the time and the
 * node's memory; NaN: not known. value: logarithms. */
double dl_training_mean_power(const struct dl_training_inputs *inputs,
                              const double value[DL_N_PHYSICAL_TARGETS]);

/* A run of utilization u worked the share b = u / u0 of its time, where u0 is
 * the utilization at work, and waited at the static power s of its GPUs:
 *
 *   T = W / b,   mean power = b P + (1 - b) s
 *
 * Turns the logarithms that were measured, T, the mean power of a GPU and the
 * energy, into the work's, and adds to the inputs' misfit how uncertain b is.
 * Nothing changes where b is 1 or more. util: a share. */
void dl_training_without_waiting(const struct dl_hierarchical_fit *fit,
                                 double util, struct dl_training_inputs *inputs,
                                 double value[DL_N_PHYSICAL_TARGETS]);

/* The standard deviation of the logarithm of a predicted utilization. Launches
 * that hold up a GPU are less certain than arithmetic: on eight networks and
 * machines (docs/lab/known-times.md) the logarithm of the measured utilization
 * is off by about the logarithm of the predicted one. */
double dl_training_util_sd(double util);

#endif
