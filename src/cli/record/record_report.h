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
  const char *trace;   /* path of the recording, or NULL */
  const char *command; /* the program; NULL: none was started */
  const char *assumed; /* what the assumed power is based on, or NULL */
};

/* Adds all measurements to a report, whose texts point into the summary's. */
void dl_record_details(struct dl_report *r, const struct dl_record_summary *x);

/* Means over the epochs, without what lies before and behind them; NaN. */
void dl_record_mean_epoch(const struct dl_run *run, double *energy_j,
                          double *seconds);

/* The energy of CPUs that is assumed, J; of the program alone if its share of
 * the CPU time is known. NaN: none is. */
struct dl_interval dl_record_assumed(const struct dl_record_summary *x,
                                     bool of_program);

/* Why there is no estimate. */
const char *dl_record_lack_words(enum dl_record_lack lacks);

/* The part of a machine that a sensor is of: "GPU", "CPU (assumed)". */
const char *dl_sensor_part(const struct dl_sensor *x);

/* Writes the name of a device to the cleared text, with its index if other
 * devices have that name. */
struct dl_value dl_sensor_title(const struct dl_sensors *s,
                                const struct dl_sensor *x, struct dl_text *to);

/* A table of sensors, and what could be measured with more rights. */
struct dl_report *dl_sensors_report(const struct dl_sensors *s);

#endif
