/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits one target: hyper-parameters, scores, the final fit. */

#include "model/fitting/train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"
#include "model/cross_validation/group_residuals.h"
#include "model/training/fit_design.h"
#include "model/training/training_columns.h"
#include "physics/rows/table_problem.h"
#include "quantities/quantities.h"

enum { GRID_POINTS_ONE = 25, GRID_POINTS_TWO = 12 };

/* Below this number of rows starting threads costs more than it saves. */
enum { MANY_ROWS = 20000 };

static bool all_known(const struct dl_choice *c) {
  for (size_t i = 0; i < c->method->n_hyper; i++)
    if (isnan(c->hyper[i]))
      return false;
  return true;
}

static enum dl_status find_hyper(struct dl_choice *c, const struct dl_design *p,
                                 const struct dl_folds *folds,
                                 struct dl_diag *d) {
  size_t count = c->search_count;
  if (count == 0)
    count = c->method->n_hyper > 1 ? GRID_POINTS_TWO : GRID_POINTS_ONE;
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *candidates =
      dl_candidates(c->method, c->hyper, c->search_kind, count, c->seed);
  if (!candidates)
    dl_end_without_memory();
  struct dl_search_best best;
  DL_FREED size_t *of_row = NULL;
  const struct dl_folds sets = dl_folds_in_sets(folds, &of_row);
  DL_TRY(dl_search(&best, p, c->method, candidates, &sets, d));
  for (size_t i = 0; i < c->method->n_hyper; i++)
    c->hyper[i] = best.hyper[i];
  return DL_OK;
}

/* Copies the design, scaled where requested, and the transformed
 * target. */
static void lay_out(gsl_matrix *X, gsl_vector *target,
                    const struct dl_design *p, const struct dl_scale *scale) {
  size_t n = p->X->size1;
#pragma omp parallel for schedule(static) if (n > MANY_ROWS)
  for (size_t i = 0; i < n; i++) {
    const double *from = gsl_matrix_const_ptr(p->X, i, 0);
    double *to = gsl_matrix_ptr(X, i, 0);
    double y = gsl_vector_get(p->y, i);
    double offset = p->offset ? gsl_vector_get(p->offset, i) : 0;
    for (size_t j = 0; j < X->size2; j++)
      to[j] = scale ? dl_scaled(scale, j, from[j]) : from[j];
    gsl_vector_set(target, i, (p->log_target ? log(y) : y) - offset);
  }
}

/* The final fit, on all rows. */
static enum dl_status fit_all(struct dl_fit *fit, struct dl_choice *c,
                              const struct dl_design *g, struct dl_diag *d) {
  struct dl_design whole = *g;
  if (g->physics) {
    DL_TRY(dl_table_problem_make(g->problem, d));
    return c->method->fit(c->method, &fit->state, &whole, c->hyper, d);
  }
  size_t n = g->X->size1;
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *X = gsl_matrix_alloc(n, g->X->size2);
  DL_SCOPED(gsl_vector_free_local) gsl_vector *target = gsl_vector_alloc(n);
  fit->scaled = g->scale;
  if (g->scale)
    dl_scale_fit(&fit->scale, g->X, g->w);
  dl_use_large_pages(X->data, n * X->tda * sizeof *X->data);
  lay_out(X, target, g, g->scale ? &fit->scale : NULL);
  whole.X = X;
  whole.y = target;
  whole.offset = NULL;
  whole.log_target = whole.scale = false;
  return c->method->fit(c->method, &fit->state, &whole, c->hyper, d);
}

static void copy_labels(struct dl_strlist *to, const struct dl_training *t,
                        const char *column) {
  const struct dl_labels *l = dl_training_labels(t, column);
  for (size_t i = 0; l && i < l->names.n; i++)
    dl_strlist_add(to, l->names.s[i]);
}

static void add_range(struct dl_fit *fit, const struct dl_range *range) {
  struct dl_range *to = &fit->range[fit->n_ranges++];
  *to = *range;
  to->name = dl_strdup(range->name);
}

/* Ranges of the watched quantities of a physics. */
static void copy_watched(struct dl_fit *fit, const struct dl_physics *physics,
                         const struct dl_training *t) {
  for (size_t i = 0; i < physics->n_quantities; i++)
    for (size_t r = 0; r < t->n_ranges; r++)
      if (physics->quantity[i].watched &&
          strcmp(physics->quantity[i].name, t->range[r].name) == 0 &&
          t->range[r].low <= t->range[r].high)
        add_range(fit, &t->range[r]);
}

