/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inference by the physical method: what serving a number of requests takes,
 * or passing a number of samples forward.
 *
 * Requests are served in rounds of `batch` at once (serving_cost.h); images
 * pass in batches, one on each GPU (the forward phase of training_cost.h).
 * Between them GPUs may idle: after each batch
 * for a given time, or where requests come at a rate that leaves time. At a
 * rate R the batch is the one that just keeps up,
 *
 *   b = R T(b),   T: the time of a round of b
 *
 * (Little's law); where even one at a time is faster than they come, GPUs idle
 * the rest. */

#ifndef DL_ESTIMATE_METHODS_INFERENCE_H
#define DL_ESTIMATE_METHODS_INFERENCE_H

#include "estimate/predictions.h"

/* Whether a job is inference of images, texts that are encoded, speech and the
 * like by tuned software: --stack mlperf, or 8 bits without a stack, as no
 * framework computes in 8 bits by itself. */
bool dl_infers_tuned(const struct dl_job *job);

/* Whether a limit below the TDP, which is not given, would change power and
 * time of such a job: their intervals have room for it. */
bool dl_limit_matters(const struct dl_job *job);

/* Sets what inference costs by the fits; NaN, and `lacks` set, where they have
 * no answer. */
void dl_infer(const struct dl_engine *ctx, const struct dl_job *job,
              struct dl_served *s);

#endif
