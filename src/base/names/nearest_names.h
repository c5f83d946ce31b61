/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggestions for misspelt names. */

#ifndef DL_BASE_NAMES_NEAREST_NAMES_H
#define DL_BASE_NAMES_NEAREST_NAMES_H

#include <stddef.h>

#include "base/text.h"

/* Counts the edits (insert, delete, substitute, swap of neighbours) from a to
 * b. */
size_t dl_edit_distance(const char *a, const char *b);

/* Measures how far a typed text is from a name, in quarters of an edit (4: one
 * letter). Case does not count. Blanks, hyphens and underscores, letters that
 * look like a digit (O and 0, l and 1), and a letter too often or too rarely
 * cost less than an edit; another digit costs more, since it names another
 * thing. A name that begins with the text or holds it is near: 4090 and
 * rtx-4090. */
size_t dl_name_distance(const char *typed, const char *name);

/* A name to suggest. */
struct dl_name_candidate {
  const char *name;  /* compared with what was typed */
  const char *shown; /* suggested in its place; NULL: the name */
  size_t of;         /* thing that it names: each is suggested once */
};

/* Appends " (did you mean 'a', 'b' or 'c'?)" with at most `most` names, the
 * nearest first, or nothing where none is near: within a third of the letters
 * of `typed` in edits, with `strict` a fifth (1 to 3). */
void dl_suggest(const char *typed, const struct dl_name_candidate *c, size_t n,
                size_t most, bool strict, struct dl_text *text);

/* Appends such a suggestion of at most three plain names. */
void dl_suggest_names(const char *typed, const char *const *names, size_t n,
                      struct dl_text *text);

/* Appends at most `most` of the names as "'a', 'b', 'c'", the nearest first,
 * however far they are. */
void dl_nearest_names(const char *typed, const char *const *names, size_t n,
                      size_t most, struct dl_text *text);

#endif
