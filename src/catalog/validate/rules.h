/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that hold between the values of a descriptor: what a schema and the
 * ranges of fields cannot say. The catalogues that ship are held to them too.
 *
 * A value that breaks a rule for a reason says so in its note, which then
 * begins with "disputed:" (sources differ) or "exception:" (the board is
 * unlike others of its generation): the rules that need the value are then
 * passed over. */

#ifndef DL_CATALOG_VALIDATE_RULES_H
#define DL_CATALOG_VALIDATE_RULES_H

#include "catalog/catalog_file.h"
#include "catalog/validate/findings.h"

/* Checks one descriptor by the rules of its kind. */
void dl_rules_entry(const struct dl_descriptor *e, struct dl_findings *l);

/* Checks all of a file, and that no two entries go by one name. */
void dl_rules_file(const struct dl_catalog_file *s, struct dl_findings *l);

/* Warns where the main values of `e` are more than a tenth off those of
 * `known`, an entry with the same name. */
void dl_rules_against(const struct dl_descriptor *e,
                      const struct dl_descriptor *known, struct dl_findings *l);

#endif
