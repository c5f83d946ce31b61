/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs, groups of them and sums as dlest report prints them. */

#ifndef DL_CLI_VIEWS_REPORT_ROWS_H
#define DL_CLI_VIEWS_REPORT_ROWS_H

#include "cli/command.h"
#include "cli/options/site_options.h"
#include "estimate/accounting/group_totals.h"

enum { DL_JOB_COLUMNS = 25 };

/* The columns of a job; what is not known at all has no heading. They borrow
 * from foot. */
/* The footprint of jobs whose mean intensity is that; of sums of jobs. Without
 * intensities by the hour it is `foot`. */
struct dl_footprint dl_job_footprint(const struct dl_footprint *foot,
                                     double g_kwh);
struct dl_footprint dl_sums_footprint(const struct dl_footprint *foot,
                                      const struct dl_sums *s);

void dl_job_headings(struct dl_column columns[DL_JOB_COLUMNS],
                     const struct dl_footprint *foot);

/* The values of a job in that order. They point into job and figures. */
void dl_job_values(const struct dl_cluster_job *job,
                   const struct dl_accounted *figures,
                   const struct dl_footprint *foot,
                   struct dl_value v[DL_JOB_COLUMNS]);

enum { DL_MONTH_SIZE = sizeof "2024-03" };

/* Appends ", 2024-01 to 2024-12": the first and the last month of jobs ("":
 * unknown) and of groups (NULL: none). */
void dl_report_add_period(struct dl_text *t, const struct dl_group_totals *of,
                          const char months[2][DL_MONTH_SIZE]);

/* A table of groups, by the keys that are set; people see the first of them
 * (SIZE_MAX: all; 0: no table). */
#define DL_MOST_GROUPS 10
void dl_report_groups(struct dl_report *r, const struct dl_group_totals *t,
                      const bool keys[DL_N_KEYS],
                      const struct dl_footprint *foot, size_t most, bool main);

/* The sums over all jobs. */
void dl_report_total(struct dl_report *r, const struct dl_sums *s,
                     const struct dl_footprint *foot);

/* The constants behind the estimates, with sources and years. */
void dl_report_constants(struct dl_report *r, const struct dl_accounting *a);

#endif
