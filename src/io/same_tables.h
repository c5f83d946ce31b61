/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that are given twice, and rows of a table that equal an earlier row in
 * every cell. Both would count twice; two measurements agree in all digits so
 * rarely that such rows are copies. */

#ifndef DL_IO_SAME_TABLES_H
#define DL_IO_SAME_TABLES_H

#include <stdint.h>

#include "base/names/intern.h"
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
 * equal bytes. A table without rows is ignored. */
void dl_same_tables_add(struct dl_same_tables *s, const struct dl_csv *csv,
                        struct dl_diag *d);

void dl_same_tables_free(struct dl_same_tables *s);

/* Starts as {0}; takes 16 bytes per row. */
enum { DL_ROW_HASH, DL_ROW_LINE };
struct dl_repeated_rows {
  uint64_t (*row)[2]; /* hash of the cells, and line; owned */
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
