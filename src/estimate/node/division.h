/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a training of a language model is divided among GPUs, in batches and
 * layers whose activations are computed again, where a run does not say it: of
 * the set-ups that fit into memory the one whose step takes the least time for
 * a token by the formula of physics/language/language_cost.h with the medians
 * of its priors, which do not depend on a fit.
 *
 * Set-ups are those that are usual:
 *
 *   tensor parallelism    1, 2, 4, 8 GPUs of a node that divide the heads
 *   pipeline parallelism  1, 2, 3, 4, 6, 8, 12, 16 stages, in a node too, with
 *                         up to 8 virtual stages each
 *   sharding              ddp, zero1, zero3
 *   expert parallelism    up to 2, 4, ... 64 GPUs, and of a whole node; not
 *                         with zero3
 *   micro-batches         divisors of the batch of all near powers of two
 *   checkpointing         none, else full of as few layers as needed
 *
 * Tensor and pipeline parallelism are not assumed where the run gives one of
 * them, context parallelism or the sharding. All are compared at one batch of
 * all. Each kind of division, and sharding beyond ddp, has to save a hundredth
 * of the time: near-ties go to the simpler set-up. Where nothing fits, it is
 * the set-up that needs the least memory. More memory therefore never costs
 * more than these hundredths. Divisions are tried in the order of a lower bound
 * of their cost, until none is below the best. */

#ifndef DL_ESTIMATE_NODE_DIVISION_H
#define DL_ESTIMATE_NODE_DIVISION_H

#include "estimate/job.h"

/* Sets the members of the row that are not given. The number of GPUs, their
 * memory and the shape of the network must be known. */
void dl_assume_division(struct dl_row *row);

/* Whether a job of a language model would fit on another number of GPUs, with
 * what is then assumed. */
bool dl_division_fits(const struct dl_job *job, double n_gpus);

#endif
