/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggestions for misspelt names.
 *
 * The distance is that of the optimal string alignment (Damerau-Levenshtein
 * where no part is edited twice): table[i][j] is the distance between the
 * first i bytes of a and the first j bytes of b. */

#include "base/nearest_names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/memory.h"

static size_t min2(size_t a, size_t b) {
  return a < b ? a : b;
}

size_t dl_edit_distance(const char *a, const char *b) {
  size_t m = strlen(a), n = strlen(b), width = n + 1;
  size_t *table = dl_calloc((m + 1) * width, sizeof *table);
  if (!table)
    return m > n ? m : n; /* out of memory: the greatest possible */
  for (size_t j = 0; j <= n; j++)
    table[j] = j;
  for (size_t i = 1; i <= m; i++) {
    size_t *row = table + i * width, *before = row - width;
    row[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = min2(before[j - 1] + change, min2(before[j], row[j - 1]) + 1);
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = min2(row[j], (before - width)[j - 2] + 1);
    }
  }
  size_t distance = table[m * width + n];
  free(table);
  return distance;
}

/* The distance for suggestions: upper and lower case are the same, what
 * `wanted` begins is no further than one edit, and what holds it (three
 * letters or more: "3090") no further than two. */
static size_t name_cost(const char *wanted, const char *name) {
  size_t n = strlen(wanted), cost;
  char *a = dl_strdup(wanted), *b = dl_strdup(name);

  if (a == NULL || b == NULL) {
    cost = SIZE_MAX - 1;
  } else {
    for (char *p = a; *p != '\0'; p++)
      *p = dl_lower(*p);
    for (char *p = b; *p != '\0'; p++)
      *p = dl_lower(*p);
    cost = dl_edit_distance(a, b);
    if (n > 0 && cost > 1 && strncmp(a, b, n) == 0)
      cost = 1;
    else if (n > 2 && cost > 2 && strstr(b, a))
      cost = 2;
  }
  free(a);
  free(b);
  return cost;
}

/* Appends the names whose cost is no more than `limit`. */
static void add_nearest(const char *wanted, const char *const *names, size_t n,
                        size_t most, size_t limit, struct dl_text *text) {
  size_t *cost = dl_calloc(n, sizeof *cost);

  if (cost == NULL) {
    text->failed = true;
    return;
  }
  for (size_t i = 0; i < n; i++)
    cost[i] = name_cost(wanted, names[i]);
  for (size_t k = 0; k < most && k < n; k++) {
    size_t best = 0;

    for (size_t i = 1; i < n; i++)
      if (cost[i] < cost[best])
        best = i;
    if (cost[best] > limit)
      break;
    dl_text_add(text, k == 0 ? "'" : ", '");
    dl_text_add(text, names[best]);
    dl_text_add(text, "'");
    cost[best] = SIZE_MAX; /* taken */
  }
  free(cost);
}

void dl_nearest_names(const char *wanted, const char *const *names, size_t n,
                      size_t most, struct dl_text *text) {
  add_nearest(wanted, names, n, most, SIZE_MAX, text);
}

void dl_close_names(const char *wanted, const char *const *names, size_t n,
                    size_t most, struct dl_text *text) {
  size_t edits = strlen(wanted) / 5;
  add_nearest(wanted, names, n, most,
              edits < 1   ? 1
              : edits > 3 ? 3
                          : edits,
              text);
}
