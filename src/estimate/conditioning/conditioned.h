/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate of a training by the physical method, given known values:
 * the work takes its time at its power, and for the rest of the time its GPUs
 * wait at static power (waiting.h). Time that a run takes beyond its steps is
 * waiting too. */

#ifndef DL_ESTIMATE_CONDITIONING_CONDITIONED_H
#define DL_ESTIMATE_CONDITIONING_CONDITIONED_H

#include "base/number.h"
#include "estimate/conditioning/known.h"

/* A fit expects this of the whole run on all its GPUs. */
struct dl_expected {
  /* Logarithms: of the time of its steps, s, and of the power meanwhile, W. */
  double time, power;
  double var_time, var_power, cov;
  double var_alone; /* of the time, by its own interval */
  double static_w;  /* static power of all GPUs */
  /* At static power before the first step of a known duration, s; 0: none. Its
   * logarithm has this standard deviation where it is assumed, else 0. */
  double startup_s, startup_sd;
  double surplus_w; /* power in a time beyond the work, if nothing says that
                       they waited; its logarithm is uncertain */
  double surplus_sd;
  double most_w; /* the most that they draw; INFINITY: not known */
  double util;   /* GPU utilization at work, a share */
  double input;  /* logarithm of the time of the input alone; NaN: it keeps */
  double var_input; /* up */
};

/* NaN: unknown. */
struct dl_conditioned {
  bool applies;                  /* something is known */
  struct dl_interval energy_j;   /* of all GPUs */
  struct dl_interval duration_s; /* without bounds where the time is known */
  struct dl_interval power_w;    /* bounds of the mean; NaN: one of both is
                                    known; x is unused */
  double busy;                   /* share of the time in which the GPUs work */
  double misfit; /* of what is known to the fit, standard deviations */
  double static_w, least_static_w; /* and the lower end of its interval */
  double most_w; /* mean power at the known utilization, at most */
};

/* Lowers the lower end of the energy of a run of which the duration alone is
 * known, with its GPUs at work all the time: as many trainings wait as
 * elsewhere (gpu_waiting.h), for a uniform share of the time, in which they
 * draw static_j / duration. */
void dl_allow_waiting(struct dl_interval *energy_j, double static_j,
                      double coverage);

void dl_condition(struct dl_conditioned *out, const struct dl_expected *e,
                  const struct dl_known *known, double coverage);

#endif
