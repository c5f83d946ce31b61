/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cursor visits the combinations of a plan's axes, row by row.
 *
 * Going on, it runs only the steps that depend on an axis whose value changed:
 * with the batch size running fastest, next to nothing. Values do not depend on
 * where the cursor came from, so that cursors in several threads give the rows
 * of one. Memory does not grow with the combinations. */

#ifndef DL_RUN_SWEEP_CURSOR_H
#define DL_RUN_SWEEP_CURSOR_H

#include "run/plan.h"

struct dl_cursor;

/* When all steps of the plan have been added; it is borrowed. Looks up the
 * descriptors that the axes and settings name: not thread-safe. Errors: an
 * unknown name (DL_EINPUT). */
enum dl_status dl_cursor_new(struct dl_cursor **out,
                             const struct dl_row_plan *f, struct dl_diag *d);
void dl_cursor_free(struct dl_cursor *c); /* accepts NULL */
void dl_cursor_free_local(struct dl_cursor **at);

/* Goes to a combination, the row of which may be invalid. Thread-safe as long
 * as each thread has its own. */
enum dl_status dl_cursor_to(struct dl_cursor *c, size_t combination,
                            struct dl_diag *d);

/* The row of the combination; it belongs to the cursor and lives until that
 * goes on. */
const struct dl_row *dl_cursor_row(const struct dl_cursor *c);

#endif
