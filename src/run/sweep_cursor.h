/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A walk over the combinations of a frame's axes, row by row.
 *
 * Going on, only what depends on a value that changed is evaluated: with the
 * batch size running fastest, next to nothing. What is evaluated does not
 * depend on where the walk came from, so that walks in several threads give
 * the rows of one. Memory does not grow with the combinations. */

#ifndef DL_RUN_SWEEP_CURSOR_H
#define DL_RUN_SWEEP_CURSOR_H

#include "run/frame.h"

struct dl_walk;

/* When all slots of the frame have been taken; it is borrowed. Looks up the
 * descriptors that the axes and settings name: not thread-safe. Errors: an
 * unknown name (DL_EINPUT). */
enum dl_status dl_walk_new(struct dl_walk **w, struct dl_frame *f,
                           struct dl_diag *d);
void dl_walk_free(struct dl_walk *w); /* accepts NULL */

/* Goes to a combination. Thread-safe as long as each thread has its own. */
enum dl_status dl_walk_to(struct dl_walk *w, size_t combination,
                          struct dl_diag *d);

/* Of the combination: cells (n_slots), descriptors, value of each axis. They
 * belong to the walk and live until it goes on. */
const struct dl_cell *dl_walk_cells(const struct dl_walk *w);
const struct dl_row_descriptors *dl_walk_found(const struct dl_walk *w);
const size_t *dl_walk_at(const struct dl_walk *w);

#endif
