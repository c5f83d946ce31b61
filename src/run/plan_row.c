/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs the steps of a plan for a row. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "run/plan_private.h"
#include "run/setup/job_rules.h"
#include "run/setup/option_words.h"
#include "run/setup/training_setup.h"

static const struct dl_cell absent = {(double)NAN, NULL};

/* Records what is wrong with the value of a step, unless something is. */
static void set_fault(struct dl_row *row, enum dl_fault_kind kind, size_t step,
                      const struct dl_cell *c) {
  if (row->fault.kind == DL_FAULT_NONE)
    row->fault =
        (struct dl_fault){.kind = kind, .step = step, .cell = c->s, .x = c->x};
}

/* A cell of the table: a text, and the number in it where it is used as one. */
static struct dl_cell column_cell(const struct step *s, const char *text,
                                  size_t step, struct dl_row *row) {
  struct dl_cell c = {NAN, *text ? text : NULL};
  if (!c.s || (s->column && s->column->is_text && !s->number))
    return c;
  enum dl_fault_kind wrong = dl_run_column_parse(s->column, text, &c.x);
  if (wrong != DL_FAULT_NONE && s->number)
    set_fault(row, wrong, step, &c);
  return c;
}

/* Puts the column's word in place of a text that stands for it, and checks the
 * result of a definition; other values were checked where they were read, but
 * for numbers of jobs that are whole, unlike means of measured runs. Batches
 * may be means, too, as all that a server has. */
static void check_given(const struct dl_row_plan *f, size_t step, bool defined,
                        struct dl_cell *c, struct dl_row *row) {
  enum dl_fault_kind wrong = DL_FAULT_NONE;
  const struct step *s = &f->step[step];
  if (s->column->words && c->s) {
    const char *word = dl_run_word(s->column, c->s);
    if (word)
      c->s = word;
    else if (!dl_plan_takes_others(f, s->column))
      wrong = DL_FAULT_WORD;
  } else if (defined && !s->column->is_text) {
    wrong = dl_run_column_check(s->column, c->x);
  } else if (f->for_estimates && s->column->typed_whole &&
             s->column->id != DL_RUN_batch_size &&
             s->column->phase != DL_PHASE_INFERENCE && c->x != floor(c->x) &&
             !isnan(c->x)) {
    wrong = DL_FAULT_FRACTION;
  }
  if (wrong != DL_FAULT_NONE)
    set_fault(row, wrong, step, c);
}

/* The first variable that a formula needs and the row lacks, or NULL. */
static const char *first_lacking(const struct source *p,
                                 const struct dl_row *row) {
  for (size_t i = 0; i < p->n_vars; i++) {
    const struct dl_formula_variable *v = &p->formula->var[i];
    if (v->needed && (v->as_text ? !dl_row_text(row, &p->vars[i])
                                 : isnan(dl_row_number(row, &p->vars[i]))))
      return v->name;
  }
  return NULL;
}

static double derive(const struct source *p, const struct dl_row *row) {
  const struct derivation *g = p->derived;
  double x[MOST_DERIVED_INPUTS] = {0};
  size_t n = g->n_inputs;
  for (size_t i = 0; i < n; i++)
    x[i] = dl_row_number(row, &p->vars[i]);
  return g->compute(x, row, &p->vars[n]);
}

/* Returns the value that rows begin with. */
static struct dl_cell default_cell(const struct dl_row_plan *f,
                                   const struct step *s) {
  return s->target.in == DL_IN_CELL
             ? f->defaults.cell[s->target.at]
             : (struct dl_cell){dl_row_number(&f->defaults, &s->target),
                                dl_row_text(&f->defaults, &s->target)};
}

/* Whether a row says how large its training is, and names no data set itself:
 * then the data set of an option, or the usual one, gives it nothing. */
static bool has_own_size(const struct dl_row_plan *f,
                         const struct dl_row *row) {
  const char *name = dl_row_text(row, &f->look_up_by[DATASET_NAME]);
  return dl_run_set_has(&row->given, DL_RUN_train_samples) &&
         (!name || (f->csv && name == f->defaults.run.dataset));
}

static bool is_unfit(const struct dl_row_plan *f, const struct dl_row *row,
                     struct dl_message_style *to) {
  bool names = row->run.dataset && !has_own_size(f, row);
  return dl_dataset_check(row, names ? row->found.dataset : NULL, to);
}

