/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes on many results are collected and reported at the end: limits that they
 * exceed and sizes that were taken by default. */

#ifndef DL_CLI_VIEWS_ROW_NOTES_H
#define DL_CLI_VIEWS_ROW_NOTES_H

#include "cli/options/node_options.h"
#include "estimate/rows.h"
#include "estimate/rules/estimate_rules.h"
#include "base/number.h"
#include "output/report.h"

enum { DL_N_DEFAULT_SIZES = 3 };

/* Start from {.rows = ..., .most_j = -INFINITY}. */
struct dl_row_notes {
  const struct dl_rows *rows;
  const char *dataset; /* of all rows, or NULL; a table's cells may be empty */
  size_t broken[DL_N_ESTIMATE_RULES]; /* rows, by rule */
  size_t n, n_outside; /* rows with an estimate; outside the training data */
  const char *quantity[DL_MOST_OUTSIDE]; /* in which they are, sorted */
  size_t n_quantities;
  size_t n_defaulted[DL_N_DEFAULT_SIZES];       /* rows that took a default */
  struct dl_span defaulted[DL_N_DEFAULT_SIZES]; /* those defaults */
  double most_j;                      /* highest recommended estimate */
  const struct dl_node_options *node; /* of all rows; NULL: what they assume is
                                         not noted */
  struct dl_text assumed; /* in words, by all rows; owned: dl_text_free */
};

/* Notes a result. False, with a warning in d, where it has no estimate that
 * could be shown. */
bool dl_row_notes_add(struct dl_row_notes *n, const struct dl_result *r,
                      struct dl_diag *d);

/* Adds the notes of another thread. */
void dl_row_notes_merge(struct dl_row_notes *n,
                        const struct dl_row_notes *more);

/* Warns of what was noted. */
void dl_row_notes_warn(const struct dl_row_notes *n, struct dl_diag *d);

/* Says for people how many of the estimates are outside the training data, and
 * in which quantities. */
void dl_row_notes_say(const struct dl_row_notes *n, struct dl_report *r);

#endif
