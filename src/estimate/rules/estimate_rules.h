/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules about an estimated job that warn of what makes its estimate doubtful or
 * the job impossible: a batch that exceeds the memory, a link that is unknown,
 * a loader that is assumed, and so on. */

#ifndef DL_ESTIMATE_RULES_ESTIMATE_RULES_H
#define DL_ESTIMATE_RULES_ESTIMATE_RULES_H

#include "base/text.h"
#include "estimate/result.h"

struct dl_estimate_rule {
  const char *id;
  /* Whether the rule is broken; then appends the message for one job to *say,
   * unless that is NULL. */
  bool (*broken)(const struct dl_result *r, struct dl_text *say);
  const char *one; /* the message for one job, in place of one that is appended;
                      NULL without */
  const char *many; /* "%zu rows: " MANY for a table or a sweep; NULL: the rule
                       is for one job alone */
};

enum { DL_N_ESTIMATE_RULES = 23 };
extern const struct dl_estimate_rule dl_estimate_rules[DL_N_ESTIMATE_RULES];

/* Warns of each rule that one job breaks; `answered`: but for an assumed
 * loader, which the answer for people states. */
void dl_estimate_rules_warn(const struct dl_result *r, bool answered,
                            struct dl_diag *d);

/* Counts the rules that one of many jobs breaks in n, by rule. */
void dl_estimate_rules_count(const struct dl_result *r,
                             size_t n[DL_N_ESTIMATE_RULES]);

/* Warns of each rule that some of many jobs broke. */
void dl_estimate_rules_warn_many(const size_t n[DL_N_ESTIMATE_RULES],
                                 const char *path, struct dl_diag *d);

#endif