static struct dl_cell source_cell(const struct dl_row_plan *f,
                                  const struct row_source *from,
                                  const struct source *p, size_t step,
                                  struct dl_row *row) {
  const struct dl_csv_block *block = from->block;
  const struct dl_descriptor *const found[N_LOOK_UPS] = {
      (const void *)row->found.gpu, (const void *)row->found.arch,
      (const void *)row->found.dataset};
  const struct dl_descriptor *e = found[p->look_up];
  switch (p->kind) {
  case SOURCE_OVERRIDE:
    return p->value;
  case SOURCE_DEFINITION: /* a plain name hands its text on */
    return p->formula->is_name
               ? (struct dl_cell){dl_row_number(row, &p->vars[0]),
                                  dl_row_text(row, &p->vars[0])}
               : (struct dl_cell){dl_formula_eval(p->formula, p->vars, row),
                                  NULL};
  case SOURCE_COLUMN:
    return block
               ? column_cell(&f->step[step],
                             block->cell[from->row * block->n_cols + p->index],
                             step, row)
               : absent;
  case SOURCE_AXIS:
    return from->at ? f->axes->a[p->index].cell[from->at[p->index]] : absent;
  case SOURCE_DERIVED:
    return (struct dl_cell){derive(p, row), NULL};
  case SOURCE_USUAL:
    return (struct dl_cell){p->n_vars > 0 ? p->derived->usual(row) : p->value.x,
                            NULL};
  case SOURCE_DATASET:
    if (f->step[step].name == DL_RUN_train_tokens) {
      for (size_t i = 0; i < p->n_vars; i++)
        if (!isnan(dl_row_number(row, &p->vars[i])))
          return absent;
    } else if (p->n_vars > 0 && has_own_size(f, row)) {
      return absent;
    }
    if (e && f->step[step].name == DL_RUN_seq_len)
      return (struct dl_cell){round(dl_field_number(e, p->field)), NULL};
    /* fall through */
  default:
    return e ? (struct dl_cell){dl_field_number(e, p->field),
                                dl_field_text(e, p->field)}
             : absent;
  }
}

/* Takes the value of a step from the first source that has one. */
static void run_value(const struct dl_row_plan *f,
                      const struct row_source *from, size_t step,
                      struct dl_row *row) {
  const struct step *s = &f->step[step];
  struct dl_cell c = absent;
  const struct source *p = s->source;
  for (size_t i = 0; i < s->n_sources && !c.s && isnan(c.x); i++) {
    p = &s->source[i];
    c = source_cell(f, from, p, step, row);
    if (s->name != NO_NAME && p->kind == SOURCE_DEFINITION &&
        !p->formula->is_name && isnan(c.x) && !first_lacking(p, row))
      set_fault(row, DL_FAULT_UNDEFINED, step, &c);
  }
  /* The tokens of a corpus are as good as given. */
  const bool corpus =
      p->kind == SOURCE_DATASET && s->name == DL_RUN_train_tokens;
  bool given = s->n_sources > 0 && (p->kind <= SOURCE_AXIS || corpus);
  if (given && s->column)
    check_given(f, step, p->kind == SOURCE_DEFINITION, &c, row);
  if (!c.s && isnan(c.x)) {
    c = default_cell(f, s);
    given = s->has_default && dl_run_set_has(&f->defaults.given, s->id);
  }
  if (s->required && isnan(c.x) && !c.s)
    set_fault(row, DL_FAULT_ABSENT, step, &c);
  if (s->target.in == DL_IN_CELL) {
    row->cell[s->target.at] = c;
    return;
  }
  bool known = s->target.in == DL_IN_NUMBER ? !isnan(c.x) : c.s != NULL;
  void *member = (char *)&row->run + dl_run_offsets[s->id];
  if (s->target.in == DL_IN_NUMBER)
    *(double *)member = c.x;
  else if (s->target.in == DL_IN_TEXT)
    *(const char **)member = c.s;
  else
    *(unsigned *)member = dl_word_id(s->column, c.s);
  dl_run_set_put(&row->run.known, s->id, known);
  dl_run_set_put(&row->given, s->id, known && given);
  dl_run_set_put(&row->assumed, s->id, false);
}

