/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Differences between the clocks of two logs of one run. */

#ifndef DL_LOGS_READINGS_CLOCK_SHIFT_H
#define DL_LOGS_READINGS_CLOCK_SHIFT_H

#include "logs/log.h"

/* An epoch that ends this much after its trace is taken to end with it. */
#define DL_MARK_LATE_NS (INT64_C(10) * DL_SECOND)

/* The time that a log covers, and its clock. */
struct dl_log_span {
  int64_t start_ns, end_ns;
  enum dl_clock clock;
};

/* Warns that the times of `log` were moved by shift_ns to `other`, the clock of
 * the GPU log, if both have dates: otherwise a shift is expected. */
void dl_clock_shift_warn(const struct dl_log *log, int64_t shift_ns,
                         enum dl_clock other, struct dl_diag *d);

/* Returns the shift (ns) that makes the times of a log match the clock of
 * another log: multiples of 15 min if only one of them states its time zone, of
 * 1 h if neither does and they would not overlap, of 1 day if one has no dates;
 * the whole difference if one has relative times (which start near 0 or
 * anywhere). 0: they match. */
int64_t dl_clock_shift(int64_t start_ns, enum dl_clock clock,
                       const struct dl_log_span *other);

/* Returns the shift (ns) of the end times of n > 0 epochs: they must fall
 * within the trace if possible, and the first epoch must begin with it.
 * Relative times count from the beginning of the trace. */
int64_t dl_clock_shift_marks(const int64_t *mark, size_t n, enum dl_clock clock,
                             const struct dl_log_span *trace);

#endif
