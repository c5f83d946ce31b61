/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary of dlest record. */

#ifndef DL_CLI_RECORD_RECORD_REPORT_H
#define DL_CLI_RECORD_RECORD_REPORT_H

#include "cli/options/site_options.h"
#include "cli/record/record_estimate.h"
#include "cli/record/record_job.h"
#include "output/report.h"
#include "record/recorder.h"
#include "run/run.h"

/* A recording that is over. */
struct dl_record_summary {
  const struct dl_run *run;
  const struct dl_sensors *sensors;
  const struct dl_record_result *result;
  const struct dl_record_job *job;
  const struct dl_record_estimate *estimate;
  const struct dl_footprint *foot;
  const char *trace; /* path of the recording, or NULL */
};

/* Reports the measurements by device. The texts of the report point into the
 * summary's. */
struct dl_report *dl_record_report(const struct dl_record_summary *x);

/* The part of a machine that a sensor is of: "GPU", "CPU (assumed)". */
const char *dl_sensor_part(const struct dl_sensor *x);

/* Writes the name of a device to the cleared text, with its index if other
 * devices have that name. */
struct dl_value dl_sensor_title(const struct dl_sensors *s,
                                const struct dl_sensor *x, struct dl_text *to);

/* Energy of the sensors that are assumed; NaN: none is. */
double dl_assumed_energy(const struct dl_sensors *s);

/* A table of sensors, and what could be measured with more rights. */
struct dl_report *dl_sensors_report(const struct dl_sensors *s);

#endif
