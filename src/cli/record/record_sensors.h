/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sensors that dlest record reads. */

#ifndef DL_CLI_RECORD_RECORD_SENSORS_H
#define DL_CLI_RECORD_RECORD_SENSORS_H

#include "cli/command.h"
#include "cli/record/record_estimate.h"
#include "cli/record/record_job.h"
#include "sensors/sensors.h"

struct dl_record_sensor_options {
  const char *gpus; /* NULL: those that the program sees */
  double cpu_tdp_w; /* NaN: not given */
  bool allow_none;
};

/* Finds the sensors and reads them once, with warnings about what cannot be
 * measured. If there are none, the power of this machine's CPUs is assumed, by
 * their load and the TDP that the catalogue has for them; *cpus gets their
 * name. Error (DL_EINPUT): these are unknown, too. Free *s also after an error.
 */
enum dl_status dl_record_sensors_find(struct dl_cli *cli,
                                      const struct dl_record_sensor_options *o,
                                      const struct dl_record_job *job,
                                      struct dl_sensors *s,
                                      struct dl_record_cpus *cpus);

/* Appends "CPUs by load and TDP, 540 W of 2 x Intel Xeon Platinum 8380" where
 * their power is assumed. */
void dl_record_describe_assumed(const struct dl_sensors *s,
                                const struct dl_record_cpus *cpus,
                                struct dl_text *to);

/* The name that all GPUs have; NULL: they differ, or there are none. */
const char *dl_record_gpu_name(const struct dl_sensors *s);

#endif
