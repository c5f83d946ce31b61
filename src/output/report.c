/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building the tree of a report. */

#include "output/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "output/report_tree.h"

struct dl_value dl_count(size_t n) {
  return (struct dl_value){.type = DL_COUNT, .count = n};
}

struct dl_value dl_bool(bool b) {
  return (struct dl_value){.type = DL_BOOL, .count = b};
}

struct dl_value dl_strings(const char *const *s, size_t n) {
  return (struct dl_value){.type = DL_STRINGS, .strings = s, .n_strings = n};
}

struct dl_value dl_known(double x) {
  struct dl_value v = dl_number(x);
  v.optional = true;
  return v;
}

struct dl_value dl_known_string(const char *s) {
  struct dl_value v = dl_string(s);
  v.optional = true;
  return v;
}

bool dl_value_absent(const struct dl_value *v) {
  switch (v->type) {
  case DL_NUMBER:
    return !isfinite(v->number);
  case DL_STRING:
    return !v->string;
  case DL_NULL:
    return true;
  case DL_COUNT:
  case DL_BOOL:
  case DL_STRINGS:
    break;
  }
  return false;
}

void dl_member_headings(struct dl_column *to,
                        const struct dl_member_column *columns, size_t n) {
  for (size_t i = 0; i < n; i++)
    to[i] = columns[i].column;
}

void dl_member_values(const struct dl_member_column *columns, size_t n,
                      const void *item, struct dl_value *values) {
  for (size_t i = 0; i < n; i++) {
    const void *at = (const char *)item + columns[i].offset;
    if (columns[i].type == DL_NUMBER)
      values[i] = dl_number(*(const double *)at);
    else if (columns[i].type == DL_COUNT)
      values[i] = dl_count(*(const size_t *)at);
    else if (columns[i].type == DL_BOOL)
      values[i] = dl_bool(*(const bool *)at);
    else if (columns[i].type == DL_STRING)
      values[i] = dl_string(*(const char *const *)at);
  }
}

static void value_free(struct dl_value *v) {
  if (v->type == DL_STRING)
    free((void *)v->string);
  if (v->type == DL_STRINGS)
    free((void *)v->strings);
}

/* Copies v with only what its type uses. */
static void value_copy(struct dl_value *to, const struct dl_value *v) {
  *to = (struct dl_value){.type = dl_value_absent(v) ? DL_NULL : v->type};
  if (to->type == DL_NUMBER)
    to->number = v->number;
  if (to->type == DL_COUNT || to->type == DL_BOOL)
    to->count = v->count;
  if (to->type == DL_STRING)
    to->string = dl_strdup(v->string);
  if (to->type != DL_STRINGS)
    return;
  /* The pointers and the texts behind them in one piece, so that one free()
   * drops both. */
  size_t bytes = 0, n = v->n_strings;
  for (size_t i = 0; i < n; i++)
    bytes += v->strings[i] ? strlen(v->strings[i]) + 1 : 0;
  char **copy = dl_malloc(n * sizeof *copy + bytes + 1);
  char *at = (char *)(copy + n);
  for (size_t i = 0; i < n; i++) {
    copy[i] = v->strings[i] ? at : NULL;
    if (v->strings[i])
      at = stpcpy(at, v->strings[i]) + 1;
  }
  to->strings = (const char *const *)copy;
  to->n_strings = n;
}

/* Tables */

struct dl_table *dl_table_new(const char *title,
                              const struct dl_column *columns, size_t n) {
  struct dl_table *t = dl_calloc(1, sizeof *t);
  t->title = title ? dl_strdup(title) : NULL;
  t->columns = dl_calloc(n, sizeof *t->columns);
  if (n > 0)
    memcpy(t->columns, columns, n * sizeof *columns);
  t->n_cols = n;
  return t;
}

void dl_table_free(struct dl_table *t) {
  if (!t)
    return;
  for (size_t i = 0; i < t->n_rows * t->n_cols; i++)
    value_free(&t->values[i]);
  for (size_t i = 0; i < t->n_rows; i++)
    free(t->marks[i]);
  free(t->values);
  free(t->marks);
  free(t->columns);
  free(t->title);
  free(t);
}

void dl_table_row(struct dl_table *t, const struct dl_value *values,
                  const char *mark) {
  if (!t)
    return;
  DL_GROW(t->values, t->cap_values, (t->n_rows + 1) * t->n_cols);
  DL_GROW(t->marks, t->cap_marks, t->n_rows + 1);
  for (size_t i = 0; i < t->n_cols; i++)
    value_copy(&t->values[t->n_rows * t->n_cols + i], &values[i]);
  t->marks[t->n_rows++] = mark ? dl_strdup(mark) : NULL;
}

/* Reports */

struct dl_report *dl_report_new(void) {
  struct dl_report *r = dl_calloc(1, sizeof *r);
  r->root = r;
  return r;
}

void dl_report_free(struct dl_report *r) {
  for (size_t i = 0; r && i < r->n_nodes; i++) {
    struct dl_report_node *node = &r->nodes[i];
    value_free(&node->value);
    free(node->remark);
    for (size_t k = 0; k < node->n_reports; k++)
      dl_report_free(node->reports[k]);
    free(node->reports);
    dl_table_free(node->table);
  }
  if (r) {
    free(r->nodes);
    free(r->title);
  }
  free(r);
}

DL_FREES(dl_report_free, struct dl_report)

