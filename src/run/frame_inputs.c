/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user gives a frame: settings, overrides, definitions, aliases. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "catalog/architecture/token_costs.h"
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

/* The user's own descriptor file, where a setting names one. */
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

void dl_frame_set(struct dl_frame *f, enum dl_run_id id, double x) {
  dl_run_set_number(&f->settings, id, x);
}

enum dl_status dl_frame_set_run(struct dl_frame *f, const struct dl_run *run,
                                struct dl_diag *d) {
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < DL_N_RUN_MEMBERS && status == DL_OK; i++) {
    enum dl_run_id id = (enum dl_run_id)i;
    if (!dl_run_has(run, id))
      continue;
    dl_run_set_put(&f->of_options, id, true);
    if (!dl_run_columns[i].is_text) {
      dl_run_set_number(&f->settings, id, dl_run_number(run, id));
      continue;
    }
    dl_run_copy_text(&f->settings, id, dl_run_text(run, id));
    status = open_named(f, dl_run_columns[i].name, dl_run_text(run, id), d);
  }
  return status;
}

void dl_frame_usual_data(struct dl_frame *f) {
  f->usual_data = true;
}

void dl_frame_data(struct dl_frame *f, const struct dl_dataset *data) {
  f->data = data;
}

struct dl_cell dl_frame_setting(struct dl_frame *f, enum dl_run_id id,
                                bool text) {
  char number[DL_NUMBER_SIZE];
  if (dl_run_columns[id].is_text)
    return (struct dl_cell){NAN, dl_run_text(&f->settings, id)};
  struct dl_cell c = {dl_run_number(&f->settings, id), NULL};
  if (text) {
    dl_strlist_add(&f->texts, dl_format_short(number, c.x));
    c.s = f->texts.s[f->texts.n - 1];
  }
  return c;
}

/* Rows of a table say themselves what is run; without one, options do. */
static const struct {
  enum dl_run_id id;
  bool data;
  const char *by[MOST_DEFAULT_INPUTS + 1];
} by_row[] = {
    {DL_RUN_val_samples, true, {"train_samples"}},
    {DL_RUN_stored_mpx, true, {"train_samples"}},
    {DL_RUN_epochs, false, {"arch"}},
    {DL_RUN_batch_size, false, {"arch", "phase", "request_rate"}},
    {DL_RUN_requests, false, {"phase"}},
};

const char *const *dl_frame_default_by(const struct dl_frame *f,
                                       enum dl_run_id id) {
  for (size_t i = 0; i < DL_LENGTH(by_row); i++)
    if (by_row[i].id == id && !dl_run_set_has(&f->of_options, id) &&
        (by_row[i].data ? f->usual_data : f->csv != NULL))
      return by_row[i].by;
  return NULL;
}

struct dl_cell dl_frame_default(const struct source *p,
                                const struct dl_row *row) {
  static const struct dl_cell absent = {(double)NAN, NULL}, one = {1, "1"};
  const struct dl_architecture *arch = row->found.arch;
  bool inference = dl_run_is_inference(&row->run);
  bool language = arch && dl_is_language_model(arch);
  switch ((enum dl_run_id)p->index) {
  case DL_RUN_epochs:
    return language ? one : p->value;
  case DL_RUN_batch_size:
    if (inference)
      return dl_run_has(&row->run, DL_RUN_request_rate) ? p->value : one;
    return language ? absent : p->value;
  case DL_RUN_requests:
    return inference ? p->value : absent;
  default:
    return dl_run_set_has(&row->given, DL_RUN_train_samples) ? absent
                                                             : p->value;
  }
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
  struct dl_text what = {0};
  dl_run_column_explain(c, fault, *value, &what);
  enum dl_status status =
      dl_fail(d, fault == DL_FAULT_RANGE ? DL_EINPUT : DL_EUSAGE, "%s: %s",
              name, dl_text_str(&what));
  dl_text_free(&what);
  return status;
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
    char *field = dl_strndup(assignment + n, len);
    enum dl_status status =
        dl_field_parse(kinds[k].kind, field, eq + 1, &checked, &x, d);
    free(field);
    if (status == DL_OK)
      add_entry(&f->fields[k], assignment + n, len, eq + 1);
    return status;
  }
  size_t len = (size_t)(eq - assignment);
  char *name = dl_strndup(assignment, len);
  const char *value = eq + 1;
  enum dl_status status = check_value(name, &value, d);
  if (status == DL_OK)
    status = open_named(f, name, value, d);
  if (status == DL_OK)
    add_entry(&f->overrides, assignment, len, value);
  free(name);
  return status;
}

enum dl_status dl_frame_define(struct dl_frame *f, const char *assignment,
                               struct dl_diag *d) {
  const char *eq = strchr(assignment, '=');
  if (!eq || eq == assignment || eq[1] == '=')
    return dl_fail(d, DL_EUSAGE, "'%s': expected NAME=FORMULA", assignment);
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