static enum dl_status look_up(const struct dl_row_plan *f,
                              struct descriptors *l, enum step_kind kind,
                              struct dl_row *row, struct dl_diag *d) {
  const struct dl_row_ref *by = f->look_up_by;
  struct dl_row_descriptors *found = &row->found;
  const struct dl_descriptor *e = NULL;
  const char *name = dl_row_text(row, &by[dl_look_ups[kind].name]);
  if (!l)
    return DL_OK;
  if (kind == STEP_ARCH) {
    const struct dl_use use = {.image_px = dl_row_number(row, &by[ARCH_PX]),
                               .seq_len = dl_row_number(row, &by[ARCH_SEQ]),
                               .classes =
                                   dl_row_number(row, &by[ARCH_CLASSES])};
    found->arch = NULL;
    found->scaled = false;
    return name ? dl_descriptors_arch(l, f, name, &use, found, d) : DL_OK;
  }
  if (!name && kind == STEP_DATASET)
    name = f->usual_dataset;
  enum dl_status status =
      name ? dl_descriptors_named(l, f, kind, name, &e, d) : DL_OK;
  if (kind == STEP_GPU)
    found->gpu = DL_AS(accelerator, e);
  else
    found->dataset = DL_AS(dataset, e);
  return status;
}

/* Runs the steps that depend on one of the axes `changed`, in their order. */
static enum dl_status run_steps(const struct dl_row_plan *f,
                                const struct row_source *from, unsigned changed,
                                struct dl_row *row, struct dl_diag *d) {
  row->fault.kind = DL_FAULT_NONE;
  for (size_t i = 0; i < f->n_steps; i++) {
    const struct step *s = &f->step[i];
    if (s->on_demand || (changed != EVERY_STEP && !(s->depends & changed)))
      continue;
    if (s->kind != STEP_VALUE)
      DL_TRY(look_up(f, from->lookup, s->kind, row, d));
    else if (s->n_sources > 0 || s->required)
      run_value(f, from, i, row);
  }
  return DL_OK;
}

/* Sets the assumptions of a row, which formulas over its batch follow, and
 * checks whether its settings go together. */
static void complete_row(const struct dl_row_plan *f,
                         const struct row_source *from, struct dl_row *row) {
  double batch = dl_or(row->run.batch_size, 0);
  if (f->assume) {
    dl_forget_assumed(row);
    f->assume(row);
  }
  bool same = dl_or(row->run.batch_size, 0) == batch;
  for (size_t i = 0; i < f->n_steps && !same; i++)
    if (f->step[i].of_batch && f->step[i].target.in == DL_IN_CELL &&
        !f->step[i].on_demand)
      run_value(f, from, i, row);
  if (row->fault.kind == DL_FAULT_NONE &&
      (dl_setup_check(row, NULL) ||
       (f->for_estimates && is_unfit(f, row, NULL))))
    row->fault.kind = DL_FAULT_SETUP;
}

enum dl_status dl_plan_run(const struct dl_row_plan *f,
                           const struct row_source *from, unsigned changed,
                           struct dl_row *row, struct dl_diag *d) {
  DL_TRY(run_steps(f, from, changed, row, d));
  complete_row(f, from, row);
  return DL_OK;
}

struct dl_row *dl_plan_rows(const struct dl_row_plan *f, size_t n) {
  struct dl_row *row =
      dl_calloc(n, sizeof *row + f->n_cells * sizeof *row->cell);
  struct dl_cell *cell = (struct dl_cell *)(void *)(row + n);
  for (size_t i = 0; i < n; i++) {
    row[i] = f->defaults;
    row[i].run.owned = (struct dl_run_set){0};
    row[i].cell = cell + i * f->n_cells;
    if (f->n_cells > 0)
      memcpy(row[i].cell, f->defaults.cell, f->n_cells * sizeof *cell);
  }
  return row;
}

/* Room for n rows, in which nothing is known. */
static void make_room(struct dl_row_plan *f, size_t n) {
  free(f->row);
  f->row = dl_plan_rows(f, n);
  f->n_rows = n;
}

enum dl_status dl_plan_single(struct dl_row_plan *f, const struct dl_row **row,
                              struct dl_diag *d) {
  const struct row_source from = {.lookup = &f->lookup};
  make_room(f, 1);
  *row = f->row;
  return dl_plan_run(f, &from, EVERY_STEP, f->row, d);
}

/* Looking descriptors up is not thread-safe; assumptions take longest. */
static enum dl_status make_rows(struct dl_row_plan *f,
                                const struct dl_csv_block *block,
                                struct dl_diag *d) {
  size_t n = block->n_rows;
  dl_plan_prepare_checks(f);
  if (n > f->n_rows)
    make_room(f, n);
  for (size_t i = 0; i < n; i++) {
    const struct row_source from = {
        .block = block, .row = i, .lookup = &f->lookup};
    DL_TRY(run_steps(f, &from, EVERY_STEP, &f->row[i], d));
  }
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < n; i++) {
    const struct row_source from = {.block = block, .row = i};
    complete_row(f, &from, &f->row[i]);
  }
  for (size_t i = 0; i < n; i++) {
    dl_plan_warn_words(f, block, i, &f->row[i], d);
    if (f->checks && f->row[i].fault.kind == DL_FAULT_NONE)
      dl_plan_check_row(f, block, i, &f->row[i]);
  }
  return DL_OK;
}

