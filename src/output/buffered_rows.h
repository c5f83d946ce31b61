/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams whose first rows are held back: they decide the widths and units of
 * the columns, and each later row is written as it comes. */

#ifndef DL_OUTPUT_BUFFERED_ROWS_H
#define DL_OUTPUT_BUFFERED_ROWS_H

#include "output/format.h"
#include "output/formats/text_table.h"

/* How the rows of a table are written. */
struct dl_row_writer {
  struct dl_cell_style style;
  void (*head)(struct dl_printer *p, const struct dl_layout *l);
  void (*row)(struct dl_printer *p, const struct dl_layout *l,
              const struct dl_value *values, const char *mark);
  void (*foot)(struct dl_printer *p, const struct dl_layout *l); /* or NULL */
  void (*none)(struct dl_printer *p); /* in place of all: no rows; or NULL */
};

/* begin, row and end of a struct dl_format. The writer is borrowed. */
enum dl_status dl_held_begin(struct dl_stream **s, FILE *f,
                             const struct dl_row_writer *writer,
                             const struct dl_column *columns, size_t n,
                             struct dl_diag *d);
enum dl_status dl_held_row(struct dl_stream *s, const struct dl_value *values,
                           struct dl_diag *d);
enum dl_status dl_held_end(struct dl_stream *s, struct dl_diag *d);

/* A whole table; nothing where no column is shown. */
void dl_held_table(struct dl_printer *p, const struct dl_row_writer *writer,
                   const struct dl_table *t);

#endif
