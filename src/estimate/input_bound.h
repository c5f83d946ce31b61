/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The input pipeline as a bound of a training's speed
 * (physics/training/input_pipeline.h). It holds where the user says something
 * of the loader: without that, the input is taken to keep up, as it does, or is
 * hidden in the times, in the trainings that the physics is fitted to. */

#ifndef DL_ESTIMATE_INPUT_BOUND_H
#define DL_ESTIMATE_INPUT_BOUND_H

#include "estimate/predictions.h"
#include "physics/training/input_pipeline.h"

/* Bounds the predicted time of an epoch, and its energy: a GPU that waits for
 * input draws its static power. Parts get the time of the input alone and both
 * rates. `memory_w`: of the node's memory, as far as the energy includes it. */
void dl_input_bound_apply(struct dl_job_predictions *p,
                          const struct dl_job *job, double memory_w);

#endif
