/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Holes between the parts of a log: it was begun again, on the next day or from
 * a checkpoint. They are no time of the run, and nothing is counted in them. */

#ifndef DL_LOGS_READINGS_LOG_HOLES_H
#define DL_LOGS_READINGS_LOG_HOLES_H

#include "logs/readings/power_meter.h"
#include "logs/readings/reading_sequencer.h"

/* Whether the time from `last_ns` to reading r, which q has returned, is a
 * hole: longer than 100 usual pauses between rounds of readings and 10 minutes,
 * or than any gap where the reading follows a header. */
bool dl_is_hole(const struct dl_meter_options *o, const struct dl_sequencer *q,
                const struct dl_reading *r, int64_t last_ns);

/* Warns of a gap; across_j: what one that is not bridged would have added, or
 * 0. */
void dl_gap_warn(const struct dl_log *log, size_t line,
                 const struct dl_meter_options *o, double gap_s,
                 double across_j, struct dl_diag *d);

/* What a meter would add in `seconds` before its next reading, by its counter
 * or straight across, J. next may be NULL. */
double dl_energy_across(const struct dl_power_meter *m,
                        const struct dl_reading *next, double seconds);

/* Whether the counter went on in that time as it had before: the run did. */
bool dl_counter_goes_on(const struct dl_power_meter *m,
                        const struct dl_reading *next, double seconds);

/* A time without the holes before it, in their order; one within a hole is the
 * hole's beginning. */
int64_t dl_without_holes(const struct dl_hole *hole, size_t n, int64_t ns);

#endif
