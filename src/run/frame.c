/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the steps of a frame: where each quantity comes from. */

#include "run/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/nearest_names.h"
#include "run/frame_private.h"

static void free_entries(struct entries *es) {
  for (size_t i = 0; i < es->n; i++) {
    free(es->e[i].name);
    free(es->e[i].text);
  }
  free(es->e);
}

static void free_step(struct step *s) {
  for (size_t i = 0; i < s->n_sources; i++) {
    dl_formula_free(s->source[i].formula);
    free(s->source[i].vars);
  }
  free(s->source);
  free(s->name);
}

struct dl_frame *dl_frame_new(struct dl_catalog *c) {
  struct dl_frame *f = dl_calloc(1, sizeof *f);
  if (f) {
    f->catalog = c;
    f->lookup.keep = true;
  }
  return f;
}

void dl_frame_free(struct dl_frame *f) {
  if (!f)
    return;
  struct entries *const lists[] = {&f->overrides,   &f->settings,
                                   &f->definitions, &f->aliases,
                                   &f->fields[0],   &f->fields[1]};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
    free_entries(lists[i]);
  for (size_t i = 0; i < f->n_steps; i++)
    free_step(&f->step[i]);
  free(f->step);
  dl_strlist_free(&f->resolving);
  dl_descriptors_free(&f->lookup);
  free(f->row);
  free(f);
}

void dl_frame_columns(struct dl_frame *f, const struct dl_csv *csv) {
  f->csv = csv;
}

/* The source of a descriptor's field "gpu.tdp_w" or "arch.family"; false:
 * there is none of that name. */
static bool field_source(const char *name, struct source *p) {
  bool gpu = strncmp(name, "gpu.", 4) == 0;
  if (!gpu && strncmp(name, "arch.", 5) != 0)
    return false;
  *p = (struct source){.kind = gpu ? SOURCE_GPU : SOURCE_ARCH,
                       .field =
                           dl_field_find(gpu ? DL_ACCELERATOR : DL_ARCHITECTURE,
                                         strchr(name, '.') + 1)};
  return p->field;
}

bool dl_frame_is_given(const struct dl_frame *f, const char *name) {
  return dl_entry_find(&f->overrides, name) >= 0 ||
         dl_entry_find(&f->definitions, name) >= 0 ||
         (f->csv && dl_csv_find(f->csv, name) >= 0) ||
         (f->axes && dl_axes_find(f->axes, name)) ||
         dl_entry_find(&f->settings, name) >= 0;
}

/* Whether there is a descriptor to take a field from. */
static bool has_descriptor(const struct dl_frame *f, const char *field) {
  return dl_frame_is_given(f, strncmp(field, "gpu.", 4) == 0 ? "gpu" : "arch");
}

/* Whether a derived quantity has all that it needs. */
static bool can_derive(const struct dl_frame *f, const struct derived *g) {
  bool all = g != NULL;
  for (size_t i = 0; all && i < MOST_DERIVED_INPUTS && g->input[i]; i++)
    if (i == 0 || !g->second_may_lack)
      all = strchr(g->input[i], '.') ? has_descriptor(f, g->input[i])
                                     : dl_frame_is_given(f, g->input[i]);
  return all;
}

bool dl_frame_has(const struct dl_frame *f, const char *name) {
  struct source p;
  if (dl_frame_is_given(f, name))
    return true;
  if (field_source(name, &p))
    return has_descriptor(f, name);
  return can_derive(f, dl_derived_of(dl_run_member_find(name)));
}

static enum dl_status unknown_name(const struct dl_frame *f, const char *name,
                                   struct dl_diag *d) {
  struct dl_text near = {0};
  size_t n = f->csv ? dl_csv_n_cols(f->csv) : dl_run_column_count();
  const char **names = dl_calloc(n, sizeof *names);
  if (!names)
    return dl_fail_memory(d);
  for (size_t i = 0; i < n; i++)
    names[i] = f->csv ? dl_csv_name(f->csv, i) : dl_run_column_at(i)->name;
  dl_nearest_names(name, names, n, 3, &near);
  free(names);
  if (f->csv)
    dl_fail_at(d, DL_EUSAGE, dl_csv_path(f->csv), 0,
               "no column '%s'; nearest: %s", name, dl_text_str(&near));
  else
    dl_fail(d, DL_EUSAGE, "'%s' has no value; give it with --set %s=VALUE",
            name, name);
  dl_text_free(&near);
  return DL_EUSAGE;
}

/* How a step's value is used. A member of a run is a number or a text; for the
 * other a step of its own sets a cell, which has both. */
enum use { AS_COLUMN, AS_NUMBER, AS_TEXT, AS_BOTH };

/* The request for a step. */
struct wish {
  const char *name;
  enum scope scope;
  enum use use;
  bool required;
};

