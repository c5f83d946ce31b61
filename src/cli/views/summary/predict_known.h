/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Known values of a training, and the resulting waiting time. */

#ifndef DL_CLI_VIEWS_SUMMARY_PREDICT_KNOWN_H
#define DL_CLI_VIEWS_SUMMARY_PREDICT_KNOWN_H

#include "estimate/job.h"
#include "estimate/conditioning/conditioned.h"
#include "output/report.h"

/* The columns that are known, the share of the time in which the GPUs work, and
 * the power of GPUs that wait. Adds nothing if there are none. */
void dl_predict_known(struct dl_report *r, const struct dl_job *job,
                      const struct dl_conditioned *known);

#endif
