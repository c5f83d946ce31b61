/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A plan, and what the user gives it: what rows begin with, overrides,
 * definitions, aliases; and which quantities have a source. */

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "run/plan_private.h"

long dl_entry_find(const struct entries *es, const char *name) {
  for (size_t i = 0; i < es->n; i++)
    if (strcmp(es->e[i].name, name) == 0)
      return (long)i;
  return -1;
}

/* --- Names. */

_Static_assert((int)DL_OF_ARCH_id - (int)DL_OF_GPU_id <= DL_MOST_FIELDS &&
                   (int)DL_N_PLAN_NAMES - (int)DL_OF_ARCH_id <= DL_MOST_FIELDS,
               "fields of a kind are numbered without gaps");

size_t dl_plan_find(const struct dl_row_plan *f, const char *text) {
  const struct dl_run_column *c = dl_run_member_find(text);
  enum dl_kind kind;
  const struct dl_field *field = c ? NULL : dl_field_of(text, &kind);
  if (c)
    return c->id;
  if (field)
    return (size_t)(field - dl_kinds[kind].fields) +
           (kind == DL_ACCELERATOR ? DL_OF_GPU_id : DL_OF_ARCH_id);
  long own = dl_intern_find(&f->own, text);
  return own < 0 ? NO_NAME : DL_N_PLAN_NAMES + (size_t)own;
}

size_t dl_plan_name(struct dl_row_plan *f, const char *text) {
  size_t name = dl_plan_find(f, text);
  if (name != NO_NAME)
    return name;
  name = DL_N_PLAN_NAMES + (size_t)dl_intern(&f->own, text);
  DL_GROW(f->name, f->cap_names, f->n_names + 1);
  f->name[f->n_names++] =
      (struct name){.text = f->own.s[name - DL_N_PLAN_NAMES]};
  return name;
}

const struct dl_field *dl_name_field(size_t name, enum dl_kind *kind) {
  bool gpu = name < DL_OF_ARCH_id;
  *kind = gpu ? DL_ACCELERATOR : DL_ARCHITECTURE;
  if (name < DL_OF_GPU_id || name >= DL_N_PLAN_NAMES)
    return NULL;
  return &dl_kinds[*kind].fields[name - (gpu ? DL_OF_GPU_id : DL_OF_ARCH_id)];
}

const char *dl_name_text(struct dl_row_plan *f, size_t name) {
  if (!f->name[name].text) {
    DL_TEXT(text);
    enum dl_kind kind;
    const struct dl_field *field = dl_name_field(name, &kind);
    dl_text_printf(&text, "%s.%s", dl_kinds[kind].word, field->name);
    dl_strlist_add(&f->field_names, text.s);
    f->name[name].text = f->field_names.s[f->field_names.n - 1];
  }
  return f->name[name].text;
}

/* --- What the user gives. */

/* Enters name -> text, and the number in it; a later one replaces an earlier.
 * Returns its number from 1. */
static size_t add_entry(struct entries *es, const char *name, size_t len,
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
  return old >= 0 ? (size_t)old + 1 : es->n;
}

/* The user's own descriptor file, where a value names one. */
static enum dl_status open_named(struct dl_row_plan *f, size_t name,
                                 const char *value, struct dl_diag *d) {
  if (name == DL_RUN_gpu)
    return dl_catalog_open(f->catalog, DL_ACCELERATOR, value, d);
  if (name == DL_RUN_arch)
    return dl_catalog_open(f->catalog, DL_ARCHITECTURE, value, d);
  return DL_OK;
}

enum dl_status dl_plan_axes(struct dl_row_plan *f, const struct dl_axes *axes,
                            struct dl_diag *d) {
  enum dl_status status = DL_OK;
  f->axes = axes;
  for (size_t i = 0; i < axes->n; i++) {
    size_t name = dl_plan_name(f, axes->a[i].column);
    f->name[name].axis = i + 1;
    for (size_t j = 0; j < axes->a[i].n && status == DL_OK; j++)
      status = open_named(f, name, axes->a[i].text.s[j], d);
  }
  return status;
}

