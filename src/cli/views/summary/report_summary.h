/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest report prints this first: the energy of all jobs. */

#ifndef DL_CLI_VIEWS_SUMMARY_REPORT_SUMMARY_H
#define DL_CLI_VIEWS_SUMMARY_REPORT_SUMMARY_H

#include "cli/options/site_options.h"
#include "estimate/accounting/group_totals.h"
#include "output/report.h"

/* Adds a group of that title for people: energy, time of GPUs, emissions and
 * cost of all jobs, and what of the energy is measured. */
void dl_report_answer(struct dl_report *r, const struct dl_sums *s,
                      const struct dl_footprint *foot, struct dl_text *title);

/* Names the options that show more, unless that is there: the `months`, `all`
 * jobs, the figures behind the estimates. */
void dl_report_hints(struct dl_report *r, bool months, bool all, bool explain,
                     bool estimated);

#endif
