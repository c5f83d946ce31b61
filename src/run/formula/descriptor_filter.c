/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "run/formula/descriptor_filter.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "run/formula/formula.h"

/* The field of each variable of a formula, used by its type. */
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

/* Letters and digits of a text alone, in lower case, in *to. */
static const char *fold(const char *s, struct dl_text *to) {
  dl_text_clear(to);
  for (; s && *s; s++)
    if (isalnum((unsigned char)*s))
      dl_text_add_n(to, (char[]){(char)tolower((unsigned char)*s)}, 1);
  return dl_text_str(to);
}

/* Texts to look for, and room to fold a name. */
struct wanted {
  char *const *text;
  size_t n;
  struct dl_text name, part;
};

static bool is_in(struct wanted *w, const char *name, const char *text) {
  return strstr(fold(name, &w->name), fold(text, &w->part)) != NULL;
}

static bool has_texts(struct wanted *w, const struct dl_descriptor *e) {
  for (size_t i = 0; i < w->n; i++) {
    const char *text = w->text[i];
    bool has = is_in(w, e->id, text) || is_in(w, e->name, text);
    for (size_t k = 0; k < e->n_aliases && !has; k++)
      has = is_in(w, e->aliases[k], text);
    if (!has)
      return false;
  }
  return true;
}

void dl_filter_texts(const struct dl_descriptor **e, size_t *n,
                     char *const *text, size_t n_texts) {
  struct wanted w = {.text = text, .n = n_texts};
  size_t kept = 0;
  for (size_t i = 0; i < *n; i++)
    if (has_texts(&w, e[i]))
      e[kept++] = e[i];
  *n = kept;
  dl_text_free(&w.name);
  dl_text_free(&w.part);
}

struct key {
  const struct dl_field *field;
  bool down;
};

struct order {
  const struct dl_descriptor *const *e; /* as they were */
  const struct key *key;
  size_t n;
};

static int compare_texts(const char *a, const char *b) {
  int c = strcasecmp(a, b);
  return c ? c : strcmp(a, b);
}

/* By one key. */
static int compare_by(const struct key *k, const struct dl_descriptor *a,
                      const struct dl_descriptor *b) {
  const char *s = dl_field_text(a, k->field), *t = dl_field_text(b, k->field);
  double x = dl_field_number(a, k->field), y = dl_field_number(b, k->field);
  bool text = k->field->is_text;
  bool no_a = text ? !s : isnan(x), no_b = text ? !t : isnan(y);
  if (no_a || no_b)
    return (int)no_a - (int)no_b;
  int c = s && t ? compare_texts(s, t) : (x > y) - (x < y);
  return k->down ? -c : c;
}

static int compare(const void *a, const void *b, void *ctx) {
  const struct order *o = ctx;
  size_t i, j;
  memcpy(&i, a, sizeof i);
  memcpy(&j, b, sizeof j);
  for (size_t k = 0; k < o->n; k++) {
    int c = compare_by(&o->key[k], o->e[i], o->e[j]);
    if (c)
      return c;
  }
  return (i > j) - (i < j);
}

static void order_by(const struct dl_descriptor **e, size_t n,
                     const struct key *key, size_t n_keys) {
  const struct dl_descriptor **copy = dl_calloc(n, sizeof *copy);
  DL_FREED size_t *index = dl_calloc(n, sizeof *index);
  struct order o = {copy, key, n_keys};
  for (size_t i = 0; i < n; i++) {
    copy[i] = e[i];
    index[i] = i;
  }
  qsort_r(index, n, sizeof *index, compare, &o);
  for (size_t i = 0; i < n; i++)
    e[i] = copy[index[i]];
  free((void *)copy);
}

enum dl_status dl_sort(const struct dl_descriptor **e, size_t n,
                       enum dl_kind kind, const char *keys, struct dl_diag *d) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist list = {0};
  dl_strlist_split(&list, keys, ',');
  DL_FREED struct key *key = dl_calloc(list.n, sizeof *key);
  for (size_t i = 0; i < list.n; i++) {
    key[i].down = list.s[i][0] == '-';
    DL_TRY(dl_field_get(kind, "--sort", list.s[i] + key[i].down, &key[i].field,
                        d));
  }
  order_by(e, n, key, list.n);
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
