/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How far long work has come.
 *
 * A loop says which share of its work is done; whoever calls it says which
 * part of the whole that is. Parts count as equally long, so that a remaining
 * time that is worked out from them is an estimate. All functions accept NULL:
 * no progress is shown. */

#ifndef DL_BASE_PROGRESS_PROGRESS_H
#define DL_BASE_PROGRESS_PROGRESS_H

#include <stddef.h>

struct dl_progress_span {
  double from, width; /* shares of the whole, 0 to 1 */
};

struct dl_progress {
  void (*show)(void *ctx, double share); /* of the whole; one at a time */
  void *ctx;
  struct dl_progress_span at; /* what is being worked on; {0, 1} at first */
};

/* What follows is part i of n of the work at hand. Returns that work, for
 * dl_progress_leave. Both from one thread only. */
struct dl_progress_span dl_progress_enter(struct dl_progress *p, size_t i,
                                          size_t n);
void dl_progress_leave(struct dl_progress *p, struct dl_progress_span outer);

/* That share (0 to 1) of the work at hand is done. From any thread. */
void dl_progress_step(struct dl_progress *p, double share);

#endif
