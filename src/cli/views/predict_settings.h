/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What dlest predict says of the job itself. */

#ifndef DL_CLI_VIEWS_PREDICT_SETTINGS_H
#define DL_CLI_VIEWS_PREDICT_SETTINGS_H

#include "cli/options/job_options.h"
#include "estimate/predictions.h"
#include "output/report.h"

/* The settings that an estimate is based on. */
void dl_predict_settings(struct dl_report *r, const struct dl_job *job,
                         const struct dl_job_options *o);

/* Inference: prefill and decode apart, as the method flops counts them; text
 * has it only where it is to be shown. */
void dl_predict_work(struct dl_report *r, const struct dl_job *job, bool shown);

/* What binds an epoch and how long it takes on one GPU, by the physical
 * method; with `explain` every part of it. */
void dl_predict_parts(struct dl_report *r, const struct dl_physical_parts *e,
                      bool explain);

#endif
