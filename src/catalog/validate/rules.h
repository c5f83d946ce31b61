/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that hold between the values of a descriptor: what a schema and the
 * ranges of fields cannot express. The shipped catalogues follow them too.
 *
 * A value that breaks a rule for a reason has a note that begins with
 * "disputed:" (sources differ) or "exception:" (the board is unlike others of
 * its generation): rules that need the value are then skipped. */

#ifndef DL_CATALOG_VALIDATE_RULES_H
#define DL_CATALOG_VALIDATE_RULES_H

#include "base/intern.h"
#include "catalog/descriptor_kinds.h"
#include "catalog/validate/findings.h"

/* The names of a file's entries so far. Start from {0}. */
struct dl_rules_names {
  struct dl_intern folded, id;
  struct dl_name_owner {
    size_t entry, id; /* numbers of the entry, and of its identifier in `id` */
  } * owner;          /* by number in `folded` */
  size_t cap;
  size_t n; /* entries */
};

/* Checks the next entry of a file: by the rules of its kind, and that no entry
 * before it has one of its names. */
void dl_rules_next(struct dl_rules_names *names, const struct dl_descriptor *e,
                   struct dl_findings *l);
void dl_rules_names_free(struct dl_rules_names *names);

/* Warns where the main values of `e` differ by more than 10 % from those of
 * `known`, an entry with the same name. */
void dl_rules_against(const struct dl_descriptor *e,
                      const struct dl_descriptor *known, struct dl_findings *l);

#endif
