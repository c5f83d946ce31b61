/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The work of a run whose GPUs waited. */

#include "physics/training/training_without_waiting.h"

#include <math.h>

#include "physics/training/training_parts.h"

#define UTIL_SD 0.05

double dl_training_util_sd(double util) {
  return UTIL_SD + fabs(log(util));
}

/* The power at work, W of a GPU; at least the static power. */
static double working_power(double mean, double busy, double static_w) {
  return fmax((mean - (1 - busy) * static_w) / busy, static_w);
}

double dl_training_mean_power(const struct dl_training_inputs *inputs,
                              const double value[DL_N_PHYSICAL_TARGETS]) {
  if (!isnan(value[DL_TARGET_POWER]))
    return exp(value[DL_TARGET_POWER]);
  return (exp(value[DL_TARGET_ENERGY] - value[DL_TARGET_TIME]) -
          inputs->ram_w) /
         inputs->n_gpus;
}

void dl_training_without_waiting(const struct dl_hierarchical_fit *fit,
                                 double util, struct dl_training_inputs *inputs,
                                 double value[DL_N_PHYSICAL_TARGETS]) {
  struct dl_fit_row row;
  struct dl_physical_parts parts;
  dl_fit_row_make(&row, fit, inputs);
  dl_training_parts_of(&row, &parts);
  double busy = util / parts.gpu_share;
  if (!(busy < 1))
    return;
  double mean = dl_training_mean_power(inputs, value);
  double power = isnan(mean) ? parts.gpu_power_w
                             : working_power(mean, busy, parts.static_w);
  double whole = busy * power + (1 - busy) * parts.static_w;
  if (!isnan(value[DL_TARGET_POWER]))
    value[DL_TARGET_POWER] = log(power);
  value[DL_TARGET_ENERGY] +=
      log(busy * (inputs->n_gpus * power + inputs->ram_w) /
          (inputs->n_gpus * whole + inputs->ram_w));
  value[DL_TARGET_TIME] += log(busy);
  inputs->grouping.waiting_sd = dl_training_util_sd(parts.gpu_share);
  inputs->grouping.misfit_sd =
      hypot(inputs->grouping.misfit_sd, inputs->grouping.waiting_sd);
}
