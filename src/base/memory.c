/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/status.h"
#include "base/temporary.h"

static void (*_Atomic before_end)(void);

void dl_set_before_end(void (*f)(void)) {
  before_end = f;
}

void dl_end_without_memory(void) {
  static const char text[] = "dlest: out of memory\n";
  void (*first)(void) = before_end;
  if (first)
    first();
  dl_temporary_remove();
  ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written;
  _exit(DL_EFAILED);
}

static void *checked(void *p) {
  if (!p)
    dl_end_without_memory();
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
  size_t bytes;
  if (__builtin_mul_overflow(n > 0 ? n : 1, size, &bytes))
    dl_end_without_memory();
  return checked(realloc(p, bytes));
}

char *dl_strndup(const char *s, size_t n) {
  return checked(strndup(s, n));
}

char *dl_strdup(const char *s) {
  return checked(strdup(s));
}

void *dl_grown(void *array, size_t *cap, size_t want, size_t size) {
  if (want <= *cap)
    return array;
  size_t next = *cap < 8 ? 8 : *cap;
  while (next < want) {
    if (next > SIZE_MAX / 2)
      dl_end_without_memory();
    next *= 2;
  }
  *cap = next;
  return dl_reallocarray(array, next, size);
}

void dl_free_local(void *at) {
  free(*(void **)at);
}

/* Large pages have this size on x86-64 and most arm64 systems; elsewhere the
 * advice has no effect. */
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
