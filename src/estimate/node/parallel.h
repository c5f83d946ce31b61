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
 *   step = compute + t - min(t / 2, compute x 2/3)
 *
 * since the backward pass is two thirds of the work of a step, and gradients
 * come one after another. Assumed, not measured: 0.8 of the link's line rate,
 * 10 us a message, half of t under the backward pass; all GPUs joined by a
 * link like the first two (one node). None of it was fitted: the measured
 * runs use one GPU. `extra` bounds the error. */

#ifndef DL_ESTIMATE_NODE_PARALLEL_H
#define DL_ESTIMATE_NODE_PARALLEL_H

#include <stdbool.h>

#include "estimate/job.h"

struct dl_parallel {
  double n;         /* GPUs; 1: nothing is sent */
  bool strong;      /* step_s is for the batch of all, not of each */
  double step_s;    /* one GPU's time for its step, alone */
  double fixed_s;   /* part of step_s that a smaller batch does not shorten */
  double bytes;     /* of the gradients */
  double link_gb_s; /* one direction, line rate; INFINITY is allowed */
  double busy_w;    /* power of one GPU at work, */
  double idle_w;    /* and while it waits for the others */
};

struct dl_parallel_step {
  double step_s;   /* with what the exchange adds */
  double comm_s;   /* t, all of the exchange */
  double wait_s;   /* part of step_s in which nothing is computed */
  double share;    /* wait_s / step_s */
  double energy_j; /* of all GPUs in a step */
  double power_w;  /* their mean, together */
  /* Relative half-width to add to an interval of step time or energy, for what
   * is assumed: the larger of the distances to an exchange that is free, and to
   * one that nothing hides over a link of half the speed. 0 for one GPU. */
  double extra;
};

/* NaN in, NaN out. */
void dl_parallel_of(const struct dl_parallel *p, struct dl_parallel_step *s);

/* Whether gradients of all weights, or of the head, are exchanged by a plain
 * ring over the links of one node: what dl_parallel_of describes. */
bool dl_parallel_is_ring(const struct dl_job *job);

/* Per-device batch size, rounded up. */
double dl_parallel_batch(double batch_size, double n, bool strong);

/* The parts of a job: n, strong, bytes (NaN without parameters), link (PCIe
 * where unknown; *assumed then true). Times and powers are left NaN, fixed_s
 * 0. */
void dl_parallel_job(const struct dl_job *job, struct dl_parallel *p,
                     bool *assumed);

#endif
