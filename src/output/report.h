/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The result of a command, independent of the output format.
 *
 * A report is an ordered tree of values. Each has a key (its name in JSON),
 * and may have a label and a unit for people. Renderers turn a report into
 * text, JSON or CSV; adding one is one file and one row in render.c.
 *
 *   value   a number, a string, true/false, or null (absent: never 0)
 *   table   rows of values under columns; in JSON an array of objects
 *   group   a nested report; in JSON an object
 *   list    a list of nested reports; in JSON an array of objects
 *
 * Keys, labels and units must outlive the report (string literals); values,
 * titles and marks are copied. Keys differ within one report. A key of NULL
 * leaves the value out of JSON and CSV: it is for people only. */

#ifndef DL_OUTPUT_REPORT_H
#define DL_OUTPUT_REPORT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

enum dl_value_type {
  DL_NULL,
  DL_NUMBER,
  DL_COUNT,
  DL_BOOL,
  DL_STRING,
  DL_STRINGS
};

struct dl_value {
  enum dl_value_type type;
  bool optional; /* text omits its line if it is absent */
  union {
    double number;              /* DL_NUMBER; NaN and infinities become null */
    size_t count;               /* DL_COUNT; 0 or 1 for DL_BOOL */
    const char *string;         /* DL_STRING; NULL becomes null */
    const char *const *strings; /* DL_STRINGS: n_strings of them */
  };
  size_t n_strings;
};

/* Inline: rows of tables have millions of values. */
static inline struct dl_value dl_number(double x) {
  struct dl_value v; /* member by member: GCC copies an initialised one twice */
  v.type = isfinite(x) ? DL_NUMBER : DL_NULL;
  v.optional = false;
  v.number = x;
  v.n_strings = 0;
  return v;
}

static inline struct dl_value dl_string(const char *s) {
  struct dl_value v;
  v.type = s ? DL_STRING : DL_NULL;
  v.optional = false;
  v.string = s;
  v.n_strings = 0;
  return v;
}

struct dl_value dl_count(size_t n);
struct dl_value dl_bool(bool b);
struct dl_value dl_strings(const char *const *s, size_t n);

/* An optional number: NaN is unknown. */
struct dl_value dl_known(double x);
struct dl_value dl_known_string(const char *s);

/* How a number is shown to people; JSON and CSV always get it exactly. */
enum dl_style {
  DL_PLAIN,   /* three significant digits */
  DL_EXACT,   /* six decimals: scores that are compared with publications */
  DL_PERCENT, /* a fraction as percent, one decimal or two digits */
  DL_KWH,     /* J as kWh, MWh or GWh, below 0.001 kWh as DL_ENERGY */
  DL_ENERGY,  /* J with the prefix that suits: 12.3 kJ, 4.56 MJ; what follows
                 the J of the unit is kept: "J/epoch" -> 4.56 kJ/epoch */
  DL_TIME,    /* s as 12.3 s, 4 min 05 s, 1 h 23 min, 2 d 3 h, 1.23 y; the
                 unit given is not shown */
  DL_MASS,    /* g as 12.3 g, 4.56 kg, 7.89 t; "g CO2e" -> 7.89 t CO2e */
  DL_WATTS,   /* W, from 10 kW on as kW, from 10 MW on as MW */
  DL_CODE     /* not rounded (years, identifiers) */
};

enum dl_column_use {
  DL_RANGE = 1, /* (true) text shows this column and the next one together,
                   "low .. high", under this heading and in this style */
  DL_SPARE = 2, /* the first to be dropped on a narrow terminal */
  DL_MAIN = 4   /* the last */
};

struct dl_column {
  const char *key;     /* JSON and CSV name, with the SI unit in it */
  const char *heading; /* for people; NULL: not shown in text */
  const char *unit;    /* shown under or behind the heading; NULL: none */
  enum dl_style style;
  unsigned char use; /* 0, or some of enum dl_column_use */
};

/* A column whose values are a member of a struct, or (DL_NULL) computed. */
struct dl_member_column {
  struct dl_column column;
  enum dl_value_type type;
  size_t offset;
};
#define DL_MEMBER(tag, member)                                                 \
  _Generic(((struct tag *)0)->member, double                                   \
           : DL_NUMBER, size_t                                                 \
           : DL_COUNT, bool                                                    \
           : DL_BOOL, const char *                                             \
           : DL_STRING),                                                       \
      offsetof(struct tag, member)

/* Sets the values of n columns that are members of *item; other columns keep
 * their values. */
void dl_member_values(const struct dl_member_column *columns, size_t n,
                      const void *item, struct dl_value *values);
