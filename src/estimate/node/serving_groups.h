/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How GPUs serve a language model where a run does not say it: in groups that
 * share its layers (tensor parallelism) and are copies of each other. The
 * smallest group is assumed
 *
 *   - of 1, 2, 4, ... GPUs, or all, which divides them and the heads,
 *   - in whose memory weights and the keys and values of its part of the
 *     requests fit, a tenth left for all else (vLLM's default), and
 *   - whose copies are no more than the requests at once, so that one request
 *     has all GPUs;
 *
 * where no group holds all requests, they wait for each other in the smallest
 * that holds the weights; where none does, all GPUs are one group. Larger
 * groups answer sooner but exchange more, so that servers for many requests are
 * made of small ones (MLPerf Inference: GPT-J on one GPU, Llama 2 70B on two
 * H100 or one H200). */

#ifndef DL_ESTIMATE_NODE_SERVING_GROUPS_H
#define DL_ESTIMATE_NODE_SERVING_GROUPS_H

#include "run/row.h"

/* Sets tensor_parallel and replicas of a row of inference that do not follow
 * from what is given. The batch must be settled. */
void dl_assume_serving_groups(struct dl_row *row);

#endif
