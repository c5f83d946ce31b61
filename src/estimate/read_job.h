/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs from the rows of a plan. */

#ifndef DL_ESTIMATE_READ_JOB_H
#define DL_ESTIMATE_READ_JOB_H

#include "estimate/job.h"

/* Rows hold the quantities of descriptors of a job in these places. */
struct dl_job_fields {
  struct dl_row_ref tdp_w, idle_w, context_w, bandwidth_gb_s;
  unsigned known; /* set of known values (conditioning/known.h) */
};

/* Adds the steps for all that estimators take from a run. */
enum dl_status dl_job_bind(struct dl_job_fields *s, struct dl_row_plan *f,
                           struct dl_diag *d);

/* The job of a row, which must live as long as the job. */
void dl_job_read(struct dl_job *job, const struct dl_job_fields *s,
                 const struct dl_row *row);

#endif
