/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/formats/task.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "output/units.h"

static const struct dl_value *find(const struct dl_task *t, const char *key) {
  for (size_t i = 0; t->values && i < t->n; i++)
    if (t->columns[i].key && strcmp(t->columns[i].key, key) == 0 &&
        !dl_value_absent(&t->values[i]))
      return &t->values[i];
  for (size_t i = 0; t->r && i < t->r->n_nodes; i++) {
    const struct dl_report_node *node = &t->r->nodes[i];
    if (node->type == DL_REPORT_VALUE && node->key &&
        strcmp(node->key, key) == 0 && !dl_value_absent(&node->value))
      return &node->value;
  }
  return NULL;
}

const char *dl_task_text(const struct dl_task *t, const char *key) {
  const struct dl_value *v = find(t, key);
  return v && v->type == DL_STRING ? v->string : NULL;
}

double dl_task_number(const struct dl_task *t, const char *key) {
  const struct dl_value *v = find(t, key);
  double x;
  if (!v)
    return NAN;
  if (v->type == DL_STRING)
    return dl_parse_double(v->string, &x) ? x : NAN;
  return dl_value_quantity(v);
}

struct dl_task dl_task_row(const struct dl_table *t, size_t i) {
  return (struct dl_task){NULL, t->columns, t->values + i * t->n_cols,
                          t->n_cols};
}

static const struct dl_report_node *node_of(const struct dl_report *r,
                                            enum dl_report_node_type type,
                                            const char *key) {
  for (size_t i = 0; r && i < r->n_nodes; i++)
    if (r->nodes[i].type == type && dl_is_word(r->nodes[i].key, key))
      return &r->nodes[i];
  return NULL;
}

const struct dl_report *dl_task_group(const struct dl_report *r,
                                      const char *key) {
  const struct dl_report_node *node = node_of(r, DL_REPORT_GROUP, key);
  return node && node->n_reports > 0 ? node->reports[0] : NULL;
}

const struct dl_table *dl_task_table(const struct dl_report *r,
                                     const char *key) {
  const struct dl_report_node *node = node_of(r, DL_REPORT_TABLE, key);
  return node ? node->table : NULL;
}
