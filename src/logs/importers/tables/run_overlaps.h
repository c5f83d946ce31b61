/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counts energy once that several runs report: the ranks of a training, each of
 * which tracks the whole machine; windows within windows; two meters of one
 * node.
 *
 * Runs share hardware if a meter of the whole node names one host for both, or
 * if both are windows of one file of Zeus. CodeCarbon, if it tracks the
 * machine, and Eco2AI do not name the machine: runs of one project on equal
 * hardware share it if they take equal power at one time. Tasks of CodeCarbon
 * are parts of their run. GPUs in logs of power are one if they have one UUID.
 */

#ifndef DL_LOGS_IMPORTERS_TABLES_RUN_OVERLAPS_H
#define DL_LOGS_IMPORTERS_TABLES_RUN_OVERLAPS_H

#include "base/diag.h"
#include "logs/seen/seen_times.h"
#include "run/run.h"

/* Adds a run. `format` is the log format and `path` the file of runs that do
 * not state their own. Returns the energy (J) that earlier runs have not
 * measured, NaN if unknown; *time_share is the share of the run's time in which
 * none of them measured. */
double dl_run_overlaps_add(struct dl_seen_times *t, const struct dl_run *run,
                           const char *format, const char *path,
                           double *time_share);

/* Adds the devices of one run, each with its UUID as run_id. */
void dl_run_overlaps_add_devices(struct dl_seen_times *t,
                                 const struct dl_run *device, size_t n);

/* Warns about runs of which only a part counts. */
void dl_run_overlaps_warn(const struct dl_seen_times *t, struct dl_diag *d);

#endif
