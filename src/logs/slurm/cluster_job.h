/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an accounting says of a job of a cluster: the few columns of a run that
 * sacct fills in, in a tenth of its memory, since a table has millions. */

#ifndef DL_LOGS_SLURM_CLUSTER_JOB_H
#define DL_LOGS_SLURM_CLUSTER_JOB_H

#include "run/run.h"

/* Members are named like those of a run. Texts are borrowed; NULL and NaN:
 * unknown. */
struct dl_cluster_job {
  const char *run_id, *job_name, *user, *project, *partition, *state;
  const char *start_time, *gpu, *boundary;
  double duration_s, n_nodes, n_cpus, ram_gb, n_gpus, gpu_util, cpu_util;
  double energy_j;
  size_t line; /* of the table */
};

/* The job of a run, which must live as long. */
struct dl_cluster_job dl_cluster_job_of(const struct dl_run *r);

/* Sets the columns of a job in a run, which borrows its texts. The meter is
 * that of the node. */
void dl_cluster_job_fill(const struct dl_cluster_job *job, struct dl_run *r);

#endif
