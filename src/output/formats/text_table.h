/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for people: a heading row, a unit row, aligned cells. */

#ifndef DL_OUTPUT_FORMATS_TEXT_TABLE_H
#define DL_OUTPUT_FORMATS_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/text.h"
#include "output/report_tree.h"

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

/* What differs where a table is not plain text; NULL, false: it is. */
struct dl_cell_style {
  /* Appends what stands for a text in the markup. */
  void (*escape)(struct dl_text *out, const char *text);
  bool unit_in_heading; /* "energy (kJ)" in place of a row of units */
};

/* How the columns of a table are shown. */
struct dl_layout;

/* From the columns and rows of t; uses no part of t. NULL: memory is out. */
struct dl_layout *dl_layout_new(const struct dl_table *t,
                                const struct dl_cell_style *style);
void dl_layout_free(struct dl_layout *l); /* accepts NULL */

/* Number of columns that are shown; with 0 there is nothing to print. */
size_t dl_layout_columns(const struct dl_layout *l);

void dl_layout_head(const struct dl_layout *l, struct dl_printer *p,
                    size_t indent);
void dl_layout_row(const struct dl_layout *l, struct dl_printer *p,
                   size_t indent, const struct dl_value *values,
                   const char *mark);

/* For markup, column by column. `i` counts those that are shown. */

bool dl_layout_is_text(const struct dl_layout *l, size_t i); /* on the left */
bool dl_layout_has_marks(const struct dl_layout *l);
bool dl_layout_has_units(const struct dl_layout *l);
size_t dl_layout_width(const struct dl_layout *l, size_t i);

/* Appends a column's heading, and the unit of its cells ("" for none). */
void dl_layout_heading(const struct dl_layout *l, size_t i, struct dl_text *t);
void dl_layout_unit(const struct dl_layout *l, size_t i, struct dl_text *t);

/* Appends a cell in two parts: what stands in front of the place that is
 * aligned, and what comes from there on; text is all in `before`. */
void dl_layout_parts(const struct dl_layout *l, size_t i,
                     const struct dl_value *values, struct dl_text *before,
                     struct dl_text *after);

/* A heading or a cell with the blanks that align it. */
void dl_layout_print_heading(const struct dl_layout *l, struct dl_printer *p,
                             size_t i);
void dl_layout_print_cell(const struct dl_layout *l, struct dl_printer *p,
                          size_t i, const struct dl_value *values);

#endif
