/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/estimate: the rows of the registry, and what they share. */

#ifndef DL_ESTIMATE_METHODS_H
#define DL_ESTIMATE_METHODS_H

#include "estimate/estimator.h"

extern const struct dl_estimator dl_tdp;
extern const struct dl_estimator dl_green_algorithms;
extern const struct dl_estimator dl_flops;
extern const struct dl_estimator dl_pre_power;
extern const struct dl_estimator dl_pre_epoch;

/* Duration of the whole run in seconds, NaN where it cannot be told. */
double dl_flops_duration(const struct dl_job *job);
double dl_pre_duration(const struct dl_job *job);

#endif
