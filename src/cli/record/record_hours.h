/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The carbon intensity by the hour of what dlest record measures. */

#ifndef DL_CLI_RECORD_RECORD_HOURS_H
#define DL_CLI_RECORD_RECORD_HOURS_H

#include "cli/options/site_options.h"
#include "io/intensity_hours.h"
#include "record/recorder.h"
#include "run/run.h"

/* Reads the file before a recording. The intensity of the footprint is unknown
 * until it is over. DL_EINPUT: as dl_hours_read, or the file does not have the
 * present time. Free *h also after an error. Without a path nothing is done. */
enum dl_status dl_record_hours_open(struct dl_hours *h, const char *path,
                                    struct dl_footprint *foot,
                                    struct dl_diag *d);

/* Reads the file again, which may have grown meanwhile, and sets the intensity
 * to its mean over a recording, as at constant power. NULL: there is no
 * path; or, with a warning, the file does not have all of it, and the intensity
 * stays unknown. */
const struct dl_hours *dl_record_hours_take(struct dl_hours *h,
                                            const char *path,
                                            const struct dl_record_result *of,
                                            struct dl_footprint *foot,
                                            struct dl_diag *d);

/* Sets the intensity to what the emissions of a run (co2e_g), whose hours count
 * by their energy, are of its energy; leaves it if they are unknown. */
void dl_record_hours_weigh(const struct dl_run *run, struct dl_footprint *foot);

#endif
