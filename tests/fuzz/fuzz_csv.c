/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fuzzes the CSV reader: the first bytes choose how the rest is read. A text
 * must give the same rows, in the same lines, in large and in small blocks.
 *
 *   clang -std=gnu17 -D_GNU_SOURCE -g -O1 -Isrc
 *     -fsanitize=fuzzer,address,undefined tests/fuzz/fuzz_csv.c
 *     src/io/csv*.c src/base/{diag,memory,text,file}.c -lcsv -lxxhash */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/csv.h"

/* What reading came to. */
struct outcome {
  enum dl_status status;
  size_t rows, skipped;
  uint64_t sum; /* of the rows with their lines, in order */
  char digest[33];
};

static uint64_t mix(uint64_t sum, const void *data, size_t len) {
  const unsigned char *p = data;

  for (size_t i = 0; i < len; i++)
    sum = (sum ^ p[i]) * UINT64_C(1099511628211);
  return sum;
}

static void add_block(struct outcome *o, const struct dl_csv_block *b) {
  for (size_t i = 0; i < b->n_rows; i++) {
    o->sum = mix(o->sum, &b->line[i], sizeof b->line[i]);
    for (size_t j = 0; j < b->n_cols; j++) {
      const char *cell = b->cell[i * b->n_cols + j];

      o->sum = mix(o->sum, cell, strlen(cell) + 1);
    }
  }
}

static struct outcome read_all(const uint8_t *data, size_t size, char delimiter,
                               size_t block_size) {
  FILE *f = fmemopen((void *)(uintptr_t)data, size, "rb");
  const struct dl_csv_block *block;
  struct outcome o = {0};
  struct dl_csv *csv;
  struct dl_diag d = {0};

  if (f != NULL &&
      dl_csv_open_stream(&csv, f, "fuzz", delimiter, block_size, &d) == DL_OK) {
    while (dl_csv_next(csv, &block, &d) == DL_OK && block != NULL)
      add_block(&o, block);
    dl_csv_digest(csv, o.digest, &o.rows);
    dl_csv_free(csv);
  }
  o.status = d.status;
  o.skipped = d.n_skipped;
  dl_diag_free(&d);
  return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct outcome a, b;
  char delimiter;

  if (size < 4)
    return 0;
  delimiter = ",;\t "[data[1] >> 6];
  a = read_all(data + 2, size - 2, delimiter, 1 << 16);
  b = read_all(data + 2, size - 2, delimiter, (size_t)data[0] + 1);
  if (a.status != b.status ||
      (a.status == DL_OK &&
       (a.rows != b.rows || a.skipped != b.skipped || a.sum != b.sum ||
        strcmp(a.digest, b.digest) != 0)))
    abort();
  return 0;
}
