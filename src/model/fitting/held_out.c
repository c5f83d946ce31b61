/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions of rows that are held out. */

#include "model/fitting/held_out.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "physics/hold_out.h"
#include "physics/rows/physics_regression.h"

/* The squares have more than one minimum, and the start decides between them.
 * Few folds are large parts of the data: each begins at the prior,
 * independently of the rows that it holds out. Of so many or more, each begins
 * at the solution for all rows. Auxiliary ones, which alone may decide about
 * the constants of their software, begin at one of so many solutions that have
 * seen none of their rows. */
enum { MANY_FOLDS = 8, MANY_AUXILIARY = 8, STARTS = 4 };

void dl_held_out_free(struct dl_held_out *h) {
  while (h) {
    struct dl_held_out *next = h->next;
    free(h->of_row);
    free(h->y);
    free(h);
    h = next;
  }
}

struct dl_fit_cache *dl_fit_cache_new(void) {
  return dl_calloc(1, sizeof(struct dl_fit_cache));
}

void dl_fit_cache_free(struct dl_fit_cache *cache) {
  if (!cache)
    return;
  dl_held_out_free(cache->held_out);
  for (size_t k = 0; k < DL_MOST_PHYSICS; k++)
    dl_full_solution_free(&cache->full[k]);
  free(cache);
}

/* Shared by the folds. */
struct job {
  const struct dl_hierarchical_problem *q;
  struct dl_held_out *h;
  const struct dl_full_solution *full;
  struct dl_hierarchical_solution start[STARTS];
  size_t n_starts;
};

/* Marks the rows that a fold holds out in `out`, which is as long as the
 * rows. */
static void mark_fold(const struct job *job, size_t fold, bool *out) {
  const struct dl_observations *rows = &job->q->rows;
  const struct dl_held_out *h = job->h;
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
  struct job *job = ctx;
  size_t n = job->q->rows.n;
  bool *out = dl_calloc(n, sizeof *out), *any = dl_calloc(n, sizeof *any);
  for (size_t fold = at; fold < job->h->k; fold += job->n_starts) {
    mark_fold(job, fold, out);
    for (size_t i = 0; i < n; i++)
      any[i] |= out[i];
  }
  const struct dl_hierarchical_start from = {NULL, &job->full->curvature};
  enum dl_status status =
      dl_hierarchical_solve(&job->start[at], job->q, any, &from, NULL, d);
  free(out);
  free(any);
  return status;
}

/* Where a fold begins. */
static struct dl_hierarchical_start start_of(const struct job *job,
                                             size_t fold) {
  struct dl_hierarchical_start start = {NULL, &job->full->curvature};
  if (job->n_starts > 0)
    start.theta = job->start[fold % job->n_starts].theta;
  else if (job->h->k < MANY_FOLDS || job->h->auxiliary)
    start.curvature = NULL;
  else
    start.theta = job->full->s.theta;
  return start;
}

static enum dl_status run_fold(void *ctx, size_t fold, struct dl_diag *d) {
  const struct job *job = ctx;
  const struct dl_hierarchical_problem *q = job->q;
  struct dl_held_out *h = job->h;
  size_t n_targets = h->physics->n_targets;
  size_t first = h->auxiliary ? q->rows.n - q->rows.n_auxiliary : 0;
  const struct dl_hierarchical_start start = start_of(job, fold);
  bool *out = dl_calloc(q->rows.n, sizeof *out);
  double *y = dl_calloc(q->configs.n * n_targets, sizeof *y);
  mark_fold(job, fold, out);
  enum dl_status status = dl_hold_out(q, out, &start, y, d);
  for (size_t i = 0; i < h->n && status == DL_OK; i++)
    if (h->of_row[i] == fold)
      memcpy(h->y + i * n_targets, y + q->configs.of_row[first + i] * n_targets,
             n_targets * sizeof *y);
  free(out);
  free(y);
  return status;
}

