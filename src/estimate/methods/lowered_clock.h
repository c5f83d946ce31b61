/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates of GPUs whose clock is locked (physics/gpu_clock.h). */

#ifndef DL_ESTIMATE_METHODS_LOWERED_CLOCK_H
#define DL_ESTIMATE_METHODS_LOWERED_CLOCK_H

#include "estimate/predictions.h"
#include "physics/serving/serving_cost.h"

/* The clock of a job's GPUs relative to their boost clock; NaN: not set, not
 * below it, or of no known GPU. */
double dl_relative_clock(const struct dl_job *job);

/* Lowers the clock of a training, and of a round of inference on all GPUs. */
void dl_lower_clock(const struct dl_job *job, struct dl_job_predictions *p);
void dl_lower_clock_of_round(const struct dl_job *job,
                             struct dl_serving_cost *r);

#endif
