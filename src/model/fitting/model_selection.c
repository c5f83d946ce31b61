/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/fitting/model_selection.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"
#include "model/cross_validation/fold_predictions.h"
#include "model/training/fit_design.h"
#include "model/training/training_columns.h"

enum { GRID_ONE = 13, GRID_TWO = 7, MOST_CANDIDATES = 64 };

static enum dl_status make_protocols(struct dl_trials *p, struct dl_diag *d) {
  bool any = false;
  for (size_t i = 0; i < DL_HELD_OUT_ROWS; i++) {
    struct dl_cv_spec spec = {.scheme = DL_GROUP};
    const char *name = dl_held_out_group_name((enum dl_held_out_group)i);
    const struct dl_labels *l = dl_training_labels(p->t, name);
    if (!l || l->names.n < 2)
      continue;
    snprintf(spec.column, sizeof spec.column, "%s", name);
    DL_TRY(dl_training_folds(&p->folds[i], p->t, &spec, p->c->seed, d));
    any = p->there[i] = true;
  }
  if (any)
    return DL_OK;
  const struct dl_cv_spec spec = {.scheme = DL_KFOLD_SHUFFLED,
                                  .k = p->t->n < 5 ? p->t->n : 5};
  p->there[DL_HELD_OUT_ROWS] = true;
  return dl_training_folds(&p->folds[DL_HELD_OUT_ROWS], p->t, &spec, p->c->seed,
                           d);
}

/* Mean over the groups of the mean absolute error of log(y). */
static double group_error(const struct dl_design *p, const struct dl_cv *cv,
                          const struct dl_folds *folds) {
  DL_FREED double *sum = dl_calloc(2 * folds->k, sizeof *sum);
  double *n = sum + folds->k, total = 0;
  for (size_t i = 0; i < folds->n; i++) {
    sum[folds->of_row[i]] +=
        fabs(log(cv->prediction[i] / gsl_vector_get(p->y, i)));
    n[folds->of_row[i]]++;
  }
  for (size_t k = 0; k < folds->k; k++)
    total += sum[k] / n[k];
  return total / (double)folds->k;
}

/* The error of a physics under a protocol; NaN where it could not be fitted. */
static double physics_error(const struct dl_design *g, const double *hyper,
                            const struct dl_folds *folds, struct dl_diag *d) {
  DL_SCOPED(dl_cv_free) struct dl_cv cv = {0};
  return dl_cross_validate_design(&cv, g, NULL, hyper, folds, d) == DL_OK
             ? group_error(g, &cv, folds)
             : (double)NAN;
}

/* The errors of all candidates of a grid under a protocol; NaN where one could
 * not be fitted: it loses, which does not stop the choice. */
static void find_errors(double *error, const struct dl_design *g,
                        const struct dl_regression *method,
                        const gsl_matrix *grid, const struct dl_folds *folds,
                        struct dl_progress *progress) {
  DL_SCOPED(dl_diag_free) struct dl_diag quiet = {0};
  quiet.progress = progress;
  if (g->physics)
    for (size_t i = 0; i < grid->size1; i++)
      error[i] = physics_error(g, grid->data + i * grid->tda, folds, &quiet);
  else if (dl_group_errors(error, g, method, grid, folds, &quiet) != DL_OK)
    for (size_t i = 0; i < grid->size1; i++)
      error[i] = NAN;
}

/* Keeps the candidate of the grid with the lowest mean of its errors, the first
 * of equal ones. errors: rows are protocols. */
static void keep_best(struct dl_fit_candidate *best, const gsl_matrix *grid,
                      const gsl_matrix *errors, const struct dl_trials *w) {
  best->score = INFINITY;
  for (size_t i = 0; i < grid->size1; i++) {
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k <= DL_HELD_OUT_ROWS; k++)
      if (w->there[k]) {
        sum += gsl_matrix_get(errors, k, i);
        n++;
      }
    if (n == 0 || !isfinite(sum) || sum / (double)n >= best->score)
      continue;
    best->score = sum / (double)n;
    for (size_t k = 0; k <= DL_HELD_OUT_ROWS; k++)
      best->error[k] = w->there[k] ? gsl_matrix_get(errors, k, i) : (double)NAN;
    for (size_t j = 0; j < grid->size2; j++)
      best->hyper[j] = gsl_matrix_get(grid, i, j);
  }
}

/* The best hyper-parameters of a grid. */
static void try_grid(struct dl_fit_candidate *best, const struct dl_trials *w,
                     const struct dl_design *g, struct dl_diag *d) {
  size_t m = best->method->n_hyper, count = w->c->search_count;
  if (count == 0)
    count = m > 1 ? GRID_TWO : GRID_ONE;
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *grid = dl_candidates(
      best->method, best->hyper,
      w->c->search ? w->c->search_kind : DL_SEARCH_GRID, count, w->c->seed);
  if (!grid)
    dl_end_without_memory();
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *errors = gsl_matrix_alloc(DL_HELD_OUT_ROWS + 1, grid->size1);
  for (size_t k = 0; k <= DL_HELD_OUT_ROWS; k++) {
    struct dl_progress_span outer =
        dl_progress_enter(d->progress, k, DL_HELD_OUT_ROWS + 1);
    if (w->there[k])
      find_errors(gsl_matrix_ptr(errors, k, 0), g, best->method, grid,
                  &w->folds[k], d->progress);
    dl_progress_leave(d->progress, outer);
  }
  keep_best(best, grid, errors, w);
}

