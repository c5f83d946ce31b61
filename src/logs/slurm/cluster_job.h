/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A job of a cluster: the few columns of a run that sacct fills in, in a tenth
 * of a run's memory, since a table has millions of jobs. */

#ifndef DL_LOGS_SLURM_CLUSTER_JOB_H
#define DL_LOGS_SLURM_CLUSTER_JOB_H

#include "run/run.h"

/* Its columns of a run, beside the energy and the boundary. */
#define DL_CLUSTER_TEXTS(X)                                                    \
  X(run_id)                                                                    \
  X(job_name) X(user) X(project) X(partition) X(state) X(start_time) X(gpu)
#define DL_CLUSTER_NUMBERS(X)                                                  \
  X(duration_s) X(n_nodes) X(n_cpus) X(ram_gb) X(n_gpus) X(gpu_util) X(cpu_util)

/* Members have the names of a run's columns. Texts are borrowed; NULL and NaN:
 * unknown. */
struct dl_cluster_job {
#define TEXT(name) const char *name;
#define NUMBER(name) double name;
  DL_CLUSTER_TEXTS(TEXT)
  DL_CLUSTER_NUMBERS(NUMBER)
#undef TEXT
#undef NUMBER
  double gpu_share; /* the share of a GPU that each of n_gpus has (MIG); 1: all
                       of it */
  double energy_j;
  const char *boundary;
  bool shared;      /* some energy of its nodes counts in other jobs */
  const char *path; /* of its table; NULL: that which is being read */
  size_t line;      /* of the table */
};

/* Splits the type of a GPU that ends with a profile, as schedulers call slices:
 * "a100_1g.5gb", "1g.10gb", "nvidia_a100_80gb_pcie_mig_3g.40gb". Returns the
 * length of the GPU's own name (0: none), and the share of its compute; for
 * other texts their length and 1. */
size_t dl_mig_type(const char *type, size_t len, double *share);

/* The job of a run, which must live as long. */
struct dl_cluster_job dl_cluster_job_of(const struct dl_run *r);

/* Sets the columns of a job in a run, which borrows its texts. The node's meter
 * measured it. */
void dl_cluster_job_fill(const struct dl_cluster_job *job, struct dl_run *r);

#endif
