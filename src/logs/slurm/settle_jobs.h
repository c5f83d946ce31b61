/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which jobs of an accounting count: each row once, and only next to the other
 * rows of its job. */

#ifndef DL_LOGS_SLURM_SETTLE_JOBS_H
#define DL_LOGS_SLURM_SETTLE_JOBS_H

#include "logs/log.h"
#include "logs/seen/seen_jobs.h"
#include "logs/slurm/slurm.h"

/* Names of steps: these, 16 + N for step N, and hashes from 2^31 on. */
enum {
  DL_STEP_BATCH = 1,
  DL_STEP_EXTERN,
  DL_STEP_INTERACTIVE,
  DL_STEP_FIRST = 16
};

/* Returns the name of a step from the text behind the "." of an id. */
uint32_t dl_step_name(const char *s);

/* A step of a job. */
struct dl_job_step {
  uint32_t name;
  int64_t start; /* s since 1970, or, unless `timed`, a hash of its row */
  bool timed;
  size_t line;
};

/* The rows of one job that follow each other. */
struct dl_job_rows {
  /* Cluster, number and part of the job, and its start: s since 1970, or,
   * unless `timed`, a hash of the row. */
  struct dl_seen_job job;
  bool timed;
  bool has_line; /* there is a row of the job itself */
  size_t line;   /* of it, or of the first step */
  size_t repeat; /* line of a row that is there twice, 0: none */
  size_t first;  /* step, in the array of all */
  size_t n_steps;

  /* Values collected from the rows read so far. */
  double energy_j[DL_SLURM_STEPS]; /* by kind of step */
  double step_s;                   /* the longest step; 0: none */
  double n_nodes;
  double cpu_s;      /* processor time used, over all processors */
  double busy_gpu_s; /* GPU time in use, summed over steps; NaN: unknown */
  const char *nodes; /* NodeList, borrowed; NULL: unknown */
  bool unfinished;   /* another state of it will follow */
  bool stateless;    /* the table does not say whether it has ended, */
  double elapsed_s;  /* and of two rows the time alone differs */
  bool last;         /* before another header: the rows may go on elsewhere */
};

/* Sets number and part from the id of a job: "123", "123_4", "123+0". */
void dl_job_number(struct dl_seen_job *job, const char *id, size_t len);

/* Whether a run of a job with its own row counts already; *any: other rows of
 * the job do. */
bool dl_job_counts(struct dl_log *log, const struct dl_job_rows *rows,
                   bool *any);

/* Remembers that a job counts. */
void dl_remember_job(struct dl_log *log, const struct dl_job_rows *rows,
                     const struct dl_job_step *steps);

/* Warns once in a log that a row was read before. */
void dl_warn_repeat(struct dl_log *log, struct dl_log *part, size_t line);

/* Subtracts from a job's energy the part that other jobs have counted on its
 * nodes. A shard does not have all jobs, so its energies stay. */
void dl_share_nodes(struct dl_seen_rows *seen, const struct dl_shard *shard,
                    struct dl_cluster_job *job, const struct dl_job_rows *rows);

/* Warns about such jobs, after the last table. */
void dl_warn_shared_nodes(const struct dl_seen_rows *seen, struct dl_diag *d);

/* Whether the job counts; it does not count again. Otherwise its rows have been
 * reported in `part`, or are known and a warning says so. `id` is the job's. */
bool dl_settle_job(struct dl_log *log, struct dl_log *part, const char *id,
                   const struct dl_job_rows *rows,
                   const struct dl_job_step *steps);

#endif