void dl_member_headings(struct dl_column *to,
                        const struct dl_member_column *columns, size_t n);

struct dl_report;
struct dl_report_node;

/* Views add what a reader does not request to a report of NULL, which drops it;
 * formats for programs request everything (`whole`, output/render.h). */
struct dl_report *dl_report_new(void);
void dl_report_free(struct dl_report *r); /* accepts NULL */
void dl_report_free_local(struct dl_report **at);

/* label NULL: not shown in text. Returns the new node (output/report_tree.h);
 * NULL without a report. */
struct dl_report_node *dl_report_add(struct dl_report *r, const char *key,
                                     const char *label, const char *unit,
                                     enum dl_style style, struct dl_value v);

/* Puts a text for people behind the value that was added last: "6.4 to 24 kWh
 * (90 %)\tGPU and memory", whose parts around a tab are columns. Ignored where
 * the value is not shown. */
void dl_report_remark(struct dl_report *r, const char *text);

/* Adds n values. {.key, .value} alone is a value for programs. */
struct dl_report_line {
  const char *key, *label, *unit;
  enum dl_style style;
  struct dl_value value;
};
void dl_report_lines(struct dl_report *r, const struct dl_report_line *line,
                     size_t n);

/* Adds lines given in place: DL_LINES(r, {key, label, unit, style, value},
 * ...). */
#define DL_LINES(r, ...)                                                       \
  dl_report_lines(r, (const struct dl_report_line[]){__VA_ARGS__},             \
                  sizeof((const struct dl_report_line[]){__VA_ARGS__}) /       \
                      sizeof(struct dl_report_line))

/* An interval: two values, which text shows in one line, "low .. high".
 * Label, unit and style come from `low`. */
void dl_report_range(struct dl_report *r, const struct dl_column *low,
                     const char *high_key, const struct dl_value v[2]);

/* Makes CSV repeat the values of these keys, which stand at the top of a
 * report, in front of each row of its main table. */
void dl_report_identify(struct dl_report *r, const char *const *keys, size_t n);

/* A sentence, for people only. */
void dl_report_say(struct dl_report *r, const char *fmt, ...) DL_PRINTF(2, 3);

/* Makes a hint of the value or sentence that was added last: only text shows
 * it, beside the command line whose options it names. */
void dl_report_as_hint(struct dl_report *r);
void dl_report_hint(struct dl_report *r, const char *sentence);

/* A nested object; owned by r. title NULL: not shown in text; "": shown
 * without a title line. */
struct dl_report *dl_report_group(struct dl_report *r, const char *key,
                                  const char *title);

/* An array of objects: each call with an equal key adds one; owned by r.
 * The title is as for a group. */
struct dl_report *dl_report_item(struct dl_report *r, const char *key,
                                 const char *title);

/* Adds such an array without an object yet: JSON has it even if none follows.
 */
void dl_report_list(struct dl_report *r, const char *key);

/* A table; columns are copied (their strings are not). The first table that
 * is added with `main` set is what CSV shows; without one CSV shows the values
 * at the top as one row. title NULL or "": no title line.
 * Text omits a table if none of its columns has a heading. */
struct dl_table *dl_report_table(struct dl_report *r, const char *key,
                                 const char *title,
                                 const struct dl_column *columns, size_t n,
                                 bool main);

/* Adds a table with all columns of an array. */
#define DL_TABLE(r, key, title, columns, main)                                 \
  dl_report_table(r, key, title, columns, sizeof(columns) / sizeof *(columns), \
                  main)

/* A chart: bars with intervals, for formats that draw. Its key is NULL. The
 * title, a label and a number in `style` stand for themselves: what readers
 * need is also in a table. Bars are rows of label, value, low and high. */
enum { DL_CHART_LABEL, DL_CHART_VALUE, DL_CHART_LOW, DL_CHART_HIGH };
struct dl_table *dl_report_chart(struct dl_report *r, const char *title,
                                 enum dl_style style, const char *unit);

/* Appends a bar to a chart; NaN: no interval. */
void dl_chart_bar(struct dl_table *chart, const char *label, double value,
                  double low, double high);

/* Appends a row of as many values as there are columns. `mark` is shown in
 * front of the row in text ("*" on the recommended one), NULL for none. */
void dl_table_row(struct dl_table *t, const struct dl_value *values,
                  const char *mark);

/* Adds a row of values given one by one: DL_ROW(t, NULL, dl_string(s),
 * dl_count(n)). */
#define DL_ROW(t, mark, ...)                                                   \
  dl_table_row(t, (const struct dl_value[]){__VA_ARGS__}, mark)

#endif
