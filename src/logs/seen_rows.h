/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of tables that were read: a set of hashes of 64 bits, 32 bytes per
 * row at most, and the jobs of Slurm, which take less (slurm/seen_jobs.h). Two
 * of a million different rows have the same hash with a probability of 3e-8. */

#ifndef DL_LOGS_SEEN_ROWS_H
#define DL_LOGS_SEEN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as {0}; freed by dl_seen_rows_free (log.h). */
struct dl_seen_rows {
  uint64_t *slot; /* open addressing; 0: free */
  size_t n, n_slots;
  struct dl_seen_jobs *jobs;        /* owned, may be NULL */
  struct dl_held_jobs *held;        /* the same: those that do not count yet */
  struct dl_node_times *nodes;      /* the same: of measured jobs */
  struct dl_run_overlaps *overlaps; /* the same: of runs */
  size_t n_shared;                  /* jobs on nodes that others had as well */
  size_t n_apart;  /* of a shard, whose nodes are not compared */
  double shared_j; /* of their energies, counted in the others */
};

/* Continues a hash with n bytes; starts from DL_SEEN_START. */
#define DL_SEEN_START UINT64_C(14695981039346656037)
uint64_t dl_seen_hash(uint64_t hash, const void *bytes, size_t n);

bool dl_seen_has(const struct dl_seen_rows *s, uint64_t hash);

/* Adds a hash. */
void dl_seen_add(struct dl_seen_rows *s, uint64_t hash);

#endif
