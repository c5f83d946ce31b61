/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates of all combinations of a frame's axes, by several threads. */

#ifndef DL_ESTIMATE_SWEEP_H
#define DL_ESTIMATE_SWEEP_H

#include "estimate/session.h"
#include "run/sweep_cursor.h"

/* One combination. What it points to lives until the call returns. */
struct dl_sweep_row {
  size_t combination;
  const char *broken; /* why its settings do not go together: there are no
                         estimates; or NULL */
  const struct dl_job *job;
  const struct dl_job_predictions *predictions;
  const struct dl_estimate *est; /* one a method */
};

/* Who takes the rows. Combinations are dealt out in rounds, in each to every
 * part (thread) a run of them, in order: part 0 has the first. */
struct dl_sweep_taker {
  void *ctx;
  /* Called by several threads, each with its own part and d. */
  enum dl_status (*row)(void *ctx, size_t part, const struct dl_sweep_row *row,
                        struct dl_diag *d);
  /* After each round, by one thread: hands on what the parts have. May be
   * NULL. */
  enum dl_status (*round)(void *ctx, struct dl_diag *d);
};

/* How many rows a part has in a round, at most. */
enum { DL_SWEEP_RUN = 8192 };

/* Threads that a sweep would use: OpenMP's. */
size_t dl_sweep_parts(void);

/* Takes all combinations of the axes. `f` and `s` are bound to each other,
 * `parts` from 1. Rows and their order are the same for any number of parts;
 * memory does not grow with the combinations. Errors: an unknown architecture
 * or accelerator (DL_EINPUT), too many combinations (DL_EUSAGE), and what the
 * taker fails with. */
enum dl_status dl_sweep(struct dl_frame *f, const struct dl_axes *axes,
                        const struct dl_session *s, size_t parts,
                        const struct dl_sweep_taker *taker, struct dl_diag *d);

#endif
