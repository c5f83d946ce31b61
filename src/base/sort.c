/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sort.h"

static void swap(char *a, char *b, size_t size) {
  while (size-- > 0) {
    char c = *a;
    *a++ = *b;
    *b++ = c;
  }
}

/* Moves element i down until no child of it is greater. */
static void sift_down(char *base, size_t i, size_t n, size_t size,
                      dl_compare *compare, void *data) {
  size_t child;
  while ((child = 2 * i + 1) < n) {
    char *c = base + child * size;
    if (child + 1 < n && compare(c, c + size, data) < 0) {
      child++;
      c += size;
    }
    if (compare(base + i * size, c, data) >= 0)
      return;
    swap(base + i * size, c, size);
    i = child;
  }
}

void dl_sort_with(void *base, size_t n, size_t size, dl_compare *compare,
                  void *data) {
  for (size_t i = n / 2; i-- > 0;)
    sift_down(base, i, n, size, compare, data);
  for (size_t left = n; left-- > 1;) {
    swap(base, (char *)base + left * size, size);
    sift_down(base, 0, left, size, compare, data);
  }
}
