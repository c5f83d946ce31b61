/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocation that remembers its failures. */

#include "base/memory.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static atomic_bool failed;

bool dl_memory_failed(void) {
  return failed;
}

void dl_note_memory_failed(void) {
  failed = true;
}

/* Notes a failure; returns p. */
static void *checked(void *p) {
  if (!p)
    failed = true;
  return p;
}

void *dl_malloc(size_t size) {
  return checked(malloc(size > 0 ? size : 1));
}

void *dl_calloc(size_t n, size_t size) {
  return checked(calloc(n > 0 ? n : 1, size));
}

void *dl_realloc(void *p, size_t size) {
  return dl_reallocarray(p, size, 1);
}

void *dl_reallocarray(void *p, size_t n, size_t size) {
  return checked(reallocarray(p, n > 0 ? n : 1, size));
}

char *dl_strndup(const char *s, size_t n) {
  return checked(strndup(s, n));
}

char *dl_strdup(const char *s) {
  return checked(strdup(s));
}

bool dl_grow(void **array, size_t *cap, size_t want, size_t size) {
  if (want <= *cap)
    return true;
  size_t next = *cap < 8 ? 8 : *cap;
  while (next < want) {
    if (next > SIZE_MAX / 2)
      return checked(NULL);
    next *= 2;
  }
  void *grown = dl_reallocarray(*array, next, size);
  if (!grown)
    return false;
  *array = grown;
  *cap = next;
  return true;
}

/* The size on x86-64 and most arm64 systems; elsewhere the advice has no
 * effect. */
#define LARGE_PAGE ((uintptr_t)2 << 20)

void dl_use_large_pages(void *p, size_t bytes) {
#ifdef MADV_HUGEPAGE
  uintptr_t before = -(uintptr_t)p & (LARGE_PAGE - 1); /* to the next page */
  if (bytes >= 4 * LARGE_PAGE)
    madvise((char *)p + before, (bytes - before) & ~(LARGE_PAGE - 1),
            MADV_HUGEPAGE);
#else
  (void)p;
  (void)bytes;
#endif
}
