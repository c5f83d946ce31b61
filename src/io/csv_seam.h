/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places where a CSV file may be cut: between two rows. */

#ifndef DL_IO_CSV_SEAM_H
#define DL_IO_CSV_SEAM_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/diag.h"
#include "io/csv_rows.h"

struct dl_csv_seam {
  off_t offset; /* of the first byte behind a line feed that ends a row */
  size_t line;  /* that starts there, from 1 */
  struct dl_csv_rows *rows; /* that later headers on the way are for, or NULL */

  /* Private to the search. */
  struct csv_parser parser;
  bool parsing; /* the parser has the beginning of a row */
  bool ended;   /* the parser has met the end of a row */
};

/* Moves a seam to the first one that is not before `least`; to the end of the
 * file where there is none. A line feed in quotes ends no row. */
enum dl_status dl_csv_seam_find(struct dl_csv_seam *seam, FILE *f,
                                const char *path, unsigned char delimiter,
                                off_t least, struct dl_diag *d);

#endif
