/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "io/same_tables.h"

#include <stdlib.h>

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
