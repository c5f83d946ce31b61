/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text of unknown origin in a terminal or a JSON document. */

#ifndef DL_OUTPUT_UTF8_H
#define DL_OUTPUT_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Appends s with every byte that is not part of valid UTF-8 as U+FFFD, and
 * control characters too unless they are to be kept. */
void dl_utf8_clean(struct dl_text *t, const char *s, bool keep_controls);

/* Columns that valid UTF-8 takes in a terminal, one for each code point. */
size_t dl_utf8_width(const char *s, size_t len);

#endif
