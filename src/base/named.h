/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of small constant tables: a name and what belongs to it. */

#ifndef DL_BASE_NAMED_H
#define DL_BASE_NAMED_H

#include <stddef.h>
#include <string.h>

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
