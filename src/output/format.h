/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the formats share. */

#ifndef DL_OUTPUT_FORMAT_H
#define DL_OUTPUT_FORMAT_H

#include "output/render.h"
#include "output/report_tree.h"

extern const struct dl_format dl_format_text;
extern const struct dl_format dl_format_json;
extern const struct dl_format dl_format_csv;
extern const struct dl_format dl_format_markdown;
extern const struct dl_format dl_format_latex;
extern const struct dl_format dl_format_boamps;
extern const struct dl_format dl_format_prometheus;

struct dl_layout;
struct dl_row_writer;

struct dl_stream {
  FILE *f;
  const char *key;           /* of the table, for formats that ask it */
  struct dl_column *columns; /* owned copy */
  size_t n_cols;
  size_t n_rows;
  struct dl_text line;          /* CSV: a row as it is put together */
  const struct dl_report *tail; /* JSON: members behind the rows, or NULL */
  const struct dl_row_writer *writer; /* of a held stream (held.h) */
  struct dl_table *head;              /* its rows held back */
  struct dl_layout *layout;           /* the widths, then known */
};

/* A JSON string; false when memory is out. */
bool dl_json_string(FILE *f, const char *s);

/* NULL: memory is out. */
struct dl_stream *dl_stream_new(FILE *f, const struct dl_column *columns,
                                size_t n);
void dl_stream_free(struct dl_stream *s); /* accepts NULL */

/* Whether f took everything so far; `flush` to be sure about the buffered
 * part. `memory` false means that memory was out on the way. */
enum dl_status dl_written(FILE *f, bool flush, bool memory, struct dl_diag *d);

#endif
