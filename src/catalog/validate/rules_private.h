/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the rules of several kinds share. */

#ifndef DL_CATALOG_VALIDATE_RULES_PRIVATE_H
#define DL_CATALOG_VALIDATE_RULES_PRIVATE_H

#include "catalog/validate/rules.h"

/* One entry under test. */
struct dl_subject {
  const struct dl_descriptor *e;
  struct dl_findings *l;
};

/* Value of a field, NaN where unknown. */
double dl_value(const struct dl_subject *s, size_t field);

/* The same for a rule that a note may excuse: NaN where it does. */
double dl_bound_value(const struct dl_subject *s, size_t field);

/* An error at a field. */
void dl_object(const struct dl_subject *s, size_t field, const char *fmt, ...)
    DL_PRINTF(3, 4);

/* An error if the field is known and not within the bounds. */
void dl_within(const struct dl_subject *s, size_t field, double low,
               double high);

/* An error if the field is known and no whole number. */
void dl_whole(const struct dl_subject *s, size_t field);

void dl_rules_accelerator(const struct dl_subject *s);

#endif
