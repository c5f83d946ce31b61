/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/catalog_scan.h"

#include <ctype.h>
#include <string.h>

/* The name that is looked for. */
struct entry_scan {
  enum dl_kind kind;
  const char *folded;
  bool noise; /* words of the kind do not count: names may begin with them */
  struct dl_text name, own; /* as written and folded, of the entry at hand */
};

/* Whether n bytes of XML text are another spelling of the name. An entity as
 * "&amp;" stands for a character that does not count: a blank takes its
 * place. */
static bool is_name(struct entry_scan *s, const char *text, size_t n) {
  /* Most names differ in their first letter and need no folding. */
  if (!s->noise && n > 0 && isalnum((unsigned char)*text) &&
      tolower((unsigned char)*text) != *s->folded)
    return false;
  dl_text_clear(&s->name);
  dl_text_clear(&s->own);
  for (bool in_entity = false; n > 0; text++, n--) {
    in_entity = (in_entity || *text == '&') && *text != ';';
    dl_text_add_n(&s->name, in_entity ? " " : text, 1);
  }
  dl_fold_name(s->kind, dl_text_str(&s->name), &s->own);
  return strcmp(dl_text_str(&s->own), s->folded) == 0;
}

/* Whether one of the texts between `open` and the character `close` in [from,
 * end) is the name. */
static bool has_name(struct entry_scan *s, const char *from, const char *end,
                     const char *open, int close) {
  size_t len = strlen(open);
  for (const char *p = from;
       (p = memmem(p, (size_t)(end - p), open, len)) != NULL;) {
    p += len;
    const char *stop = memchr(p, close, (size_t)(end - p));
    if (!stop)
      return false;
    if (is_name(s, p, (size_t)(stop - p)))
      return true;
  }
  return false;
}

/* Returns the start of the next entry, outside comments; NULL after the last.
 */
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
  struct entry_scan s = {kind, folded, *dl_kinds[kind].noise, {0}, {0}};
  const char *first = next_entry(text), *end;
  bool found = false;
  for (const char *entry = first; entry && !found; entry = next_entry(end)) {
    end = strstr(entry, stop);
    const char *tag = strchr(entry, '>');
    if (!end || !tag || tag > end)
      break;
    found = has_name(&s, entry, tag, " id=\"", '"') ||
            has_name(&s, entry, tag, " name=\"", '"') ||
            has_name(&s, tag, end, "<alias>", '<');
    if (!found)
      continue;
    /* The part before the first entry, line feeds for those in between. */
    dl_text_add_n(to, text, (size_t)(first - text));
    for (const char *p = first; p < entry; p++)
      if (*p == '\n')
        dl_text_add(to, "\n");
    dl_text_add_n(to, entry, (size_t)(end - entry));
    dl_text_add(to, "</entry></catalog>");
  }
  dl_text_free(&s.name);
  dl_text_free(&s.own);
  return found;
}
