/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checks of one value that the rules of all kinds use. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "catalog/validate/rules_private.h"

static const struct dl_origin *origin_of(const struct dl_rules *s,
                                         const double *member) {
  return &s->e->origin[dl_field_index(s->e, member)];
}

const char *dl_field_label(const struct dl_rules *s, const double *member) {
  return dl_kinds[s->e->kind].fields[dl_field_index(s->e, member)].name;
}

double dl_rule_value(const struct dl_rules *s, const double *member) {
  const char *note = origin_of(s, member)->note;
  bool excused = note && (strncmp(note, "disputed:", 9) == 0 ||
                          strncmp(note, "exception:", 10) == 0);
  return excused ? NAN : *member;
}

void dl_rule_report(const struct dl_rules *s, const double *member,
                    const char *fmt, ...) {
  char text[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  size_t line = origin_of(s, member)->line;
  dl_findings_add(s->findings, true, s->e->file, line ? line : s->e->line,
                  s->e->id, "%s %g %s", dl_field_label(s, member), *member,
                  text);
}

void dl_rule_range(const struct dl_rules *s, const double *member, double low,
                   double high) {
  double x = dl_rule_value(s, member);
  if (x < low || x > high)
    dl_rule_report(s, member, "is not between %g and %g", low, high);
}

void dl_rule_whole(const struct dl_rules *s, const double *member) {
  if (!isnan(*member) && *member != floor(*member))
    dl_rule_report(s, member, "is no whole number");
}
