/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a descriptor says, by name: its texts (id, name, vendor, ...) and the
 * fields of its kind. */

#ifndef DL_CATALOG_ATTRIBUTES_H
#define DL_CATALOG_ATTRIBUTES_H

#include "catalog/descriptor.h"

/* Texts of every kind together. */
enum { DL_MOST_TEXTS = 11, DL_MOST_ATTRIBUTES = DL_MOST_TEXTS + DL_MAX_FIELDS };

struct dl_attribute {
  const char *name; /* "vendor", "tdp_w" */
  const char *unit; /* NULL: none */
  bool is_text;
  size_t at; /* offset of the text, or number of the field */
};

/* The attributes of a kind, `id` and `name` first, then other texts, then
 * fields; their number is returned. */
size_t dl_attributes(enum dl_kind kind,
                     struct dl_attribute list[DL_MOST_ATTRIBUTES]);

/* Its text, NULL where it has none or the attribute is a number. */
const char *dl_attribute_text(const struct dl_descriptor *e,
                              const struct dl_attribute *a);
/* Its number, NaN where it has none or the attribute is a text. */
double dl_attribute_number(const struct dl_descriptor *e,
                           const struct dl_attribute *a);

/* By name. An unknown one (DL_EUSAGE) is answered with the nearest; `what`
 * is named in the message: "--sort". */
enum dl_status dl_attribute_get(enum dl_kind kind, const char *what,
                                const char *name, struct dl_attribute *a,
                                struct dl_diag *d);

#endif