static bool constant(const struct dl_training *t, long column) {
  for (size_t i = 1; i < t->n; i++)
    if (gsl_matrix_get(t->x, i, (size_t)column) !=
        gsl_matrix_get(t->x, 0, (size_t)column))
      return false;
  return true;
}

/* Whether a recipe is for a method. */
static bool is_for(const struct dl_recipe *recipe,
                   const struct dl_regression *method) {
  return recipe->method ? recipe->method == method : !method->physics;
}

/* Sets the features of a recipe that the table has and that vary in it; all
 * of them where it belongs to a method. false: nothing to fit, or something
 * that it cannot do without is not available. */
static bool use_recipe(struct dl_choice *c, const struct dl_recipe *recipe,
                       const struct dl_training *t) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist all = {0};
  bool complete = true;
  dl_strlist_free(&c->features);
  c->offset = recipe->offset;
  dl_strlist_split(&all, recipe->features, ',');
  for (size_t i = 0; i < all.n; i++) {
    long j = dl_training_column(t, all.s[i]);
    if (j >= 0 && (recipe->method || !constant(t, j)))
      dl_strlist_add(&c->features, all.s[i]);
    else if (j < 0 && (recipe->offset || recipe->method))
      complete = false;
  }
  bool offset_there =
      !recipe->offset || dl_training_column(t, recipe->offset) >= 0;
  if (recipe->method)
    return dl_training_physics_rows(t, recipe->method->physics);
  return complete && offset_there && c->features.n > 0;
}

/* A kernel machine falls back to 0 far from its data: sensible around an
 * offset, absurd for a bare logarithm (1 W). */
static bool is_linear(const struct dl_regression *r) {
  return r->coefficient != NULL;
}

/* Appends the candidates of one recipe, one a method. */
static enum dl_status try_recipe(struct dl_trials *w,
                                 const struct dl_recipe *recipe,
                                 struct dl_diag *d) {
  if (!use_recipe(w->c, recipe, w->t))
    return DL_OK;
  DL_SCOPED(dl_design_free) struct dl_design g = {0};
  w->c->method = recipe->method ? recipe->method : dl_regressions[0];
  DL_TRY(dl_design_make(&g, w->t, w->c, d));
  for (size_t i = 0; i < DL_N_REGRESSIONS; i++) {
    const struct dl_regression *method = dl_regressions[i];
    if (w->n == MOST_CANDIDATES || (w->only && method != w->only) ||
        !is_for(recipe, method) ||
        (!recipe->offset && !recipe->method && !is_linear(method)))
      continue;
    struct dl_fit_candidate *best = &w->list[w->n];
    *best = (struct dl_fit_candidate){.recipe = *recipe, .method = method};
    memcpy(best->hyper, w->hyper, sizeof best->hyper);
    struct dl_progress_span outer = dl_progress_enter(
        d->progress, w->only ? 0 : i, w->only ? 1 : DL_N_REGRESSIONS);
    try_grid(best, w, &g, d);
    dl_progress_leave(d->progress, outer);
    if (isfinite(best->score))
      w->n++;
  }
  return DL_OK;
}

/* Whether a recipe is for the target, the method and that many GPUs. */
static bool suits(const struct dl_trials *w, const struct dl_recipe *recipe,
                  size_t n_gpus) {
  return n_gpus >= recipe->least_gpus &&
         strcmp(recipe->target, w->c->target) == 0 &&
         (!w->only || is_for(recipe, w->only));
}

/* Tries all recipes that suit a table with that many GPUs. */
static enum dl_status try_all(struct dl_trials *w, size_t n_gpus,
                              struct dl_diag *d) {
  struct dl_recipe recipe;
  size_t n = 0, k = 0;
  enum dl_status status = DL_OK;
  for (size_t i = 0; dl_recipe_at(i, &recipe); i++)
    n += suits(w, &recipe, n_gpus);
  for (size_t i = 0; status == DL_OK && dl_recipe_at(i, &recipe); i++) {
    if (!suits(w, &recipe, n_gpus))
      continue;
    struct dl_progress_span outer = dl_progress_enter(d->progress, k++, n);
    status = try_recipe(w, &recipe, d);
    dl_progress_leave(d->progress, outer);
  }
  return status;
}

static int by_score(const void *a, const void *b) {
  double x = ((const struct dl_fit_candidate *)a)->score;
  double y = ((const struct dl_fit_candidate *)b)->score;
  return (x > y) - (x < y);
}

