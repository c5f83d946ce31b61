/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the steps of a plan: where each quantity comes from. */

#include "run/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "run/plan_private.h"

static void free_step(struct step *s) {
  for (size_t i = 0; i < s->n_sources; i++) {
    dl_formula_free(s->source[i].formula);
    free(s->source[i].vars);
  }
}

static void free_entries(struct entries *es) {
  for (size_t i = 0; i < es->n; i++) {
    free(es->e[i].name);
    free(es->e[i].text);
  }
  free(es->e);
}

struct dl_row_plan *dl_plan_new(struct dl_catalog *c) {
  struct dl_row_plan *f = dl_calloc(1, sizeof *f);
  f->catalog = c;
  f->lookup.keep = true;
  f->defaults.run = dl_run_unknown;
  DL_GROW(f->name, f->cap_names, DL_N_PLAN_NAMES);
  for (f->n_names = 0; f->n_names < DL_N_PLAN_NAMES; f->n_names++)
    f->name[f->n_names] = (struct name){
        .text = f->n_names < DL_N_RUN_MEMBERS ? dl_run_columns[f->n_names].name
                                              : NULL};
  return f;
}

void dl_plan_free(struct dl_row_plan *f) {
  if (!f)
    return;
  struct entries *const lists[] = {&f->overrides, &f->definitions, &f->aliases,
                                   &f->fields[0], &f->fields[1]};
  for (size_t i = 0; i < DL_LENGTH(lists); i++)
    free_entries(lists[i]);
  dl_run_clear(&f->defaults.run);
  free(f->defaults.cell);
  free(f->usual_dataset);
  dl_strlist_free(&f->texts);
  for (size_t i = 0; i < f->n_steps; i++)
    free_step(&f->step[i]);
  free(f->step);
  dl_intern_free(&f->formulas);
  free(f->formula_step);
  free(f->name);
  dl_intern_free(&f->own);
  dl_strlist_free(&f->field_names);
  dl_intern_free(&f->words);
  dl_descriptors_free(&f->lookup);
  free(f->row);
  free(f);
}

DL_FREES(dl_plan_free, struct dl_row_plan)

static enum dl_status unknown_name(struct dl_row_plan *f, size_t number,
                                   struct dl_diag *d) {
  const char *name = dl_name_text(f, number);
  if (f->csv && dl_csv_is_empty(f->csv, name))
    return dl_fail_at(d, DL_EUSAGE, dl_csv_path(f->csv), 0,
                      "column '%s' is empty; fill it in, or give --define "
                      "%s=VALUE",
                      name, name);
  DL_TEXT(near);
  dl_plan_suggest_columns(f, name, &near);
  if (f->csv && !near.s && number < DL_N_RUN_COLUMNS)
    dl_text_printf(&near, "; add it, or give --define %s=VALUE", name);
  else if (f->csv && !near.s)
    dl_list_columns(f->csv, &near);
  if (f->csv)
    dl_fail_at(d, DL_EUSAGE, dl_csv_path(f->csv), 0, "no column '%s'%s", name,
               dl_text_str(&near));
  else
    dl_fail(d, DL_EUSAGE, "'%s' has no value; give it with --set %s=VALUE",
            name, name);
  return DL_EUSAGE;
}

/* How a step's value is used. A member of a run is a number or a text; for the
 * other a step of its own sets a cell, which has both. */
enum use { AS_COLUMN, AS_NUMBER, AS_TEXT, AS_BOTH };

/* The request for a step. */
struct step_request {
  size_t name;
  enum scope scope;
  enum use use;
  bool required;
  bool look_up; /* only to look a descriptor up */
};

static enum dl_status find_step(struct dl_row_plan *f,
                                const struct step_request *w,
                                struct dl_row_ref *q, struct dl_diag *d);

/* Whether no row has a value of a step. */
static bool has_no_source(const struct step *s) {
  return s->n_sources == 0 && !s->has_default;
}

/* A step is to hold numbers, and so is the one that it merely renames. */
static void want_number(struct dl_row_plan *f, size_t step) {
  struct step *s = &f->step[step];
  s->number = true;
  for (size_t i = 0; i < s->n_sources; i++)
    if (s->source[i].formula && s->source[i].formula->is_name)
      want_number(f, s->source[i].vars[0].step);
}

