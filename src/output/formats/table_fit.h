/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables on a terminal that is narrower than they are. */

#ifndef DL_OUTPUT_FORMATS_TABLE_FIT_H
#define DL_OUTPUT_FORMATS_TABLE_FIT_H

#include "output/formats/text_table.h"

/* Makes a table as narrow as `width` columns where it can. In this order:
 *
 *   drops columns whose text is equal in all rows, the last first
 *   breaks the widest texts over several lines
 *   drops columns from the right, by their use; two stay in any case
 *
 * What was dropped is in l->dropped, with the value that all rows share. */
void dl_layout_fit(struct dl_layout *l, const struct dl_table *t,
                   size_t width);

/* Replaces a cell by its line `k`, broken at `width` columns. Returns whether
 * more follow. */
bool dl_cell_line(struct dl_text *cell, size_t width, size_t k);

#endif
