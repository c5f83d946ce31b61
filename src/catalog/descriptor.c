/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/descriptor.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/nearest_names.h"
#include "base/number.h"

static enum dl_status no_such_field(enum dl_kind kind, const char *field,
                                    struct dl_diag *d) {
  const struct dl_kind_info *k = dl_kind_info(kind);
  const char *names[DL_MAX_FIELDS];
  struct dl_text near = {0};
  for (size_t i = 0; i < k->n_fields; i++)
    names[i] = k->fields[i].name;
  dl_nearest_names(field, names, k->n_fields, 3, &near);
  dl_fail(d, DL_EUSAGE, "%s has no field '%s'; nearest: %s", k->word, field,
          dl_text_str(&near));
  dl_text_free(&near);
  return DL_EUSAGE;
}

enum dl_status dl_descriptor_set(struct dl_descriptor *e, const char *field,
                                 const char *text, struct dl_diag *d) {
  const struct dl_kind_info *k = dl_kind_info(e->kind);
  long i = dl_field_find(e->kind, field);
  if (i < 0)
    return no_such_field(e->kind, field, d);
  double x;
  if (!dl_parse_double(text, &x))
    return dl_fail(d, DL_EUSAGE, "%s.%s: invalid number '%s'", k->word, field,
                   text);
  const struct dl_field *f = &k->fields[i];
  if (x < f->low || x > f->high)
    return dl_fail(d, DL_EINPUT, "%s.%s: %s is not between %g and %g", k->word,
                   field, text, f->low, f->high);
  e->value[i] = (struct dl_value_of){x, "given", NULL};
  e->value_year[i] = NULL;
  return DL_OK;
}

static bool is_noise(const char *const *noise, const char *word, size_t n) {
  for (; *noise; noise++)
    if (strlen(*noise) == n && strncasecmp(*noise, word, n) == 0)
      return true;
  return false;
}

/* A dot between digits counts: 1.6GF is not 16GF. */
static bool decimal_point(const char *start, const char *p) {
  return *p == '.' && p > start && isdigit((unsigned char)p[-1]) &&
         isdigit((unsigned char)p[1]);
}

void dl_fold_name(enum dl_kind kind, const char *name, struct dl_text *to) {
  const char *const *noise = dl_kind_info(kind)->noise;
  for (const char *p = name; *p;) {
    size_t n = 0;
    while (isalnum((unsigned char)p[n]) || decimal_point(name, p + n))
      n++;
    if (n == 0) {
      p++;
      continue;
    }
    if (!is_noise(noise, p, n))
      for (size_t i = 0; i < n; i++) {
        char c = (char)tolower((unsigned char)p[i]);
        dl_text_add_n(to, &c, 1);
      }
    p += n;
  }
}
