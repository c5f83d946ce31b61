/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Progress of long work.
 *
 * A loop says which share of its work is done; whoever calls it says which part
 * of the whole that is. Parts count as equally long, so that a remaining time
 * that is worked out from them is an estimate. All functions accept NULL and
 * then show nothing. */

#ifndef DL_BASE_PROGRESS_PROGRESS_H
#define DL_BASE_PROGRESS_PROGRESS_H

#include <stddef.h>

struct dl_progress_span {
  double from, width; /* shares of the whole, 0 to 1 */
};

struct dl_progress {
  void (*show)(void *ctx, double share); /* of the whole; one at a time */
  void *ctx;
  struct dl_progress_span at; /* the part at hand; {0, 1} at first */
};

/* Declares that part i of n of the work at hand begins. Returns that work, for
 * dl_progress_leave. Only one thread may call these two. */
struct dl_progress_span dl_progress_enter(struct dl_progress *p, size_t i,
                                          size_t n);
void dl_progress_leave(struct dl_progress *p, struct dl_progress_span outer);

/* Shows that a share (0 to 1) of the work at hand is done. Any thread may call
 * it. */
void dl_progress_step(struct dl_progress *p, double share);

#endif
