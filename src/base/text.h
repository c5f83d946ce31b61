/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Growable text and lists of strings. */

#ifndef DL_BASE_TEXT_H
#define DL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/diag.h"

/* A growable NUL-terminated text. Start from {0}. */
struct dl_text {
  char *s;    /* NULL while empty */
  size_t len; /* without the NUL */
  size_t cap;
};

/* Declares an empty text that is freed at the end of its block. */
#define DL_TEXT(name) DL_SCOPED(dl_text_free) struct dl_text name = {0}

void dl_text_free(struct dl_text *t);
void dl_text_clear(struct dl_text *t);
void dl_text_add(struct dl_text *t, const char *s);
void dl_text_add_n(struct dl_text *t, const char *s, size_t n);
void dl_text_printf(struct dl_text *t, const char *fmt, ...) DL_PRINTF(2, 3);
void dl_text_vprintf(struct dl_text *t, const char *fmt, va_list ap);

/* dl_text_room returns where n bytes may be written behind the text;
 * dl_text_take adds the bytes before `end` to it. They are inline because rows
 * of tables are put together of many short pieces, most of which fit. */
static inline char *dl_text_room(struct dl_text *t, size_t n) {
  if (t->cap - t->len <= n)
    DL_GROW(t->s, t->cap, t->len + n + 1);
  return t->s + t->len;
}

static inline void dl_text_take(struct dl_text *t, char *end) {
  *end = '\0';
  t->len = (size_t)(end - t->s);
}

/* Returns the text so far, "" while empty. It belongs to t. */
const char *dl_text_str(const struct dl_text *t);

/* Whether two texts are equal; each may be unknown (NULL). */
static inline bool dl_same_text(const char *a, const char *b) {
  return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether a text, which may be unknown (NULL), is a word. The words of a run
 * have one spelling (dl_run_word). */
static inline bool dl_is_word(const char *text, const char *word) {
  return text && *text == *word && strcmp(text, word) == 0;
}

/* A text, or another one if it is unknown (NULL). */
static inline const char *dl_text_or(const char *s, const char *other) {
  return s ? s : other;
}

/* Index of a text in a list of n texts; -1 if it is not in the list. */
int dl_text_index(const char *const *list, size_t n, const char *s);

/* Returns the position of s[0..len) in a list of words separated by "|", in any
 * case; -1 if it is not in the list. */
int dl_word_among(const char *words, const char *s, size_t len);

/* A list of owned strings. Start from {0}. */
struct dl_strlist {
  char **s;
  size_t n;
  size_t cap;
};

void dl_strlist_free(struct dl_strlist *l);

/* Appends a copy of s. */
void dl_strlist_add(struct dl_strlist *l, const char *s);

/* Splits `text` at `separator`, outside parentheses and backquotes, trims
 * blanks and appends the parts. Empty parts are kept. */
void dl_strlist_split(struct dl_strlist *l, const char *text, char separator);

/* Returns the index of s in the list, or -1. */
long dl_strlist_find(const struct dl_strlist *l, const char *s);

/* --- rows of small constant tables: a name and what belongs to it */

struct dl_named_text {
  const char *name, *text;
};

struct dl_named_number {
  const char *name;
  double x;
};

/* `bits` is a set of which the words say something. */
struct dl_named_bits {
  const char *name;
  unsigned bits;
};

/* Units that `names` states ("s|sec"), in place of `unit`, which is 1 / factor
 * of them. */
struct dl_named_unit {
  const char *names, *unit;
  double factor;
};

/* Returns the text of a name, or `otherwise` if the n rows do not have it. */
static inline const char *dl_text_of_name(const struct dl_named_text *row,
                                          size_t n, const char *name,
                                          const char *otherwise) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(row[i].name, name) == 0)
      return row[i].text;
  return otherwise;
}

#endif
