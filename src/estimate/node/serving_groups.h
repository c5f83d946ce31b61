/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How GPUs serve a language model where a run does not say it: in groups that
 * share its layers (tensor parallelism) and are copies of each other. The
 * smallest group is assumed
 *
 *   - of 1, 2, 4, ... GPUs, or all, which divides them and the heads,
 *   - in whose memory the weights take at most 0.7, with the keys and values of
 *     one request 0.9 (vLLM's default), and
 *   - whose copies are no more than the requests at once, so that one request
 *     has all GPUs, or, where the heads cannot be divided by all of them, the
 *     largest such group;
 *
 * where none holds the model, all GPUs are one group. Requests that find no
 * room wait: groups that grew with them would serve fewer a second than the
 * smaller ones did before. Larger groups answer sooner but exchange more, so
 * that servers for many requests are made of small ones (MLPerf Inference:
 * GPT-J on one GPU, Llama 2 70B on two H100 or one H200). */

#ifndef DL_ESTIMATE_NODE_SERVING_GROUPS_H
#define DL_ESTIMATE_NODE_SERVING_GROUPS_H

#include "estimate/job.h"

/* Sets tensor_parallel and replicas of a row of inference that do not follow
 * from what is given. The batch must be settled. */
void dl_assume_serving_groups(struct dl_row *row);

/* Requests to a language model that are served at once: no more of the batch
 * than the memory of GPUs holds keys and values of, in the mean over their
 * answers, beside the weights. Where it does not hold the weights, or not one
 * request of each copy, the whole batch: a warning says so. */
double dl_served_at_once(const struct dl_job *job);

#endif
