/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library to preload that lets one allocation fail.
 *
 *   FAIL_MALLOC_AT=N     the N-th allocation, from 1, of the program itself
 *   FAIL_MALLOC_ALL=1    counts those of its libraries, too
 *   FAIL_MALLOC_COUNT=F  writes how many there were to file F at exit */

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The allocator of the GNU C library. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static uintptr_t program_start, program_end;
static atomic_ulong count;
static unsigned long fail_at;
static bool of_all;

static int find_program(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size, (void)data;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
      continue;
    program_start = start;
    program_end = start + part->p_memsz;
  }
  return 1; /* the first one is the program */
}

__attribute__((constructor)) static void begin(void) {
  const char *at = getenv("FAIL_MALLOC_AT");
  of_all = getenv("FAIL_MALLOC_ALL") != NULL;
  dl_iterate_phdr(find_program, NULL);
  fail_at = at ? strtoul(at, NULL, 10) : 0;
  count = 0;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("FAIL_MALLOC_COUNT");
  FILE *f = path ? fopen(path, "w") : NULL;
  if (!f)
    return;
  fprintf(f, "%lu\n", count);
  fclose(f);
}

/* Whether an allocation requested from that address is to fail. */
static bool fails(const void *caller) {
  uintptr_t at = (uintptr_t)caller;
  if (program_end == 0 ||
      (!of_all && (at < program_start || at >= program_end)))
    return false;
  if (atomic_fetch_add(&count, 1) + 1 != fail_at)
    return false;
  errno = ENOMEM;
  return true;
}

#define FAILS fails(__builtin_return_address(0))

void *malloc(size_t size) {
  return FAILS ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
  return FAILS ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size) {
  return FAILS ? NULL : __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return FAILS ? NULL : __libc_realloc(p, bytes);
}

static char *copy(const char *s, size_t n) {
  char *to = __libc_malloc(n + 1);
  if (to) {
    memcpy(to, s, n);
    to[n] = '\0';
  }
  return to;
}

char *strdup(const char *s) {
  return FAILS ? NULL : copy(s, strlen(s));
}

char *strndup(const char *s, size_t n) {
  return FAILS ? NULL : copy(s, strnlen(s, n));
}
