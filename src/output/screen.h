/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a terminal can show, and the escape sequences for it: no other file has
 * any. */

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

/* Of a terminal: its width, that of COLUMNS if it reports none, and colour
 * unless NO_COLOR is set (https://no-color.org) or TERM is unset or "dumb". */
struct dl_screen dl_screen_of(FILE *f);

/* Effects of dl_screen_add. */
#define DL_BOLD "1"
#define DL_DIM "2"
#define DL_RED "31"
#define DL_YELLOW "33"

/* Back to the first column of a line that is then empty. */
#define DL_CLEAR_LINE "\r\033[K"

/* Appends n bytes of a text with an effect (NULL: none) where there are
 * colours. */
void dl_screen_add(struct dl_text *t, const struct dl_screen *s,
                   const char *effect, const char *text, size_t n);

#endif
