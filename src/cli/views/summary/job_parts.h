/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of a job beside its work, and the cores of a CPU that work. */

#ifndef DL_CLI_VIEWS_SUMMARY_JOB_PARTS_H
#define DL_CLI_VIEWS_SUMMARY_JOB_PARTS_H

#include "estimate/result.h"
#include "output/report.h"

/* Reports how time and energy of a job are divided. */
void dl_predict_job_parts(struct dl_report *r, const struct dl_result *s);

#endif
