/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading and writing CSV, on libcsv.
 *
 * A reader hands out blocks of rows, so that a file of any size is read in
 * constant memory. The rows of a block are in file order and have the header's
 * number of fields: a row with another number, or with a NUL byte, is reported
 * with its line (dl_skip_at), counted and skipped. A UTF-8 byte order mark,
 * CRLF and blank lines are accepted. A later header may have the columns in
 * another order: cells are handed out in the order of the first one, and are
 * empty in columns that the later one lacks. */

#ifndef DL_IO_CSV_H
#define DL_IO_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/text.h"

struct dl_csv;

/* The empty cell of a column that the header in force lacks; compare addresses.
 */
extern const char dl_csv_absent[1];

struct dl_csv_block {
  size_t n_rows;
  size_t n_cols;
  const char *const *cell; /* n_rows x n_cols, row-major, NUL-terminated,
                              blanks around unquoted cells removed */
  const size_t *line;      /* line of each row in the file, from 1 */
};

/* A row of a block; all borrowed. */
struct dl_csv_row {
  const struct dl_csv *csv;
  const char *const *cell;
  size_t line;
};

/* Opens a file ("-": stdin) and reads its header. Errors (DL_EINPUT): empty
 * file, no header, duplicate or empty column names, binary data (a NUL byte
 * in the header), a row longer than 16 MiB. `delimiter` 0: a
 * comma, or semicolons (and commas in decimals) or tabs where the header has
 * none. */
enum dl_status dl_csv_open(struct dl_csv **csv, const char *path,
                           char delimiter, struct dl_diag *d);

/* Does as dl_csv_open for an open stream, which belongs to the reader from here
 * on, also if opening fails. `path` is its name in messages. `block_size` is
 * the number of bytes read at a time (0: 256 KiB); the rows do not depend on
 * it.
 */
enum dl_status dl_csv_open_stream(struct dl_csv **csv, FILE *f,
                                  const char *path, char delimiter,
                                  size_t block_size, struct dl_diag *d);
void dl_csv_free(struct dl_csv *csv);
void dl_csv_free_local(struct dl_csv **at);

/* Accepts later headers with new columns, which come behind the others:
 * dl_csv_n_cols may grow with each block, in which they are empty before. */
void dl_csv_let_grow(struct dl_csv *csv);

const char *dl_csv_path(const struct dl_csv *csv);
size_t dl_csv_n_cols(const struct dl_csv *csv);
const char *dl_csv_name(const struct dl_csv *csv, size_t col);

/* Returns the index of a column, or -1. */
long dl_csv_find(const struct dl_csv *csv, const char *name);

/* Treats columns without a value in any row as missing, so that dl_csv_find
 * does not find them; call it before the first dl_csv_next. Where the first
 * block leaves that open the file is read once more, up to their first values;
 * all columns of a pipe longer than a block, and of a file that cannot be read
 * to its end, are kept. It fails as dl_csv_next does. */
enum dl_status dl_csv_drop_empty(struct dl_csv *csv, struct dl_diag *d);

/* Whether dl_csv_drop_empty found a column without a value. */
bool dl_csv_is_empty(const struct dl_csv *csv, const char *name);

/* Reads the next rows; *block is NULL at the end of the file. The block and its
 * cells belong to the reader and live until the next call. The rows before a
 * quote that is never closed are handed out before that error. */
enum dl_status dl_csv_next(struct dl_csv *csv,
                           const struct dl_csv_block **block,
                           struct dl_diag *d);

/* Whether the block handed out last was the last one. */
bool dl_csv_at_end(const struct dl_csv *csv);

/* Whether that block's last row may have been cut off in its last cell, whose
 * number may lack digits: it has no line end, and ends unlike the rows above it
 * (dl_ends_like). */
bool dl_csv_is_cut(const struct dl_csv *csv);

/* Returns the share (0 to 1) of the file that has been read; 0 for a pipe. */
double dl_csv_share(const struct dl_csv *csv);

/* Estimates how many rows the whole file has from the block handed out last, to
 * reserve memory; 0 for a pipe. */
size_t dl_csv_expected_rows(const struct dl_csv *csv);

/* Identifies the text that was read so far: stores the XXH3 of its bytes (128
 * bits, as `xxhsum -H2` prints it) in hexadecimal, NUL-terminated, and the
 * number of data rows handed out. */
void dl_csv_digest(const struct dl_csv *csv, char hex[33], size_t *rows);

/* Appends "libcsv 3.0.3, xxHash 0.8.1". libcsv has no function for its version,
 * which comes from the header that dlest was built with. */
void dl_csv_versions(struct dl_text *t);

/* Whether a cell needs no quotes. *len is its length then. */
bool dl_csv_is_plain(const char *cell, size_t *len);

/* Writes a cell to a file, or appends it to a text, quoted if it has to be. */
void dl_csv_write_cell(FILE *f, const char *cell);
void dl_csv_add_cell(struct dl_text *t, const char *cell);

#endif
