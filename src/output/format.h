/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interface of output formats.
 *
 * To add one: a file in formats/ that defines a struct dl_format, a
 * declaration below, and a row in render.c. A format for people fills a
 * struct dl_document (formats/document.h); a format for programs writes reports
 * and rows itself.
 *
 * The functions write to s->f and leave it to render.c to flush it, to notice
 * a failed write, and to make and free the stream. They return DL_OK, or
 * DL_EUSAGE where the format cannot hold such a table. */

#ifndef DL_OUTPUT_FORMAT_H
#define DL_OUTPUT_FORMAT_H

#include "output/render.h"
#include "output/report_tree.h"

extern const struct dl_format dl_format_text;
extern const struct dl_format dl_format_json;
extern const struct dl_format dl_format_csv;
extern const struct dl_format dl_format_markdown;
extern const struct dl_format dl_format_latex;
extern const struct dl_format dl_format_html;
extern const struct dl_format dl_format_boamps;
extern const struct dl_format dl_format_prometheus;
extern const struct dl_format dl_format_card;
extern const struct dl_format dl_format_paper;
extern const struct dl_format dl_format_paper_latex;

struct dl_layout;

struct dl_stream {
  const struct dl_format *format;
  FILE *f;
  const char *key;           /* of the table, heading of a page */
  struct dl_column *columns; /* owned copy */
  size_t n_cols;
  size_t n_rows;                /* counted by formats that need it */
  const struct dl_report *tail; /* members written after the rows, or NULL */
  struct dl_text line;          /* the row being written */
  bool screen;                  /* CSV: f is a terminal */
  struct dl_table *head;        /* rows held back; owned, may be NULL */
  struct dl_layout *layout; /* documents: column widths; owned, may be NULL */
};

/* Writes a report as one line of JSON, without absent values. */
void dl_json_line(FILE *f, const struct dl_report *r);

#endif
