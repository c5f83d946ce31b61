/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Adds GPU logs to the jobs of a scheduler, which metered the nodes: E_rest =
 * E_node - sum of E_gpu (Caspart et al., arXiv 2212.01698). */

#ifndef DL_LOGS_SLURM_JOB_ENERGY_H
#define DL_LOGS_SLURM_JOB_ENERGY_H

#include "base/diag.h"
#include "run/run.h"

/* A run measured from a GPU log, waiting for its job. */
struct dl_waiting_run {
  const char *path; /* of the log */
  struct dl_run run;
  char **extra;
  bool taken; /* a job has got its values */
};

/* The GPU log of a job: its path contains the job's number, not as a part of a
 * longer one, or it is the only log of the only job (`only_job`). NULL: none.
 */
struct dl_waiting_run *dl_job_log(struct dl_waiting_run *waiting, size_t n,
                                  const struct dl_run *job, bool only_job);

/* Adds the values measured by the GPU log to the job. Warns where their
 * durations differ by more than 2 %. */
void dl_job_add(struct dl_run *job, struct dl_waiting_run *log,
                struct dl_diag *d);

#endif
