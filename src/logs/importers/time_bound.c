/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/importers/time_bound.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/constants.h"

bool dl_time_bound_read(struct dl_time_bound *b, const char *text) {
  double seconds;
  char minutes[DL_TIMESTAMP_SIZE]; /* "14:43" as "14:43:00" */
  snprintf(minutes, sizeof minutes, "%.20s:00", text);
  if (dl_parse_timestamp(text, strlen(text), &b->time) ||
      dl_parse_start(text, &b->time) ||
      dl_parse_timestamp(minutes, strlen(minutes), &b->time)) {
    b->is = DL_BOUND_TIME;
    return true;
  }
  if (!dl_parse_duration(text, &seconds) || !(seconds >= 0) || seconds > 1e9)
    return false;
  b->is = DL_BOUND_ELAPSED;
  b->elapsed_ns = llround(seconds * 1e9);
  return true;
}

int64_t dl_time_bound_ns(const struct dl_time_bound *b, int64_t first_ns,
                         bool zoned, int64_t otherwise) {
  const int64_t day = (int64_t)DL_S_PER_DAY * DL_SECOND;
  int64_t ns = b->time.ns;
  if (b->is == DL_BOUND_NONE)
    return otherwise;
  if (b->is == DL_BOUND_ELAPSED)
    return first_ns + b->elapsed_ns;
  if (!b->time.dated)
    ns += first_ns / day * day;
  if (b->time.zoned && !zoned)
    ns += b->time.zone_s * DL_SECOND;
  return ns;
}
