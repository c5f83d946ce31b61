/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of runs read through a plan, for unit tests. Include after
 * cmocka.h. */

#ifndef DL_TESTS_TABLE_H
#define DL_TESTS_TABLE_H

#include "run/plan.h"
#include "unit.h"

struct table {
  struct dl_catalog *catalog;
  struct dl_row_plan *f;
  struct dl_csv *csv; /* NULL without columns */
  const struct dl_csv_block *block;
  const struct dl_row *row;
  struct dl_diag d;
};

/* Opens a table; text NULL makes a plan without columns. */
static UNUSED struct table open_table(const char *text) {
  struct table t = {0};
  t.catalog = dl_catalog_new(in_tree("."));
  t.f = dl_plan_new(t.catalog);
  assert_non_null(t.f);
  if (text) {
    assert_ok(dl_csv_open(&t.csv, put_file("runs.csv", text), 0, &t.d), &t.d);
    dl_plan_columns(t.f, t.csv);
  }
  return t;
}

static UNUSED void close_table(struct table *t) {
  dl_plan_free(t->f);
  dl_csv_free(t->csv);
  dl_catalog_free(t->catalog);
  dl_diag_free(&t->d);
}

static UNUSED void set(struct table *t, const char *name, const char *value) {
  const struct dl_run_column *c = dl_run_member_find(name);
  struct dl_run run = dl_run_unknown;

  dl_run_read(&run, c, value);
  assert_ok(dl_plan_begin(t->f, &run, true, &t->d), &t->d);
  dl_run_clear(&run);
}

static UNUSED void override(struct table *t, const char *assignment) {
  assert_ok(dl_plan_override(t->f, assignment, &t->d), &t->d);
}

static UNUSED void define(struct table *t, const char *assignment) {
  assert_ok(dl_plan_define(t->f, assignment, &t->d), &t->d);
}

static UNUSED struct dl_row_ref quantity(struct table *t, const char *name,
                                         bool required) {
  struct dl_row_ref q = {0};

  assert_ok(dl_plan_quantity(t->f, name, required, &q, &t->d), &t->d);
  return q;
}

/* Reads the first block: all rows of a small table. */
static UNUSED void load(struct table *t) {
  if (!t->csv) {
    assert_ok(dl_plan_single(t->f, &t->row, &t->d), &t->d);
    return;
  }
  assert_ok(dl_plan_next(t->f, t->csv, &t->block, &t->d), &t->d);
  assert_non_null(t->block);
  t->row = dl_plan_row(t->f, 0);
}

static UNUSED void row(struct table *t, size_t i) {
  if (t->csv)
    t->row = dl_plan_row(t->f, i);
}

static UNUSED double number(const struct table *t, struct dl_row_ref q) {
  return dl_row_number(t->row, &q);
}

static UNUSED const char *text_of(const struct table *t, struct dl_row_ref q) {
  return dl_row_text(t->row, &q);
}

#endif
