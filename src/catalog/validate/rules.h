/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that hold between the values of a descriptor: what a schema and the
 * ranges of fields cannot express. The shipped catalogues follow them too.
 *
 * A value that breaks a rule for a reason has a note that begins with
 * "disputed:" (sources differ) or "exception:" (the board is unlike others of
 * its generation): rules that need the value are then skipped. */

#ifndef DL_CATALOG_VALIDATE_RULES_H
#define DL_CATALOG_VALIDATE_RULES_H

#include "catalog/catalog_file.h"
#include "catalog/validate/findings.h"

/* Checks one descriptor by the rules of its kind. */
void dl_rules_entry(const struct dl_descriptor *e, struct dl_findings *l);

/* Checks all entries of a file, and that no two share a name. */
void dl_rules_file(const struct dl_catalog_file *s, struct dl_findings *l);

/* Warns where the main values of `e` differ by more than 10 % from those of
 * `known`, an entry with the same name. */
void dl_rules_against(const struct dl_descriptor *e,
                      const struct dl_descriptor *known, struct dl_findings *l);

#endif
