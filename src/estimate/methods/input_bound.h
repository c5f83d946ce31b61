/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Trainings whose GPUs wait for samples: the bound by the input pipeline
 * (physics/training/input_pipeline.h) on times and energies. */

#ifndef DL_ESTIMATE_METHODS_INPUT_BOUND_H
#define DL_ESTIMATE_METHODS_INPUT_BOUND_H

#include <stdbool.h>

#include "estimate/predictions.h"
#include "physics/serving/serving_cost.h"

/* The input pipeline (physics/training/input_pipeline.h). Where the user says
 * nothing of the loader, it is taken to keep up, as it does, or is hidden in
 * the times, in the trainings that the physics is fitted to, unless it is
 * slower than the GPUs and nothing is known of the time. Parts get the time of
 * the input alone, the time of both together, both rates, and the bound. known:
 * the user gives the time of the training, or a part of it. */
void dl_find_input(struct dl_job_predictions *p, const struct dl_job *job,
                   bool known);

/* Finds the bound by text that a described loader tokenises, for the whole
 * run. */
void dl_find_tokenising(struct dl_job_predictions *p, const struct dl_job *job);

/* Bounds the predicted time of an epoch, and its energy, by the input of the
 * parts: a GPU that waits for it draws its static power, which is uncertain.
 * `memory_w`: of the node's memory, as far as the energy includes it. */
void dl_bound_by_input(struct dl_job_predictions *p,
                       const struct dl_engine *ctx, const struct dl_job *job,
                       double memory_w);

/* Adds the input of a batch of inference, where its loader is described: on
 * GPUs as in trainings, on CPUs as work of the cores that compute, too. */
void dl_add_input(const struct dl_job *job, double batch,
                  struct dl_serving_cost *r);

/* Sets the time of cores that the input of all samples takes, and its doubt. */
void dl_find_inference_input(struct dl_job_predictions *p,
                             const struct dl_job *job);

#endif
