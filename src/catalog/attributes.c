/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "catalog/attributes.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/nearest_names.h"

#define KIND(k) (1u << (k))
#define ALL (KIND(DL_N_KINDS) - 1)

static const struct {
  const char *name;
  size_t at;
  unsigned kinds;
} texts[] = {
    {"id", offsetof(struct dl_descriptor, id), ALL},
    {"name", offsetof(struct dl_descriptor, name), ALL},
    {"vendor", offsetof(struct dl_descriptor, vendor),
     KIND(DL_ACCELERATOR) | KIND(DL_SITE) | KIND(DL_NODE)},
    {"family", offsetof(struct dl_descriptor, family),
     KIND(DL_ACCELERATOR) | KIND(DL_ARCHITECTURE) | KIND(DL_DATASET)},
    {"form", offsetof(struct dl_descriptor, form), KIND(DL_ACCELERATOR)},
    {"memory_type", offsetof(struct dl_descriptor, memory_type),
     KIND(DL_ACCELERATOR)},
    {"grid", offsetof(struct dl_descriptor, grid), KIND(DL_SITE)},
    {"place", offsetof(struct dl_descriptor, place), KIND(DL_SITE)},
    {"cpu", offsetof(struct dl_descriptor, cpu), KIND(DL_NODE)},
    {"gpu", offsetof(struct dl_descriptor, gpu), KIND(DL_NODE)},
    {"site", offsetof(struct dl_descriptor, site), KIND(DL_NODE)},
};

_Static_assert(sizeof texts / sizeof *texts <= DL_MOST_TEXTS,
               "DL_MOST_TEXTS is too small");

size_t dl_attributes(enum dl_kind kind,
                     struct dl_attribute list[DL_MOST_ATTRIBUTES]) {
  const struct dl_kind_info *k = dl_kind_info(kind);
  size_t n = 0;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].kinds & KIND(kind))
      list[n++] = (struct dl_attribute){texts[i].name, NULL, true, texts[i].at};
  for (size_t i = 0; i < k->n_fields; i++)
    list[n++] =
        (struct dl_attribute){k->fields[i].name, k->fields[i].unit, false, i};
  return n;
}

const char *dl_attribute_text(const struct dl_descriptor *e,
                              const struct dl_attribute *a) {
  const char *s = NULL;
  if (a->is_text)
    memcpy(&s, (const char *)e + a->at, sizeof s);
  return s;
}

double dl_attribute_number(const struct dl_descriptor *e,
                           const struct dl_attribute *a) {
  return a->is_text ? NAN : e->value[a->at].x;
}

enum dl_status dl_attribute_get(enum dl_kind kind, const char *what,
                                const char *name, struct dl_attribute *a,
                                struct dl_diag *d) {
  struct dl_attribute list[DL_MOST_ATTRIBUTES];
  const char *names[DL_MOST_ATTRIBUTES];
  size_t n = dl_attributes(kind, list);
  for (size_t i = 0; i < n; i++) {
    names[i] = list[i].name;
    if (strcmp(name, list[i].name) == 0) {
      *a = list[i];
      return DL_OK;
    }
  }
  struct dl_text near = {0}, cut = {0};
  dl_text_add_n(&cut, name, strnlen(name, 64));
  dl_nearest_names(dl_text_str(&cut), names, n, 3, &near);
  dl_fail(d, DL_EUSAGE, "%s: %s have no '%s'; nearest: %s", what,
          dl_kind_info(kind)->words, dl_text_str(&cut), dl_text_str(&near));
  dl_text_free(&near);
  dl_text_free(&cut);
  return DL_EUSAGE;
}
