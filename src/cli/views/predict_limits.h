/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What dlest predict says of a job's limits: memory, the exchange between
 * GPUs, rates that the GPU does not have. */

#ifndef DL_CLI_VIEWS_PREDICT_LIMITS_H
#define DL_CLI_VIEWS_PREDICT_LIMITS_H

#include "base/diag.h"
#include "estimate/job.h"
#include "output/report.h"

/* Memory needed; with several GPUs, what a step of training exchanges. */
void dl_predict_limits(struct dl_report *r, const struct dl_job *job);

/* Warns of a batch beyond the GPU's memory, and of a precision that the GPU
 * has no rate of its own for. */
void dl_warn_limits(const struct dl_job *job, struct dl_diag *d);

/* The same for many jobs: counted, and said once at the end. */
struct dl_limits {
  size_t over, no_rate;
};
void dl_limits_count(struct dl_limits *l, const struct dl_job *job);
void dl_limits_warn(const struct dl_limits *l, const char *path,
                    struct dl_diag *d);

#endif
