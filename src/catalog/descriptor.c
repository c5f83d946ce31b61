/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/descriptor.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/names/nearest_names.h"
#include "base/number.h"

void dl_descriptor_init(struct dl_descriptor *e, enum dl_kind kind) {
  const struct dl_kind_info *k = &dl_kinds[kind];
  memset(e, 0, k->size);
  e->kind = kind;
  for (size_t i = 0; i < k->n_fields; i++)
    if (!k->fields[i].is_text)
      dl_field_set(e, &k->fields[i], NAN, (struct dl_origin){0});
}

const struct dl_field *dl_field_find(enum dl_kind kind, const char *name) {
  const struct dl_kind_info *k = &dl_kinds[kind];
  for (size_t i = 0; i < k->n_fields; i++)
    if (strcmp(k->fields[i].name, name) == 0)
      return &k->fields[i];
  return NULL;
}

const struct dl_field *dl_field_of(const char *name, enum dl_kind *kind) {
  const char *dot = strchr(name, '.');
  bool gpu = strncmp(name, "gpu.", 4) == 0;
  *kind = gpu ? DL_ACCELERATOR : DL_ARCHITECTURE;
  return gpu || strncmp(name, "arch.", 5) == 0 ? dl_field_find(*kind, dot + 1)
                                               : NULL;
}

double dl_field_number(const struct dl_descriptor *e,
                       const struct dl_field *f) {
  double x = NAN;
  if (!f->is_text)
    memcpy(&x, (const char *)e + f->offset, sizeof x);
  return x;
}

const char *dl_field_text(const struct dl_descriptor *e,
                          const struct dl_field *f) {
  const char *s = NULL;
  if (f->is_text)
    memcpy(&s, (const char *)e + f->offset, sizeof s);
  return s;
}

size_t dl_field_index(const struct dl_descriptor *e, const double *member) {
  const struct dl_kind_info *k = &dl_kinds[e->kind];
  size_t offset = (size_t)((const char *)member - (const char *)e), i = 0;
  while (i + 1 < k->n_fields && k->fields[i].offset != offset)
    i++;
  return i;
}

void dl_field_set(struct dl_descriptor *e, const struct dl_field *f, double x,
                  struct dl_origin origin) {
  memcpy((char *)e + f->offset, &x, sizeof x);
  e->origin[f - dl_kinds[e->kind].fields] = origin;
}

enum { MOST_SHOWN = 64 /* bytes of a name in a message */ };

/* Appends the names of fields that a name was probably meant to be. */
static void suggest(enum dl_kind kind, const char *name, bool texts,
                    struct dl_text *to) {
  const struct dl_kind_info *k = &dl_kinds[kind];
  const char *names[DL_MOST_FIELDS];
  size_t n = 0;
  for (size_t i = 0; i < k->n_fields; i++)
    if (texts || !k->fields[i].is_text)
      names[n++] = k->fields[i].name;
  dl_suggest_names(name, names, n, to);
}

enum dl_status dl_field_get(enum dl_kind kind, const char *what,
                            const char *name, const struct dl_field **f,
                            struct dl_diag *d) {
  *f = dl_field_find(kind, name);
  if (*f)
    return DL_OK;
  DL_TEXT(near);
  DL_TEXT(cut);
  dl_text_add_n(&cut, name, strnlen(name, MOST_SHOWN));
  suggest(kind, dl_text_str(&cut), true, &near);
  return dl_fail(d, DL_EUSAGE, "%s: %s have no '%s'%s", what,
                 dl_kinds[kind].words, dl_text_str(&cut), dl_text_str(&near));
}

enum dl_status dl_field_parse(enum dl_kind kind, const char *name,
                              const char *text, const struct dl_field **f,
                              double *x, struct dl_diag *d) {
  const char *word = dl_kinds[kind].word;
  *f = dl_field_find(kind, name);
  if (!*f || (*f)->is_text) {
    DL_TEXT(near);
    suggest(kind, name, false, &near);
    return dl_fail(d, DL_EUSAGE, "%s has no field '%s'%s", word, name,
                   dl_text_str(&near));
  }
  if (!dl_parse_double(text, x))
    return dl_fail(d, DL_EUSAGE, "%s.%s: invalid number '%s'", word, name,
                   text);
  if (*x < (*f)->low || *x > (*f)->high)
    return dl_fail(d, DL_EINPUT, "%s.%s: %s is not between %g and %g", word,
                   name, text, (*f)->low, (*f)->high);
  return DL_OK;
}

enum dl_status dl_descriptor_set(struct dl_descriptor *e, const char *name,
                                 const char *text, struct dl_diag *d) {
  const struct dl_field *f;
  double x;
  enum dl_status status = dl_field_parse(e->kind, name, text, &f, &x, d);
  if (status == DL_OK)
    dl_field_set(e, f, x, (struct dl_origin){.source = "given"});
  return status;
}

void dl_fold_name(enum dl_kind kind, const char *name, struct dl_text *to) {
  for (const char *p = name; *p;) {
    size_t n = 0;
    /* A dot between digits counts: 1.6GF is not 16GF. */
    while (isalnum((unsigned char)p[n]) ||
           (p[n] == '.' && p + n > name &&
            isdigit((unsigned char)*(p + n - 1)) &&
            isdigit((unsigned char)p[n + 1])))
      n++;
    if (n == 0) {
      p++;
      continue;
    }
    const char *const *noise = dl_kinds[kind].noise;
    while (*noise && (strlen(*noise) != n || strncasecmp(*noise, p, n) != 0))
      noise++;
    if (!*noise)
      for (size_t i = 0; i < n; i++) {
        char c = (char)tolower((unsigned char)p[i]);
        dl_text_add_n(to, &c, 1);
      }
    p += n;
  }
}
