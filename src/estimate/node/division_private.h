/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for a set-up (division.h): its division among GPUs
 * (division.c), and batches and layers that are computed again in one
 * (division_batches.c). */

#ifndef DL_ESTIMATE_NODE_DIVISION_PRIVATE_H
#define DL_ESTIMATE_NODE_DIVISION_PRIVATE_H

#include "estimate/job.h"
#include "physics/physics.h"

/* A pipeline stage has at most so many virtual ones, as in the largest
 * trainings published (Llama 3.1 405B; MLPerf's GPT-3, 4 to 8). */
#define DL_MOST_VIRTUAL_STAGES 8.0

/* Divisions combine 4 degrees of tensor parallelism, 8 of pipeline parallelism,
 * and 8 of experts: 1 to 64, and a node's. */
enum { DL_MOST_DIVISIONS = 4 * 8 * 8 };

/* A search varies these settings. */
struct dl_setup {
  double tensor, pipeline, virtual_stages, expert; /* NaN: none */
  enum dl_sharding sharding;
  enum dl_checkpointing checkpointing;
  double layers; /* that are computed again; NaN: all or none */
  double batch;  /* batch_size */
  double accum;  /* grad_accum; NaN: 1 */
  double least; /* no set-up of this division costs less; INFINITY: none fits */
};

struct dl_search {
  struct dl_row *row;
  struct dl_job job;
  struct dl_physics_row physics;
  struct dl_run_set given; /* members that are settled before */
  bool divides;            /* tensor and pipeline parallelism are open */
  bool plain;              /* and not tried */
  double all;              /* sequences of a step on all GPUs; NaN: open */
  struct dl_setup division[DL_MOST_DIVISIONS]; /* those that may be the best */
  size_t n;
  struct dl_setup best;
  bool found, fits;
  double cost, need; /* of the best */
};

/* Whether a member is settled before. */
bool dl_is_settled(const struct dl_search *s, enum dl_run_id id);

/* Copies of the network: data-parallel GPUs. */
double dl_copies(const struct dl_search *s);

/* Candidates are tried in the members of the row. */
struct dl_setup dl_setup_in(const struct dl_run *r);
void dl_setup_put(struct dl_run *r, const struct dl_setup *of);

/* The batch of all that is assumed. */
double dl_usual_batch(const struct dl_search *s);

/* A bound of the cost of set-ups with the tensor, pipeline and expert
 * parallelism that the row has; INFINITY: none fits. */
double dl_least_cost(struct dl_search *s);

/* Tries the batches of the division and the sharding that the row has. */
void dl_try_batches(struct dl_search *s);

#endif
