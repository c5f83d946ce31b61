/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs of an accounting that were read: a table of jobs and their steps.
 *
 * sacct sorts jobs by their number. Jobs are stored in sequences of rising
 * numbers, as differences from the job before: 3 to 5 bytes per job with its
 * steps. A job that fits no sequence (there are at most 16, of exports that
 * overlap) takes up to 130 bytes in a hash table. */

#ifndef DL_LOGS_SEEN_SEEN_JOBS_H
#define DL_LOGS_SEEN_SEEN_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job as it ran once: a requeued one has several. */
struct dl_seen_job {
  uint64_t cluster; /* hash of its name */
  uint64_t number;  /* of the job, or of the array of jobs */
  uint64_t part;    /* task of an array, component; 0: none */
  int64_t start;    /* s since 1970, or any number that distinguishes rows */
  uint64_t rest;    /* of the caller */
};

struct dl_seen_jobs;

void dl_seen_jobs_free(struct dl_seen_jobs *s); /* accepts NULL */

/* Adds a job, with *s NULL before the first. */
void dl_seen_jobs_add(struct dl_seen_jobs **s, const struct dl_seen_job *job);

/* Calls `found` for all jobs with the cluster, number and part of `job`. *s may
 * be NULL. */
void dl_seen_jobs_find(const struct dl_seen_jobs *s,
                       const struct dl_seen_job *job,
                       void (*found)(void *ctx, const struct dl_seen_job *job),
                       void *ctx);

#endif
