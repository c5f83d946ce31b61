/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that hold between the values of a descriptor, and that a schema and the
 * ranges of fields cannot express. The shipped catalogues follow them too.
 *
 * A value that breaks a rule for a reason has a note that begins with
 * "disputed:" (sources differ) or "exception:" (the board is unlike others of
 * its generation): rules that need the value are then skipped. */

#ifndef DL_CATALOG_VALIDATE_RULES_H
#define DL_CATALOG_VALIDATE_RULES_H

#include "base/names/intern.h"
#include "catalog/descriptor_kinds.h"
#include "catalog/validate/findings.h"

/* The state of checking a file. Starts as {0}; dl_rules_free empties it. */
struct dl_rules {
  struct dl_intern folded; /* names of the entries so far */
  size_t *owner;           /* number of the entry, by number in `folded` */
  size_t cap;
  struct dl_strlist id; /* identifiers of the entries, by their number */
  size_t n;             /* entries before the one at hand */

  /* The entry at hand, and the list that findings go to. */
  const struct dl_descriptor *e;
  struct dl_findings *findings;
};

/* Checks the next entry of a file: by the rules of its kind, and that no entry
 * before it has one of its names. */
void dl_rules_next(struct dl_rules *r, const struct dl_descriptor *e,
                   struct dl_findings *l);
void dl_rules_free(struct dl_rules *r);

/* Warns where a main value of `e` differs by more than 10 % from the value of
 * `known`, an entry with an equal name. */
void dl_rules_against(const struct dl_descriptor *e,
                      const struct dl_descriptor *known, struct dl_findings *l);

#endif
