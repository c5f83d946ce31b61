/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocation with overflow checks. Where memory runs out the program ends with
 * "out of memory" and DL_EFAILED, and no temporary file is left: nothing here
 * returns NULL, and no caller checks. Free with free(). Safe in threads. */

#ifndef DL_BASE_MEMORY_H
#define DL_BASE_MEMORY_H

#include <stddef.h>

/* Counts the elements of an array (not of a pointer). */
#define DL_LENGTH(array) (sizeof(array) / sizeof *(array))

#define DL_NEVER_NULL __attribute__((returns_nonnull, warn_unused_result))

/* Allocates n zeroed elements of `size` bytes. */
void *dl_calloc(size_t n, size_t size) DL_NEVER_NULL;

void *dl_malloc(size_t size) DL_NEVER_NULL;
void *dl_realloc(void *p, size_t size) DL_NEVER_NULL;
void *dl_reallocarray(void *p, size_t n, size_t size) DL_NEVER_NULL;

char *dl_strdup(const char *s) DL_NEVER_NULL;
char *dl_strndup(const char *s, size_t n) DL_NEVER_NULL;

/* Makes room for at least `want` elements in an array that grows by doubling;
 * array and cap are updated together. */
#define DL_GROW(array, cap, want)                                              \
  ((array) = dl_grown((void *)(array), &(cap), (want), sizeof *(array)))

/* Returns the array, moved if it had to grow, and updates *cap. */
void *dl_grown(void *array, size_t *cap, size_t want, size_t size)
    __attribute__((warn_unused_result));

/* A local variable with this is passed by its address to a function at the end
 * of its block, on every way out: DL_SCOPED(dl_intern_free) struct dl_intern
 * names = {0}; */
#define DL_SCOPED(free) __attribute__((cleanup(free)))

/* A local pointer with this is passed to free() there: DL_FREED double *x =
 * dl_calloc(...); */
#define DL_FREED DL_SCOPED(dl_free_local)
void dl_free_local(void *at);

/* Makes NAME_local of a function that frees an object by its pointer, for
 * pointers: DL_SCOPED(dl_csv_free_local) struct dl_csv *csv = NULL; */
#define DL_FREES(name, type)                                                   \
  void name##_local(type **at) {                                               \
    name(*at);                                                                 \
  }

/* Ends the program where a library reports a failed allocation. */
_Noreturn void dl_end_without_memory(void);

/* Sets a function that dl_end_without_memory calls first, or NULL; `record`
 * stops its measurement there. */
void dl_set_before_end(void (*f)(void));

/* Asks the system to back freshly allocated memory with large pages. Does
 * nothing for small blocks. */
void dl_use_large_pages(void *p, size_t bytes);

#endif
