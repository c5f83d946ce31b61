/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the logs of one run. */

#ifndef DL_LOGS_RUN_LOGS_H
#define DL_LOGS_RUN_LOGS_H

#include "logs/extract.h"
#include "logs/log_grouping.h"

/* Logs of a run: its trace and companions. */
enum { DL_RUN_LOGS_MAX = 8 };

/* The sources of the logs; `progress` as in dl_summary_options. */
struct dl_run_logs {
  const struct dl_log_grouping *all;
  const struct dl_extract_options *o;
  void (*progress)(void *ctx, size_t bytes);
  void *ctx;
};

/* Summarises the logs of the run of source i: its trace first. The logs of
 * several nodes become one. log[0 .. *n], as far as there are so many, are the
 * caller's to free, also after an error; they are zero bytes before. */
enum dl_status dl_run_logs_read(const struct dl_run_logs *x, size_t i,
                                struct dl_log_summary log[DL_RUN_LOGS_MAX],
                                size_t *n, struct dl_diag *d);

#endif
