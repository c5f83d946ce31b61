/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The capabilities of a terminal, its escape sequences (no other file has any),
 * and functions that make text of unknown origin safe for it. */

#ifndef DL_OUTPUT_SCREEN_H
#define DL_OUTPUT_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/text.h"

/* {0}: a file or a pipe. */
struct dl_screen {
  bool colour;
  size_t width; /* columns; 0: unlimited */
};

/* Finds the width of a terminal (COLUMNS, if it reports none) and whether it
 * has colours: unless NO_COLOR is set (https://no-color.org) or TERM is unset
 * or "dumb". */
struct dl_screen dl_screen_of(FILE *f);

/* Whether TERM is set to a terminal that can move its cursor. */
bool dl_terminal_is_able(void);

/* Effects of dl_screen_add. */
#define DL_BOLD "1"
#define DL_DIM "2"
#define DL_RED "31"
#define DL_MAGENTA "35" /* legible on white, too */

/* Back to the first column of a line that is then empty. */
#define DL_CLEAR_LINE "\r\033[K"

/* Appends n bytes of a text with an effect (NULL: none) where there are
 * colours. */
void dl_screen_add(struct dl_text *t, const struct dl_screen *s,
                   const char *effect, const char *text, size_t n);

/* --- text of unknown origin */

/* Bytes and code point of the first character of s, which is not empty; 1 and
 * U+FFFD for a byte that is not part of valid UTF-8. */
size_t dl_utf8_next(const char *s, unsigned *point);

/* Whether a terminal or an editor acts on a code point in place of showing it:
 * control characters (C0, DEL, C1), separators of lines and paragraphs, and the
 * marks, embeddings, overrides and isolates of bidirectional text, which can
 * make a name look like another one (Unicode Technical Report 36, section 3.3).
 */
bool dl_utf8_is_unsafe(unsigned point);

/* Appends s with U+FFFD in place of each byte that is not part of valid UTF-8
 * and, unless they are to be kept, of each unsafe code point. */
void dl_utf8_clean(struct dl_text *t, const char *s, bool keep_unsafe);

/* Columns that UTF-8 takes in a terminal: two for a wide character, none for a
 * combining mark. */
size_t dl_utf8_width(const char *s, size_t len);

/* Bytes of the first line of a text that is broken at `width` columns: behind a
 * word, or within one if `hard` and it is too long; all of it where it fits. */
size_t dl_wrapped_line(const char *s, size_t width, bool hard);

#endif