static enum dl_status take_best(struct dl_choice *c,
                                struct dl_fit_candidate *list, size_t n,
                                const struct dl_training *t,
                                struct dl_diag *d) {
  if (n == 0 && t->absent)
    return dl_fail_at(d, DL_EINPUT, t->source, 0,
                      "no recipe for '%s' without column '%s'; add it, give "
                      "--define %s=VALUE, or choose with --features",
                      c->target, t->absent, t->absent);
  if (n == 0)
    return dl_fail_at(d, DL_EINPUT, t->source, 0,
                      "no recipe for '%s' fits the columns of this table; "
                      "choose with --features",
                      c->target);
  qsort(list, n, sizeof *list, by_score);
  use_recipe(c, &list[0].recipe, t);
  c->method = list[0].method;
  memcpy(c->hyper, list[0].hyper, sizeof c->hyper);
  return DL_OK;
}

/* Whether the plan has all that a formula cannot do without. */
static enum dl_status available(const struct dl_row_plan *f, const char *text,
                                bool *yes, struct dl_diag *d) {
  struct dl_formula *g;
  enum dl_status status = dl_formula_parse(&g, text, d);
  *yes = status == DL_OK;
  for (size_t i = 0; status == DL_OK && i < g->n_vars; i++)
    if (g->var[i].needed && !dl_plan_has(f, g->var[i].name))
      *yes = false;
  dl_formula_free(g);
  return status;
}

static enum dl_status add_available(struct dl_strlist *formulas,
                                    const struct dl_row_plan *f,
                                    const char *text, bool *any,
                                    struct dl_diag *d) {
  bool yes;
  enum dl_status status = available(f, text, &yes, d);
  if (status != DL_OK || !yes)
    return status;
  *any = true;
  if (dl_strlist_find(formulas, text) < 0)
    dl_strlist_add(formulas, text);
  return DL_OK;
}

/* The formulas of a recipe that the plan can give, or the rows of its
 * physics; `asked`: for that method alone. */
static enum dl_status add_recipe(struct dl_training *t,
                                 const struct dl_row_plan *f,
                                 const struct dl_recipe *recipe, bool asked,
                                 bool *any, struct dl_diag *d) {
  DL_SCOPED(dl_strlist_free) struct dl_strlist features = {0};
  bool ignored;
  if (recipe->method) {
    const struct dl_physics *physics = recipe->method->physics;
    *any = true;
    if (dl_physics_available(physics, f))
      dl_training_want_physics(t, physics, physics->optional && !asked);
    return DL_OK;
  }
  dl_strlist_split(&features, recipe->features, ',');
  for (size_t j = 0; j < features.n; j++)
    DL_TRY(add_available(&t->formula, f, features.s[j], any, d));
  if (recipe->offset)
    DL_TRY(add_available(&t->formula, f, recipe->offset, &ignored, d));
  return DL_OK;
}

/* Columns without which most recipes have no formula. */
static const char *const needed[] = {"arch", "gpu", "batch_size",
                                     "train_samples", "epochs"};

enum dl_status dl_recipe_formulas(struct dl_training *t,
                                  const struct dl_row_plan *f,
                                  const char *target, const char *method,
                                  bool *any, struct dl_diag *d) {
  const struct dl_regression *only = method ? dl_regression_find(method) : NULL;
  *any = false;
  if (!dl_plan_has(f, target))
    return DL_OK;
  struct dl_recipe recipe;
  for (size_t i = 0; i < DL_LENGTH(needed) && !t->absent; i++)
    if (!dl_plan_has(f, needed[i]))
      t->absent = needed[i];
  for (size_t i = 0; dl_recipe_at(i, &recipe); i++)
    if (strcmp(recipe.target, target) == 0 && (!only || is_for(&recipe, only)))
      DL_TRY(add_recipe(t, f, &recipe, only, any, d));
  bool there = false;
  if (*any)
    DL_TRY(add_available(&t->formula, f, target, &there, d));
  return DL_OK;
}

enum dl_status dl_choose(struct dl_choice *c, const struct dl_training *t,
                         const struct dl_regression *only,
                         struct dl_trials *tried, struct dl_diag *d) {
  *tried = (struct dl_trials){.c = c, .t = t, .only = only};
  tried->list = dl_calloc(MOST_CANDIDATES, sizeof *tried->list);
  for (size_t i = 0; i < DL_MAX_HYPER; i++)
    tried->hyper[i] = only ? c->hyper[i] : (double)NAN;
  c->log_target = true;
  c->method = dl_regressions[0];
  enum dl_status status = make_protocols(tried, d);
  const struct dl_labels *gpus = dl_training_labels(t, "gpu");
  size_t n_gpus = gpus ? gpus->names.n : 0;
  for (int pass = 0; pass < 2 && tried->n == 0 && status == DL_OK; pass++)
    status = try_all(tried, pass > 0 ? SIZE_MAX : n_gpus, d);
  return status == DL_OK ? take_best(c, tried->list, tried->n, t, d) : status;
}

void dl_trials_free(struct dl_trials *trials) {
  for (size_t i = 0; i <= DL_HELD_OUT_ROWS; i++)
    dl_folds_free(&trials->folds[i]);
  free(trials->list);
}
