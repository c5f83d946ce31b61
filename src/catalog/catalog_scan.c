/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/catalog_scan.h"

#include <ctype.h>
#include <string.h>

/* What is being looked for, and room to fold in. */
struct scan {
  enum dl_kind kind;
  const char *folded;
  struct dl_text plain, room;
};

static const struct {
  const char *entity;
  char c;
} entities[] = {{"&amp;", '&'},
                {"&lt;", '<'},
                {"&gt;", '>'},
                {"&quot;", '"'},
                {"&apos;", '\''}};

/* Appends n bytes of XML text with the predefined entities resolved. */
static void add_plain(struct dl_text *to, const char *s, size_t n) {
  for (size_t i = 0; i < n;) {
    size_t len = 1;
    char c = s[i];
    for (size_t k = 0; c == '&' && k < sizeof entities / sizeof *entities; k++)
      if (strncmp(s + i, entities[k].entity, strlen(entities[k].entity)) == 0) {
        c = entities[k].c;
        len = strlen(entities[k].entity);
      }
    dl_text_add_n(to, &c, 1);
    i += len;
  }
}

/* Whether the first letter or digit rules the name out: most names are not
 * worth folding. Words that do not count may come first. */
static bool differs_at_once(const struct scan *s, const char *name, size_t n) {
  size_t i = 0;
  while (i < n && name[i] != '&' && !isalnum((unsigned char)name[i]))
    i++;
  return i < n && name[i] != '&' && !*dl_kind_info(s->kind)->noise &&
         tolower((unsigned char)name[i]) != (unsigned char)*s->folded;
}

static bool same_name(struct scan *s, const char *name, size_t n) {
  if (differs_at_once(s, name, n))
    return false;
  dl_text_clear(&s->plain);
  dl_text_clear(&s->room);
  add_plain(&s->plain, name, n);
  dl_fold_name(s->kind, dl_text_str(&s->plain), &s->room);
  return strcmp(dl_text_str(&s->room), s->folded) == 0;
}

/* First place of `what` in [from, end), or NULL. */
static const char *find(const char *from, const char *end, const char *what) {
  return memmem(from, (size_t)(end - from), what, strlen(what));
}

/* Whether the attribute of a start tag [tag, end) has the name. */
static bool attribute_is(struct scan *s, const char *tag, const char *end,
                         const char *attribute) {
  const char *value = find(tag, end, attribute);
  if (!value)
    return false;
  value += strlen(attribute);
  const char *quote = memchr(value, '"', (size_t)(end - value));
  return quote && same_name(s, value, (size_t)(quote - value));
}

static bool entry_is(struct scan *s, const char *entry, const char *end) {
  static const char alias[] = "<alias>";
  const char *tag = memchr(entry, '>', (size_t)(end - entry));
  if (!tag)
    return false;
  if (attribute_is(s, entry, tag, " id=\"") ||
      attribute_is(s, entry, tag, " name=\""))
    return true;
  for (const char *p = tag; (p = find(p, end, alias));) {
    p += sizeof alias - 1;
    if (same_name(s, p, strcspn(p, "<")))
      return true;
  }
  return false;
}

static size_t count_lines(const char *from, const char *to) {
  size_t n = 0;
  while ((from = memchr(from, '\n', (size_t)(to - from)))) {
    from++;
    n++;
  }
  return n;
}

/* Everything up to the first entry, line feeds in place of what lies between,
 * the entry. */
static void take(const char *text, const char *first, const char *entry,
                 const char *end, struct dl_text *to) {
  dl_text_add_n(to, text, (size_t)(first - text));
  for (size_t n = count_lines(first, entry); n > 0; n--)
    dl_text_add(to, "\n");
  dl_text_add_n(to, entry, (size_t)(end - entry));
  dl_text_add(to, "</catalog>");
}

/* Where the next entry starts, outside comments; NULL after the last. */
static const char *next_entry(const char *p) {
  while ((p = strchr(p, '<'))) {
    if (strncmp(p, "<entry ", 7) == 0)
      return p;
    if (strncmp(p, "<!--", 4) == 0)
      p = strstr(p, "-->");
    if (!p)
      return NULL;
    p++;
  }
  return NULL;
}

bool dl_scan_entry(enum dl_kind kind, const char *text, const char *folded,
                   struct dl_text *to) {
  static const char stop[] = "</entry>";
  struct scan s = {.kind = kind, .folded = folded};
  const char *first = next_entry(text), *entry = first;
  bool found = false;
  while (entry && !found) {
    const char *end = strstr(entry, stop);
    if (!end)
      break;
    end += sizeof stop - 1;
    found = entry_is(&s, entry, end);
    if (found)
      take(text, first, entry, end, to);
    entry = next_entry(end);
  }
  to->failed |= s.plain.failed || s.room.failed;
  dl_text_free(&s.plain);
  dl_text_free(&s.room);
  return found && !to->failed;
}
