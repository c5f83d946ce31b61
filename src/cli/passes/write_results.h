/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The results of many rows as a stream: every row of a table, every combination
 * of lists. */

#ifndef DL_CLI_PASSES_WRITE_RESULTS_H
#define DL_CLI_PASSES_WRITE_RESULTS_H

#include "cli/options/hours_options.h"
#include "cli/options/node_options.h"
#include "cli/views/result_columns.h"
#include "estimate/rows.h"

struct dl_predict_options {
  struct dl_job_options job;
  struct dl_node_options node;
  struct dl_hours_options hours;
  const char *methods;
  const char *model; /* file, or NULL for the one that ships */
  const char *input; /* table, or NULL */
  double coverage;   /* 0 .. 1 */
  unsigned known;    /* columns of --input that condition the estimates */
  double budget_kwh; /* INFINITY without one */
  bool all, explain;
};

/* Writes one row for each job and, with --all, method: the columns of the table
 * first, under "measured_NAME" if an estimate has them too; in a sweep the
 * settings, the last axis running fastest. Memory does not grow with the number
 * of rows, and the rows do not depend on the number of threads. Errors: as
 * dl_rows_each, and DL_EBUDGET. */
enum dl_status dl_write_results(struct dl_cli *cli,
                                const struct dl_predict_options *o,
                                const struct dl_rows *rows,
                                struct dl_engine *e);

#endif
