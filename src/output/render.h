/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Formats: a report, or a stream of rows, to a FILE. */

#ifndef DL_OUTPUT_RENDER_H
#define DL_OUTPUT_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/text.h"
#include "output/report.h"

/* A stream writes rows as they come, in constant memory: begin once, row for
 * each, end once, which frees the stream also after a failure (and accepts
 * NULL). The columns' strings must live until end. All four functions report
 * a failed write as DL_EFAILED; `report` and `end` flush f to know. */
struct dl_stream;

struct dl_format {
  const char *name; /* "text", "json", "csv", ... */
  const char *summary;
  /* A whole report. `colour` allows escape sequences. */
  enum dl_status (*report)(const struct dl_report *r, FILE *f, bool colour,
                           struct dl_diag *d);
  /* Rows. In JSON: {"schema": 1, "dlest": VERSION, KEY: [ {...}, ... ],
   * "warnings": [...]}. */
  enum dl_status (*begin)(struct dl_stream **s, FILE *f, const char *key,
                          const struct dl_column *columns, size_t n,
                          struct dl_diag *d);
  enum dl_status (*row)(struct dl_stream *s, const struct dl_value *values,
                        struct dl_diag *d);
  enum dl_status (*end)(struct dl_stream *s, struct dl_diag *d);
  /* Appends to a text what `row` would write, for dl_stream_write: several
   * threads may do so at a time. False when memory is out. NULL in formats
   * whose rows depend on those before them. */
  bool (*add)(const struct dl_stream *s, const struct dl_value *values,
              struct dl_text *to);
};

/* Appends "jansson 2.14", of the library that is running. */
void dl_json_version(struct dl_text *t);

/* Writes rows that `add` made, and empties the text. */
enum dl_status dl_stream_write(struct dl_stream *s, struct dl_text *rows,
                               struct dl_diag *d);

/* Members of r go behind the rows, in formats where one document holds both
 * (JSON); others have rows alone. To be said before end; r must live until
 * then. */
void dl_stream_tail(struct dl_stream *s, const struct dl_report *r);

size_t dl_format_count(void);
const struct dl_format *dl_format_at(size_t i);
const struct dl_format *dl_format_find(const char *name);

/* Whether people look at f and want colour: a terminal, NO_COLOR not set. */
bool dl_wants_colour(FILE *f);

#endif
