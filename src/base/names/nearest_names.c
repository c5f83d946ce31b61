/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suggestions for misspelt names.
 *
 * The distance is the optimal string alignment distance (Damerau-Levenshtein
 * where no part is edited twice): table[i][j] is the distance between the first
 * i bytes of a and the first j bytes of b. */

#include "base/names/nearest_names.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static size_t min2(size_t a, size_t b) {
  return a < b ? a : b;
}

/* Costs of edits, in quarters of an edit, as people mistype names. */
enum { SEPARATOR = 1, SLIP = 2, EDIT = 4, DIGIT = 6 };

static bool is_separator(char c) {
  return c == '-' || c == '_' || c == ' ' || c == '/';
}

/* The cost to insert or delete s[i]; if `plain` is set each edit costs EDIT. */
static size_t cost_of_one(const char *s, size_t i, bool plain) {
  bool again = (i > 0 && s[i] == s[i - 1]) || s[i] == s[i + 1];
  if (plain)
    return EDIT;
  if (is_separator(s[i]))
    return SEPARATOR;
  return again ? SLIP : EDIT;
}

static bool look_alike(char a, char b) {
  static const char *const sets[] = {"0o", "1li", "5s", "8b"};
  for (size_t i = 0; i < DL_LENGTH(sets); i++)
    if (strchr(sets[i], a) && strchr(sets[i], b))
      return true;
  return false;
}

/* The cost to write b in place of a. */
static size_t cost_of_other(char a, char b, bool plain) {
  if (a == b)
    return 0;
  if (plain)
    return EDIT;
  if (is_separator(a) && is_separator(b))
    return SEPARATOR;
  if (look_alike(a, b))
    return SLIP;
  return isdigit((unsigned char)a) && isdigit((unsigned char)b) ? DIGIT : EDIT;
}

static size_t distance(const char *a, const char *b, bool plain) {
  size_t m = strlen(a), n = strlen(b), width = n + 1;
  DL_FREED size_t *table = dl_calloc((m + 1) * width, sizeof *table);
  for (size_t j = 1; j <= n; j++)
    table[j] = table[j - 1] + cost_of_one(b, j - 1, plain);
  for (size_t i = 1; i <= m; i++) {
    size_t *row = table + i * width, *before = row - width;
    size_t gone = cost_of_one(a, i - 1, plain);
    row[0] = before[0] + gone;
    for (size_t j = 1; j <= n; j++) {
      size_t other = before[j - 1] + cost_of_other(a[i - 1], b[j - 1], plain);
      size_t more = row[j - 1] + cost_of_one(b, j - 1, plain);
      row[j] = min2(other, min2(before[j] + gone, more));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = min2(row[j], (before - width)[j - 2] + EDIT);
    }
  }
  return table[m * width + n];
}

size_t dl_edit_distance(const char *a, const char *b) {
  return distance(a, b, true) / EDIT;
}

/* Copies a text in lower case into fresh memory. */
static char *lower(const char *s) {
  char *to = dl_strdup(s);
  for (char *p = to; *p; p++)
    *p = (char)tolower((unsigned char)*p);
  return to;
}

size_t dl_name_distance(const char *typed, const char *name) {
  enum { LEAST_PART = 3 }; /* letters of a part that counts */
  char *a = lower(typed), *b = lower(name);
  size_t m = strlen(a), n = strlen(b);
  const char *at = m > 0 ? strstr(b, a) : NULL;
  size_t cost = distance(a, b, false);
  if (at && (at == b || m >= LEAST_PART)) /* the rest counts little */
    cost = min2(cost, (at == b ? EDIT - 1 : EDIT) + (n - m) / 8);
  free(a);
  free(b);
  return cost;
}

/* Index of the candidate with the least cost; n if none is within the limit. */
static size_t next_best(const struct dl_name_candidate *c, const size_t *cost,
                        size_t n, size_t limit) {
  size_t best = n;
  for (size_t i = 0; i < n; i++)
    if (cost[i] <= limit &&
        (best == n || cost[i] < cost[best] ||
         (cost[i] == cost[best] && strlen(c[i].name) < strlen(c[best].name))))
      best = i;
  return best;
}

/* Stores the nearest candidates within a limit, in order, one of each thing;
 * returns their number, at most MOST. */
enum { MOST = 64 };

static size_t rank(const char *typed, const struct dl_name_candidate *c,
                   size_t n, size_t limit, const char **best) {
  size_t *cost = dl_calloc(n, sizeof *cost), k = 0;
  for (size_t i = 0; i < n; i++)
    cost[i] = dl_name_distance(typed, c[i].name);
  for (; k < MOST; k++) {
    size_t i = next_best(c, cost, n, limit);
    if (i == n)
      break;
    best[k] = c[i].shown ? c[i].shown : c[i].name;
    for (size_t j = 0; j < n; j++)
      if (c[j].of == c[i].of)
        cost[j] = SIZE_MAX; /* taken */
  }
  free(cost);
  return k;
}

void dl_suggest(const char *typed, const struct dl_name_candidate *c, size_t n,
                size_t most, bool strict, struct dl_text *text) {
  const char *best[MOST], *before = " (did you mean '";
  size_t limit = EDIT * strlen(typed) / (strict ? 5 : 3);
  limit = limit < EDIT ? EDIT : min2(limit, 3 * EDIT);
  size_t k = min2(most, rank(typed, c, n, limit, best));
  for (size_t i = 0; i < k; i++) {
    dl_text_printf(text, "%s%s%s", before, best[i], i + 1 == k ? "'?)" : "'");
    before = i + 2 == k ? " or '" : ", '";
  }
}

/* Makes candidates of plain names, in fresh memory. */
static struct dl_name_candidate *of_names(const char *const *names, size_t n) {
  struct dl_name_candidate *c = dl_calloc(n, sizeof *c);
  for (size_t i = 0; i < n; i++)
    c[i] = (struct dl_name_candidate){names[i], NULL, i};
  return c;
}

void dl_suggest_names(const char *typed, const char *const *names, size_t n,
                      struct dl_text *text) {
  DL_FREED struct dl_name_candidate *c = of_names(names, n);
  dl_suggest(typed, c, n, 3, false, text);
}

void dl_nearest_names(const char *typed, const char *const *names, size_t n,
                      size_t most, struct dl_text *text) {
  const char *best[MOST];
  DL_FREED struct dl_name_candidate *c = of_names(names, n);
  size_t k = min2(most, rank(typed, c, n, SIZE_MAX - 1, best));
  for (size_t i = 0; i < k; i++) {
    dl_text_add(text, i == 0 ? "'" : ", '");
    dl_text_add(text, best[i]);
    dl_text_add(text, "'");
  }
}
