/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recording: a table of samples with a line for each moment, which the
 * importer `samples` reads. */

#ifndef DL_RECORD_TRACE_H
#define DL_RECORD_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include "sensors/sensors.h"

struct dl_trace {
  FILE *f;
  const char *path; /* for messages */

  /* Properties of the recording; NULL if unknown. */
  const char *command; /* the program and its arguments */
  const char *host;
  const char *job;      /* what the recordings of all nodes have in common */
  size_t node, n_nodes; /* this one of so many, from 0 */

  unsigned *columns; /* of each sensor, as bits, set by dl_trace_begin; owned */
};

/* Writes the header: the properties and what is measured, as comments, and the
 * columns. A sensor has a column for each quantity that its last reading gave.
 */
enum dl_status dl_trace_begin(struct dl_trace *t, const struct dl_sensors *s,
                              struct dl_diag *d);

/* Writes a line that readers skip. */
void dl_trace_comment(struct dl_trace *t, const char *format, ...)
    DL_PRINTF(2, 3);

/* Writes the last readings, of a time in ns since 1970, and flushes: a recorder
 * that is killed leaves complete lines. */
enum dl_status dl_trace_sample(struct dl_trace *t, const struct dl_sensors *s,
                               int64_t ns, struct dl_diag *d);
void dl_trace_free(struct dl_trace *t);

/* A time in ns since 1970 as "2026-11-22T14:05:09.125Z". */
enum { DL_STAMP_SIZE = 32 };
void dl_time_stamp(int64_t ns, char to[DL_STAMP_SIZE]);

#endif
