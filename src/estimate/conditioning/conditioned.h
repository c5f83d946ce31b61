/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The estimate of a training by the physical method, given known values:
 * the work takes its time at its power, and for the rest of the time its GPUs
 * wait at static power (waiting.h). Time that a run takes beyond its steps is
 * waiting too. */

#ifndef DL_ESTIMATE_CONDITIONING_CONDITIONED_H
#define DL_ESTIMATE_CONDITIONING_CONDITIONED_H

#include "estimate/conditioning/known.h"

/* What a fit says of the whole run on all its GPUs. */
struct dl_expected {
  /* Logarithms: of the time of its steps, s, and of the power meanwhile, W. */
  double time, power;
  double var_time, var_power, cov;
  double var_alone; /* of the time, by its own interval */
  double static_w;  /* static power of all GPUs */
  double most_w;    /* the most that they draw; INFINITY: not known */
  double util;      /* GPU utilization at work, a share */
  double input; /* logarithm of the time of the input alone; NaN: it keeps */
  double var_input; /* up */
};

/* NaN: unknown. */
struct dl_conditioned {
  bool is;                        /* something is known */
  double energy_j, low_j, high_j; /* of all GPUs */
  double duration_s;
  double time_low_s, time_high_s;   /* NaN: the time is known */
  double power_low_w, power_high_w; /* of the mean; NaN: one of both is known */
  double busy;   /* share of the time in which the GPUs work */
  double misfit; /* of what is known to the fit, standard deviations */
  double static_w, least_static_w; /* and the lower end of its interval */
  double most_w; /* mean power at the known utilization, at most */
};

void dl_condition(struct dl_conditioned *out, const struct dl_expected *e,
                  const struct dl_known *known, double coverage);

#endif
