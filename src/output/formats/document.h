/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Documents: formats for people (text, Markdown, LaTeX).
 *
 * One walk through a report, in document.c, decides what is shown, in which
 * order and where blank lines stand; a struct dl_document says how a format
 * writes each part. Adding such a format is a file with these functions. */

#ifndef DL_OUTPUT_FORMATS_DOCUMENT_H
#define DL_OUTPUT_FORMATS_DOCUMENT_H

#include "output/format.h"
#include "output/formats/text_table.h"

/* Texts come escaped and without control characters. Members marked so may be
 * NULL. */
struct dl_document {
  struct dl_cell_style style;
  const char *page[2]; /* around all of it, or NULL */
  bool compact;        /* no blank line below a title or between statements */
  bool wraps;          /* lines fit the width of a terminal */
  /* `level` is 0 at the top. What the title adds to p->indent is taken back
   * at the end of its part. */
  void (*title)(struct dl_printer *p, const char *text, size_t level);
  void (*say)(struct dl_printer *p, const char *text); /* or NULL: a line */
  /* A run of "label  value" lines: what stands in front of, between and behind
   * the two, and around the run (or NULL). */
  const char *line[3];
  const char *remark; /* between a value and its remark; NULL: blanks, so that
                         remarks of a run are aligned */
  const char *begin_lines, *end_lines;
  size_t label_gap; /* > 0: labels are as wide as the longest and this */
  /* A table: what precedes its headings and its rows, each NULL or a function
   * that prints it; what stands around the line of headings (and that of units,
   * where they have one) and around a row; the mark in front of a line, NULL
   * in the head; a cell. */
  void (*open)(struct dl_printer *p, const struct dl_layout *l);
  void (*rule)(struct dl_printer *p, const struct dl_layout *l);
  const char *head[2], *row[2];
  void (*mark)(struct dl_printer *p, const struct dl_layout *l,
               const char *mark);
  void (*cell)(struct dl_printer *p, const struct dl_cell *c);
  const char *foot; /* or NULL */
  /* The bars of dl_report_chart; NULL: none are drawn. */
  void (*chart)(struct dl_printer *p, const struct dl_table *t);
  const char *none; /* in place of a table without rows; NULL: head and foot */
};

/* Where a report is written: on a terminal or not (NULL), and behind the rows
 * of a stream, which have begun the page. */
struct dl_document_place {
  const struct dl_screen *screen;
  bool follows;
};

/* Writes the whole report. False: memory was out. */
bool dl_document_report(const struct dl_document *m, const struct dl_report *r,
                        FILE *f, const struct dl_document_place *place);

/* begin, row, add and end of a struct dl_format. The first thousand rows are
 * held back: they decide the widths and units of the columns. Each later row is
 * written as it comes. */
enum dl_status dl_document_begin(struct dl_stream *s, struct dl_diag *d);
enum dl_status dl_document_row(struct dl_stream *s,
                               const struct dl_value *values,
                               struct dl_diag *d);
bool dl_document_add(const struct dl_stream *s, const struct dl_value *values,
                     struct dl_text *to);
enum dl_status dl_document_end(struct dl_stream *s, struct dl_diag *d);

#endif
