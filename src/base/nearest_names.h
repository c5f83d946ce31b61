/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggestions for misspelt names. */

#ifndef DL_BASE_NEAREST_NAMES_H
#define DL_BASE_NEAREST_NAMES_H

#include <stddef.h>

#include "base/text.h"

/* Edits (insert, delete, substitute, swap of neighbours) from a to b. */
size_t dl_edit_distance(const char *a, const char *b);

/* Appends to *text the (at most) `most` names nearest to `wanted`, as
 * "'a', 'b', 'c'"; a name that starts with `wanted` or contains it counts
 * as near. */
void dl_nearest_names(const char *wanted, const char *const *names, size_t n,
                      size_t most, struct dl_text *text);

/* The same for names within a fifth of the letters of `wanted` in edits (1 to
 * 3): none may be. */
void dl_close_names(const char *wanted, const char *const *names, size_t n,
                    size_t most, struct dl_text *text);

#endif
