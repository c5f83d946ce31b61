/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gaps between the readings of a log.
 *
 * An interval is a gap if it is longer than a number of usual intervals, and
 * than a least time; who asks decides on both. A hole is a gap between two
 * parts of a log that was begun again, on the next day or from a checkpoint. It
 * does not belong to the run's time, and no energy is counted in it. */

#ifndef DL_LOGS_READINGS_GAPS_H
#define DL_LOGS_READINGS_GAPS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

/* Between the readings of a device, an interval is a gap from this many usual
 * intervals on, but never below DL_GAP_MIN_S. */
#define DL_GAP_INTERVALS 10.0
#define DL_GAP_MIN_S 10.0

/* Trainings do not pause for longer than 30 days: a longer gap comes from a
 * wrong time, such as a clock that had not been set, and is not bridged. */
#define DL_GAP_MAX_S (30 * 86400.0)

struct dl_log;
struct dl_meter_options;
struct dl_power_meter;
struct dl_reading;
struct dl_sequencer;

/* A part of a log's time, such as a gap. */
struct dl_time_span {
  int64_t from_ns, to_ns;
};

/* The length (ns) from which an interval is a gap: a number of usual intervals,
 * but at least `least_s`. */
static inline double dl_gap_limit_ns(double usual_ns, double intervals,
                                     double least_s) {
  return fmax(usual_ns * intervals, least_s * 1e9);
}

/* Whether the time from `last_ns` to reading r, which q has returned, is a
 * hole: longer than 100 usual pauses between rounds of readings and 10 minutes,
 * or, if the reading follows a header, longer than any gap. */
bool dl_gap_is_hole(const struct dl_meter_options *o,
                    const struct dl_sequencer *q, const struct dl_reading *r,
                    int64_t last_ns);

/* Warns about a gap. `across_j` is the energy (J) that bridging it would have
 * added, if it is not bridged, or 0. */
void dl_gap_warn(const struct dl_log *log, size_t line,
                 const struct dl_meter_options *o, double gap_s,
                 double across_j, struct dl_diag *d);

/* The energy (J) that a meter would add in the `seconds` before its next
 * reading, by its counter or by the mean of the powers at both ends. `next` may
 * be NULL. */
double dl_gap_energy(const struct dl_power_meter *m,
                     const struct dl_reading *next, double seconds);

/* Whether the counter went on as before in that time, so that the run did. */
bool dl_gap_is_counted(const struct dl_power_meter *m,
                       const struct dl_reading *next, double seconds);

/* Subtracts the gaps before a time from it. The gaps are in order; a time
 * within a gap becomes the beginning of the gap. */
int64_t dl_gaps_removed(const struct dl_time_span *gap, size_t n, int64_t ns);

#endif
