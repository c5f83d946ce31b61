/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and writing CSV, on libcsv.
 *
 * A reader hands out blocks of rows, so that a file of any size is read in
 * constant memory. Within a block the rows lie in file order and have the
 * header's number of fields: a row with another number is reported with its
 * line (dl_skip_at), counted and left out, as is one with a NUL byte. A
 * UTF-8 byte order mark, CRLF and blank lines are accepted.
 *
 * Where the text holds no quotes a block is parsed in chunks by several
 * threads; the rows are the same for any number of them. */

#ifndef DL_IO_CSV_H
#define DL_IO_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/text.h"

struct dl_csv;

struct dl_csv_block {
  size_t n_rows;
  size_t n_cols;
  const char *const *cell; /* n_rows x n_cols, row-major, NUL-terminated,
                              blanks around unquoted cells removed */
  const size_t *line;      /* line of each row in the file, from 1 */
};

/* Opens a file ("-": stdin) and reads its header. Errors (DL_EINPUT): empty
 * file, no header, duplicate or empty column names, binary data (a NUL byte
 * in the header), a row longer than 16 MiB. `delimiter` 0 means a comma. */
enum dl_status dl_csv_open(struct dl_csv **csv, const char *path,
                           char delimiter, struct dl_diag *d);
void dl_csv_free(struct dl_csv *csv);

const char *dl_csv_path(const struct dl_csv *csv);
size_t dl_csv_n_cols(const struct dl_csv *csv);
const char *dl_csv_name(const struct dl_csv *csv, size_t col);

/* Index of a column, or -1. */
long dl_csv_find(const struct dl_csv *csv, const char *name);

/* The next rows; *block is NULL at the end of the file. Rows before a quote
 * that is never closed are handed out before that error. It and its cells
 * belong to the reader and live until the next call. */
enum dl_status dl_csv_next(struct dl_csv *csv,
                           const struct dl_csv_block **block,
                           struct dl_diag *d);

/* Whether the block handed out last was the last one. */
bool dl_csv_at_end(const struct dl_csv *csv);

/* About how many rows the whole file has, judged by the block handed out
 * last; 0 where that cannot be told (a pipe). For reserving memory. */
size_t dl_csv_expected_rows(const struct dl_csv *csv);

/* Provenance of what was read so far: XXH3 (128 bits, as `xxhsum -H2` prints
 * it) of the bytes in hexadecimal, NUL-terminated, and the number of data
 * rows handed out. */
void dl_csv_digest(const struct dl_csv *csv, char hex[33], size_t *rows);

/* Appends "libcsv 3.0.3, xxHash 0.8.1". libcsv cannot be asked: the version is
 * that of its header. */
void dl_csv_versions(struct dl_text *t);

/* Writes one cell, quoted if it has to be; or appends it to a text. */
void dl_csv_write_cell(FILE *f, const char *cell);
void dl_csv_add_cell(struct dl_text *t, const char *cell);

#endif
