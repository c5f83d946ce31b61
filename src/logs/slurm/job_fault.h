/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Implausible values of jobs in an accounting. */

#ifndef DL_LOGS_SLURM_JOB_FAULT_H
#define DL_LOGS_SLURM_JOB_FAULT_H

#include "logs/log.h"
#include "logs/slurm/settle_jobs.h"

enum dl_job_fault_kind {
  DL_JOB_COUNTED_TWICE, /* its energy is a sum over steps that overlap */
  DL_JOB_ENERGY,        /* impossible */
  DL_JOB_DURATION       /* impossible, or longer than from start to end */
};

struct dl_job_fault {
  size_t job;  /* number in its part */
  size_t line; /* being read when it was found */
  enum dl_job_fault_kind kind;
  double x;    /* the energy, J, or the duration, s */
  double of_s; /* the time that it contradicts, s; NaN: none */
};

enum { DL_JOB_FAULTS = 2 };

/* Computes the utilization and the energy of a job from all its rows, and its
 * duration if only its steps have one. Returns the number of faults, whose job
 * and line are not set. */
size_t dl_job_figures(struct dl_cluster_job *job,
                      const struct dl_job_rows *rows,
                      struct dl_job_fault fault[DL_JOB_FAULTS]);

/* Warns about it in the log that the job, `id`, counts in. */
void dl_job_fault_warn(const struct dl_job_fault *f, struct dl_log *log,
                       const char *id);

#endif
