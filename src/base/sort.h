/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sorting by a comparison that looks into other data. */

#ifndef DL_BASE_SORT_H
#define DL_BASE_SORT_H

#include <stddef.h>

/* Negative, zero or positive where a comes before b, with b or after b. */
typedef int dl_compare(const void *a, const void *b, void *data);

/* Sorts the n elements of `size` bytes at base, in time n log n and without
 * allocations (a heap sort): qsort_r is not in every C library, and the order
 * of equal elements would differ between them. Where that order matters, the
 * comparison decides it (by index). */
void dl_sort_with(void *base, size_t n, size_t size, dl_compare *compare,
                  void *data);

#endif