/* Binds the variables of a formula; `use` is the use of a plain name. */
static enum dl_status bind(struct dl_row_plan *f, const struct dl_formula *g,
                           bool required, enum use use,
                           struct dl_row_ref **vars, struct dl_diag *d) {
  size_t n = g->n_vars;
  enum dl_status status = DL_OK;
  *vars = dl_calloc(n, sizeof **vars);
  bool is_name = g->is_name;
  for (size_t i = 0; i < n && status == DL_OK; i++) {
    bool text = g->var[i].as_text;
    const struct step_request w = {.name = dl_plan_name(f, g->var[i].name),
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

/* Names of a definition must come from somewhere; a row may still lack their
 * values, and the next source is tried. */
static enum dl_status add_definition(struct dl_row_plan *f, struct step *s,
                                     const char *text, struct dl_diag *d) {
  static const enum use uses[] = {[DL_IN_CELL] = AS_BOTH,
                                  [DL_IN_NUMBER] = AS_NUMBER,
                                  [DL_IN_TEXT] = AS_TEXT,
                                  [DL_IN_WORD] = AS_TEXT};
  struct source *p = &s->source[s->n_sources++];
  bool outer = f->deriving;
  p->kind = SOURCE_DEFINITION;
  f->deriving = false;
  enum dl_status status = dl_formula_parse(&p->formula, text, d);
  if (status == DL_OK)
    status =
        bind(f, p->formula, false,
             s->name != NO_NAME ? uses[s->target.in] : AS_NUMBER, &p->vars, d);
  f->deriving = outer;
  p->n_vars = status == DL_OK ? p->formula->n_vars : 0;
  for (size_t i = 0; i < p->n_vars && status == DL_OK && s->name != NO_NAME;
       i++)
    if (p->formula->var[i].needed && has_no_source(&f->step[p->vars[i].step]))
      status = unknown_name(f, dl_plan_name(f, p->formula->var[i].name), d);
  return status;
}

static enum dl_status add_derived(struct dl_row_plan *f, struct step *s,
                                  const struct derivation *g,
                                  struct dl_diag *d) {
  struct source *p = &s->source[s->n_sources++];
  bool outer = f->deriving;
  enum dl_status status = DL_OK;
  *p = (struct source){.kind = SOURCE_DERIVED,
                       .derived = g,
                       .vars =
                           dl_calloc(MOST_DERIVED_INPUTS + 1, sizeof *p->vars)};
  f->deriving = true;
  for (size_t i = 0; i < g->n_inputs && status == DL_OK; i++) {
    const struct step_request w = {.name = g->input[i],
                                   .scope =
                                       g->of_given ? SCOPE_OWN : SCOPE_FULL,
                                   .use = AS_NUMBER};
    status = find_step(f, &w, &p->vars[p->n_vars++], d);
  }
  const struct step_request word = {.name = g->word,
                                    .use = g->of_text ? AS_BOTH : AS_TEXT};
  if (g->word != 0 && status == DL_OK)
    status = find_step(f, &word, &p->vars[p->n_vars++], d);
  f->deriving = outer;
  return status;
}

/* A new cell, with what the member of its name begins with: of a number as text
 * too. */
static void begin_cell(struct dl_row_plan *f, struct step *s) {
  DL_GROW(f->defaults.cell, f->cap_cells, f->n_cells + 1);
  struct dl_cell *c = &f->defaults.cell[s->target.at = f->n_cells++];
  *c = (struct dl_cell){NAN, NULL};
  if (!s->has_default)
    return;
  enum dl_run_id id = (enum dl_run_id)s->name;
  if (dl_run_columns[id].is_text) {
    c->s = dl_run_text(&f->defaults.run, id);
    return;
  }
  char number[DL_NUMBER_SIZE];
  c->x = dl_run_number(&f->defaults.run, id);
  dl_strlist_add(&f->texts, dl_format_short(number, c->x));
  c->s = f->texts.s[f->texts.n - 1];
}

/* Appends a finished step, which thus comes after those it builds on. It
 * depends on the axes that its sources depend on. */
static void append(struct dl_row_plan *f, struct step *s) {
  DL_GROW(f->step, f->cap_steps, f->n_steps + 1);
  s->target.step = f->n_steps;
  if (s->kind == STEP_VALUE && s->target.in == DL_IN_CELL)
    begin_cell(f, s);
  for (size_t i = 0; i < s->n_sources; i++) {
    const struct source *p = &s->source[i];
    if (p->kind == SOURCE_AXIS)
      s->depends |= 1u << p->index;
    if (p->field)
      s->depends |= f->look_up_depends[p->look_up];
    for (size_t v = 0; v < p->n_vars; v++) {
      const struct step *of = &f->step[p->vars[v].step];
      s->depends |= of->depends;
      s->of_batch |=
          of->of_batch || (of->column && of->column->id == DL_RUN_batch_size);
    }
  }
  f->step[f->n_steps++] = *s;
  if (s->name != NO_NAME)
    f->name[s->name].step[s->scope][s->target.in == DL_IN_CELL] = f->n_steps;
}

const struct look_up dl_look_ups[N_LOOK_UPS] = {
    [STEP_GPU] = {DL_ACCELERATOR, GPU_NAME, ARCH_NAME},
    [STEP_ARCH] = {DL_ARCHITECTURE, ARCH_NAME, DATASET_NAME},
    [STEP_DATASET] = {DL_DATASET, DATASET_NAME, N_LOOK_UP_INPUTS}};

/* Adds the step that looks a descriptor up, unless a definition among its
 * inputs does so on its way. */
static enum dl_status want_look_up(struct dl_row_plan *f, enum step_kind kind,
                                   struct dl_diag *d) {
  static const struct step_request by[N_LOOK_UP_INPUTS] = {
      [GPU_NAME] = {DL_RUN_gpu, SCOPE_OWN, AS_TEXT, false, true},
      [ARCH_NAME] = {DL_RUN_arch, SCOPE_OWN, AS_TEXT, false, true},
      [ARCH_PX] = {DL_RUN_image_px, SCOPE_OWN, AS_NUMBER, false, true},
      [ARCH_SEQ] = {DL_RUN_seq_len, SCOPE_OWN, AS_NUMBER, false, true},
      [ARCH_CLASSES] = {DL_RUN_classes, SCOPE_OWN, AS_NUMBER, false, true},
      [DATASET_NAME] = {DL_RUN_dataset, SCOPE_OWN, AS_TEXT, false, true}};
  const struct look_up *l = &dl_look_ups[kind];
  struct step s = {.kind = kind, .name = NO_NAME};
  struct dl_row_ref found[N_LOOK_UP_INPUTS];
  for (size_t i = l->name; i < l->end && !f->looks_up[kind]; i++)
    DL_TRY(find_step(f, &by[i], &found[i], d));
  if (f->looks_up[kind])
    return DL_OK;
  f->looks_up[kind] = true;
  for (size_t i = l->name; i < l->end; i++) {
    f->look_up_by[i] = found[i];
    s.depends |= f->step[found[i].step].depends;
  }
  f->look_up_depends[kind] = s.depends;
  append(f, &s);
  return DL_OK;
}

enum dl_status dl_plan_want_descriptors(struct dl_row_plan *f,
                                        struct dl_diag *d) {
  DL_TRY(want_look_up(f, STEP_GPU, d));
  return want_look_up(f, STEP_ARCH, d);
}

/* Adds a source with an index, where there is one. */
static void add_indexed(struct step *s, enum source_kind kind, long i) {
  if (i >= 0)
    s->source[s->n_sources++] =
        (struct source){.kind = kind, .index = (size_t)i};
}

/* The members of a row that a source builds on; none where one of them builds
 * on the source itself. */
static enum dl_status add_inputs(struct dl_row_plan *f, struct source *p,
                                 const size_t *names, size_t n,
                                 struct dl_diag *d) {
  enum dl_status status = DL_OK;
  bool cyclic = false;
  p->vars = dl_calloc(n, sizeof *p->vars);
  for (size_t i = 0; i < n && status == DL_OK; i++) {
    const struct step_request w = {.name = names[i]};
    status = find_step(f, &w, &p->vars[p->n_vars++], d);
    cyclic |= p->vars[i].in == DL_IN_CELL;
    if (status == DL_OK && names[i] == DL_RUN_arch)
      status = dl_plan_want_descriptors(f, d);
  }
  p->n_vars = cyclic ? 0 : p->n_vars;
  return status;
}

/* Rows with a size of their own have none of the usual data set. */
static enum dl_status add_size(struct dl_row_plan *f, struct step *s,
                               const struct dl_field *of, struct dl_diag *d) {
  const size_t by = DL_RUN_train_samples;
  const enum step_kind at = STEP_DATASET;
  struct source *p = &s->source[s->n_sources++];
  *p = (struct source){.kind = SOURCE_DATASET, .field = of, .look_up = at};
  DL_TRY(want_look_up(f, at, d));
  if (s->name != DL_RUN_train_tokens)
    return s->name == by ? DL_OK : add_inputs(f, p, &by, 1, d);
  struct step_request own = {DL_RUN_tokens, SCOPE_OWN, AS_NUMBER, false, false};
  p->vars = dl_calloc(2, sizeof *p->vars);
  DL_TRY(find_step(f, &own, &p->vars[p->n_vars++], d));
  own.name = by;
  return find_step(f, &own, &p->vars[p->n_vars++], d);
}

static enum dl_status add_usual(struct dl_row_plan *f, struct step *s,
                                const struct derivation *g, struct dl_diag *d) {
  struct source *p = &s->source[s->n_sources++];
  *p = (struct source){.kind = SOURCE_USUAL, .derived = g};
  enum dl_status status = add_inputs(f, p, g->by, g->n_by, d);
  if (p->n_vars == 0)
    p->value.x = g->usual(&f->defaults);
  return status;
}

/* All sources of a name into s, in the order of plan.h. */
static enum dl_status find_sources(struct dl_row_plan *f, struct step *s,
                                   struct dl_diag *d) {
  const struct name n = f->name[s->name];
  s->has_default = dl_plan_has_default(f, s->name);
  add_indexed(s, SOURCE_OVERRIDE, (long)n.override - 1);
  if (n.override > 0) {
    s->source->value = f->overrides.e[n.override - 1].cell;
    return DL_OK;
  }
  if (n.definition > 0 && s->scope != SCOPE_RAW)
    DL_TRY(add_definition(f, s, f->definitions.e[n.definition - 1].text, d));
  add_indexed(s, SOURCE_COLUMN, dl_plan_column(f, s->name));
  if (s->name == DL_RUN_gpu && f->csv && dl_csv_find(f->csv, "gpu") >= 0)
    add_indexed(s, SOURCE_COLUMN, dl_csv_find(f->csv, "cpu"));
  add_indexed(s, SOURCE_AXIS, (long)n.axis - 1);
  if (dl_plan_is_option(f, s->name))
    return DL_OK;
  const struct dl_field *field = dl_plan_size_field(f, s->name);
  if (field)
    DL_TRY(add_size(f, s, field, d));
  const struct derivation *g = dl_plan_derivation(f, s->name);
  if (g && s->scope == SCOPE_FULL)
    DL_TRY(add_derived(f, s, g, d));
  g = f->usual && s->column ? &dl_derivations[s->name] : NULL;
  if (g && g->usual && s->scope != SCOPE_OWN)
    DL_TRY(add_usual(f, s, g, d));
  field = s->scope == SCOPE_FULL ? dl_plan_descriptor_field(f, s->name) : NULL;
  if (!field)
    return DL_OK;
  s->source[s->n_sources++] = (struct source){
      .kind = SOURCE_DESCRIPTOR,
      .field = field,
      .look_up = s->name < DL_OF_ARCH_id ? STEP_GPU : STEP_ARCH};
  return dl_plan_want_descriptors(f, d);
}

/* Chooses the target of the value: the member of a column of its type. */
static void set_target(struct step *s, enum use use) {
  const struct dl_run_column *c = dl_name_column(s->name);
  s->target.in = DL_IN_CELL;
  if (!c || s->scope != SCOPE_FULL ||
      (use != AS_COLUMN && use != (c->is_text ? AS_TEXT : AS_NUMBER)))
    return;
  s->id = c->id;
  s->target.in = c->is_text ? DL_IN_TEXT : DL_IN_NUMBER;
  if (dl_is_listed(c))
    s->target.in = DL_IN_WORD;
  s->target.at = dl_is_listed(c) ? c->id : dl_run_offsets[c->id];
}

/* Makes a step for a name. A name that is being resolved stands for its raw
 * value: a definition may build on the column that it names. In a derived
 * quantity it stands for the user's value, a definition included. */
static enum dl_status new_step(struct dl_row_plan *f, struct step *s,
                               bool required, struct dl_diag *d) {
  dl_name_text(f, s->name); /* for messages about a row */
  s->column = dl_name_column(s->name);
  s->required = required;
  s->number = s->column && !s->column->is_text;
  bool before = f->name[s->name].resolving;
  f->name[s->name].resolving |= s->scope != SCOPE_RAW;
  enum dl_status status = find_sources(f, s, d);
  f->name[s->name].resolving = before;
  if (status == DL_OK && required && has_no_source(s))
    status = unknown_name(f, s->name, d);
  if (status != DL_OK) {
    free_step(s);
    return status;
  }
  append(f, s);
  if (s->number)
    want_number(f, s->target.step);
  return DL_OK;
}

static enum dl_status find_step(struct dl_row_plan *f,
                                const struct step_request *w,
                                struct dl_row_ref *q, struct dl_diag *d) {
  struct step s = {.kind = STEP_VALUE, .name = w->name, .scope = w->scope};
  if (f->name[w->name].resolving)
    s.scope = f->deriving ? SCOPE_OWN : SCOPE_RAW;
  bool derives = w->name < DL_N_RUN_MEMBERS && dl_derivations[w->name].compute;
  if (s.scope == SCOPE_OWN && !derives)
    s.scope = SCOPE_FULL; /* is equal: the name is no field */
  set_target(&s, w->use);
  size_t made = f->name[w->name].step[s.scope][s.target.in == DL_IN_CELL];
  if (made > 0) {
    struct step *old = &f->step[made - 1];
    *q = old->target;
    old->required |= w->required;
    old->wanted |= !w->look_up;
    return w->required && has_no_source(old) ? unknown_name(f, w->name, d)
                                             : DL_OK;
  }
  s.wanted = !w->look_up;
  enum dl_status status = new_step(f, &s, w->required, d);
  *q = s.target;
  return status;
}

enum dl_status dl_plan_member(struct dl_row_plan *f, size_t name, bool required,
                              struct dl_row_ref *q, struct dl_diag *d) {
  const struct step_request w = {name, SCOPE_FULL, AS_COLUMN, required, false};
  return find_step(f, &w, q, d);
}

enum dl_status dl_plan_quantity(struct dl_row_plan *f, const char *name,
                                bool required, struct dl_row_ref *q,
                                struct dl_diag *d) {
  return dl_plan_member(f, dl_plan_name(f, name), required, q, d);
}

enum dl_status dl_plan_text(struct dl_row_plan *f, const char *name,
                            bool required, struct dl_row_ref *q,
                            struct dl_diag *d) {
  const struct step_request w = {dl_plan_name(f, name), SCOPE_FULL, AS_TEXT,
                                 required, false};
  return find_step(f, &w, q, d);
}

enum dl_status dl_plan_bind(struct dl_row_plan *f, const struct dl_formula *g,
                            bool required, struct dl_row_ref **vars,
                            struct dl_diag *d) {
  return bind(f, g, required, AS_NUMBER, vars, d);
}

enum dl_status dl_plan_formula(struct dl_row_plan *f, const char *text,
                               bool on_demand, struct dl_row_ref *q,
                               struct dl_diag *d) {
  long known = dl_intern_find(&f->formulas, text);
  if (known >= 0) {
    struct step *s = &f->step[f->formula_step[known]];
    s->on_demand &= on_demand;
    *q = s->target;
    return DL_OK;
  }
  struct step s = {.kind = STEP_VALUE,
                   .name = NO_NAME,
                   .target = {.in = DL_IN_CELL},
                   .on_demand = on_demand};
  DL_TRY(add_definition(f, &s, text, d));
  append(f, &s);
  *q = s.target;
  known = dl_intern(&f->formulas, text);
  DL_GROW(f->formula_step, f->cap_formulas, f->formulas.n);
  f->formula_step[known] = s.target.step;
  return DL_OK;
}

void dl_plan_assume(struct dl_row_plan *f, void (*assume)(struct dl_row *row),
                    bool estimates) {
  f->assume = assume;
  f->for_estimates = estimates;
}

size_t dl_plan_n_steps(const struct dl_row_plan *f) {
  return f->n_steps;
}

const char *dl_plan_step_name(const struct dl_row_plan *f, size_t step) {
  size_t name = f->step[step].name;
  return name == NO_NAME ? NULL : f->name[name].text;
}
