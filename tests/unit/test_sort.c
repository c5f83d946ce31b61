/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sort with data. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

enum { MOST = 300 };

/* Compares keys by a table of ranks, and counts the comparisons. */
struct ranks {
  size_t n_compared;
  int of[16];
};

/* Seven bytes: elements need not be aligned. */
struct element {
  uint8_t key;
  char rest[6];
};

static int by_rank(const void *a, const void *b, void *data) {
  struct ranks *r = data;
  const struct element *x = a, *y = b;
  r->n_compared++;
  return r->of[x->key] - r->of[y->key];
}

static void sorts_with_data(void **state) {
  (void)state;
  struct ranks r = {
      .of = {3, 1, 4, 15, 9, 2, 6, 5, 35, 8, 97, 93, 23, 84, 62, 7}};
  struct element e[MOST];
  unsigned seed = 5;
  for (size_t n = 0; n <= MOST; n += n < 20 ? 1 : 35) {
    size_t before[16] = {0}, after[16] = {0};
    for (size_t i = 0; i < n; i++) {
      seed = seed * 1103515245u + 12345u;
      e[i].key = (uint8_t)((seed >> 16) % 16);
      memset(e[i].rest, e[i].key, sizeof e[i].rest);
      before[e[i].key]++;
    }
    r.n_compared = 0;
    dl_sort_with(e, n, sizeof *e, by_rank, &r);
    for (size_t i = 0; i < n; i++) {
      assert_true(i == 0 || r.of[e[i - 1].key] <= r.of[e[i].key]);
      assert_int_equal(e[i].rest[5], e[i].key);
      after[e[i].key]++;
    }
    assert_memory_equal(before, after, sizeof before);
    /* 2 n log2 n, and building the heap. */
    size_t log2 = 1;
    while (n >> log2)
      log2++;
    assert_true(r.n_compared <= 2 * n * log2 + 2 * n);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_with_data)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
