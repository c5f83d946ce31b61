/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/run_columns.h"

#include <string.h>

#include "base/number.h"
#include "run/run.h"

static const struct dl_run_column columns[DL_N_RUN_MEMBERS] = {
#define NUMBER(name, unit, low, high, role, summary)                           \
  {#name, unit,           false,   low,                                        \
   high,  DL_ROLE_##role, summary, offsetof(struct dl_run, name)},
#define TEXT(name, role, summary)                                              \
  {#name, NULL,           true,    0,                                          \
   0,     DL_ROLE_##role, summary, offsetof(struct dl_run, name)},
#include "run/run_columns_body.h"
};

size_t dl_run_column_count(void) {
  return DL_N_RUN_COLUMNS;
}

const struct dl_run_column *dl_run_column_at(size_t i) {
  return &columns[i];
}

static const struct dl_run_column *find(const char *name, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (strcmp(columns[i].name, name) == 0)
      return &columns[i];
  return NULL;
}

const struct dl_run_column *dl_run_column_find(const char *name) {
  return find(name, DL_N_RUN_COLUMNS);
}

const struct dl_run_column *dl_run_member_find(const char *name) {
  return find(name, DL_N_RUN_MEMBERS);
}

enum dl_run_id dl_run_column_id(const struct dl_run_column *c) {
  return (enum dl_run_id)(c - columns);
}

enum dl_value_fault dl_run_column_parse(const struct dl_run_column *c,
                                        const char *text, double *x) {
  enum dl_number kind = dl_parse_number(text, strlen(text), x);
  if (kind == DL_NUMBER_INVALID)
    return DL_VALUE_INVALID;
  if (kind == DL_NUMBER_NOT_FINITE)
    return DL_VALUE_NOT_FINITE;
  return c && (*x < c->low || *x > c->high) ? DL_VALUE_RANGE : DL_VALUE_OK;
}
