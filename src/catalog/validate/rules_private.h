/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rules of several kinds share. */

#ifndef DL_CATALOG_VALIDATE_RULES_PRIVATE_H
#define DL_CATALOG_VALIDATE_RULES_PRIVATE_H

#include "catalog/validate/rules.h"

/* One entry under test. Rules name a value by its member of the kind's
 * struct: &gpu->tdp_w. */
struct dl_subject {
  const struct dl_descriptor *e;
  struct dl_findings *l;
};

/* The place of an entry. */
struct dl_finding_place dl_entry_place(const struct dl_descriptor *e);

/* A value for a rule that a note may excuse: NaN where it does. */
double dl_bound_value(const struct dl_subject *s, const double *member);

/* The name of a value's field: "tdp_w". */
const char *dl_name_of(const struct dl_subject *s, const double *member);

/* An error at a value. */
void dl_object(const struct dl_subject *s, const double *member,
               const char *fmt, ...) DL_PRINTF(3, 4);

/* An error if the value is known and not within the bounds. */
void dl_within(const struct dl_subject *s, const double *member, double low,
               double high);

/* An error if the value is known and no whole number. */
void dl_whole(const struct dl_subject *s, const double *member);

void dl_rules_accelerator(const struct dl_subject *s);

#endif
