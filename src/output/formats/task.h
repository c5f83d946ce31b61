/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The task that a report or a row of a stream is about, by the keys of its
 * values, for formats that describe tasks. */

#ifndef DL_OUTPUT_FORMATS_TASK_H
#define DL_OUTPUT_FORMATS_TASK_H

#include "output/report_tree.h"

/* The sources of a task's figures: a row, which takes precedence, and a report.
 */
struct dl_task {
  const struct dl_report *r; /* or NULL */
  const struct dl_column *columns;
  const struct dl_value *values; /* or NULL */
  size_t n;
};

/* The value of a key; NULL and NaN where it is absent. A cell of a table may be
 * a number as a text. */
const char *dl_task_text(const struct dl_task *t, const char *key);
double dl_task_number(const struct dl_task *t, const char *key);

/* The i-th row of a table as a task. */
struct dl_task dl_task_row(const struct dl_table *t, size_t i);

/* The group or the table of that key in a report, or NULL. */
const struct dl_report *dl_task_group(const struct dl_report *r,
                                      const char *key);
const struct dl_table *dl_task_table(const struct dl_report *r,
                                     const char *key);

#endif
