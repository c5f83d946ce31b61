/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Refits a model on a part of its training data. */

#include "model/fitting/refit.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/training/training_columns.h"

static void add_once(struct dl_strlist *l, const char *text) {
  if (text && dl_strlist_find(l, text) < 0)
    dl_strlist_add(l, text);
}

/* Models of servers are installed beside models of trainings: a table without
 * requests leaves them alone. */
static bool is_for_others(const struct dl_fit *fit, bool target_there) {
  const struct dl_physics *physics = fit->method->physics;
  return physics && physics->optional && !target_there;
}

void dl_refit_formulas(struct dl_training *t, const struct dl_model *m,
                       const struct dl_row_plan *plan) {
  for (; m; m = m->next)
    for (size_t i = 0; i < m->n_fits; i++) {
      const struct dl_fit *f = &m->fit[i];
      if (is_for_others(f, dl_plan_has(plan, f->target)))
        continue;
      add_once(&t->formula, f->target);
      add_once(&t->formula, f->offset);
      if (f->method->physics)
        dl_training_want_physics(t, f->method->physics, false);
      for (size_t j = 0; j < f->features.n; j++)
        add_once(&t->formula, f->features.s[j]);
    }
}

/* Labels of the kept rows, numbered anew so that absent ones do not count. */
static void keep_labels(struct dl_labels *to, const struct dl_labels *from,
                        const bool *keep, size_t n) {
  size_t k = 0;
  to->column = dl_strdup(from->column);
  to->n_values = from->n_values;
  to->id = dl_calloc(n, sizeof *to->id);
  for (size_t i = 0; i < n; i++) {
    if (!keep[i])
      continue;
    to->id[k++] = (size_t)dl_intern(&to->names, from->names.s[from->id[i]]);
  }
}

/* Ranges of plain variables follow from the whole table: they only widen
 * intervals, and held-out rows must not narrow them. */
static void copy_rest(struct dl_training *to, const struct dl_training *from) {
  for (size_t i = 0; i < from->formula.n; i++)
    dl_strlist_add(&to->formula, from->formula.s[i]);
  to->range = dl_calloc(from->n_ranges, sizeof *to->range);
  to->source = dl_strdup(from->source);
  for (size_t i = 0; i < from->n_ranges; i++) {
    to->range[i] = from->range[i];
    to->range[i].name = dl_strdup(from->range[i].name);
    to->range[i].held_out = (struct dl_residuals){0};
    to->n_ranges++;
  }
  memcpy(to->boundary, from->boundary, sizeof to->boundary);
}

static void keep_rows(struct dl_training *s, const struct dl_physics_rows *from,
                      const bool *keep) {
  struct dl_physics_rows *to = &s->physics[s->n_physics++];
  to->physics = from->physics;
  for (size_t i = 0; i < from->n; i++) {
    struct dl_observed row = dl_physics_row_at(from, i);
    if (!keep[i])
      continue;
    dl_physics_rows_room(to, 1);
    memcpy(dl_physics_rows_inputs(to, 0), row.inputs, to->physics->input_size);
    memcpy(dl_physics_rows_value(to, 0), row.value,
           to->physics->n_targets * sizeof *row.value);
    dl_physics_rows_take(to, 0);
  }
}

/* The rows of t that are kept. */
static void subset(struct dl_training *s, const struct dl_training *t,
                   const bool *keep) {
  *s = (struct dl_training){0};
  for (size_t i = 0; i < t->n; i++)
    s->n += keep[i];
  s->rows = s->n;
  copy_rest(s, t);
  if (s->n > 0)
    s->x = gsl_matrix_alloc(s->n, t->formula.n);
  s->labels = dl_calloc(t->n_labels, sizeof *s->labels);
  s->problems = dl_calloc(1, sizeof *s->problems);
  for (size_t i = 0, k = 0; i < t->n; i++) {
    if (!keep[i])
      continue;
    gsl_vector_const_view row = gsl_matrix_const_row(t->x, i);
    gsl_matrix_set_row(s->x, k++, &row.vector);
  }
  for (size_t l = 0; l < t->n_labels; l++) {
    s->n_labels++;
    keep_labels(&s->labels[l], &t->labels[l], keep, t->n);
  }
  for (size_t k = 0; k < t->n_physics; k++)
    keep_rows(s, &t->physics[k], keep);
}

