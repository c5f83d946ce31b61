/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of unknown origin in a terminal or a JSON document. */

#ifndef DL_OUTPUT_UTF8_H
#define DL_OUTPUT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

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

/* Columns that valid UTF-8 takes in a terminal, one for each code point. */
size_t dl_utf8_width(const char *s, size_t len);

/* Bytes of the first line of a text that is broken at `width` columns: behind a
 * word, or within one if `hard` and it is too long; all of it where it fits. */
size_t dl_wrapped_line(const char *s, size_t width, bool hard);

#endif
