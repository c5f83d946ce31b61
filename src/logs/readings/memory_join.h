/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joins the memory log of a run to its GPU log.
 *
 * Each GPU sample gets the memory power of the nearest sample within 1 s.
 * GPU samples more than 1 s before the first memory sample are dropped. Within
 * a gap of the memory log, and after its end, the last value holds (del Rey et
 * al. 2024, arXiv 2307.05520, drop those GPU samples, and with them most of a
 * run whose memory log stopped early). */

#ifndef DL_LOGS_READINGS_MEMORY_JOIN_H
#define DL_LOGS_READINGS_MEMORY_JOIN_H

#include "logs/readings/clock_shift.h"

struct dl_memory_join;

/* Takes ownership of the memory log. Its times are shifted, with a warning, if
 * its clock and the GPU log's differ by a time zone. If it has no samples, or
 * none within half a day after the GPU log begins, *j is NULL, with a warning.
 */
enum dl_status dl_memory_join_open(struct dl_memory_join **j,
                                   struct dl_log *log,
                                   const struct dl_log_span *gpu_log,
                                   struct dl_diag *d);
void dl_memory_join_free(struct dl_memory_join *j); /* accepts NULL */

/* Sets the memory power (W) at a time, which must not decrease. *drop: the GPU
 * sample does not count. */
enum dl_status dl_memory_join_at(struct dl_memory_join *j, int64_t ns,
                                 double *power_w, bool *drop,
                                 struct dl_diag *d);

/* Reads the rest of the log, warns about held and dropped samples, and returns
 * the mean CPU utilization (NaN: not in the log). *matched is false, with a
 * warning, if no GPU sample was within 1 s of a memory sample: the log is one
 * of another time. */
enum dl_status dl_memory_join_end(struct dl_memory_join *j, double *cpu_util,
                                  bool *matched, struct dl_diag *d);

#endif
