/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sensors that dlest record reads. */

#ifndef DL_CLI_RECORD_RECORD_SENSORS_H
#define DL_CLI_RECORD_RECORD_SENSORS_H

#include "cli/command.h"
#include "cli/record/record_estimate.h"
#include "cli/record/record_job.h"
#include "sensors/sensors.h"

/* Finds the sensors and reads them once, with warnings about what cannot be
 * measured. If there are none, the power of this machine's CPUs is assumed, by
 * their load and the TDP that the catalogue has for them; *m gets their
 * name. Error (DL_EINPUT): these are unknown, too. Free *s also after an error.
 */
enum dl_status dl_record_sensors_find(struct dl_cli *cli,
                                      struct dl_record_machine *m,
                                      const struct dl_record_job *job,
                                      struct dl_sensors *s);

/* Appends "CPUs by load and TDP, 540 W of 2 x Intel Xeon Platinum 8380" where
 * their power is assumed. */
void dl_record_describe_assumed(const struct dl_sensors *s,
                                const struct dl_record_machine *m,
                                struct dl_text *to);

/* The name that all GPUs have; NULL: they differ, or there are none. */
const char *dl_record_gpu_name(const struct dl_sensors *s);

#endif
