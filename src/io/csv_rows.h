/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of CSV text: libcsv parses the text and calls back for each cell and
 * each row end. Its parser keeps its state between blocks, so that a row may
 * begin in one block and end in the next; the cells of such a row move to the
 * start of the next block's memory. */

#ifndef DL_IO_CSV_ROWS_H
#define DL_IO_CSV_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "io/csv_header.h"
#include "io/csv_parser.h"

/* The longest row. */
#define DL_CSV_ROW_MAX ((size_t)16 << 20)

/* Start with dl_csv_rows_init; dl_csv_rows_free frees the members. */
struct dl_csv_rows {
  const char *path; /* borrowed */
  struct csv_parser parser;
  struct dl_diag *d;     /* of the call in progress, set by the caller */
  enum dl_status status; /* of the error that ended the reading */
  bool quotes;           /* there has been a quote behind the header */
  bool commas;           /* decimals have commas: "0,25" is read as 0.25 */
  bool nul_bytes;        /* there has been a NUL byte */
  size_t open_quote;     /* line of a quote that is never closed, or 0 */
  bool last_is_open;     /* the last row has no line end */

  /* The columns. A later header may name them in another order, or fewer; where
   * `grows` is set also new ones, which are empty in the rows before. */
  struct dl_csv_header *header; /* borrowed */
  bool grows;
  size_t *column;     /* of each field; NULL: the first header's */
  size_t n_named;     /* fields of the header in force */
  size_t most_fields; /* that are kept of a row until it ends */

  /* The rows of the block. */
  size_t n, n_cols;
  const char **cell; /* n x n_cols */
  size_t cells_cap;
  size_t *row_line; /* n */
  size_t row_lines_cap;
  char *arena; /* their cells, each with its NUL */
  size_t arena_cap;
  char *arena_end; /* where the next cell goes */

  /* The row that is being read. */
  size_t line;       /* where it starts */
  bool after_cr;     /* a LF that comes next belongs to a CR before it */
  size_t n_fields;   /* seen so far */
  size_t row_bytes;  /* of these */
  size_t row_breaks; /* line ends within them */
  bool row_has_nul;
  char *row_start; /* its first cell in the arena */
};

/* Sets up the parser for a header; dl_csv_rows_begin for the rows behind it. */
void dl_csv_rows_init(struct dl_csv_rows *r, const char *path, char delimiter);
void dl_csv_rows_begin(struct dl_csv_rows *r, struct dl_csv_header *header);
void dl_csv_rows_free(struct dl_csv_rows *r);

/* Replaces the rows by those that end in the text. Errors: r->status. Rows that
 * cannot be used are reported (dl_skip_at) and left out. */
void dl_csv_rows_parse(struct dl_csv_rows *r, const char *text, size_t len);

/* Ends the row that the file leaves unfinished, unless it is within quotes:
 * r->open_quote. */
void dl_csv_rows_end(struct dl_csv_rows *r);

/* Reports a row that is longer than DL_CSV_ROW_MAX. */
enum dl_status dl_csv_rows_too_long(const struct dl_csv_rows *r, size_t line);

#endif
