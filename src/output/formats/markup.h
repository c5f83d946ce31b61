/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as a document in a markup language: titles, "label: value" lines,
 * what was said, tables. A language is a struct of functions. */

#ifndef DL_OUTPUT_FORMATS_MARKUP_H
#define DL_OUTPUT_FORMATS_MARKUP_H

#include "output/buffered_rows.h"

struct dl_markup {
  struct dl_row_writer table;
  /* Texts come escaped and without control characters. `level` is 0 for what
   * stands at the top. */
  void (*title)(struct dl_printer *p, const char *text, size_t level);
  void (*say)(struct dl_printer *p, const char *text);
  void (*begin_lines)(struct dl_printer *p); /* or NULL */
  void (*line)(struct dl_printer *p, const char *label, const char *value);
  void (*end_lines)(struct dl_printer *p); /* or NULL */
};

/* The whole report to f; `report` of a struct dl_format. */
enum dl_status dl_markup_report(const struct dl_markup *m,
                                const struct dl_report *r, FILE *f,
                                struct dl_diag *d);

#endif
