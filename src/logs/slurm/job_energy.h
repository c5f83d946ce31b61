/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs of a scheduler, which metered the node, and the GPU logs of the same
 * jobs: E_rest = E_node - sum of E_gpu (Caspart et al., arXiv 2212.01698). */

#ifndef DL_LOGS_SLURM_JOB_ENERGY_H
#define DL_LOGS_SLURM_JOB_ENERGY_H

#include "base/diag.h"
#include "run/run.h"

/* A run measured from a GPU log, waiting for its job. */
struct dl_waiting {
  const char *path; /* of the log */
  struct dl_run run;
  char **extra;
  bool taken; /* by a job */
};

/* The GPU log of a job: its path has the job's number between other
 * characters than digits, or there is one log only and `only_job` says that
 * there is one job only. NULL: none. */
struct dl_waiting *dl_job_log(struct dl_waiting *waiting, size_t n,
                              const struct dl_run *job, bool only_job);

/* Adds what the GPU log measured to the job. Warns where their durations
 * differ by more than 2 %. */
void dl_job_add(struct dl_run *job, struct dl_waiting *log, struct dl_diag *d);

#endif