/* Fits without each fold. */
static enum dl_status hold_out(struct dl_held_out *h, const struct dl_design *g,
                               const struct dl_folds *folds,
                               struct dl_diag *d) {
  struct dl_hierarchical_problem q;
  enum dl_status status = dl_physics_check_rows(h->physics, &g->sample, d);
  if (status != DL_OK)
    return status;
  const struct dl_observations rows = dl_observations_of(&g->sample);
  dl_hierarchical_problem_make(&q, h->physics, &rows);
  struct job job = {.q = &q, .h = h};
  struct dl_full_solution own = {0};
  struct dl_full_solution *full = g->sample.full ? g->sample.full : &own;
  status = dl_full_solution_get(full, &q, true, d);
  job.full = full;
  job.n_starts = h->auxiliary && h->k >= MANY_AUXILIARY ? STARTS : 0;
  const struct dl_folds starts = {.k = job.n_starts};
  if (status == DL_OK && job.n_starts > 0)
    status = dl_each_fold(&starts, run_start, &job, d);
  if (status == DL_OK)
    status = dl_each_fold(folds, run_fold, &job, d);
  for (size_t i = 0; i < job.n_starts; i++)
    dl_hierarchical_solution_free(&job.start[i]);
  dl_full_solution_free(&own);
  dl_hierarchical_problem_free(&q);
  return status;
}

static bool is_same(const struct dl_held_out *h, const struct dl_physics *of,
                    bool auxiliary, const struct dl_folds *folds) {
  return h->physics == of && h->auxiliary == auxiliary && h->n == folds->n &&
         h->k == folds->k &&
         memcmp(h->of_row, folds->of_row, h->n * sizeof *h->of_row) == 0;
}

enum dl_status dl_held_out_get(struct dl_held_out_use *use,
                               const struct dl_training *t,
                               const struct dl_design *g,
                               const struct dl_folds *folds, bool auxiliary,
                               struct dl_diag *d) {
  bool keep = t->cache && (!g->w || t->means);
  use->own = NULL;
  for (use->h = keep ? t->cache->held_out : NULL; use->h; use->h = use->h->next)
    if (is_same(use->h, g->physics, auxiliary, folds))
      return DL_OK;
  struct dl_held_out *h = dl_calloc(1, sizeof *h);
  *h = (struct dl_held_out){
      .physics = g->physics,
      .auxiliary = auxiliary,
      .n = folds->n,
      .k = folds->k,
      .of_row = dl_calloc(folds->n, sizeof *h->of_row),
      .y = dl_calloc(folds->n * g->physics->n_targets, sizeof *h->y)};
  memcpy(h->of_row, folds->of_row, folds->n * sizeof *h->of_row);
  enum dl_status status = hold_out(h, g, folds, d);
  if (status != DL_OK) {
    dl_held_out_free(h);
    return status;
  }
  use->h = h;
  if (keep) {
    h->next = t->cache->held_out;
    t->cache->held_out = h;
  } else {
    use->own = h;
  }
  return DL_OK;
}

static enum dl_status predict_physics(struct dl_cv *cv,
                                      const struct dl_training *t,
                                      const struct dl_design *g,
                                      const struct dl_folds *folds,
                                      struct dl_diag *d) {
  struct dl_held_out_use use;
  enum dl_status status = dl_held_out_get(&use, t, g, folds, false, d);
  if (status != DL_OK)
    return status;
  cv->prediction = dl_calloc(folds->n, sizeof *cv->prediction);
  for (size_t i = 0; i < folds->n; i++)
    cv->prediction[i] = exp(use.h->y[i * g->physics->n_targets + g->target]);
  dl_held_out_free(use.own);
  return DL_OK;
}

enum dl_status
dl_cross_validate_design(struct dl_cv *cv, const struct dl_training *t,
                         const struct dl_design *g, const double *hyper,
                         const struct dl_folds *folds, struct dl_diag *d) {
  size_t *of_row;
  struct dl_folds sets = dl_folds_in_sets(folds, &of_row);
  *cv = (struct dl_cv){0};
  enum dl_status status =
      g->physics
          ? predict_physics(cv, t, g, &sets, d)
          : dl_cross_validate(cv, &g->problem, g->method, hyper, &sets, d);
  if (status == DL_OK && (sets.k < folds->k || g->physics))
    dl_cv_score(cv, &g->problem, folds);
  free(of_row);
  if (status != DL_OK)
    dl_cv_free(cv);
  return status;
}
