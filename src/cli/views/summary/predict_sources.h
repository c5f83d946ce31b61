/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the figures of a job's descriptors come from. */

#ifndef DL_CLI_VIEWS_SUMMARY_PREDICT_SOURCES_H
#define DL_CLI_VIEWS_SUMMARY_PREDICT_SOURCES_H

#include "estimate/job.h"
#include "output/report.h"

/* A table, for people: the figures of the accelerator and the network that
 * methods use, each with its source. */
void dl_predict_sources(struct dl_report *r, const struct dl_job *job);

#endif
