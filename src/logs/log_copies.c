/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of one size that begin and end alike are compared byte by byte. */

#include "logs/log_copies.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/intern.h"
#include "base/memory.h"
#include "base/text.h"

enum { ENDS = 512, BLOCK = 1 << 16 };

/* Without padding: records are equal if their bytes are. Digests in place of
 * the bytes keep a hundred thousand logs within a few megabytes. */
struct look {
  uint64_t size;
  uint64_t ends;
};

/* false: cannot be read, or is no longer than nothing. */
static bool look_at(struct look *l, const char *path) {
  struct stat st;
  FILE *f = fopen(path, "rb");
  bool done = f && fstat(fileno(f), &st) == 0 && st.st_size > 0;
  if (done) {
    char ends[2 * ENDS];
    size_t n = st.st_size < ENDS ? (size_t)st.st_size : ENDS;
    l->size = (uint64_t)st.st_size;
    done = fread(ends, 1, n, f) == n && fseeko(f, -(off_t)n, SEEK_END) == 0 &&
           fread(ends + n, 1, n, f) == n;
    l->ends = dl_hash_bytes(ends, 2 * n);
  }
  if (f)
    fclose(f);
  return done;
}

static bool have_same_bytes(const char *path, const char *other) {
  FILE *f = fopen(path, "rb"), *g = fopen(other, "rb");
  char *a = dl_malloc(2 * BLOCK), *b = a + BLOCK;
  bool same = f && g;
  for (size_t n = 1; same && n > 0;) {
    n = fread(a, 1, BLOCK, f);
    same = fread(b, 1, BLOCK, g) == n && memcmp(a, b, n) == 0;
  }
  same = same && !ferror(f) && !ferror(g);
  if (f)
    fclose(f);
  if (g)
    fclose(g);
  free(a);
  return same;
}

static void refuse(struct dl_source *s, const char *other) {
  DL_TEXT(text);
  dl_text_printf(&text, "%s: a copy of %s: it would count twice", s->path,
                 other);
  s->error = dl_strdup(dl_text_str(&text));
  s->importer = NULL;
  s->role = DL_LOG_UNREADABLE;
  s->status = DL_EINPUT;
}

void dl_log_copies_refuse(struct dl_log_grouping *g) {
  DL_SCOPED(dl_intern_free)
  struct dl_intern looks = {.size = sizeof(struct look)};
  DL_FREED size_t *first = dl_calloc(g->n, sizeof *first);
  for (size_t i = 0; g->n > 1 && i < g->n; i++) {
    struct dl_source *s = &g->source[i];
    struct look look;
    size_t n = looks.n;
    if (s->once || s->role != DL_LOG_PRIMARY || !look_at(&look, s->path))
      continue;
    long at = dl_intern(&looks, &look);
    if (looks.n > n)
      first[at] = i;
    else if (have_same_bytes(s->path, g->source[first[at]].path))
      refuse(s, g->source[first[at]].path);
  }
}
