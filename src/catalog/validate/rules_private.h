/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks that the rules of several kinds share. */

#ifndef DL_CATALOG_VALIDATE_RULES_PRIVATE_H
#define DL_CATALOG_VALIDATE_RULES_PRIVATE_H

#include "catalog/validate/rules.h"

/* Rules name a value of the entry at hand by its member of the kind's struct:
 * &gpu->tdp_w. */

/* Returns a value for a rule, or NaN if its note excuses it. */
double dl_rule_value(const struct dl_rules *r, const double *member);

/* Returns the name of a value's field: "tdp_w". */
const char *dl_field_label(const struct dl_rules *r, const double *member);

/* Reports an error at a value. */
void dl_rule_report(const struct dl_rules *r, const double *member,
                    const char *fmt, ...) DL_PRINTF(3, 4);

/* Reports an error (or a warning) of the entry as a whole; fmt and its
 * arguments are printf's. */
#define dl_rule_report_entry(r, error, ...)                                    \
  dl_findings_add((r)->findings, error, (r)->e->file, (r)->e->line,            \
                  (r)->e->id, __VA_ARGS__)

/* Reports an error if the value is known and not within the bounds. */
void dl_rule_range(const struct dl_rules *r, const double *member, double low,
                   double high);

/* Reports an error if the value is known and no whole number. */
void dl_rule_whole(const struct dl_rules *r, const double *member);

/* Checks an accelerator. */
void dl_rules_accelerator(const struct dl_rules *r);

#endif
