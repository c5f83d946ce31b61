/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of the report of dlest predict: the settings, the limits of the
 * job, and where the time and the energy go. */

#ifndef DL_CLI_VIEWS_PREDICT_REPORT_H
#define DL_CLI_VIEWS_PREDICT_REPORT_H

#include "cli/options/job_options.h"
#include "cli/views/summary/predict_summary.h"
#include "estimate/predictions.h"
#include "output/report.h"

/* The settings that the estimates are based on, the memory needed and, with
 * several GPUs, the gradient all-reduce of a step. */
void dl_predict_settings(struct dl_report *r, const struct dl_job *job,
                         const struct dl_job_options *o,
                         const struct dl_assumed_names *assumed);

/* Training: the time of an epoch on one GPU and its bottleneck (of a language
 * model that alone), by the physical method; with `explain` also the time of
 * each part. */
void dl_predict_parts(struct dl_report *r, const struct dl_job_predictions *p,
                      bool explain);

/* Inference by the method flops, prefill and decode apart; text shows it only
 * if `shown`. */
void dl_predict_work(struct dl_report *r, const struct dl_job *job, bool shown);

/* Inference by the physical method: prefill, decode and idle time, per request
 * and per token, the highest throughput and the bottleneck; with `explain` also
 * the time of each part. Adds nothing without an estimate. */
void dl_predict_served(struct dl_report *r, const struct dl_job *job,
                       const struct dl_served *s, bool explain);

#endif
