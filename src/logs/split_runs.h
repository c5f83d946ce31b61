/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several runs in one log, between times in which its devices are idle. */

#ifndef DL_LOGS_SPLIT_RUNS_H
#define DL_LOGS_SPLIT_RUNS_H

#include "logs/run_logs.h"

/* Makes a run of each span of work in the logs of source i, whose summary with
 * a curve is `log`, if there are several; the logs are read again for each.
 * *run is owned; *n is 0 if the log is of one run. */
enum dl_status dl_split_runs(const struct dl_run_logs *logs, size_t i,
                             const struct dl_log_summary *log,
                             struct dl_run **run, size_t *n, struct dl_diag *d);

#endif
