/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output formats: writing a report, or a stream of rows, to a FILE. */

#ifndef DL_OUTPUT_RENDER_H
#define DL_OUTPUT_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/text.h"
#include "output/report.h"
#include "output/screen.h"

struct dl_document;
struct dl_stream;

/* A format; its functions are described in output/format.h. */
struct dl_format {
  const char *name; /* "text", "json", "csv", ... */
  const char *summary;
  const char *extension; /* of files that hold it: "csv"; NULL: none */
  bool
      whole; /* for programs, or reading at leisure: commands shorten nothing */
  bool sums_up;   /* states a whole: `record` hands it its summary, no row */
  bool on_screen; /* for reading in a terminal: commands may shorten a report */
  /* The variant that marks texts which a spreadsheet would evaluate, or NULL;
   * for --spreadsheet-safe. */
  const struct dl_format *spreadsheet;
  /* A format for people; NULL: for programs. */
  const struct dl_document *document;
  /* Functions of a format without document, which formats that differ in little
   * may share; begin allocates nothing that end frees. */
  enum dl_status (*report)(const struct dl_format *format,
                           const struct dl_report *r, FILE *f,
                           struct dl_diag *d);
  enum dl_status (*begin)(struct dl_stream *s, struct dl_diag *d);
  enum dl_status (*row)(struct dl_stream *s, const struct dl_value *values,
                        struct dl_diag *d);
  enum dl_status (*end)(struct dl_stream *s, struct dl_diag *d); /* or NULL */
  /* Appends to a text what `row` would write. NULL in formats whose rows
   * depend on those before them. */
  void (*add)(const struct dl_stream *s, const struct dl_value *values,
              struct dl_text *to);
};

/* All of them, ending with NULL; the first is the default. */
extern const struct dl_format *const dl_formats[];
const struct dl_format *dl_format_find(const char *name);

/* The format of files with that name, by their extension; NULL: any. */
const struct dl_format *dl_format_of_file(const char *path);

/* Writes a whole report and flushes f; `screen` says what f can show (NULL: a
 * file).
 * Errors: DL_EFAILED if f cannot be written, DL_EUSAGE if the
 * format has no way to write r. */
enum dl_status dl_format_report(const struct dl_format *format,
                                const struct dl_report *r, FILE *f,
                                const struct dl_screen *screen,
                                struct dl_diag *d);

/* A stream writes rows as they come, in constant memory (but for formats that
 * must hold them back): begin once, row for each, end once, which frees the
 * stream also after a failure (and accepts NULL). The strings of the columns
 * must live until end; `key` names the table, and a page
 * has it as its heading. In JSON:
 * {"schema": 1, "dlest": VERSION, KEY: [ {...}, ... ], "warnings": [...]}.
 * Errors: as dl_format_report; end flushes f. */
struct dl_table_form {
  const char *key;
  const struct dl_column *columns;
  size_t n;
};
enum dl_status dl_stream_begin(struct dl_stream **s,
                               const struct dl_format *format, FILE *f,
                               const struct dl_table_form *table,
                               struct dl_diag *d);
/* A row, into a text for dl_stream_write (dl_stream_adds; several threads may
 * do so at a time) or, NULL, behind those that were written. */
enum dl_status dl_stream_row(struct dl_stream *s, const struct dl_value *values,
                             struct dl_text *to, struct dl_diag *d);
enum dl_status dl_stream_end(struct dl_stream *s, struct dl_diag *d);

/* Whether rows never depend on those before: texts may be used at once. */
bool dl_format_adds(const struct dl_format *format);

/* Whether rows may be put into texts from now on. */
bool dl_stream_adds(const struct dl_stream *s);

/* Writes the rows of a text, and empties it. */
enum dl_status dl_stream_write(struct dl_stream *s, struct dl_text *rows,
                               struct dl_diag *d);

/* Writes r after the rows: JSON its members, formats for people all of it; CSV
 * has only rows. To be called before end; r must live until then. */
void dl_stream_tail(struct dl_stream *s, const struct dl_report *r);

/* Appends the version of the JSON library in use: "jansson 2.14". */
void dl_json_version(struct dl_text *t);

#endif
