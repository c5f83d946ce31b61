/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for people: a heading row, a unit row, aligned cells. */

#ifndef DL_OUTPUT_TEXT_TABLE_H
#define DL_OUTPUT_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "output/report_private.h"

#define DL_BOLD "1"
#define DL_DIM "2"

/* Writes to f. Blanks wait until something follows them, so that no line
 * ends in one. */
struct dl_printer {
  FILE *f;
  bool colour;
  size_t blanks;
  bool failed; /* memory was out */
};

void dl_print_blanks(struct dl_printer *p, size_t n);
void dl_print(struct dl_printer *p, const char *text, const char *effect);
void dl_print_newline(struct dl_printer *p);

/* How the columns of a table are shown. */
struct dl_layout;

/* From the columns and rows of t; uses no part of t. NULL: memory is out. */
struct dl_layout *dl_layout_new(const struct dl_table *t);
void dl_layout_free(struct dl_layout *l); /* accepts NULL */

/* Number of columns that are shown; with 0 there is nothing to print. */
size_t dl_layout_columns(const struct dl_layout *l);

void dl_layout_head(const struct dl_layout *l, struct dl_printer *p,
                    size_t indent);
void dl_layout_row(const struct dl_layout *l, struct dl_printer *p,
                   size_t indent, const struct dl_value *values,
                   const char *mark);

#endif
