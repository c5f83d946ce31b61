/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The memory log of a run beside its GPU log.
 *
 * Each GPU sample gets the memory power of the nearest sample within 1 s.
 * GPU samples more than 1 s before the first memory sample are dropped. Where
 * the memory log has a hole, or ends before the GPU log does, its last value
 * holds (methods: del Rey et al., arXiv 2307.05520, whose join drops those GPU
 * samples, and with them most of a run whose memory log stopped early). */

#ifndef DL_LOGS_READINGS_MEMORY_JOIN_H
#define DL_LOGS_READINGS_MEMORY_JOIN_H

#include "logs/readings/power_meter.h"
#include "logs/readings/reading_sequencer.h"

struct dl_join;

/* An epoch that ends so much behind its trace has ended with it. */
#define DL_MARK_LATE (INT64_C(10) * DL_SECOND)

/* Opens the memory log, or takes over *opened where opened and *opened are not
 * NULL, and sets that to NULL. `start_ns` is the first time of the GPU log and
 * `clock` its clock: the times of the memory log are moved where the clocks
 * differ by a time zone, with a warning. *j is NULL where the log has no
 * samples, with a warning. */
enum dl_status dl_join_open(struct dl_join **j, const char *path,
                            struct dl_log **opened,
                            const struct dl_log_options *o, int64_t start_ns,
                            enum dl_clock clock, struct dl_diag *d);
void dl_join_free(struct dl_join *j);

/* The memory power at a time, which must not decrease; *drop says that the GPU
 * sample does not count. */
enum dl_status dl_join_at(struct dl_join *j, int64_t ns, double *power_w,
                          bool *drop, struct dl_diag *d);

/* Reads on to the end; warns of what was held and dropped, and gives the mean
 * utilisation of the CPU (NaN: not in the log). */
enum dl_status dl_join_end(struct dl_join *j, double *cpu_util,
                           struct dl_diag *d);

/* Whether times of these clocks are moved by a time zone, if at all. */
bool dl_clock_is_dated(enum dl_clock clock, enum dl_clock other);

/* By how much the times of a log must be moved so that they are of the same
 * clock as another's: whole quarters of an hour where only one of them names
 * its zone, whole hours where both do not and would not meet, whole days where
 * one has no dates, all of the difference where a log's times are relative
 * (which begin about 0 or anywhere). 0: not at all. */
int64_t dl_clock_shift(int64_t start_ns, enum dl_clock clock,
                       int64_t other_start_ns, enum dl_clock other);

/* The same for the ends of n epochs, n > 0, beside a trace from start_ns to
 * end_ns: they must come to lie within it, where they can, and the first epoch
 * to begin with it. Relative ones count from its beginning. */
int64_t dl_clock_shift_marks(const int64_t *mark, size_t n, enum dl_clock clock,
                             int64_t start_ns, int64_t end_ns,
                             enum dl_clock other);

#endif