enum dl_status dl_plan_begin(struct dl_row_plan *f, const struct dl_run *run,
                             bool given, struct dl_diag *d) {
  struct dl_row *first = &f->defaults;
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
    DL_TRY(open_named(f, i, dl_run_text(run, id), d));
  }
  return DL_OK;
}

void dl_plan_take_usual(struct dl_row_plan *f, const char *dataset) {
  f->usual = true;
  f->usual_dataset = dataset ? dl_strdup(dataset) : NULL;
}

/* --- Which quantities have a source. */

/* Fields of data sets. */
enum {
  OF_DATASET_id,
  OF_DATASET_name,
#define TEXT(name, help) OF_DATASET_##name,
#define NUMBER(name, unit, low, high, help) OF_DATASET_##name,
#define FIELDS_OF_DATASET
#include "catalog/descriptor_fields_body.h"
#undef TEXT
#undef NUMBER
};

bool dl_plan_has_default(const struct dl_row_plan *f, size_t name) {
  return name < DL_N_RUN_MEMBERS &&
         dl_run_has(&f->defaults.run, (enum dl_run_id)name);
}

bool dl_plan_is_option(const struct dl_row_plan *f, size_t name) {
  return name < DL_N_RUN_MEMBERS &&
         dl_run_set_has(&f->defaults.given, (enum dl_run_id)name);
}

long dl_plan_column(const struct dl_row_plan *f, size_t name) {
  const char *text = f->name[name].text;
  long at = f->csv && text ? dl_csv_find(f->csv, text) : -1;
  /* A run without GPUs is on its CPUs. */
  return f->csv && at < 0 && name == DL_RUN_gpu ? dl_csv_find(f->csv, "cpu")
                                                : at;
}

bool dl_plan_gives(const struct dl_row_plan *f, size_t name) {
  const struct name *n = &f->name[name];
  return n->override > 0 || n->definition > 0 || n->axis > 0 ||
         dl_plan_column(f, name) >= 0 || dl_plan_has_default(f, name) ||
         (f->usual && name < DL_N_RUN_MEMBERS && dl_derivations[name].usual);
}

const struct dl_field *dl_plan_descriptor_field(const struct dl_row_plan *f,
                                                size_t name) {
  enum dl_kind kind;
  const struct dl_field *field = dl_name_field(name, &kind);
  if (!field)
    return NULL;
  enum dl_run_id by = kind == DL_ACCELERATOR ? DL_RUN_gpu : DL_RUN_arch;
  return dl_plan_gives(f, by) ? field : NULL;
}

const struct derivation *dl_plan_derivation(const struct dl_row_plan *f,
                                            size_t name) {
  const struct derivation *g =
      name < DL_N_RUN_MEMBERS ? &dl_derivations[name] : NULL;
  if (!g || !g->compute || (g->n_needed == 0 && !dl_plan_gives(f, g->word)))
    return NULL;
  for (size_t i = 0; i < g->n_needed; i++)
    if (!dl_plan_gives(f, g->input[i]) &&
        !dl_plan_descriptor_field(f, g->input[i]) &&
        !(g->input[i] == DL_RUN_train_tokens &&
          dl_plan_size_field(f, g->input[i])))
      return NULL;
  return g;
}

/* A column of measured runs, which have no default, holds its size alone. */
const struct dl_field *dl_plan_size_field(const struct dl_row_plan *f,
                                          size_t name) {
  static const size_t sizes[DL_N_RUN_MEMBERS] = {
      [DL_RUN_train_samples] = OF_DATASET_train_samples,
      [DL_RUN_val_samples] = OF_DATASET_val_samples,
      [DL_RUN_stored_mpx] = OF_DATASET_stored_mpx,
      [DL_RUN_stored_kb] = OF_DATASET_stored_kb,
      [DL_RUN_seq_len] = OF_DATASET_sample_tokens,
      [DL_RUN_train_tokens] = OF_DATASET_tokens};
  if (name >= DL_N_RUN_MEMBERS || sizes[name] == 0 ||
      dl_plan_is_option(f, name))
    return NULL;
  /* Text is for estimates: rows of a fit keep what they say. */
  if ((name == DL_RUN_seq_len || name == DL_RUN_train_tokens) && !f->usual)
    return NULL;
  bool column = dl_plan_column(f, name) >= 0;
  bool any = dl_plan_has_default(f, DL_RUN_dataset) || f->usual_dataset;
  return any || (dl_plan_gives(f, DL_RUN_dataset) && !column)
             ? &dl_kinds[DL_DATASET].fields[sizes[name]]
             : NULL;
}

