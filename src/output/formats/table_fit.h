/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables and texts on a terminal that is narrower than they are. */

#ifndef DL_OUTPUT_FORMATS_TABLE_FIT_H
#define DL_OUTPUT_FORMATS_TABLE_FIT_H

#include "output/formats/text_table.h"

enum {
  DL_TABLE_GAP = 2,  /* blanks between columns */
  DL_LEAST_TEXT = 16 /* columns below which no text is broken */
};

/* Makes a table as narrow as `width` columns where it can. In this order:
 *
 *   drops columns that say the same in all rows, the last first
 *   breaks the widest texts over several lines
 *   drops columns from the right, by their use; two stay in any case
 *
 * What was dropped is in l->dropped, with the value that all rows share. */
void dl_layout_fit(struct dl_layout *l, const struct dl_table *t, size_t width);

/* Prints a text, broken at the width of the screen; later lines begin `hang`
 * columns further to the right. */
void dl_print_wrapped(struct dl_printer *p, const char *text, size_t hang,
                      const char *effect);

/* Replaces a cell by its line `k`, broken at `width` columns. Returns whether
 * more follow. */
bool dl_cell_line(struct dl_text *cell, size_t width, size_t k);

#endif
