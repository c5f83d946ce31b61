/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of a log that counts: samples from one time on, or up to another. */

#ifndef DL_LOGS_IMPORTERS_TIME_BOUND_H
#define DL_LOGS_IMPORTERS_TIME_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timestamp.h"

/* One end of a window. */
struct dl_time_bound {
  enum { DL_BOUND_NONE, DL_BOUND_TIME, DL_BOUND_ELAPSED } is;
  struct dl_timestamp time; /* a time of day: on the day of the first sample */
  int64_t elapsed_ns;       /* since the first sample of the log */
};

/* Reads a point in time as logs write them, or a time since the first sample:
 * "2024-04-11 14:43", "14:43:00", "90m". False for other texts. */
bool dl_time_bound_read(struct dl_time_bound *b, const char *text);

/* Returns the time of a bound on the clock of a log, by its first sample and
 * whether its times name a zone; `otherwise` where there is no bound. Times
 * without a zone are UTC in a log with zones. */
int64_t dl_time_bound_ns(const struct dl_time_bound *b, int64_t first_ns,
                         bool zoned, int64_t otherwise);

#endif
