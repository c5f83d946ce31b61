/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A part of a CSV text, parsed into rows by a libcsv parser of its own.
 *
 * A chunk may be given text again and again; what it allocated is reused. A
 * row that the text leaves unfinished is kept and goes on with the next one.
 * Different chunks may be used from different threads. */

#ifndef DL_IO_CSV_CHUNK_H
#define DL_IO_CSV_CHUNK_H

#include <stdbool.h>
#include <stddef.h>

struct csv_parser;

enum dl_csv_error {
  DL_CSV_FINE,
  DL_CSV_NO_MEMORY,
  DL_CSV_ROW_TOO_LONG, /* more than DL_CSV_ROW_MAX bytes */
  DL_CSV_OPEN_QUOTE    /* the text ends within quotes */
};

/* A row that was left out. */
struct dl_csv_skip {
  size_t line;
  size_t n_fields; /* 0: it has a NUL byte */
};

struct dl_csv_chunk {
  struct csv_parser *parser;
  size_t n_cols;

  /* Set by the caller, then kept up to date. */
  size_t line;   /* number of the line that the next text starts in */
  bool after_cr; /* a LF that comes next belongs to a CR before it */

  /* The rows of the last text, until the next. */
  const char **cell; /* n_rows x n_cols */
  size_t cells_cap;
  size_t *row_line; /* n_rows */
  size_t row_lines_cap;
  size_t n_rows;
  struct dl_csv_skip *skip; /* in order */
  size_t skips_cap;
  size_t n_skips;
  enum dl_csv_error error;
  size_t error_line;

  /* The row that is being read. */
  size_t n_fields;
  size_t row_bytes;  /* counted with `inspect` only */
  size_t row_breaks; /* line ends within its cells */
  bool row_has_nul;
  char *row_start; /* its first cell in the arena */

  bool inspect;   /* the text may have line ends in cells, or long rows */
  bool nul_bytes; /* the text may have NUL bytes */
  char *arena;    /* cells, each with its NUL */
  size_t arena_cap;
  char *arena_end; /* where the next cell goes */

  char unused[128]; /* keeps threads off each other's cache lines */
};

/* Prepares a zeroed chunk; false when memory is out. */
bool dl_csv_chunk_init(struct dl_csv_chunk *c, size_t n_cols, char delimiter);
void dl_csv_chunk_free(struct dl_csv_chunk *c);

/* Parses text[0..len), the rows of the text before it are gone. `quotes` says
 * whether there are or have been quotes. With `last` a row that the text leaves
 * unfinished ends here. */
void dl_csv_chunk_parse(struct dl_csv_chunk *c, const char *text, size_t len,
                        bool quotes, bool last);

#endif