static enum dl_status find_step(struct dl_frame *f, const struct wish *w,
                                struct dl_row_ref *q, struct dl_diag *d);

/* A step is to hold numbers, and so is the one that it merely renames. */
static void want_number(struct dl_frame *f, size_t step) {
  struct step *s = &f->step[step];
  s->number = true;
  for (size_t i = 0; i < s->n_sources; i++)
    if (s->source[i].formula && s->source[i].formula->is_name)
      want_number(f, s->source[i].vars[0].step);
}

/* Binds the variables of a formula; `use` is that of a plain name. */
static enum dl_status bind(struct dl_frame *f, const struct dl_formula *g,
                           bool required, enum use use,
                           struct dl_row_ref **vars, struct dl_diag *d) {
  size_t n = g->n_vars;
  enum dl_status status = DL_OK;
  *vars = dl_calloc(n, sizeof **vars);
  if (!*vars)
    return dl_fail_memory(d);
  bool is_name = g->is_name;
  for (size_t i = 0; i < n && status == DL_OK; i++) {
    bool text = g->var[i].as_text;
    const struct wish w = {.name = g->var[i].name,
                           .use = is_name ? use
                                  : text  ? AS_TEXT
                                          : AS_NUMBER,
                           .required = required && g->var[i].needed};
    status = find_step(f, &w, &(*vars)[i], d);
    if (status == DL_OK && !text && !is_name)
      want_number(f, (*vars)[i].step);
  }
  if (status != DL_OK) {
    free(*vars);
    *vars = NULL;
  }
  return status;
}

/* Takes over p, and what it owns. */
static enum dl_status add_source(struct step *s, struct source p,
                                 struct dl_diag *d) {
  void *list = s->source;
  if (dl_grow(&list, &s->cap_sources, s->n_sources + 1, sizeof *s->source)) {
    s->source = list;
    s->source[s->n_sources++] = p;
    return DL_OK;
  }
  dl_formula_free(p.formula);
  free(p.vars);
  return dl_fail_memory(d);
}

/* Names of a definition must come from somewhere; a row may still lack their
 * values, and the next source is tried. */
static enum dl_status add_definition(struct dl_frame *f, struct step *s,
                                     const char *text, struct dl_diag *d) {
  static const enum use uses[] = {[DL_IN_CELL] = AS_BOTH,
                                  [DL_IN_NUMBER] = AS_NUMBER,
                                  [DL_IN_TEXT] = AS_TEXT};
  struct source p = {.kind = SOURCE_DEFINITION};
  bool outer = f->deriving;
  f->deriving = false;
  enum dl_status status = dl_formula_parse(&p.formula, text, d);
  if (status == DL_OK)
    status = bind(f, p.formula, false, s->name ? uses[s->target.in] : AS_NUMBER,
                  &p.vars, d);
  f->deriving = outer;
  p.n_vars = status == DL_OK ? p.formula->n_vars : 0;
  for (size_t i = 0; i < p.n_vars && status == DL_OK && s->name; i++)
    if (p.formula->var[i].needed && f->step[p.vars[i].step].n_sources == 0)
      status = unknown_name(f, p.formula->var[i].name, d);
  if (status == DL_OK)
    return add_source(s, p, d);
  dl_formula_free(p.formula);
  free(p.vars);
  return status;
}

static enum dl_status add_derived(struct dl_frame *f, struct step *s,
                                  const struct derived *g, struct dl_diag *d) {
  struct source p = {.kind = SOURCE_DERIVED, .derived = g};
  bool outer = f->deriving;
  enum dl_status status = DL_OK;
  p.vars = dl_calloc(MOST_DERIVED_INPUTS, sizeof *p.vars);
  if (!p.vars)
    return dl_fail_memory(d);
  f->deriving = true;
  for (;
       p.n_vars < MOST_DERIVED_INPUTS && g->input[p.n_vars] && status == DL_OK;
       p.n_vars++) {
    const struct wish w = {.name = g->input[p.n_vars], .use = AS_NUMBER};
    status = find_step(f, &w, &p.vars[p.n_vars], d);
  }
  f->deriving = outer;
  if (status == DL_OK)
    return add_source(s, p, d);
  free(p.vars);
  return status;
}

/* The step that a source waits for; STEP_VALUE: none. */
static enum step_kind look_up_of(enum source_kind kind) {
  return kind == SOURCE_GPU    ? STEP_GPU
         : kind == SOURCE_ARCH ? STEP_ARCH
                               : STEP_VALUE;
}

/* Axes that the sources of a step depend on. */
static unsigned dependence(const struct dl_frame *f, const struct step *s) {
  unsigned on = 0;
  for (size_t i = 0; i < s->n_sources; i++) {
    const struct source *p = &s->source[i];
    if (p->kind == SOURCE_AXIS)
      on |= 1u << p->index;
    enum step_kind look_up = look_up_of(p->kind);
    for (size_t k = 0; look_up != STEP_VALUE && k < f->n_steps; k++)
      if (f->step[k].kind == look_up)
        on |= f->step[k].depends;
    for (size_t v = 0; v < p->n_vars; v++)
      on |= f->step[p->vars[v].step].depends;
  }
  return on;
}

