/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/formula/descriptor_filter.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/sort.h"
#include "run/formula/formula.h"

/* Finds the field of each variable of a formula, and checks its type. */
static enum dl_status bind(const struct dl_formula *f, enum dl_kind kind,
                           const struct dl_field **field, struct dl_diag *d) {
  for (size_t i = 0; i < f->n_vars; i++) {
    enum dl_status status =
        dl_field_get(kind, "--where", f->var[i].name, &field[i], d);
    if (status != DL_OK)
      return status;
    const char *name = field[i]->name;
    if (field[i]->is_text && !f->var[i].as_text)
      return dl_fail(d, DL_EUSAGE,
                     "--where: '%s' is a text; compare it with one in quotes: "
                     "%s = 'a', != or ~",
                     name, name);
    if (!field[i]->is_text && f->var[i].as_text)
      return dl_fail(d, DL_EUSAGE,
                     "--where: '%s' is a number; compare it with one", name);
  }
  return DL_OK;
}

static bool holds(const struct dl_formula *f, const struct dl_descriptor *e,
                  const struct dl_field *const *field,
                  const struct dl_row_ref *vars, const struct dl_row *row) {
  for (size_t i = 0; i < f->n_vars; i++)
    row->cell[i] = (struct dl_cell){dl_field_number(e, field[i]),
                                    dl_field_text(e, field[i])};
  double x = dl_formula_eval(f, vars, row);
  return !isnan(x) && x != 0;
}

enum dl_status dl_filter(const struct dl_descriptor **e, size_t *n,
                         enum dl_kind kind, const char *where,
                         struct dl_diag *d) {
  struct dl_formula *f;
  enum dl_status status = dl_formula_parse(&f, where, d);
  if (status != DL_OK)
    return status;
  size_t vars = f->n_vars;
  const struct dl_field **field = dl_calloc(vars, sizeof *field);
  DL_FREED struct dl_cell *cells = dl_calloc(vars, sizeof *cells);
  DL_FREED struct dl_row_ref *at = dl_calloc(vars, sizeof *at);
  const struct dl_row row = {.cell = cells};
  status = bind(f, kind, field, d);
  if (status == DL_OK) {
    for (size_t i = 0; i < vars; i++)
      at[i] = (struct dl_row_ref){.in = DL_IN_CELL, .at = i};
    size_t kept = 0;
    for (size_t i = 0; i < *n; i++)
      if (holds(f, e[i], field, at, &row))
        e[kept++] = e[i];
    *n = kept;
  }
  free((void *)field);
  dl_formula_free(f);
  return status;
}

/* Returns the next letter or digit of a text, or its end. */
static const char *next_counted(const char *s) {
  while (*s && !isalnum((unsigned char)*s))
    s++;
  return s;
}

/* Whether a name begins with a text, by letters and digits in either case. */
static bool begins(const char *name, const char *text) {
  for (text = next_counted(text); *text; text = next_counted(text + 1)) {
    name = next_counted(name);
    if (tolower((unsigned char)*name++) != tolower((unsigned char)*text))
      return false;
  }
  return true;
}

static bool is_in(const char *name, const char *text) {
  for (; *name; name++)
    if (begins(name, text))
      return true;
  return begins("", text);
}

static bool has_text(const struct dl_descriptor *e, const char *text) {
  bool has = is_in(e->id, text) || (e->name && is_in(e->name, text));
  for (size_t k = 0; k < e->n_aliases && !has; k++)
    has = is_in(e->aliases[k], text);
  return has;
}

void dl_filter_texts(const struct dl_descriptor **e, size_t *n,
                     char *const *text, size_t n_texts) {
  size_t kept = 0;
  for (size_t i = 0; i < *n; i++) {
    bool has = true;
    for (size_t k = 0; k < n_texts && has; k++)
      has = has_text(e[i], text[k]);
    if (has)
      e[kept++] = e[i];
  }
  *n = kept;
}

/* The keys of a sort: fields, and which of them are descending. */
struct sort_keys {
  const struct dl_descriptor *const *e; /* in the order before */
  const struct dl_field **field;
  bool *down;
  size_t n;
};

static int compare_texts(const char *a, const char *b) {
  int c = strcasecmp(a, b);
  return c ? c : strcmp(a, b);
}

static bool is_unknown(const struct dl_descriptor *e,
                       const struct dl_field *f) {
  return f->is_text ? !dl_field_text(e, f) : isnan(dl_field_number(e, f));
}

/* Compares two descriptors by one key. */
static int compare_by(const struct dl_field *f, bool down,
                      const struct dl_descriptor *a,
                      const struct dl_descriptor *b) {
  bool no_a = is_unknown(a, f), no_b = is_unknown(b, f);
  if (no_a || no_b)
    return (int)no_a - (int)no_b;
  double x = dl_field_number(a, f), y = dl_field_number(b, f);
  int c = f->is_text ? compare_texts(dl_field_text(a, f), dl_field_text(b, f))
                     : (x > y) - (x < y);
  return down ? -c : c;
}

static int compare(const void *a, const void *b, void *ctx) {
  const struct sort_keys *o = ctx;
  size_t i, j;
  memcpy(&i, a, sizeof i);
  memcpy(&j, b, sizeof j);
  for (size_t k = 0; k < o->n; k++) {
    int c = compare_by(o->field[k], o->down[k], o->e[i], o->e[j]);
    if (c)
      return c;
  }
  return (i > j) - (i < j);
}

static void order_by(const struct dl_descriptor **e, size_t n,
                     struct sort_keys *keys) {
  const struct dl_descriptor **copy = dl_calloc(n, sizeof *copy);
  DL_FREED size_t *index = dl_calloc(n, sizeof *index);
  for (size_t i = 0; i < n; i++) {
    copy[i] = e[i];
    index[i] = i;
  }
  keys->e = copy;
  dl_sort_with(index, n, sizeof *index, compare, keys);
  for (size_t i = 0; i < n; i++)
    e[i] = copy[index[i]];
  free((void *)copy);
}

enum dl_status dl_sort(const struct dl_descriptor **e, size_t n,
                       enum dl_kind kind, const char *keys, struct dl_diag *d) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist list = {0};
  dl_strlist_split(&list, keys, ',');
  DL_FREED const struct dl_field **field = dl_calloc(list.n, sizeof *field);
  DL_FREED bool *down = dl_calloc(list.n, sizeof *down);
  for (size_t i = 0; i < list.n; i++) {
    down[i] = list.s[i][0] == '-';
    DL_TRY(dl_field_get(kind, "--sort", list.s[i] + down[i], &field[i], d));
  }
  order_by(e, n, &(struct sort_keys){NULL, field, down, list.n});
  return DL_OK;
}

enum dl_status dl_formula_names(const char *where, struct dl_strlist *names,
                                struct dl_diag *d) {
  struct dl_formula *f;
  enum dl_status status = dl_formula_parse(&f, where, d);
  for (size_t i = 0; status == DL_OK && i < f->n_vars; i++)
    dl_strlist_add(names, f->var[i].name);
  dl_formula_free(f);
  return status;
}
