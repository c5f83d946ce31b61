/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting by a comparison that looks into other data. */

#ifndef DL_BASE_SORT_H
#define DL_BASE_SORT_H

#include <stddef.h>

/* Negative, zero or positive where a comes before b, with b or after b. */
typedef int dl_compare(const void *a, const void *b, void *data);

/* Sorts the n elements of `size` bytes at base, in time n log n. The order of
 * equal elements is not specified, and differs between C libraries: where it
 * matters, the comparison decides it (by index). */
void dl_sort_with(void *base, size_t n, size_t size, dl_compare *compare,
                  void *data);

/* The sort of systems without qsort_r: a heap sort without allocations. */
void dl_heap_sort(void *base, size_t n, size_t size, dl_compare *compare,
                  void *data);

#endif
