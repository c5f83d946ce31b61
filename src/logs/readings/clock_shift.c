/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/clock_shift.h"

#include <stdlib.h>

#define QUARTER_NS (INT64_C(900) * DL_SECOND)
#define HOUR_NS (INT64_C(3600) * DL_SECOND)
#define DAY_NS (INT64_C(24) * HOUR_NS)

/* Time zones differ from UTC by at most this. */
#define ZONES_MAX_NS (INT64_C(14) * HOUR_NS)

/* Two logs of one run may begin this far apart. */
#define START_MAX_NS (INT64_C(60) * DL_SECOND)

/* A zone that is not a whole number of hours must fit better by this much. */
#define ODD_ZONE_NS (INT64_C(1200) * DL_SECOND)

/* Rounds to the nearest multiple. */
static int64_t nearest(int64_t x, int64_t unit) {
  int64_t half = x < 0 ? -unit / 2 : unit / 2;
  return (x + half) / unit * unit;
}

/* Whether the times of both clocks have a date. */
static bool both_dated(enum dl_clock clock, enum dl_clock other) {
  return (clock == DL_CLOCK_WALL || clock == DL_CLOCK_ZONED) &&
         (other == DL_CLOCK_WALL || other == DL_CLOCK_ZONED);
}

void dl_clock_shift_warn(const struct dl_log *log, int64_t shift_ns,
                         enum dl_clock other, struct dl_diag *d) {
  if (shift_ns != 0 && both_dated(log->clock, other))
    dl_warn_at(d, log->path, 0,
               "times moved by %+.2f h to the clock of the GPU log",
               (double)shift_ns / 3600e9);
}

int64_t dl_clock_shift(int64_t start_ns, enum dl_clock clock,
                       const struct dl_log_span *other) {
  int64_t apart = other->start_ns - start_ns;
  bool zoned = clock == DL_CLOCK_ZONED || other->clock == DL_CLOCK_ZONED;
  if (clock == DL_CLOCK_RELATIVE || other->clock == DL_CLOCK_RELATIVE) {
    bool from_0 = clock == DL_CLOCK_RELATIVE && llabs(start_ns) < START_MAX_NS;
    if (clock == other->clock)
      return 0;
    return from_0 ? other->start_ns : apart;
  }
  if (clock == DL_CLOCK_DAY || other->clock == DL_CLOCK_DAY)
    return nearest(apart, zoned ? QUARTER_NS : DAY_NS);
  if (clock != other->clock)
    return llabs(apart) <= ZONES_MAX_NS + QUARTER_NS
               ? nearest(apart, QUARTER_NS)
               : 0;
  int64_t hours = nearest(apart, HOUR_NS);
  bool is_zone = llabs(apart - hours) < START_MAX_NS &&
                 llabs(hours) <= ZONES_MAX_NS && !zoned;
  return is_zone ? hours : 0;
}

/* Finds the time zone that puts the marks inside the trace and the start of the
 * first epoch closest to the start of the trace. `length` is the length of an
 * epoch (ns), -1 if unknown. */
static void find_zone(int64_t first, int64_t last, int64_t length,
                      const struct dl_log_span *trace, int64_t *shift) {
  int64_t best = INT64_MAX, base = *shift;
  for (int64_t z = base - ZONES_MAX_NS; z <= base + ZONES_MAX_NS;
       z += QUARTER_NS) {
    if (first + z <= trace->start_ns ||
        last + z > trace->end_ns + DL_MARK_LATE_NS)
      continue;
    int64_t off = length < 0 ? llabs(z - base)
                             : llabs(first + z - length - trace->start_ns);
    if ((z - base) % HOUR_NS != 0)
      off += ODD_ZONE_NS;
    if (off < best) {
      best = off;
      *shift = z;
    }
  }
}

int64_t dl_clock_shift_marks(const int64_t *mark, size_t n, enum dl_clock clock,
                             const struct dl_log_span *trace) {
  int64_t first = mark[0], last = mark[n - 1];
  if (clock == DL_CLOCK_RELATIVE)
    return clock == trace->clock ? 0 : trace->start_ns;
  if (trace->clock == DL_CLOCK_RELATIVE)
    return trace->end_ns - last;
  int64_t length = n > 1 ? (last - first) / (int64_t)(n - 1) : -1;
  int64_t shift = both_dated(clock, trace->clock)
                      ? 0
                      : nearest(trace->start_ns - first, DAY_NS);
  bool fits = first + shift > trace->start_ns &&
              last + shift <= trace->end_ns + DL_MARK_LATE_NS;
  if (!(clock == trace->clock && (fits || clock == DL_CLOCK_ZONED)))
    find_zone(first, last, length, trace, &shift);
  return shift;
}