/* Appends a finished step, so that those it builds on come before it. */
static enum dl_status append(struct dl_frame *f, struct step *s,
                             struct dl_diag *d) {
  void *list = f->step;
  if (!dl_grow(&list, &f->cap_steps, f->n_steps + 1, sizeof *f->step)) {
    free_step(s);
    return dl_fail_memory(d);
  }
  f->step = list;
  s->target.step = f->n_steps;
  if (s->kind == STEP_VALUE) {
    s->depends = dependence(f, s);
    if (s->target.in == DL_IN_CELL)
      s->target.at = f->n_cells++;
  }
  f->step[f->n_steps++] = *s;
  return DL_OK;
}

/* A step and those it builds on run before descriptors are known. */
static void want_early(struct dl_frame *f, size_t step) {
  struct step *s = &f->step[step];
  s->early = true;
  for (size_t i = 0; i < s->n_sources; i++)
    for (size_t v = 0; v < s->source[i].n_vars; v++)
      want_early(f, s->source[i].vars[v].step);
}

/* Adds the step that looks a descriptor up by `n` quantities, unless a
 * definition among these has done so on its way. */
static enum dl_status want_look_up(struct dl_frame *f, enum step_kind kind,
                                   const struct wish *by, struct dl_row_ref *q,
                                   struct dl_diag *d) {
  bool *there = kind == STEP_GPU ? &f->want_gpu : &f->want_arch;
  size_t n = kind == STEP_GPU ? 1 : N_ARCH_INPUTS;
  struct dl_row_ref found[N_ARCH_INPUTS];
  struct step s = {.kind = kind, .early = true};
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < n && status == DL_OK && !*there; i++)
    status = find_step(f, &by[i], &found[i], d);
  if (status != DL_OK || *there)
    return status;
  *there = true;
  memcpy(q, found, n * sizeof *q);
  for (size_t i = 0; i < n; i++) {
    want_early(f, q[i].step);
    s.depends |= f->step[q[i].step].depends;
  }
  return append(f, &s, d);
}

enum dl_status dl_frame_want_descriptors(struct dl_frame *f,
                                         struct dl_diag *d) {
  static const struct wish gpu[] = {{"gpu", SCOPE_OWN, AS_TEXT, false}};
  static const struct wish arch[N_ARCH_INPUTS] = {
      [ARCH_NAME] = {"arch", SCOPE_OWN, AS_TEXT, false},
      [ARCH_PX] = {"image_px", SCOPE_OWN, AS_NUMBER, false},
      [ARCH_SEQ] = {"seq_len", SCOPE_OWN, AS_NUMBER, false},
      [ARCH_CLASSES] = {"classes", SCOPE_OWN, AS_NUMBER, false}};
  enum dl_status status = want_look_up(f, STEP_GPU, gpu, &f->gpu, d);
  return status == DL_OK ? want_look_up(f, STEP_ARCH, arch, f->arch, d)
                         : status;
}

static enum dl_status source_at(struct step *s, enum source_kind kind, long i,
                                struct dl_diag *d) {
  if (i < 0)
    return DL_OK;
  return add_source(s, (struct source){.kind = kind, .index = (size_t)i}, d);
}

/* All sources of a name into s, in the order of frame.h. */
static enum dl_status find_sources(struct dl_frame *f, struct step *s,
                                   struct dl_diag *d) {
  long i = dl_entry_find(&f->overrides, s->name);
  if (i >= 0)
    return source_at(s, SOURCE_OVERRIDE, i, d);
  enum dl_status status = DL_OK;
  i = dl_entry_find(&f->definitions, s->name);
  if (i >= 0 && s->scope != SCOPE_RAW)
    status = add_definition(f, s, f->definitions.e[i].text, d);
  if (status == DL_OK && f->csv)
    status = source_at(s, SOURCE_COLUMN, dl_csv_find(f->csv, s->name), d);
  const struct dl_axis *axis = f->axes ? dl_axes_find(f->axes, s->name) : NULL;
  if (status == DL_OK && axis)
    status = source_at(s, SOURCE_AXIS, axis - f->axes->a, d);
  if (status == DL_OK)
    status =
        source_at(s, SOURCE_SETTING, dl_entry_find(&f->settings, s->name), d);
  if (status != DL_OK || s->scope != SCOPE_FULL)
    return status;
  const struct derived *g = dl_derived_of(dl_run_member_find(s->name));
  struct source field;
  if (can_derive(f, g))
    status = add_derived(f, s, g, d);
  if (status != DL_OK || !field_source(s->name, &field) ||
      !has_descriptor(f, s->name))
    return status;
  status = dl_frame_want_descriptors(f, d);
  return status == DL_OK ? add_source(s, field, d) : status;
}

