/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of one size that begin and end alike are compared byte by byte. */

#include "logs/log_copies.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/names/intern.h"
#include "base/memory.h"
#include "base/text.h"

enum { ENDS = 512, BLOCK = 1 << 16 };

/* Sources are compared by two numbers: device and inode, or size and a digest
 * of both ends, so that a hundred thousand logs take a few megabytes. */
enum { IDENTITY_SIZE = 2 * sizeof(uint64_t) };

/* The first source with an identity: i, or one before it. `source` has the
 * first source of each identity in `seen`. */
static size_t first_like(struct dl_intern *seen, size_t *source,
                         const uint64_t identity[2], size_t i) {
  size_t n = seen->n;
  long at = dl_intern(seen, identity);
  if (seen->n > n)
    source[at] = i;
  return source[at];
}

static void refuse_source(struct dl_source *s, struct dl_text *why) {
  s->error = dl_strdup(dl_text_str(why));
  s->importer = NULL;
  s->role = DL_LOG_UNREADABLE;
  s->status = DL_EINPUT;
}

void dl_log_repeats_refuse(struct dl_log_grouping *g) {
  DL_SCOPED(dl_intern_free) struct dl_intern seen = {.size = IDENTITY_SIZE};
  DL_FREED size_t *source = dl_calloc(g->n, sizeof *source);
  for (size_t i = 0; i < g->n; i++) {
    struct dl_source *s = &g->source[i];
    struct stat st;
    DL_TEXT(why);
    if (s->once || stat(s->path, &st) != 0)
      continue;
    const uint64_t identity[2] = {st.st_dev, st.st_ino};
    if (first_like(&seen, source, identity, i) == i)
      continue;
    dl_text_printf(&why, "%s: the same file is given twice", s->path);
    refuse_source(s, &why);
  }
}

/* Sets the identity of a file: its size, and a digest of both ends. False: it
 * cannot be read, or is empty. */
static bool digest(uint64_t identity[2], const char *path) {
  struct stat st;
  FILE *f = fopen(path, "rb");
  bool done = f && fstat(fileno(f), &st) == 0 && st.st_size > 0;
  if (done) {
    char ends[2 * ENDS];
    size_t n = st.st_size < ENDS ? (size_t)st.st_size : ENDS;
    identity[0] = (uint64_t)st.st_size;
    done = fread(ends, 1, n, f) == n && fseeko(f, -(off_t)n, SEEK_END) == 0 &&
           fread(ends + n, 1, n, f) == n;
    identity[1] = dl_hash_bytes(ends, 2 * n);
  }
  if (f)
    fclose(f);
  return done;
}

static bool have_same_bytes(const char *path, const char *other) {
  FILE *f = fopen(path, "rb"), *g = fopen(other, "rb");
  DL_FREED char *a = dl_malloc(2 * BLOCK);
  char *b = a + BLOCK;
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
  return same;
}

void dl_log_copies_refuse(struct dl_log_grouping *g) {
  DL_SCOPED(dl_intern_free) struct dl_intern seen = {.size = IDENTITY_SIZE};
  DL_FREED size_t *source = dl_calloc(g->n, sizeof *source);
  for (size_t i = 0; i < g->n; i++) {
    struct dl_source *s = &g->source[i];
    uint64_t identity[2];
    DL_TEXT(why);
    if (s->once || s->role != DL_LOG_PRIMARY || !digest(identity, s->path))
      continue;
    size_t first = first_like(&seen, source, identity, i);
    const char *other = g->source[first].path;
    if (first == i || !have_same_bytes(s->path, other))
      continue;
    dl_text_printf(&why, "%s: a copy of %s: it would count twice", s->path,
                   other);
    refuse_source(s, &why);
  }
}
