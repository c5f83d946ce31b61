/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions of rows that are held out. */

#include "model/cross_validation/fold_predictions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "physics/fold_fit.h"
#include "physics/rows/table_problem.h"

/* The squares have more than one minimum, and the start decides between them.
 * Few folds are large parts of the data: each begins at the prior,
 * independently of the rows that it holds out. Of so many or more, each begins
 * at the solution for all rows. Auxiliary ones, which alone may decide about
 * the constants of their software, begin at one of so many solutions that have
 * seen none of their rows. */
enum { MANY_FOLDS = 8, MANY_AUXILIARY = 8, STARTS = 4 };

/* State that the fits of all folds share. */
struct fold_starts {
  const struct dl_hierarchical_problem *q;
  struct dl_fold_predictions *h;
  struct dl_hierarchical_solution start[STARTS];
  size_t n_starts;
};

/* Marks the rows that a fold holds out in `out`, which is as long as the
 * rows. */
static void mark_fold(const struct fold_starts *job, size_t fold, bool *out) {
  const struct dl_observations *rows = &job->q->rows;
  const struct dl_fold_predictions *h = job->h;
  size_t first = h->auxiliary ? rows->n - rows->n_auxiliary : 0;
  memset(out, 0, rows->n * sizeof *out);
  for (size_t i = 0; i < h->n; i++)
    out[first + i] = h->of_row[i] == fold;
  if (!h->auxiliary)
    dl_hold_out_auxiliary(job->q, out);
}

/* A solution from which the folds `at`, `at` + n_starts, ... begin: without the
 * rows of all of them. */
static enum dl_status run_start(void *ctx, size_t at, struct dl_diag *d) {
  struct fold_starts *job = ctx;
  size_t n = job->q->rows.n;
  DL_FREED bool *out = dl_calloc(n, sizeof *out);
  DL_FREED bool *any = dl_calloc(n, sizeof *any);
  for (size_t fold = at; fold < job->h->k; fold += job->n_starts) {
    mark_fold(job, fold, out);
    for (size_t i = 0; i < n; i++)
      any[i] |= out[i];
  }
  const struct dl_hierarchical_start from = {NULL, &job->q->full_curvature};
  return dl_hierarchical_solve(&job->start[at], job->q, any, &from, NULL, d);
}

/* The start of a fold's fit. */
static struct dl_hierarchical_start start_of(const struct fold_starts *job,
                                             size_t fold) {
  struct dl_hierarchical_start start = {NULL, &job->q->full_curvature};
  if (job->n_starts > 0)
    start.theta = job->start[fold % job->n_starts].theta;
  else if (job->h->k < MANY_FOLDS || job->h->auxiliary)
    start.curvature = NULL;
  else
    start.theta = job->q->full.theta;
  return start;
}

static enum dl_status run_fold(void *ctx, size_t fold, struct dl_diag *d) {
  const struct fold_starts *job = ctx;
  const struct dl_hierarchical_problem *q = job->q;
  struct dl_fold_predictions *h = job->h;
  size_t n_targets = q->physics->n_targets;
  size_t first = h->auxiliary ? q->rows.n - q->rows.n_auxiliary : 0;
  const struct dl_hierarchical_start start = start_of(job, fold);
  DL_FREED bool *out = dl_calloc(q->rows.n, sizeof *out);
  DL_FREED double *y = dl_calloc(q->configs.n * n_targets, sizeof *y);
  mark_fold(job, fold, out);
  DL_TRY(dl_hold_out(q, out, &start, y, d));
  for (size_t i = 0; i < h->n; i++)
    if (h->of_row[i] == fold)
      memcpy(h->y + i * n_targets, y + q->configs.of_row[first + i] * n_targets,
             n_targets * sizeof *y);
  return DL_OK;
}

/* Fits without each fold. */
static enum dl_status hold_out(struct dl_fold_predictions *h,
                               struct dl_hierarchical_problem *q,
                               const struct dl_folds *folds,
                               struct dl_diag *d) {
  DL_TRY(dl_table_problem_make(q, d));
  DL_TRY(dl_full_solution_get(q, true, d));
  struct fold_starts job = {.q = q, .h = h};
  job.n_starts = h->auxiliary && h->k >= MANY_AUXILIARY ? STARTS : 0;
  const struct dl_folds starts = {.k = job.n_starts};
  enum dl_status status = dl_each_fold(&starts, run_start, &job, d);
  if (status == DL_OK)
    status = dl_each_fold(folds, run_fold, &job, d);
  for (size_t i = 0; i < job.n_starts; i++)
    dl_hierarchical_solution_free(&job.start[i]);
  return status;
}

static bool is_same(const struct dl_fold_predictions *h, bool auxiliary,
                    const struct dl_folds *folds) {
  return h->auxiliary == auxiliary && h->n == folds->n && h->k == folds->k &&
         memcmp(h->of_row, folds->of_row, h->n * sizeof *h->of_row) == 0;
}

enum dl_status dl_fold_predictions_get(const struct dl_fold_predictions **h,
                                       const struct dl_design *g,
                                       const struct dl_folds *folds,
                                       bool auxiliary, struct dl_diag *d) {
  struct dl_hierarchical_problem *q = g->problem;
  size_t n = folds->n;
  for (*h = q->held_out; *h; *h = (*h)->next)
    if (is_same(*h, auxiliary, folds))
      return DL_OK;
  struct dl_fold_predictions *new = dl_calloc(1, sizeof *new);
  *new = (struct dl_fold_predictions){
      .auxiliary = auxiliary,
      .n = n,
      .k = folds->k,
      .of_row = dl_calloc(n, sizeof *new->of_row),
      .y = dl_calloc(n * g->physics->n_targets, sizeof *new->y)};
  memcpy(new->of_row, folds->of_row, n * sizeof *new->of_row);
  enum dl_status status = hold_out(new, q, folds, d);
  if (status != DL_OK) {
    free(new->of_row);
    free(new->y);
    free(new);
    return status;
  }
  new->next = q->held_out;
  *h = q->held_out = new;
  return DL_OK;
}

static enum dl_status predict_physics(struct dl_cv *cv,
                                      const struct dl_design *g,
                                      const struct dl_folds *folds,
                                      struct dl_diag *d) {
  const struct dl_fold_predictions *h;
  DL_TRY(dl_fold_predictions_get(&h, g, folds, false, d));
  cv->prediction = dl_calloc(folds->n, sizeof *cv->prediction);
  for (size_t i = 0; i < folds->n; i++)
    cv->prediction[i] = exp(h->y[i * g->physics->n_targets + g->target]);
  return DL_OK;
}

enum dl_status dl_cross_validate_design(struct dl_cv *cv,
                                        const struct dl_design *g,
                                        const struct dl_regression *method,
                                        const double *hyper,
                                        const struct dl_folds *folds,
                                        struct dl_diag *d) {
  DL_FREED size_t *of_row = NULL;
  const struct dl_folds sets = dl_folds_in_sets(folds, &of_row);
  *cv = (struct dl_cv){0};
  enum dl_status status =
      g->physics ? predict_physics(cv, g, &sets, d)
                 : dl_cross_validate(cv, g, method, hyper, &sets, d);
  if (status == DL_OK && (sets.k < folds->k || g->physics))
    dl_cv_score(cv, g, folds);
  if (status != DL_OK)
    dl_cv_free(cv);
  return status;
}
