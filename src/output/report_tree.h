/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of a report, for output formats. */

#ifndef DL_OUTPUT_REPORT_TREE_H
#define DL_OUTPUT_REPORT_TREE_H

#include "output/report.h"

struct dl_table {
  char *title; /* owned, may be NULL */
  struct dl_column *columns;
  size_t n_cols;
  struct dl_value *values; /* n_rows x n_cols, row-major, owned copies */
  size_t cap_values;
  char **marks; /* n_rows, each owned or NULL */
  size_t cap_marks;
  size_t n_rows;
};

enum dl_report_node_type {
  DL_REPORT_VALUE,
  DL_REPORT_SAY, /* text only, in `value` */
  DL_REPORT_GROUP,
  DL_REPORT_LIST,
  DL_REPORT_TABLE,
  DL_REPORT_CHART /* pages only, in `table`: label, value, low, high */
};

struct dl_report_node {
  enum dl_report_node_type type;
  const char *key;   /* NULL: text only */
  const char *label; /* of a value shown as a line; else NULL */
  const char *unit;
  enum dl_style style;
  char *remark;               /* behind a value with a label; owned, or NULL */
  bool hint;                  /* shown in text alone */
  bool join_next;             /* a value shown as "this .. next" */
  struct dl_value value;      /* owned copy */
  struct dl_report **reports; /* one of a group, any number of a list */
  size_t n_reports;
  size_t cap_reports;
  struct dl_table *table;
};

struct dl_report {
  struct dl_report *root; /* itself at the top */
  char *title;            /* owned, may be NULL */
  struct dl_report_node *nodes;
  size_t n_nodes;
  size_t cap_nodes;
  const struct dl_table *main; /* of the root: what CSV shows, or NULL */
};

/* Whether v is shown as absent: null, not finite, a NULL string. */
bool dl_value_absent(const struct dl_value *v);

/* A table outside a report, for streams that look at rows before writing. */
struct dl_table *dl_table_new(const char *title,
                              const struct dl_column *columns, size_t n);
void dl_table_free(struct dl_table *t); /* accepts NULL */

#endif
