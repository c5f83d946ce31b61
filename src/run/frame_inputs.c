/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user gives a frame: what rows begin with, overrides, definitions,
 * aliases; and which names have a source. */

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "run/frame.h"
#include "run/frame_private.h"

long dl_entry_find(const struct entries *es, const char *name) {
  for (size_t i = 0; i < es->n; i++)
    if (strcmp(es->e[i].name, name) == 0)
      return (long)i;
  return -1;
}

/* Enters name -> text, and the number in it; a later one replaces an
 * earlier. */
static void add_entry(struct entries *es, const char *name, size_t len,
                      const char *text) {
  struct entry e = {.name = dl_strndup(name, len), .text = dl_strdup(text)};
  DL_GROW(es->e, es->cap, es->n + 1);
  e.cell.s = e.text;
  dl_parse_number(text, strlen(text), &e.cell.x);
  long old = dl_entry_find(es, e.name);
  if (old >= 0) {
    free(es->e[old].name);
    free(es->e[old].text);
    es->e[old] = e;
  } else {
    es->e[es->n++] = e;
  }
}

/* The user's own descriptor file, where a value names one. */
static enum dl_status open_named(struct dl_frame *f, const char *name,
                                 const char *value, struct dl_diag *d) {
  if (strcmp(name, "gpu") == 0)
    return dl_catalog_open(f->catalog, DL_ACCELERATOR, value, d);
  if (strcmp(name, "arch") == 0)
    return dl_catalog_open(f->catalog, DL_ARCHITECTURE, value, d);
  return DL_OK;
}

enum dl_status dl_frame_axes(struct dl_frame *f, const struct dl_axes *axes,
                             struct dl_diag *d) {
  enum dl_status status = DL_OK;
  f->axes = axes;
  for (size_t i = 0; i < axes->n; i++)
    for (size_t j = 0; j < axes->a[i].n && status == DL_OK; j++)
      status = open_named(f, axes->a[i].column, axes->a[i].text.s[j], d);
  return status;
}

enum dl_status dl_frame_begin(struct dl_frame *f, const struct dl_run *run,
                              bool given, struct dl_diag *d) {
  struct dl_row *first = &f->first;
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++) {
    enum dl_run_id id = (enum dl_run_id)i;
    if (!dl_run_has(run, id))
      continue;
    dl_run_set_put(&first->given, id, given);
    if (!dl_run_columns[i].is_text) {
      dl_run_set_number(&first->run, id, dl_run_number(run, id));
      continue;
    }
    dl_run_copy_text(&first->run, id, dl_run_text(run, id));
    DL_TRY(open_named(f, dl_run_columns[i].name, dl_run_text(run, id), d));
  }
  return DL_OK;
}

void dl_frame_take_usual(struct dl_frame *f, const char *dataset) {
  f->usual = true;
  f->usual_dataset = dataset ? dl_strdup(dataset) : NULL;
}

bool dl_frame_begins(const struct dl_frame *f, const char *name) {
  const struct dl_run_column *c = dl_run_member_find(name);
  return c && dl_run_has(&f->first.run, c->id);
}

bool dl_frame_is_option(const struct dl_frame *f, const char *name) {
  const struct dl_run_column *c = dl_run_member_find(name);
  return c && dl_run_set_has(&f->first.given, c->id);
}

bool dl_frame_is_given(const struct dl_frame *f, const char *name) {
  return dl_entry_find(&f->overrides, name) >= 0 ||
         dl_entry_find(&f->definitions, name) >= 0 ||
         (f->csv && dl_csv_find(f->csv, name) >= 0) ||
         (f->axes && dl_axes_find(f->axes, name)) || dl_frame_begins(f, name) ||
         (f->usual && dl_usual_of(name));
}

const struct dl_field *dl_frame_descriptor_field(const struct dl_frame *f,
                                                 const char *name) {
  enum dl_kind kind;
  const struct dl_field *field = dl_field_of(name, &kind);
  return field && dl_frame_is_given(f, dl_kinds[kind].word) ? field : NULL;
}

const struct derived *dl_frame_derivation(const struct dl_frame *f,
                                          const char *name) {
  const struct derived *g = dl_derived_of(name);
  if (g && g->n_needed == 0)
    return dl_frame_is_given(f, g->word) ? g : NULL;
  for (size_t i = 0, n = g ? g->n_needed : 0; i < n; i++)
    if (!dl_frame_is_given(f, g->input[i]) &&
        !dl_frame_descriptor_field(f, g->input[i]))
      return NULL;
  return g;
}

