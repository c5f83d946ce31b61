/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Emissions of a run by a carbon intensity that changes by the hour. */

#ifndef DL_LOGS_EPOCHS_HOURLY_EMISSIONS_H
#define DL_LOGS_EPOCHS_HOURLY_EMISSIONS_H

#include "io/intensity_hours.h"
#include "logs/readings/log_summary.h"
#include "run/run.h"

/* Sets co2e_g of a run: its energy by the share that its trace, with an energy
 * curve, has in each hour. DL_EINPUT: the log has no points in time, or the
 * file does not have its hours. Times without a zone are UTC, with a warning.
 */
enum dl_status dl_emissions_of_trace(struct dl_run *run,
                                     const struct dl_log_summary *trace,
                                     const struct dl_hours *h, const char *path,
                                     struct dl_diag *d);

/* Does so for a run of a table, at constant power from its start on. */
enum dl_status dl_emissions_of_run(struct dl_run *run, const struct dl_hours *h,
                                   const char *path, struct dl_diag *d);

#endif
