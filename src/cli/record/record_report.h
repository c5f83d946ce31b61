/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary of dlest record. */

#ifndef DL_CLI_RECORD_RECORD_REPORT_H
#define DL_CLI_RECORD_RECORD_REPORT_H

#include "output/report.h"
#include "record/recorder.h"
#include "run/run.h"

/* What was measured, of which devices. NULL: out of memory. Its texts point
 * into the arguments. `trace`: path of the recording, or NULL. */
struct dl_report *dl_record_report(const struct dl_run *run,
                                   const struct dl_sensors *s,
                                   const struct dl_record_result *result,
                                   const char *trace);

/* A table of sensors, and what could be measured with more rights. */
struct dl_report *dl_sensors_report(const struct dl_sensors *s);

#endif
