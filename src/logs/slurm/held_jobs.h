/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs that wait for a later state, which may be in this or another table: jobs
 * that have not ended, jobs of 0 s that were requeued, and the last job of a
 * table, whose further rows may begin the next table. The latest state of a run
 * of a job counts, in any order of tables. As many jobs wait as ran when the
 * tables were made. */

#ifndef DL_LOGS_SLURM_HELD_JOBS_H
#define DL_LOGS_SLURM_HELD_JOBS_H

#include "logs/slurm/settle_jobs.h"

struct dl_held_jobs;

void dl_held_jobs_free(struct dl_held_jobs *h); /* accepts NULL */

enum dl_hold {
  DL_HOLD_NOT,    /* the job does not wait, and nothing waits for it */
  DL_HOLD_WAITS,  /* it waits, or was added to one that does */
  DL_HOLD_SKIPPED /* a later state counts, or waits; reported */
};

/* Compares a job of `part` with those that wait, replaces one by it or adds it
 * to them; `wait`: it may be incomplete. */
enum dl_hold dl_hold_job(struct dl_log *log, struct dl_log *part,
                         const struct dl_cluster_job *job,
                         const struct dl_job_rows *rows,
                         const struct dl_job_step *steps, bool wait);

/* Compares a run from a table of runs that has a state and a start, as dlest
 * extract writes them. Returns whether it counts. */
bool dl_hold_run(struct dl_log *log, struct dl_log *part,
                 const struct dl_cluster_job *job);

/* How many jobs wait. */
size_t dl_held_jobs_n(const struct dl_seen_rows *seen);

/* After the last table: the jobs of a table (NULL: of all) that waited in vain,
 * which count, in the order of their first rows. They wait no longer; their
 * texts live until dl_seen_rows_free, the array until the next call. */
const struct dl_cluster_job *dl_held_jobs_rest(struct dl_seen_rows *seen,
                                               const struct dl_shard *shard,
                                               const char *path, size_t *n);

#endif
