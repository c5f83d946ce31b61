/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/same_tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_same_tables_add(struct dl_same_tables *s, const struct dl_csv *csv,
                        struct dl_diag *d) {
  char hex[33];
  size_t rows, known = s->digests.n, i = s->n++;
  dl_csv_digest(csv, hex, &rows);
  if (rows == 0)
    return;
  DL_GROW(s->first, s->cap, known + 1);
  long k = dl_intern(&s->digests, hex);
  if (s->digests.n > known)
    s->first[k] = i;
  else
    dl_warn_at(d, s->path[i], 0, "the same as %s: what both hold counts twice",
               s->path[s->first[k]]);
}

void dl_same_tables_free(struct dl_same_tables *s) {
  dl_intern_free(&s->digests);
  free(s->first);
  *s = (struct dl_same_tables){0};
}

void dl_repeated_rows_add(struct dl_repeated_rows *r,
                          const struct dl_csv_block *block) {
  DL_GROW(r->row, r->cap, r->n + block->n_rows);
  for (size_t i = 0; i < block->n_rows; i++) {
    uint64_t hash = 0;
    for (size_t j = 0; j < block->n_cols; j++) {
      const char *cell = block->cell[i * block->n_cols + j];
      uint64_t both[] = {hash, dl_hash_bytes(cell, strlen(cell))};
      hash = dl_hash_bytes(both, sizeof both);
    }
    r->row[r->n][DL_ROW_HASH] = hash;
    r->row[r->n++][DL_ROW_LINE] = block->line[i];
  }
}

static int by_hash_and_line(const void *a, const void *b) {
  const uint64_t *x = a, *y = b;
  if (x[DL_ROW_HASH] != y[DL_ROW_HASH])
    return x[DL_ROW_HASH] < y[DL_ROW_HASH] ? -1 : 1;
  return (x[DL_ROW_LINE] > y[DL_ROW_LINE]) - (x[DL_ROW_LINE] < y[DL_ROW_LINE]);
}

void dl_repeated_rows_warn(struct dl_repeated_rows *r, const char *path,
                           struct dl_diag *d) {
  size_t n = 0, first = 0;
  uint64_t line = 0, original = 0;
  if (r->n > 1)
    qsort(r->row, r->n, sizeof *r->row, by_hash_and_line);
  for (size_t i = 1; i < r->n; i++) {
    if (r->row[i][DL_ROW_HASH] != r->row[i - 1][DL_ROW_HASH]) {
      first = i;
      continue;
    }
    if (n++ == 0 || r->row[i][DL_ROW_LINE] < line) {
      line = r->row[i][DL_ROW_LINE];
      original = r->row[first][DL_ROW_LINE];
    }
  }
  const char *counts = n == 1 ? " counts" : "s count";
  const char *copies =
      n == 1 ? "it if it is a copy" : "them if they are copies";
  if (n > 0)
    dl_warn_at(d, path, (size_t)line,
               "equal to line %zu in every column; %zu repeated row%s as "
               "further measurements: remove %s",
               (size_t)original, n, counts, copies);
  dl_repeated_rows_free(r);
}

void dl_repeated_rows_free(struct dl_repeated_rows *r) {
  free(r->row);
  *r = (struct dl_repeated_rows){0};
}
