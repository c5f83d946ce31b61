/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Documents: formats for people (text, Markdown, LaTeX, HTML).
 *
 * One walk through a report, in document.c, decides what is shown, in which
 * order and where blank lines stand; a struct dl_document says how a format
 * writes each part. Adding such a format is a file with these texts. */

#ifndef DL_OUTPUT_FORMATS_DOCUMENT_H
#define DL_OUTPUT_FORMATS_DOCUMENT_H

#include "output/format.h"
#include "output/formats/text_table.h"

enum { DL_TITLE_LEVELS = 5 };

/* Pairs of texts stand around a part. Texts of reports come escaped and without
 * control characters. Members marked so may be NULL. */
struct dl_document {
  /* Appends what stands for the first n bytes of a text in the format. */
  void (*escape)(struct dl_text *out, const char *text, size_t n);
  bool unit_in_heading; /* "energy (kJ)" in place of a row of units */
  bool typeset;         /* widths count texts before they are escaped */
  const char *page[2];  /* around all of it, or NULL */
  const char *made;     /* in front of the date at the end of a page, or NULL */
  bool compact;         /* no blank line below a title or between statements */
  bool wraps; /* for terminals: lines fit the width, columns are aligned */
  const char *title[DL_TITLE_LEVELS][2]; /* from the top down; NULL: as above */
  size_t indent;                         /* of what stands under a title */
  const char *say[2];                    /* around a statement, or NULL */
  /* Prints what must be escaped at the beginning of a statement, and returns
   * the rest; or NULL. */
  const char *(*begin_say)(struct dl_printer *p, const char *text);
  /* A run of "label  value" lines: what stands in front of, between and behind
   * the two, and around the run (or NULL). */
  const char *line[3];
  const char *remark; /* between a value and its remark; NULL: blanks, so that
                         remarks of a run are aligned */
  const char *begin_lines[2]; /* the second behind the share of the width that
                                 labels leave */
  const char *end_lines;
  size_t label_gap; /* > 0: labels are as wide as the longest and this */
  /* A table: texts or functions (NULL: none) that print the parts before its
   * headings and before its rows, around the line of headings, the line of
   * units if there is one, and a row, and around the mark in front of the head
   * and of a row; the width of the mark (in terminals, of the widest mark); a
   * cell. */
  void (*open)(struct dl_printer *p, const struct dl_layout *l);
  void (*rule)(struct dl_printer *p, const struct dl_layout *l);
  const char *head[2], *row[2];
  const char *mark[2][2];
  size_t mark_width;
  void (*cell)(struct dl_printer *p, const struct dl_text_cell *c);
  const char *foot[2]; /* or NULL; the second of a table over several pages */
  /* For pages with room for so many characters in a line of a table: how its
   * title and what was dropped are printed, and its end, second where it spans
   * several pages. 0: no such limit. */
  size_t columns;
  void (*caption)(struct dl_printer *p, const struct dl_layout *l,
                  const char *title);
  const char *dropped[2], *close[2];
  /* The bars of dl_report_chart; NULL: none are drawn. */
  void (*chart)(struct dl_printer *p, const struct dl_table *t);
  const char *none; /* in place of a table without rows; NULL: head and foot */
};

/* Appends a text with the characters escaped that have a meaning in TeX. */
void dl_latex_escape(struct dl_text *out, const char *text, size_t n);

/* Writes the whole report, on a terminal or not (NULL); with `follows` behind
 * the rows of a stream, which have begun the page. */
void dl_document_report(const struct dl_document *m, const struct dl_report *r,
                        FILE *f, const struct dl_screen *screen, bool follows);

/* Row, add and end of a stream, whose s->head is an empty table at first. The
 * first thousand rows are held back there: they decide the widths and units of
 * the columns. Each later row is written as it comes. */
void dl_document_row(struct dl_stream *s, const struct dl_value *values);
void dl_document_add(const struct dl_stream *s, const struct dl_value *values,
                     struct dl_text *to);
void dl_document_end(struct dl_stream *s);

#endif
