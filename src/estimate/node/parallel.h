/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Synchronous data parallelism: every GPU works on a batch of its own and
 * keeps a copy of the model; after each step all add up their gradients.
 *
 *   t = 2 (n - 1) / n x bytes / (link x 0.8) + 2 (n - 1) x 10 us x buckets
 *
 * is how long a ring takes for that, n GPUs, each sending as much as it
 * receives (Patarasuk & Yuan 2009, doi 10.1016/j.jpdc.2008.09.002: no
 * all-reduce moves less). bytes: 4 per trained parameter, 2 in mixed precision.
 * Buckets of 25 MiB and their overlap with the backward pass follow PyTorch (Li
 * et al. 2020, arXiv 2006.15704):
 *
 *   wait = t - min(t / 2, compute x 2/3)
 *
 * since the backward pass is two thirds of the work of a step, and gradients
 * come one after another. Assumed, not measured: 0.8 of the link's line rate,
 * 10 us a message, half of t under the backward pass; all GPUs joined by a
 * link like the first two (one node). None of it was fitted: the measured
 * runs use one GPU. */

#ifndef DL_ESTIMATE_NODE_PARALLEL_H
#define DL_ESTIMATE_NODE_PARALLEL_H

#include <stdbool.h>

#include "estimate/job.h"

/* Seconds that n GPUs exchange so many bytes, over links of a line rate in one
 * direction (INFINITY is allowed); and how many of them GPUs wait that compute
 * for so long in a step. NaN in, NaN out. */
double dl_ring_s(double n, double bytes, double link_gb_s);
double dl_ring_wait_s(double ring_s, double compute_s);

/* The exchange of gradients in a training; NaN with one GPU. */
struct dl_exchange {
  double link_gb_s;  /* PCIe's where the link between GPUs is not known, */
  bool link_assumed; /* which this says */
  /* NaN where all weights, or the head, are not exchanged by a plain ring over
   * the links of one node. */
  double bytes;  /* of the gradients; NaN without parameters, too */
  double ring_s; /* in each step */
  double share;  /* of a step that GPUs wait, by the time that the method flops
                    gives it */
};

void dl_exchange_of(const struct dl_job *job, struct dl_exchange *e);

/* Per-device batch size, rounded up. */
double dl_parallel_batch(double batch_size, double n, bool strong);

#endif