/* Where the value goes: the member of a column, where it has the type. */
static void set_target(struct step *s, enum use use) {
  const struct dl_run_column *c = dl_run_member_find(s->name);
  s->target.in = DL_IN_CELL;
  if (!c || s->scope != SCOPE_FULL ||
      (use != AS_COLUMN && use != (c->is_text ? AS_TEXT : AS_NUMBER)))
    return;
  s->id = dl_run_column_id(c);
  s->target.in = c->is_text ? DL_IN_TEXT : DL_IN_NUMBER;
  s->target.at = c->offset;
}

/* A new step for a name. While the name is being resolved it stands for its
 * raw value: a definition may build on the column of the same name. In a
 * derived quantity it stands for what the user gave, a definition included. */
static enum dl_status new_step(struct dl_frame *f, struct step *s,
                               bool required, struct dl_diag *d) {
  s->column = dl_run_column_find(s->name);
  s->required = required;
  s->number = s->column && !s->column->is_text;
  if (!(s->name = dl_strdup(s->name)))
    return dl_fail_memory(d);
  bool guard = s->scope != SCOPE_RAW;
  if (guard && !dl_strlist_add(&f->resolving, s->name)) {
    free_step(s);
    return dl_fail_memory(d);
  }
  enum dl_status status = find_sources(f, s, d);
  if (guard)
    free(f->resolving.s[--f->resolving.n]);
  if (status == DL_OK && required && s->n_sources == 0)
    status = unknown_name(f, s->name, d);
  if (status != DL_OK) {
    free_step(s);
    return status;
  }
  bool number = s->number;
  status = append(f, s, d);
  if (status == DL_OK && number)
    want_number(f, s->target.step);
  return status;
}

static enum dl_status find_step(struct dl_frame *f, const struct wish *w,
                                struct dl_row_ref *q, struct dl_diag *d) {
  struct step s = {.name = (char *)(uintptr_t)w->name, .scope = w->scope};
  if (dl_strlist_find(&f->resolving, w->name) >= 0)
    s.scope = f->deriving ? SCOPE_OWN : SCOPE_RAW;
  if (s.scope == SCOPE_OWN && !dl_derived_of(dl_run_member_find(w->name)))
    s.scope = SCOPE_FULL; /* is the same: the name is no field */
  set_target(&s, w->use);
  for (size_t i = 0; i < f->n_steps; i++) {
    struct step *old = &f->step[i];
    if (!old->name || old->scope != s.scope || old->target.in != s.target.in ||
        strcmp(old->name, w->name) != 0)
      continue;
    *q = old->target;
    old->required |= w->required;
    return w->required && old->n_sources == 0 ? unknown_name(f, w->name, d)
                                              : DL_OK;
  }
  enum dl_status status = new_step(f, &s, w->required, d);
  *q = s.target;
  return status;
}

enum dl_status dl_frame_quantity(struct dl_frame *f, const char *name,
                                 bool required, struct dl_row_ref *q,
                                 struct dl_diag *d) {
  return find_step(f, &(struct wish){name, SCOPE_FULL, AS_COLUMN, required}, q,
                   d);
}

enum dl_status dl_frame_text(struct dl_frame *f, const char *name,
                             bool required, struct dl_row_ref *q,
                             struct dl_diag *d) {
  return find_step(f, &(struct wish){name, SCOPE_FULL, AS_TEXT, required}, q,
                   d);
}

enum dl_status dl_frame_bind(struct dl_frame *f, const struct dl_formula *g,
                             bool required, struct dl_row_ref **vars,
                             struct dl_diag *d) {
  return bind(f, g, required, AS_NUMBER, vars, d);
}

enum dl_status dl_frame_formula(struct dl_frame *f, const char *text,
                                bool rarely, struct dl_row_ref *q,
                                struct dl_diag *d) {
  for (size_t i = 0; i < f->n_steps; i++) {
    struct step *s = &f->step[i];
    if (s->kind == STEP_VALUE && !s->name &&
        strcmp(s->source[0].formula->text, text) == 0) {
      s->rarely &= rarely;
      *q = s->target;
      return DL_OK;
    }
  }
  struct step s = {.target = {.in = DL_IN_CELL}, .rarely = rarely};
  enum dl_status status = add_definition(f, &s, text, d);
  if (status == DL_OK)
    status = append(f, &s, d);
  *q = s.target;
  return status;
}

size_t dl_frame_n_steps(const struct dl_frame *f) {
  return f->n_steps;
}

const char *dl_frame_step_name(const struct dl_frame *f, size_t step) {
  return f->step[step].name;
}
