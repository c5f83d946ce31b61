/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that are given twice, where each adds to a sum, and rows of a table
 * that equal an earlier row in every cell, as where it was appended to itself.
 * Two measurements agree in all digits so rarely that such rows are copies. */

#ifndef DL_IO_SAME_TABLES_H
#define DL_IO_SAME_TABLES_H

#include <stdint.h>

#include "base/intern.h"
#include "io/csv.h"

/* Start from {0}. */
struct dl_same_tables {
  struct dl_intern digests;
  char *const *path; /* of the tables, in their order */
  size_t n;          /* tables so far */
  size_t *first;     /* by digest: the table; owned */
  size_t cap;
};

/* Counts a table that has been read to its end, and warns if one before it has
 * the same bytes. One without rows counts nothing. */
void dl_same_tables_add(struct dl_same_tables *s, const struct dl_csv *csv,
                        struct dl_diag *d);

void dl_same_tables_free(struct dl_same_tables *s);

/* Starts as {0}; 16 bytes per row. */
struct dl_repeated_rows {
  struct dl_row_digest {
    uint64_t hash; /* of the cells */
    size_t line;
  } *row; /* owned */
  size_t n, cap;
};

/* Adds the rows of a block. */
void dl_repeated_rows_add(struct dl_repeated_rows *r,
                          const struct dl_csv_block *block);

/* Warns of the repeated rows of the table, and forgets all rows. */
void dl_repeated_rows_warn(struct dl_repeated_rows *r, const char *path,
                           struct dl_diag *d);

void dl_repeated_rows_free(struct dl_repeated_rows *r);

#endif