/* A column of measured runs, which have no default, holds its size alone. */
const struct dl_field *dl_frame_size_field(const struct dl_frame *f,
                                           const char *name) {
  bool size = strcmp(name, "train_samples") == 0 ||
              strcmp(name, "val_samples") == 0 ||
              strcmp(name, "stored_mpx") == 0 ||
              strcmp(name, "stored_kb") == 0;
  bool column = f->csv && dl_csv_find(f->csv, name) >= 0;
  bool any = dl_frame_begins(f, "dataset") || f->usual_dataset;
  bool of_rows = dl_frame_is_given(f, "dataset") && !column;
  return size && !dl_frame_is_option(f, name) && (any || of_rows)
             ? dl_field_find(DL_DATASET, name)
             : NULL;
}

bool dl_frame_has(const struct dl_frame *f, const char *name) {
  return dl_frame_is_given(f, name) || dl_frame_descriptor_field(f, name) ||
         dl_frame_derivation(f, name) || dl_frame_size_field(f, name);
}

void dl_list_columns(const struct dl_csv *csv, struct dl_text *to) {
  enum { MOST = 8 };
  size_t n = dl_csv_n_cols(csv);
  for (size_t i = 0; i < n && i < MOST; i++)
    dl_text_printf(to, "%s'%.64s'", i == 0 ? "; the table has " : ", ",
                   dl_csv_name(csv, i));
  if (n > MOST)
    dl_text_add(to, ", ...");
}

/* Checks a value that the user gives for a quantity; a word of its column takes
 * its place. */
static enum dl_status check_value(const char *name, const char **value,
                                  struct dl_diag *d) {
  const struct dl_run_column *c = dl_run_member_find(name);
  const char *word = c && c->is_text ? dl_run_word(c, *value) : NULL;
  enum dl_fault_kind fault = c ? dl_run_column_fault(c, *value) : DL_FAULT_NONE;
  *value = word ? word : *value;
  if (fault == DL_FAULT_NONE)
    return DL_OK;
  if (fault == DL_FAULT_NOT_FINITE)
    fault = DL_FAULT_INVALID;
  DL_TEXT(what);
  dl_run_column_explain(c, fault, *value, &what);
  return dl_fail(d, fault == DL_FAULT_RANGE ? DL_EINPUT : DL_EUSAGE, "%s: %s",
                 name, dl_text_str(&what));
}

enum dl_status dl_frame_override(struct dl_frame *f, const char *assignment,
                                 struct dl_diag *d) {
  const char *eq = strchr(assignment, '=');
  if (!eq || eq == assignment)
    return dl_fail(d, DL_EUSAGE, "'%s': expected NAME=VALUE", assignment);
  static const struct {
    const char *prefix;
    enum dl_kind kind;
  } kinds[] = {{"gpu.", DL_ACCELERATOR}, {"arch.", DL_ARCHITECTURE}};
  for (size_t k = 0; k < 2; k++) {
    size_t n = strlen(kinds[k].prefix);
    if (strncmp(assignment, kinds[k].prefix, n) != 0)
      continue;
    const struct dl_field *checked;
    double x;
    size_t len = (size_t)(eq - assignment) - n;
    DL_FREED char *field = dl_strndup(assignment + n, len);
    enum dl_status status =
        dl_field_parse(kinds[k].kind, field, eq + 1, &checked, &x, d);
    if (status == DL_OK)
      add_entry(&f->fields[k], assignment + n, len, eq + 1);
    return status;
  }
  if (!eq[1])
    return dl_fail(d, DL_EUSAGE, "'%s': expected NAME=VALUE", assignment);
  size_t len = (size_t)(eq - assignment);
  DL_FREED char *name = dl_strndup(assignment, len);
  const char *value = eq + 1;
  enum dl_status status = check_value(name, &value, d);
  if (status == DL_OK)
    status = open_named(f, name, value, d);
  if (status == DL_OK)
    add_entry(&f->overrides, assignment, len, value);
  return status;
}

enum dl_status dl_frame_define(struct dl_frame *f, const char *assignment,
                               struct dl_diag *d) {
  const char *eq = strchr(assignment, '=');
  DL_SCOPED(dl_formula_free_local) struct dl_formula *checked = NULL;
  if (!eq || eq == assignment || !eq[1] || eq[1] == '=')
    return dl_fail(d, DL_EUSAGE, "'%s': expected NAME=FORMULA", assignment);
  DL_TRY(dl_formula_parse(&checked, eq + 1, d));
  add_entry(&f->definitions, assignment, (size_t)(eq - assignment), eq + 1);
  return DL_OK;
}

enum dl_status dl_frame_alias(struct dl_frame *f, const char *assignment,
                              struct dl_diag *d) {
  const char *eq = strchr(assignment, '=');
  if (!eq || eq == assignment || !eq[1])
    return dl_fail(d, DL_EUSAGE, "'%s': expected NAME=ID", assignment);
  add_entry(&f->aliases, assignment, (size_t)(eq - assignment), eq + 1);
  return DL_OK;
}
