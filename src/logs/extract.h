/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes runs of logs. */

#ifndef DL_LOGS_EXTRACT_H
#define DL_LOGS_EXTRACT_H

#include "io/shard.h"
#include "logs/epochs/epochs.h"
#include "logs/readings/log_summary.h"
#include "logs/run_settings.h"
#include "run/run.h"

struct dl_extract_options {
  struct dl_log_options log;
  struct dl_meter_options meter;
  bool find_epochs;                   /* if no log states them, */
  struct dl_cycles_options epochs;    /* by these lengths and numbers */
  struct dl_shard shard;              /* the runs that are made */
  const struct dl_hours *hours;       /* of the carbon intensity, for co2e_g; or
                                         NULL */
  double split_idle_s;                /* makes a run of each time between idle
                                         times of this length; 0: of each log */
  bool alone;                         /* each log is a run of its own */
  bool nodes;                         /* all logs are of nodes of one run */
  const struct dl_settings *settings; /* NULL: none */
  /* Called by one thread at a time; may be NULL. `done` of `total` bytes have
   * been read (total 0: unknown). */
  void (*progress)(void *ctx, size_t done, size_t total);
  /* Receives a run; extra has one cell per column of dl_settings_extra. Runs
   * come in the order of their logs. */
  enum dl_status (*sink)(void *ctx, const struct dl_run *run,
                         char *const *extra, struct dl_diag *d);
  /* Receives the trace of a run before the run itself, from one thread at a
   * time; may be NULL. */
  enum dl_status (*inspect)(void *ctx, const struct dl_log_summary *trace,
                            struct dl_diag *d);
  void *ctx;
};

/* Makes runs of logs, several logs in parallel; the results do not depend on
 * the number of threads. A log that cannot be used is reported and skipped
 * (dl_skip_at); if it is the only one, its error is returned. */
enum dl_status dl_extract(char *const *paths, size_t n,
                          const struct dl_extract_options *o,
                          struct dl_diag *d);

#endif
