/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Allocation with overflow checks. All return NULL when memory is out; the
 * caller reports it with dl_fail_memory. Free with free().
 *
 * That memory ran out is also remembered: however the caller took it, the
 * program ends with that error, and no output file appears. */

#ifndef DL_BASE_MEMORY_H
#define DL_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Elements of an array (not of a pointer). */
#define DL_LENGTH(array) (sizeof(array) / sizeof *(array))

/* n zeroed elements of `size` bytes; never NULL for n = 0 unless memory is
 * out. */
void *dl_calloc(size_t n, size_t size);

void *dl_malloc(size_t size);
void *dl_realloc(void *p, size_t size);
void *dl_reallocarray(void *p, size_t n, size_t size);

char *dl_strdup(const char *s);
char *dl_strndup(const char *s, size_t n);

/* Makes room for at least `want` elements in an array that grows by doubling.
 * *array and *cap are updated together; false leaves both as they were. */
bool dl_grow(void **array, size_t *cap, size_t want, size_t size);

/* Whether an allocation has failed since the program began. */
bool dl_memory_failed(void);
void dl_note_memory_failed(void);

/* Asks the system to back freshly allocated memory with large pages. Does
 * nothing for small blocks. */
void dl_use_large_pages(void *p, size_t bytes);

#endif
