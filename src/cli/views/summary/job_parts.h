/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a job beside its work, and the cores of a CPU that work. */

#ifndef DL_CLI_VIEWS_SUMMARY_JOB_PARTS_H
#define DL_CLI_VIEWS_SUMMARY_JOB_PARTS_H

#include "estimate/result.h"
#include "output/report.h"

/* Reports time and energy of start-up and idle tail by the physical method. */
void dl_predict_waits(struct dl_report *r, const struct dl_job *job,
                      const struct dl_estimate *est);

/* Reports the cores that a job on CPUs uses, and how: to people alone. writes:
 * a language model writes tokens. */
void dl_predict_cores(struct dl_report *r, const struct dl_job *job,
                      bool writes);

#endif