/* A new node at the end; NULL: there is no report. */
static struct dl_report_node *
add_node(struct dl_report *r, enum dl_report_node_type type, const char *key) {
  if (!r)
    return NULL;
  DL_GROW(r->nodes, r->cap_nodes, r->n_nodes + 1);
  struct dl_report_node *node = &r->nodes[r->n_nodes++];
  *node = (struct dl_report_node){.type = type, .key = key};
  return node;
}

struct dl_report_node *dl_report_add(struct dl_report *r, const char *key,
                                     const char *label, const char *unit,
                                     enum dl_style style, struct dl_value v) {
  struct dl_report_node *node = add_node(r, DL_REPORT_VALUE, key);
  if (!node)
    return NULL;
  bool left_out = v.optional && dl_value_absent(&v);
  node->label = left_out ? NULL : label;
  node->unit = unit;
  node->style = style;
  value_copy(&node->value, &v);
  return node;
}

void dl_report_remark(struct dl_report *r, const char *text) {
  struct dl_report_node *node =
      r && r->n_nodes > 0 ? &r->nodes[r->n_nodes - 1] : NULL;
  if (node && node->label && !node->remark)
    node->remark = dl_strdup(text);
}

void dl_report_lines(struct dl_report *r, const struct dl_report_line *line,
                     size_t n) {
  for (size_t i = 0; i < n; i++)
    dl_report_add(r, line[i].key, line[i].label, line[i].unit, line[i].style,
                  line[i].value);
}

void dl_report_range(struct dl_report *r, const struct dl_column *low,
                     const char *high_key, const struct dl_value v[2]) {
  struct dl_report_node *node =
      dl_report_add(r, low->key, low->heading, low->unit, low->style, v[0]);
  if (node)
    node->join_next = true;
  dl_report_add(r, high_key, NULL, low->unit, low->style, v[1]);
}

void dl_report_say(struct dl_report *r, const char *fmt, ...) {
  struct dl_report_node *node = add_node(r, DL_REPORT_SAY, NULL);
  struct dl_text text = {0};
  va_list args;
  if (!node)
    return;
  va_start(args, fmt);
  dl_text_vprintf(&text, fmt, args);
  va_end(args);
  node->value = dl_string(text.s ? text.s : dl_strdup(""));
}

void dl_report_as_hint(struct dl_report *r) {
  if (r && r->n_nodes > 0)
    r->nodes[r->n_nodes - 1].hint = true;
}

void dl_report_hint(struct dl_report *r, const char *sentence) {
  dl_report_say(r, "%s", sentence);
  dl_report_as_hint(r);
}

/* A new report below `node` of r. */
static struct dl_report *add_report(struct dl_report *r,
                                    struct dl_report_node *node,
                                    const char *title) {
  if (!node)
    return NULL;
  struct dl_report *child = dl_report_new();
  child->root = r->root;
  child->title = title ? dl_strdup(title) : NULL;
  DL_GROW(node->reports, node->cap_reports, node->n_reports + 1);
  node->reports[node->n_reports++] = child;
  return child;
}

struct dl_report *dl_report_group(struct dl_report *r, const char *key,
                                  const char *title) {
  return add_report(r, add_node(r, DL_REPORT_GROUP, key), title);
}

/* The list of that key, made if there is none. */
static struct dl_report_node *find_list(struct dl_report *r, const char *key) {
  for (size_t i = 0; r && i < r->n_nodes; i++)
    if (r->nodes[i].type == DL_REPORT_LIST &&
        dl_same_text(r->nodes[i].key, key))
      return &r->nodes[i];
  return add_node(r, DL_REPORT_LIST, key);
}

void dl_report_list(struct dl_report *r, const char *key) {
  find_list(r, key);
}

struct dl_report *dl_report_item(struct dl_report *r, const char *key,
                                 const char *title) {
  return add_report(r, find_list(r, key), title);
}

struct dl_table *dl_report_chart(struct dl_report *r, const char *title,
                                 enum dl_style style, const char *unit) {
  const struct dl_column columns[] = {
      [DL_CHART_LABEL] = {.key = "label"},
      [DL_CHART_VALUE] = {"value", NULL, unit, style, 0},
      [DL_CHART_LOW] = {"low", NULL, unit, style, 0},
      [DL_CHART_HIGH] = {"high", NULL, unit, style, 0}};
  struct dl_table *t =
      dl_report_table(r, NULL, title, columns, DL_LENGTH(columns), false);
  if (t)
    r->nodes[r->n_nodes - 1].type = DL_REPORT_CHART;
  return t;
}

void dl_chart_bar(struct dl_table *chart, const char *label, double value,
                  double low, double high) {
  const struct dl_value bar[] = {[DL_CHART_LABEL] = dl_string(label),
                                 [DL_CHART_VALUE] = dl_number(value),
                                 [DL_CHART_LOW] = dl_number(low),
                                 [DL_CHART_HIGH] = dl_number(high)};
  dl_table_row(chart, bar, NULL);
}

struct dl_table *dl_report_table(struct dl_report *r, const char *key,
                                 const char *title,
                                 const struct dl_column *columns, size_t n,
                                 bool main) {
  struct dl_report_node *node = add_node(r, DL_REPORT_TABLE, key);
  if (!node)
    return NULL;
  struct dl_table *t = node->table = dl_table_new(title, columns, n);
  if (main && !r->root->main)
    r->root->main = t;
  return t;
}
