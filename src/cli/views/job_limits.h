/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Warnings of what a job asks of its GPU and its network. */

#ifndef DL_CLI_VIEWS_JOB_LIMITS_H
#define DL_CLI_VIEWS_JOB_LIMITS_H

#include "estimate/job.h"

/* Warns of a batch that exceeds the GPU's memory or the data, of a precision
 * for which the GPU has no peak rate, of a link that is not known, and of a
 * pipeline with few micro-batches. */
void dl_warn_limits(const struct dl_job *job, struct dl_diag *d);

/* The same for many jobs: counted, with one warning of each kind at the end. */
struct dl_limits {
  size_t over, no_rate, too_long, waiting, unfilled, whole, no_link;
};
void dl_limits_count(struct dl_limits *l, const struct dl_job *job);
void dl_limits_warn(const struct dl_limits *l, const char *path,
                    struct dl_diag *d);

#endif
