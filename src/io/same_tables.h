/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that are given twice, where each adds to a sum. */

#ifndef DL_IO_SAME_TABLES_H
#define DL_IO_SAME_TABLES_H

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

#endif
