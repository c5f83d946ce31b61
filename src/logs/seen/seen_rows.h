/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records the rows, jobs and energies that were counted in all tables of one
 * command, so that they do not count again when they are reported again.
 *
 * Rows are a set of 64-bit hashes, which takes up to 32 bytes per row. Among a
 * million different rows, two have equal hashes with a probability of 3e-8.
 * Jobs of Slurm take less (seen_jobs.h). */

#ifndef DL_LOGS_SEEN_SEEN_ROWS_H
#define DL_LOGS_SEEN_SEEN_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logs/seen/seen_times.h"

/* Starts as {0}; freed by dl_seen_rows_free (log.h). */
struct dl_seen_rows {
  uint64_t *slot; /* open addressing; 0: free; owned */
  size_t n, n_slots;
  struct dl_seen_jobs *jobs;     /* owned, may be NULL */
  struct dl_held_jobs *held;     /* jobs that do not count yet; likewise */
  struct dl_seen_times nodes;    /* of measured jobs (slurm/node_times.h) */
  struct dl_seen_times hardware; /* of runs (tables/run_overlaps.h) */
  size_t n_uncompared; /* jobs of a shard, which has not all jobs of a node */
};

/* Continues a hash with n bytes; starts from DL_SEEN_START. */
#define DL_SEEN_START UINT64_C(14695981039346656037)
uint64_t dl_seen_hash(uint64_t hash, const void *bytes, size_t n);

bool dl_seen_has(const struct dl_seen_rows *s, uint64_t hash);

/* Adds a hash. */
void dl_seen_add(struct dl_seen_rows *s, uint64_t hash);

#endif
