/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The header of a CSV file: the first line that is not blank. Files that were
 * appended to may have later ones. */

#ifndef DL_IO_CSV_HEADER_H
#define DL_IO_CSV_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/names/intern.h"

struct csv_parser;

/* Start from {.line = 1}. The owner frees names (dl_intern_free) and empty. */
struct dl_csv_header {
  struct dl_intern names; /* of the columns, in order */
  size_t n_cols;
  bool *empty; /* n_cols: no value so far, treated as missing; NULL: none is */
  size_t n_empty;
  size_t unnamed;    /* number of a column without a name, from 1; or 0 */
  const char *twice; /* a name that occurs twice; NULL without one */
  size_t n_bytes;    /* read */
  size_t line;       /* line of the next byte */
  size_t name_line;  /* line where the names start; 0 before */
  char last_byte;
  bool done;
  bool binary; /* there are control characters */
};

/* Parses bytes of text until the header ends. Returns how many. */
size_t dl_csv_header_read(struct dl_csv_header *h, struct csv_parser *parser,
                          const char *text, size_t len);

/* Ends the header where the file ends. Returns false within quotes. */
bool dl_csv_header_end(struct dl_csv_header *h, struct csv_parser *parser);

/* Refuses missing, empty and repeated names. */
enum dl_status dl_csv_header_check(const struct dl_csv_header *h,
                                   const char *path, struct dl_diag *d);

/* Tells whether a cell begins like a number and so is no name of a column. Few
 * rows lack such a cell, so that hardly any is compared with the names. */
static inline bool dl_csv_begins_number(const char *cell) {
  cell += *cell == '-' || *cell == '+' || *cell == '.';
  return *cell >= '0' && *cell <= '9';
}

/* Whether the n cells of a row are a later header: names of columns, in any
 * order, case and spacing; most are known, if not all. column[i] then is the
 * column that cell i names, n_cols: a new one. */
bool dl_csv_header_again(const struct dl_csv_header *h, const char *const *cell,
                         size_t n, size_t *column);

/* Looks for a value of each column in the rows (rows x n_cols): h->empty marks
 * the columns that had none in these rows and in earlier calls. A call without
 * rows changes nothing. */
void dl_csv_header_look(struct dl_csv_header *h, const char *const *cell,
                        size_t rows);

/* Treats no column as missing. */
void dl_csv_header_keep_all(struct dl_csv_header *h);

/* Whether a reader removes a character at the ends of a cell without quotes. */
static inline bool dl_csv_is_blank(char c) {
  return c == ' ' || c == '\t';
}

/* Counts the line ends in a quoted cell. */
size_t dl_csv_count_breaks(const char *s, size_t len);

/* Whether the first DL_CSV_LOOK_SIZE bytes of a file hold control characters,
 * as binary formats do. NUL bytes behind the header may be a writer's bug. */
#define DL_CSV_LOOK_SIZE 64
bool dl_csv_looks_binary(const char *data, size_t len);

#endif
