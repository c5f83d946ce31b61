/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of a command, for people: a few lines "label  figure  interval
 * remarks". A figure with a wide interval has two digits. */

#ifndef DL_CLI_VIEWS_SUMMARY_ANSWER_H
#define DL_CLI_VIEWS_SUMMARY_ANSWER_H

#include "base/text.h"
#include "output/report.h"

/* A line; {0} is none. */
struct dl_answer_line {
  const char *label; /* NULL: not shown */
  struct dl_text figure, range, remark;
  bool hint; /* a line for the command line alone: it names an option */
};

/* A figure with its interval; low or high NaN: none. */
struct dl_answer {
  const char *label;
  enum dl_style style;
  const char *unit;
  double x, low, high;
  double coverage; /* of the interval, 0 .. 1; NaN: not said */
};

/* Sets the label, the figure and the interval of a line. */
void dl_answer_figure(struct dl_answer_line *l, const struct dl_answer *a);

/* Makes a line of a text, unless it is empty. */
void dl_answer_text(struct dl_answer_line *l, const char *label,
                    const char *text);

/* Appends a remark behind those that are there: a text, "PUE 1.2" with three
 * digits, "24 min per epoch". Numbers that are NaN add nothing. */
void dl_answer_remark(struct dl_answer_line *l, const char *fmt, ...)
    DL_PRINTF(2, 3);
void dl_answer_number(struct dl_answer_line *l, const char *before, double x,
                      const char *after);
void dl_answer_quantity(struct dl_answer_line *l, enum dl_style style,
                        const char *unit, double x, const char *after);

/* Adds the lines to a report and frees their texts; programs get them as a
 * title and a table of texts, where the report is a group with a key. In the report of a command
 * they join the lines that follow. */
void dl_answer_lines(struct dl_report *r, struct dl_answer_line *l, size_t n);

/* Words for a bottleneck: "memory bandwidth" for memory; NULL for NULL. */
const char *dl_bound_words(const char *bound);

/* Appends the words of n names, separated by commas, each once: "memory
 * bandwidth" for "gpu.bandwidth_gb_s". A name without words is its own. */
void dl_add_quantities(struct dl_text *t, const char *const *name, size_t n);

#endif
