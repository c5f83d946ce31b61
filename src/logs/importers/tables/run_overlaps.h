/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs that measured one piece of hardware at the same time: the ranks of a
 * training, each of which tracks the whole machine; windows within windows; two
 * meters of one node. Their energies must be counted once in a sum.
 *
 * Hardware is the same where a meter of the node names its host; in the windows
 * of one file of Zeus; and in runs of CodeCarbon, that track the machine, and
 * Eco2AI of one project whose hardware is alike, if they take the same power at
 * the same time: these do not name the machine.
 * Tasks of CodeCarbon are parts of their run. GPUs in logs of power are the
 * same if they have one UUID. */

#ifndef DL_LOGS_IMPORTERS_TABLES_RUN_OVERLAPS_H
#define DL_LOGS_IMPORTERS_TABLES_RUN_OVERLAPS_H

#include "base/diag.h"
#include "run/run.h"

struct dl_run_overlaps; /* NULL: no runs yet */

void dl_run_overlaps_free(struct dl_run_overlaps *o); /* accepts NULL */

/* Adds a run of a log of the format at the path, unless it says otherwise.
 * Returns the energy (J) that counts in it: what runs before have not measured;
 * *time_share is the share of its time in which none did. NaN: unknown. */
double dl_run_overlaps_take(struct dl_run_overlaps **o,
                            const struct dl_run *run, const char *format,
                            const char *path, double *time_share);

/* Adds the devices of one run, each with its UUID as run_id. */
void dl_run_overlaps_take_devices(struct dl_run_overlaps **o,
                                  const struct dl_run *device, size_t n);

/* Warns of the runs of which not all counts. */
void dl_run_overlaps_warn(const struct dl_run_overlaps *o, struct dl_diag *d);

#endif
