/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Warnings of what a job asks of its GPU and its network. */

#ifndef DL_CLI_VIEWS_JOB_LIMITS_H
#define DL_CLI_VIEWS_JOB_LIMITS_H

#include "estimate/job.h"
#include "estimate/methods/estimator.h"
#include "output/report.h"

/* Warns of a batch that exceeds the GPU's memory or the data, or that requests
 * do not fill, of a precision for which the GPU has no peak rate, of a link
 * that is not known, of a pipeline with few micro-batches, of a known power
 * that waiting GPUs draw, of a loader that is assumed or slower than a known
 * speed, and of a duration that the recommended estimate (or NULL) does not
 * take. */
void dl_warn_limits(const struct dl_job *job, const struct dl_estimate *best,
                    struct dl_diag *d);

/* The same for many jobs: counted, with one warning of each kind at the end. */
enum { DL_LIMITS = 15 };
struct dl_limits {
  size_t rows[DL_LIMITS];
  size_t n, n_outside; /* rows with an estimate; of them outside the training
                          data, and in which quantities */
  const char *quantity[DL_MOST_OUTSIDE];
  size_t n_quantities;
};
void dl_limits_count(struct dl_limits *l, const struct dl_job *job,
                     const struct dl_estimate *best);
void dl_limits_add(struct dl_limits *l, const struct dl_limits *more);
void dl_limits_warn(const struct dl_limits *l, const char *path,
                    struct dl_diag *d);

/* Says for people how many of the estimates are outside the training data, and
 * in which quantities. */
void dl_limits_say(const struct dl_limits *l, struct dl_report *r);

#endif
