/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_text_free(struct dl_text *t) {
  free(t->s);
  *t = (struct dl_text){0};
}

void dl_text_clear(struct dl_text *t) {
  t->len = 0;
  if (t->s)
    t->s[0] = '\0';
}

void dl_text_add_n(struct dl_text *t, const char *s, size_t n) {
  char *to = dl_text_room(t, n);
  if (n > 0)
    memcpy(to, s, n);
  dl_text_take(t, to + n);
}

void dl_text_add(struct dl_text *t, const char *s) {
  dl_text_add_n(t, s, strlen(s));
}

void dl_text_printf(struct dl_text *t, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  dl_text_vprintf(t, fmt, ap);
  va_end(ap);
}

void dl_text_vprintf(struct dl_text *t, const char *fmt, va_list ap) {
  va_list again;
  va_copy(again, ap);
  int n = vsnprintf(NULL, 0, fmt, ap);
  if (n < 0) /* more than INT_MAX bytes */
    dl_end_without_memory();
  vsnprintf(dl_text_room(t, (size_t)n), (size_t)n + 1, fmt, again);
  t->len += (size_t)n;
  va_end(again);
}

const char *dl_text_str(const struct dl_text *t) {
  return t->s ? t->s : "";
}

int dl_text_index(const char *const *list, size_t n, const char *s) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(list[i], s) == 0)
      return (int)i;
  return -1;
}

int dl_word_among(const char *words, const char *s, size_t len) {
  for (int at = 0; words; at++) {
    const char *end = words + strcspn(words, "|");
    if ((size_t)(end - words) == len && strncasecmp(words, s, len) == 0)
      return at;
    words = *end == '\0' ? NULL : end + 1;
  }
  return -1;
}

void dl_strlist_free(struct dl_strlist *l) {
  for (size_t i = 0; i < l->n; i++)
    free(l->s[i]);
  free(l->s);
  *l = (struct dl_strlist){0};
}

static void add_owned(struct dl_strlist *l, char *s) {
  DL_GROW(l->s, l->cap, l->n + 1);
  l->s[l->n++] = s;
}

void dl_strlist_add(struct dl_strlist *l, const char *s) {
  add_owned(l, dl_strdup(s));
}

static void add_trimmed(struct dl_strlist *l, const char *from,
                        const char *to) {
  while (from < to && isspace((unsigned char)*from))
    from++;
  while (to > from && isspace((unsigned char)to[-1]))
    to--;
  add_owned(l, dl_strndup(from, (size_t)(to - from)));
}

void dl_strlist_split(struct dl_strlist *l, const char *text, char separator) {
  const char *start = text;
  int depth = 0;
  bool quoted = false;
  const char *p = text;
  for (; *p; p++) {
    if (*p == '`')
      quoted = !quoted;
    else if (quoted)
      continue;
    else if (*p == '(')
      depth++;
    else if (*p == ')')
      depth--;
    else if (*p == separator && depth <= 0) {
      add_trimmed(l, start, p);
      start = p + 1;
    }
  }
  add_trimmed(l, start, p);
}

long dl_strlist_find(const struct dl_strlist *l, const char *s) {
  for (size_t i = 0; i < l->n; i++)
    if (strcmp(l->s[i], s) == 0)
      return (long)i;
  return -1;
}
