/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates as report rows, shared by the commands that print them. */

#ifndef DL_CLI_VIEWS_ESTIMATE_ROWS_H
#define DL_CLI_VIEWS_ESTIMATE_ROWS_H

#include "cli/command.h"
#include "cli/options/job_options.h"
#include "estimate/session.h"

enum {
  DL_ESTIMATE_COST = 12,
  DL_ESTIMATE_THROUGHPUT = 17, /* what lies before it any energy has */
  DL_ESTIMATE_PRECISION = 20,  /* tables of many runs give it a heading */
  DL_ESTIMATE_BUSY,
  DL_ESTIMATE_COLUMNS = DL_ESTIMATE_BUSY + 5 /* with intervals of power, time */
};

extern const struct dl_column dl_estimate_columns[DL_ESTIMATE_COLUMNS];

/* The columns; facility energy, emissions and cost have a heading only if they
 * are known. They borrow from foot. */
void dl_estimate_headings(struct dl_column columns[DL_ESTIMATE_COLUMNS],
                          const struct dl_footprint *foot);

/* Values of an estimate in the order of dl_estimate_columns. They point into
 * est. */
void dl_estimate_values(const struct dl_estimate *est,
                        const struct dl_footprint *foot, double coverage,
                        struct dl_value v[DL_ESTIMATE_COLUMNS]);

/* The same in tables of many runs. People see one estimate for each run, the
 * recommended one, unless `all`. */
void dl_estimate_row_headings(struct dl_column columns[DL_ESTIMATE_COLUMNS],
                              const struct dl_footprint *foot, bool all);

/* The heading of a column of the runs table that people see beside estimates:
 * {.key = NULL} for other columns. */
struct dl_column dl_setting_column(const char *name);

/* Columns that follow those of an estimate in tables of many runs: whether it
 * is the recommended one, the factors of emissions and cost, the memory needed,
 * and what was not given, with its value. */
enum { DL_ROW_COLUMNS = 9 };
extern const struct dl_column dl_row_columns[DL_ROW_COLUMNS];

void dl_row_headings(struct dl_column columns[DL_ROW_COLUMNS],
                     const struct dl_footprint *foot, bool all);

/* "batch_size=256", ...: the texts of a row, until it is written. */
enum { DL_MOST_TAKEN = DL_MOST_ASSUMED + 5 };
struct dl_taken {
  char text[DL_MOST_TAKEN][64];
  const char *s[DL_MOST_TAKEN];
};

void dl_row_values(const struct dl_footprint *foot, bool recommended,
                   const struct dl_job *job, struct dl_taken *taken,
                   struct dl_value v[DL_ROW_COLUMNS]);

#endif