enum dl_status dl_plan_next(struct dl_row_plan *f, struct dl_csv *csv,
                            const struct dl_csv_block **block,
                            struct dl_diag *d) {
  DL_TRY(dl_csv_next(csv, block, d));
  if (*block)
    return make_rows(f, *block, d);
  dl_plan_warn_doubted(f, d);
  return DL_OK;
}

const struct dl_row *dl_plan_row(const struct dl_row_plan *f, size_t i) {
  return &f->row[i];
}

double dl_plan_value(const struct dl_row_plan *f, const struct dl_row_ref *q,
                     const struct dl_row *row) {
  const struct step *s = &f->step[q->step];
  return s->on_demand
             ? dl_formula_eval(s->source->formula, s->source->vars, row)
             : dl_row_number(row, q);
}

const char *dl_plan_lacks(const struct dl_row_plan *f,
                          const struct dl_row_ref *q,
                          const struct dl_row *row) {
  return first_lacking(&f->step[q->step].source[0], row);
}

/* The field of a descriptor that the last source of a step leads to, or NULL.
 */
static const struct source *from_descriptor(const struct dl_row_plan *f,
                                            const struct step *s) {
  if (s->n_sources == 0)
    return NULL;
  const struct source *p = &s->source[s->n_sources - 1], *of = NULL;
  for (size_t v = 0; v < p->n_vars && !of; v++)
    of = from_descriptor(f, &f->step[p->vars[v].step]);
  return !of && p->field && !p->field->is_text ? p : of;
}

/* Why a required value is absent, where a descriptor was to give it. */
static bool explain_descriptor(const struct dl_row_plan *f,
                               const struct step *s, const struct dl_row *row,
                               struct dl_text *why) {
  const struct source *p = from_descriptor(f, s);
  const struct look_up *l = p ? &dl_look_ups[p->look_up] : NULL;
  const char *name = p ? dl_row_text(row, &f->look_up_by[l->name]) : NULL;
  const char *quantity = f->name[s->name].text;
  DL_SCOPED(dl_diag_free) struct dl_diag inner = {0};
  const struct dl_descriptor *e;
  if (!name)
    return false;
  if (dl_catalog_get(f->catalog, l->kind, dl_plan_meant(f, name), &e, &inner) !=
      DL_OK)
    dl_text_add(why, inner.error ? inner.error : "");
  else
    dl_text_printf(why,
                   "the descriptor of '%s' has no value for '%s'; give it "
                   "with --set %s=VALUE",
                   e->id, quantity, quantity);
  return true;
}

enum dl_status dl_plan_complain(const struct dl_row_plan *f,
                                const struct dl_row *row, const char *path,
                                size_t line, struct dl_diag *d) {
  const struct dl_fault *fault = &row->fault;
  const struct step *s =
      fault->kind == DL_FAULT_CONTRADICTION || fault->kind == DL_FAULT_SETUP
          ? NULL
          : &f->step[fault->step];
  DL_TEXT(why);
  if (fault->kind == DL_FAULT_CONTRADICTION) {
    dl_plan_explain_rule(fault->step, fault->x, &why);
  } else if (fault->kind == DL_FAULT_SETUP) {
    struct dl_message_style setup = {.options = line == 0};
    if (!dl_setup_check(row, &setup))
      is_unfit(f, row, &setup);
    why = setup.text;
  } else if (fault->kind == DL_FAULT_UNDEFINED) {
    dl_text_printf(
        &why,
        "column '%s': its formula has no value here (0 / 0, log of a "
        "negative number, ...)",
        f->name[s->name].text);
  } else if (fault->kind == DL_FAULT_ABSENT) {
    if (!explain_descriptor(f, s, row, &why))
      dl_text_printf(&why, "column '%s': no value", f->name[s->name].text);
  } else {
    char number[DL_NUMBER_SIZE];
    dl_text_printf(&why, "column '%s': ", f->name[s->name].text);
    dl_run_column_explain(
        s->column, fault->kind,
        fault->cell ? fault->cell : dl_format_short(number, fault->x), &why);
  }
  enum dl_status status = DL_OK;
  if (line > 0)
    dl_skip_at(d, path, line, "%s", why.s);
  else
    status = dl_fail(d, DL_EINPUT, "%s", why.s);
  return status;
}