static enum dl_status refit_one(struct dl_fit *out, const struct dl_fit *f,
                                const struct dl_training *t, unsigned needed,
                                struct dl_diag *d) {
  struct dl_choice c = {.target = f->target,
                        .features = f->features,
                        .offset = f->offset,
                        .log_target = f->log_target,
                        .scale = f->scaled,
                        .method = f->method,
                        .seed = 1,
                        .cv = {.none = true}};
  memcpy(c.hyper, f->hyper, sizeof c.hyper);
  DL_SCOPED(dl_cv_free) struct dl_cv cv = {0};
  DL_TRY(dl_train(out, &cv, t, &c, d));
  return dl_train_residuals(out, t, &c, needed, d);
}

/* One model, and those after it. */
static enum dl_status refit_all(struct dl_model **out, const struct dl_model *m,
                                const struct dl_training *part, unsigned needed,
                                struct dl_diag *d) {
  *out = NULL;
  if (!m)
    return DL_OK;
  struct dl_model *new = dl_calloc(1, sizeof *new);
  new->fit = dl_calloc(m->n_fits, sizeof *new->fit);
  enum dl_status status = DL_OK;
  for (size_t i = 0; i < m->n_fits && status == DL_OK; i++) {
    const struct dl_fit *f = &m->fit[i];
    if (is_for_others(f, dl_training_column(part, f->target) >= 0))
      continue;
    struct dl_progress_span outer =
        dl_progress_enter(d->progress, i, m->n_fits);
    status = refit_one(&new->fit[new->n_fits], f, part, needed, d);
    dl_progress_leave(d->progress, outer);
    new->n_fits += status == DL_OK;
  }
  if (status == DL_OK)
    status = refit_all(&new->next, m->next, part, needed, d);
  if (status != DL_OK) {
    dl_model_free(new);
    return status;
  }
  *out = new;
  return DL_OK;
}

/* Which of the rows that are held out have a label that no kept row has. */
static void find_new(bool *new, const struct dl_labels *l, const bool *keep,
                     size_t n) {
  DL_FREED bool *kept = dl_calloc(l->names.n, sizeof *kept);
  for (size_t i = 0; i < n; i++)
    if (keep[i])
      kept[l->id[i]] = true;
  for (size_t i = 0; i < n; i++)
    new[i] = !keep[i] && !kept[l->id[i]];
}

/* The groups whose residuals give the intervals of the rows that are held out:
 * GPUs for a new GPU. All groups, where that is not certain. */
static unsigned needed_by(const struct dl_training *t, const bool *keep) {
  static const enum dl_held_out_group by[] = {DL_HELD_OUT_ARCH,
                                              DL_HELD_OUT_GPU};
  DL_FREED bool *known = dl_calloc(t->n, sizeof *known);
  DL_FREED bool *new = dl_calloc(t->n, sizeof *new);
  unsigned needed = 0;
  for (size_t i = 0; i < t->n; i++)
    known[i] = !keep[i];
  for (size_t k = 0; needed != ~0u && k < 2; k++) {
    const struct dl_labels *l =
        dl_training_labels(t, dl_held_out_group_name(by[k]));
    if (!l || l->undescribed) {
      needed = ~0u;
      break;
    }
    find_new(new, l, keep, t->n);
    for (size_t i = 0; i < t->n; i++) {
      known[i] = known[i] && !new[i];
      needed |= new[i] ? 1u << by[k] : 0;
    }
  }
  for (size_t i = 0; needed != ~0u && i < t->n; i++)
    needed |= known[i] ? 1u << DL_HELD_OUT_CONFIG : 0;
  return needed;
}

enum dl_status dl_refit(struct dl_model **out, const struct dl_model *m,
                        const struct dl_training *t, const bool *keep,
                        struct dl_diag *d) {
  *out = NULL;
  struct dl_training part;
  subset(&part, t, keep);
  enum dl_status status = refit_all(out, m, &part, needed_by(t, keep), d);
  dl_training_free(&part);
  return status;
}
