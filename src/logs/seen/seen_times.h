/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times for which the energy of hardware has been counted. Two jobs on one
 * node, or two processes that measure one machine, report its energy twice; a
 * sum must contain it once. Hardware is identified by a name, and each name has
 * a list of time spans. The callers decide which spans of a list overlap
 * (slurm/node_times.h, importers/tables/run_overlaps.h). */

#ifndef DL_LOGS_SEEN_SEEN_TIMES_H
#define DL_LOGS_SEEN_SEEN_TIMES_H

#include <stddef.h>

#include "base/names/intern.h"

/* A time span, s since 1970, and the energy that was counted for it, J. */
struct dl_seen_span {
  double from, to, energy_j;
};

/* The time spans of one name, in order unless the caller appends others. */
struct dl_seen_spans {
  struct dl_seen_span *span; /* owned */
  size_t n, cap;
};

/* Starts as zero bytes. */
struct dl_seen_times {
  struct dl_intern names;
  struct dl_seen_spans *of; /* one list per name, owned */
  size_t cap;
  size_t n_shared; /* reports of which a part had been counted before */
  double shared_j; /* energy of these parts */
};

void dl_seen_times_free(struct dl_seen_times *t);

/* The list of a name, valid until the next call; empty for a new name. */
struct dl_seen_spans *dl_seen_spans_of(struct dl_seen_times *t,
                                       const char *name);

/* Index of the first span that ends after a time, or n. The spans must be in
 * order. */
size_t dl_seen_spans_after(const struct dl_seen_spans *s, double time);

/* Puts one span in the place of those from index `at` up to `end`. */
void dl_seen_spans_replace(struct dl_seen_spans *s, size_t at, size_t end,
                           struct dl_seen_span span);

#endif
