/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest predict of many runs as a stream: every row of a table (--input), every
 * combination of lists. */

#ifndef DL_CLI_PASSES_PREDICT_BATCH_H
#define DL_CLI_PASSES_PREDICT_BATCH_H

#include "cli/options/node_options.h"
#include "cli/options/input_options.h"
#include "cli/views/estimate_rows.h"

struct dl_predict_options {
  struct dl_job_options job;
  struct dl_node_options node;
  const char *methods;
  const char *model;     /* file, or NULL for the one that ships */
  const char *input;     /* table, or NULL */
  struct dl_shard shard; /* its rows */
  double coverage;       /* 0 .. 1 */
  unsigned known;        /* columns of --input that condition the estimates */
  double budget_kwh;     /* INFINITY without one */
  bool all, explain;
};

/* One row a run and method; the table's own columns come first, those that
 * an estimate has too under "measured_NAME". Memory does not grow with the
 * number of rows. `csv` is o->input. */
enum dl_status dl_predict_batch(struct dl_cli *cli,
                                const struct dl_predict_options *o,
                                const struct dl_model *m, struct dl_frame *f,
                                struct dl_csv *csv);

/* Takes the estimates of a table in place of an output. */
struct dl_batch_taker {
  void *ctx;
  /* Binds more columns to the frame, before its first row. */
  enum dl_status (*begin)(void *ctx, struct dl_frame *f, struct dl_diag *d);
  /* Takes the recommended estimate of a row at a line, in their order. */
  void (*row)(void *ctx, const struct dl_job *job,
              const struct dl_estimate *est, size_t line, struct dl_diag *d);
};

/* The same rows with their faults and warnings, but that of options for which
 * `csv` has columns, of which the frame is made. */
enum dl_status dl_predict_rows(struct dl_cli *cli,
                               const struct dl_predict_options *o,
                               const struct dl_model *m, struct dl_frame *f,
                               struct dl_csv *csv,
                               const struct dl_batch_taker *to);

/* One row a combination of o->job.axes and method, the last axis running
 * fastest. Memory does not grow with the number of rows, and they are the same
 * for any number of threads. */
enum dl_status dl_predict_sweep(struct dl_cli *cli,
                                const struct dl_predict_options *o,
                                const struct dl_model *m, struct dl_frame *f);

#endif
