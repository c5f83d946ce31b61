/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Internals of the CSV reader that tests and the fuzzer use as well. */

#ifndef DL_IO_CSV_STREAM_H
#define DL_IO_CSV_STREAM_H

#include <stddef.h>
#include <stdio.h>

#include "base/diag.h"
#include "io/csv.h"

/* A row may have as many bytes. */
#define DL_CSV_ROW_MAX ((size_t)16 << 20)

/* How a file is read; the rows do not depend on it. */
struct dl_csv_tuning {
  size_t block_size; /* bytes read at a time, at most DL_CSV_ROW_MAX */
  size_t chunk_size; /* bytes that one thread parses at a time, about */
  int n_threads;
};

/* dl_csv_open on an open stream. It belongs to the reader from here on, also
 * if opening fails. NULL stands for the tuning of dl_csv_open. */
enum dl_status dl_csv_open_stream(struct dl_csv **csv, FILE *f,
                                  const char *path, char delimiter,
                                  const struct dl_csv_tuning *tuning,
                                  struct dl_diag *d);

#endif
