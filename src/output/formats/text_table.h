/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables for people: which columns are shown, their headings, units and
 * widths, and printing them aligned. */

#ifndef DL_OUTPUT_FORMATS_TEXT_TABLE_H
#define DL_OUTPUT_FORMATS_TEXT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/text.h"
#include "output/report_tree.h"
#include "output/screen.h"
#include "output/units.h"

enum {
  DL_TABLE_GAP = 2,  /* blanks between columns */
  DL_LEAST_TEXT = 12 /* columns below which no text is broken */
};

/* Appends to a text. Blanks wait until something follows them, so that no line
 * ends in one. */
struct dl_printer {
  struct dl_text *to;
  struct dl_screen screen;
  size_t indent;       /* blanks in front of each line */
  size_t blanks;       /* not written yet */
  struct dl_text cell; /* being printed; owned */
};

/* Writes a text, which may end in "\n". `effect` is one of output/screen.h, or
 * NULL. */
void dl_print(struct dl_printer *p, const char *text, const char *effect);

/* Prints a text with blanks up to `width`, on the left if `right` is set. */
void dl_print_field(struct dl_printer *p, const char *text, size_t width,
                    bool right, const char *effect);

/* Prints a text, broken at the width of the screen; later lines begin `hang`
 * columns further to the right. */
void dl_print_wrapped(struct dl_printer *p, const char *text, size_t hang,
                      const char *effect);

struct dl_document;

/* Prints the heading of a page of rows, "Runs", from the name of its table. */
void dl_print_heading(struct dl_printer *p, const char *const around[2],
                      const char *key);

/* A column as people see it: one of the table, or two as "low .. high". */
struct dl_layout_column {
  struct dl_column c;
  size_t i;                 /* of the (first) value in a row */
  bool text;                /* aligned to the left; numbers: to the right */
  bool own_units;           /* each cell has its own unit */
  struct dl_multiple scale; /* of all cells, otherwise */
  struct dl_text heading;   /* escaped, owned */
  struct dl_text unit;      /* of all cells, escaped, owned; empty: none */
  size_t before;            /* widest part before the point that is aligned */
  size_t after;             /* widest part from there on */
  size_t width;             /* of all, heading and unit included */
  size_t whole;             /* width before texts were broken */
  bool wrapped;             /* cells are broken at that width */
};

/* How the columns of a table are shown. */
struct dl_layout {
  struct dl_layout_column *column;
  size_t n;    /* 0: nothing is shown */
  size_t mark; /* width of the marks with the blank behind, 0: none */
  bool units;  /* whether any column has a unit */
  bool pages;  /* more rows than a page of paper takes */
  const struct dl_document *document; /* the format; borrowed */
  struct dl_text dropped;             /* headings that found no room; owned */
};

/* From the columns and rows of t; uses no part of t. */
struct dl_layout *dl_layout_new(const struct dl_table *t,
                                const struct dl_document *document);
void dl_layout_free(struct dl_layout *l); /* accepts NULL */

/* A cell as it is printed. */
enum dl_cell_kind { DL_CELL_HEADING, DL_CELL_UNIT, DL_CELL_VALUE };
struct dl_text_cell {
  const struct dl_layout *l;
  size_t i; /* column */
  enum dl_cell_kind kind;
  const char *text; /* escaped */
  size_t before;    /* of a value: as dl_layout_cell returns it */
};

/* Puts a value, escaped, in the place of what `cell` holds. Returns the number
 * of its bytes in front of the place that is aligned: the point of a number,
 * the dots of a range, the end of a text or where units differ. */
size_t dl_layout_cell(const struct dl_layout *l, size_t i,
                      const struct dl_value *row, struct dl_text *cell);

/* Prints a cell with the blanks that align it. */
void dl_print_cell(struct dl_printer *p, const struct dl_text_cell *c,
                   const char *effect);

#endif
