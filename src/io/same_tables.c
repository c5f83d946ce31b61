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
    r->row[r->n++] = (struct dl_row_digest){hash, block->line[i]};
  }
}

static int by_hash_and_line(const void *a, const void *b) {
  const struct dl_row_digest *x = a, *y = b;
  if (x->hash != y->hash)
    return x->hash < y->hash ? -1 : 1;
  return (x->line > y->line) - (x->line < y->line);
}

void dl_repeated_rows_warn(struct dl_repeated_rows *r, const char *path,
                           struct dl_diag *d) {
  size_t n = 0, line = 0, original = 0, first = 0;
  if (r->n > 1)
    qsort(r->row, r->n, sizeof *r->row, by_hash_and_line);
  for (size_t i = 1; i < r->n; i++) {
    if (r->row[i].hash != r->row[i - 1].hash) {
      first = i;
      continue;
    }
    if (n++ == 0 || r->row[i].line < line) {
      line = r->row[i].line;
      original = r->row[first].line;
    }
  }
  if (n > 0)
    dl_warn_at(d, path, line,
               "equal to line %zu in every column; %zu repeated row%s as "
               "further measurements: remove %s",
               original, n, n == 1 ? " counts" : "s count",
               n == 1 ? "it if it is a copy" : "them if they are copies");
  dl_repeated_rows_free(r);
}

void dl_repeated_rows_free(struct dl_repeated_rows *r) {
  free(r->row);
  *r = (struct dl_repeated_rows){0};
}
