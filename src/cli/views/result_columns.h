/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figures of a result as columns, shared by the commands that print
 * estimates. */

#ifndef DL_CLI_VIEWS_RESULT_COLUMNS_H
#define DL_CLI_VIEWS_RESULT_COLUMNS_H

#include "cli/command.h"
#include "cli/options/job_options.h"
#include "estimate/result.h"

/* Sets of columns that a table can have: columns of a smaller value come first.
 */
enum dl_result_columns {
  DL_COLUMNS_OF_ENERGY,   /* any energy has them, a projected one too */
  DL_COLUMNS_OF_ESTIMATE, /* and what only estimates have */
  DL_COLUMNS_OF_ROWS      /* and, in tables of many jobs, what was assumed */
};

enum { DL_MOST_RESULT_COLUMNS = 40 };

/* One estimate and where it comes from. */
struct dl_result_view {
  const struct dl_estimate *est;
  const struct dl_job *job; /* NULL except for DL_COLUMNS_OF_ROWS */
  bool recommended;
  const struct dl_footprint *foot;
  double coverage; /* 0 .. 1 */
};

/* Puts the columns into `to` and returns how many there are. Facility energy,
 * emissions and cost have a heading only if they are known. `all`: tables of
 * many jobs show the estimates of all methods, not one for each job. */
size_t dl_result_columns(struct dl_column to[DL_MOST_RESULT_COLUMNS],
                         enum dl_result_columns which,
                         const struct dl_footprint *foot, bool all);

/* "batch_size=256", ...: texts that the values of a row point to. */
enum { DL_MOST_ASSUMED_TEXTS = 24 };
struct dl_assumed_texts {
  char text[DL_MOST_ASSUMED_TEXTS][64];
  const char *s[DL_MOST_ASSUMED_TEXTS];
  size_t n;
};

/* Puts the values in the order of the columns. They point into the estimate and
 * *texts, which is needed for DL_COLUMNS_OF_ROWS alone. */
void dl_result_values(struct dl_value *to, enum dl_result_columns which,
                      const struct dl_result_view *v,
                      struct dl_assumed_texts *texts);

/* Whether a key is the key of a column. */
bool dl_is_result_column(const char *key);

/* The heading of a column of the runs table that people see beside estimates:
 * {.key = NULL} for other columns. */
struct dl_column dl_setting_column(const char *name);

#endif
