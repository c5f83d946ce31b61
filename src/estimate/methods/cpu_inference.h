/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forward passes on CPUs: the time by the physics of CPUs (cpu_cost.h), the
 * power of the packages by their TDP. */

#ifndef DL_ESTIMATE_METHODS_CPU_INFERENCE_H
#define DL_ESTIMATE_METHODS_CPU_INFERENCE_H

#include "estimate/methods/estimator.h"
#include "physics/serving/serving_cost.h"

/* Whether a job is inference on CPUs by networks that do not write tokens one
 * by one. */
bool dl_passes_on_cpu(const struct dl_job *job);

/* The runs that the physics of CPUs lacks at the precision of a job, or NULL.
 */
const char *dl_cpu_lacks(const struct dl_job *job);

/* A package at work, the doubt of its power (half-width at 90 % of its
 * logarithm), and the clock by what it is without a power limit. */
struct dl_package {
  double power_w, idle_w, doubt, clock;
};
struct dl_package dl_package_of(const struct dl_job *job);

/* Sets a round of `batch` samples, which the sockets share, by the fit and the
 * inputs of the job's row. */
void dl_cpu_round(const struct dl_hierarchical_fit *fit,
                  const struct dl_job *job, const void *inputs, double batch,
                  struct dl_serving_cost *r);

/* Whether a job is inference on CPUs by language models that write tokens. */
bool dl_writes_on_cpu(const struct dl_job *job);

/* Sets a round of `batch` requests to such a model by cpu_tokens.h. */
void dl_cpu_tokens_round(const struct dl_job *job,
                         const struct dl_serving_inputs *in, double batch,
                         struct dl_serving_cost *r);

/* Sets its intervals. */
void dl_cpu_tokens_interval(const struct dl_engine *ctx,
                            const struct dl_job *job, const struct dl_served *s,
                            struct dl_estimate *est);

/* Sets the intervals of an estimate whose values are set. */
void dl_cpu_interval(const struct dl_engine *ctx, const struct dl_job *job,
                     const struct dl_job_predictions *p,
                     struct dl_estimate *est);

/* Replaces the power of a training on CPUs, which the fits of GPUs estimate, by
 * the packages'. The energy follows from it and the time. */
void dl_cpu_training_power(const struct dl_engine *ctx,
                           const struct dl_job *job, struct dl_estimate *est);

#endif