bool dl_plan_has_source(const struct dl_row_plan *f, size_t name) {
  return dl_plan_gives(f, name) || dl_plan_descriptor_field(f, name) ||
         dl_plan_derivation(f, name) || dl_plan_size_field(f, name);
}

/* A name that the plan does not have may be a column. */
static bool is_column(const struct dl_row_plan *f, const char *name) {
  return f->csv && dl_csv_find(f->csv, name) >= 0;
}

bool dl_plan_is_given(const struct dl_row_plan *f, const char *name) {
  size_t found = dl_plan_find(f, name);
  return found == NO_NAME ? is_column(f, name)
                          : is_column(f, name) || dl_plan_gives(f, found);
}

bool dl_plan_has(const struct dl_row_plan *f, const char *name) {
  size_t found = dl_plan_find(f, name);
  return is_column(f, name) ||
         (found != NO_NAME && dl_plan_has_source(f, found));
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
static enum dl_status check_value(const struct dl_run_column *c,
                                  const char **value, struct dl_diag *d) {
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
                 c->name, dl_text_str(&what));
}

enum dl_status dl_plan_override(struct dl_row_plan *f, const char *assignment,
                                struct dl_diag *d) {
  const char *eq = strchr(assignment, '=');
  if (!eq || eq == assignment)
    return dl_fail(d, DL_EUSAGE, "'%s': expected NAME=VALUE", assignment);
  static const char *const prefixes[] = {"gpu.", "arch."};
  static const enum dl_kind kinds[] = {DL_ACCELERATOR, DL_ARCHITECTURE};
  for (size_t k = 0; k < 2; k++) {
    size_t n = strlen(prefixes[k]);
    if (strncmp(assignment, prefixes[k], n) != 0)
      continue;
    const struct dl_field *checked;
    double x;
    size_t len = (size_t)(eq - assignment) - n;
    DL_FREED char *field = dl_strndup(assignment + n, len);
    enum dl_status status =
        dl_field_parse(kinds[k], field, eq + 1, &checked, &x, d);
    if (status == DL_OK)
      add_entry(&f->fields[k], assignment + n, len, eq + 1);
    return status;
  }
  if (!eq[1])
    return dl_fail(d, DL_EUSAGE, "'%s': expected NAME=VALUE", assignment);
  size_t len = (size_t)(eq - assignment);
  DL_FREED char *text = dl_strndup(assignment, len);
  size_t name = dl_plan_name(f, text);
  const char *value = eq + 1;
  enum dl_status status = check_value(dl_name_column(name), &value, d);
  if (status == DL_OK)
    status = open_named(f, name, value, d);
  if (status == DL_OK)
    f->name[name].override = add_entry(&f->overrides, assignment, len, value);
  return status;
}

enum dl_status dl_plan_define(struct dl_row_plan *f, const char *assignment,
                              struct dl_diag *d) {
  const char *eq = strchr(assignment, '=');
  DL_SCOPED(dl_formula_free_local) struct dl_formula *checked = NULL;
  if (!eq || eq == assignment || !eq[1] || eq[1] == '=')
    return dl_fail(d, DL_EUSAGE, "'%s': expected NAME=FORMULA", assignment);
  DL_TRY(dl_formula_parse(&checked, eq + 1, d));
  size_t len = (size_t)(eq - assignment);
  DL_FREED char *text = dl_strndup(assignment, len);
  size_t name = dl_plan_name(f, text);
  f->name[name].definition =
      add_entry(&f->definitions, assignment, len, eq + 1);
  return DL_OK;
}

enum dl_status dl_plan_alias(struct dl_row_plan *f, const char *assignment,
                             struct dl_diag *d) {
  const char *eq = strchr(assignment, '=');
  if (!eq || eq == assignment || !eq[1])
    return dl_fail(d, DL_EUSAGE, "'%s': expected NAME=ID", assignment);
  add_entry(&f->aliases, assignment, (size_t)(eq - assignment), eq + 1);
  return DL_OK;
}