/* Ranges of the variables that the chosen formulas use. */
static enum dl_status copy_ranges(struct dl_fit *fit,
                                  const struct dl_training *t,
                                  struct dl_diag *d) {
  fit->range = dl_calloc(t->n_ranges, sizeof *fit->range);
  if (fit->method->physics) {
    copy_watched(fit, fit->method->physics, t);
    return DL_OK;
  }
  size_t n_formulas = fit->features.n + (fit->offset != NULL);
  for (size_t i = 0; i < n_formulas; i++) {
    struct dl_formula *g;
    const char *text = i < fit->features.n ? fit->features.s[i] : fit->offset;
    DL_TRY(dl_formula_parse(&g, text, d));
    for (size_t r = 0; r < t->n_ranges; r++) {
      bool used = false, known = false;
      for (size_t v = 0; v < g->n_vars; v++)
        used |= strcmp(g->var[v].name, t->range[r].name) == 0;
      for (size_t k = 0; k < fit->n_ranges; k++)
        known |= strcmp(fit->range[k].name, t->range[r].name) == 0;
      /* Values measured beside a target enter fits, not predictions. */
      if (!used || known || t->range[r].low > t->range[r].high ||
          dl_run_is_measured(t->range[r].name))
        continue;
      add_range(fit, &t->range[r]);
    }
    dl_formula_free(g);
  }
  return DL_OK;
}

static enum dl_status describe(struct dl_fit *fit, const struct dl_training *t,
                               const struct dl_choice *c, struct dl_diag *d) {
  const struct dl_run_column *column = dl_run_column_find(c->target);
  const char *boundary = t->boundary;
  if (strcmp(c->target, "gpu_power_w") == 0 ||
      strcmp(c->target, "gpu_energy_j") == 0)
    boundary = "gpu";
  else if (!column || !column->unit || *column->unit != 'J')
    boundary = ""; /* times and shares have no boundary */
  fit->target = dl_strdup(c->target);
  fit->unit = column && column->unit ? dl_strdup(column->unit) : NULL;
  fit->boundary = *boundary ? dl_strdup(boundary) : NULL;
  fit->offset = c->offset ? dl_strdup(c->offset) : NULL;
  fit->log_target = c->log_target;
  fit->method = c->method;
  fit->n = dl_training_runs(t);
  fit->configurations = dl_label_count(t, "config");
  for (size_t i = 0; i < c->features.n; i++)
    dl_strlist_add(&fit->features, c->features.s[i]);
  copy_labels(&fit->archs, t, "arch");
  copy_labels(&fit->gpus, t, "gpu");
  return copy_ranges(fit, t, d);
}

/* Hyper-parameters that are open are found by cross-validation, or left to
 * the method (NaN) where it can do so and no search was requested. */
static enum dl_status settle_hyper(struct dl_choice *c,
                                   const struct dl_design *p,
                                   const struct dl_training *t,
                                   struct dl_diag *d) {
  if (all_known(c) || (!c->search && c->method->n_hyper == 1))
    return DL_OK;
  if (c->cv.none)
    return dl_fail(d, DL_EUSAGE,
                   "%s needs its hyper-parameters or a cross-validation",
                   c->method->name);
  DL_SCOPED(dl_folds_free) struct dl_folds folds = {0};
  DL_TRY(dl_training_folds(&folds, t, &c->cv, c->seed, d));
  return find_hyper(c, p, &folds, d);
}

static enum dl_status score(struct dl_cv *cv, const struct dl_choice *c,
                            const struct dl_design *g,
                            const struct dl_training *t, struct dl_diag *d) {
  DL_SCOPED(dl_folds_free) struct dl_folds folds = {0};
  DL_TRY(dl_training_folds(&folds, t, &c->cv, c->seed, d));
  return dl_cross_validate_design(cv, g, c->method, c->hyper, &folds, d);
}

enum dl_status dl_train(struct dl_fit *fit, struct dl_cv *cv,
                        const struct dl_training *t, struct dl_choice *c,
                        struct dl_diag *d) {
  *fit = (struct dl_fit){0};
  *cv = (struct dl_cv){0};
  struct dl_design g;
  enum dl_status status = dl_design_make(&g, t, c, d);
  struct dl_progress_span whole = dl_progress_enter(d->progress, 0, 3);
  if (status == DL_OK)
    status = settle_hyper(c, &g, t, d);
  dl_progress_leave(d->progress, whole);
  dl_progress_enter(d->progress, 1, 3);
  if (status == DL_OK && !c->cv.none)
    status = score(cv, c, &g, t, d);
  dl_progress_leave(d->progress, whole);
  dl_progress_enter(d->progress, 2, 3);
  if (status == DL_OK)
    status = describe(fit, t, c, d);
  if (status == DL_OK)
    status = fit_all(fit, c, &g, d);
  memcpy(fit->hyper, c->hyper, sizeof fit->hyper);
  if (status == DL_OK && !c->cv.none)
    status = dl_group_residuals_add(fit, t, c, &g, ~0u, d);
  dl_progress_leave(d->progress, whole);
  dl_design_free(&g);
  if (status != DL_OK) {
    dl_fit_free(fit);
    dl_cv_free(cv);
  }
  return status;
}

enum dl_status dl_train_residuals(struct dl_fit *fit,
                                  const struct dl_training *t,
                                  const struct dl_choice *c, unsigned needed,
                                  struct dl_diag *d) {
  DL_SCOPED(dl_design_free) struct dl_design g = {0};
  DL_TRY(dl_design_make(&g, t, c, d));
  return dl_group_residuals_add(fit, t, c, &g, needed, d);
}
