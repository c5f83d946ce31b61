/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-validation: each fold is predicted by a model fitted on the others.
 * Everything that is learned from data, the standardisation included, is
 * learned on the training rows of the fold. */

#include "math/cross_validation/cross_validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/cross_validation/split.h"
#include "math/numeric/scoped_gsl.h"

void dl_cv_free(struct dl_cv *cv) {
  if (!cv)
    return;
  free(cv->fold);
  free(cv->prediction);
  *cv = (struct dl_cv){0};
}

/* Shared by the folds; each writes to its own elements of cv only. */
struct job {
  struct dl_cv *cv;
  const struct dl_regression *method;
  const double *hyper;
  struct dl_splitter splitter;
};

/* Predictions of t to predictions of y. */
static double back(const struct dl_problem *p, size_t row, double t) {
  double shifted = t + (p->offset ? gsl_vector_get(p->offset, row) : 0);
  return p->log_target ? exp(shifted) : shifted;
}

/* Fits on the training rows and predicts t for the test rows. */
static enum dl_status fit_predict(const struct job *job,
                                  const struct dl_split *s, gsl_vector *out,
                                  struct dl_diag *d) {
  const struct dl_regression *r = job->method;
  double hyper[DL_MAX_HYPER] = {0};
  for (size_t i = 0; i < r->n_hyper; i++)
    hyper[i] = job->hyper[i];
  const struct dl_sample data = {.X = s->X_train,
                                 .y = s->t_train,
                                 .w = s->w_train,
                                 .names = job->splitter.problem->names};
  void *state = NULL;
  enum dl_status status = r->fit(r, &state, &data, hyper, d);
  if (!status)
    status = r->predict(state, s->X_test, out, d);
  r->free(state);
  return status;
}

static enum dl_status run_fold(void *ctx, size_t fold, struct dl_diag *d) {
  struct job *job = ctx;
  struct dl_split s;
  enum dl_status status = dl_split_make(&s, &job->splitter, fold, d);
  if (status)
    return status;
  DL_SCOPED(gsl_vector_free_local)
  gsl_vector *t = gsl_vector_alloc(s.X_test->size1);
  status = fit_predict(job, &s, t, d);
  for (size_t k = 0; !status && k < s.n_test; k++)
    job->cv->prediction[s.test_row[k]] = back(
        job->splitter.problem, s.test_row[k], gsl_vector_get(t, s.test_at[k]));
  dl_split_free(&s);
  return status;
}

static void average(struct dl_cv *cv) {
  struct dl_scores sum = {0};
  double k = (double)cv->k;
  for (size_t i = 0; i < cv->k; i++) {
    const struct dl_scores *s = &cv->fold[i];
    sum.n += s->n;
    sum.r2 += s->r2;
    sum.rmse += s->rmse;
    sum.mae += s->mae;
    sum.mape += s->mape;
    sum.median_ape += s->median_ape;
    sum.bias += s->bias;
  }
  cv->mean = (struct dl_scores){.n = sum.n,
                                .r2 = sum.r2 / k,
                                .rmse = sum.rmse / k,
                                .mae = sum.mae / k,
                                .mape = sum.mape / k,
                                .median_ape = sum.median_ape / k,
                                .bias = sum.bias / k};
}

/* Measured values, predictions and weights, sorted by fold. */
struct scored {
  double *y, *f, *w; /* w: NULL without weights */
  size_t *end;       /* k: behind the rows of each fold */
};

static void sort_by_fold(struct scored *s, const struct dl_cv *cv,
                         const struct dl_problem *p,
                         const struct dl_folds *folds) {
  s->y = dl_calloc(folds->n, sizeof *s->y);
  s->f = dl_calloc(folds->n, sizeof *s->f);
  s->w = p->w ? dl_calloc(folds->n, sizeof *s->w) : NULL;
  s->end = dl_calloc(folds->k + 1, sizeof *s->end);
  for (size_t i = 0; i < folds->n; i++)
    s->end[folds->of_row[i] + 1]++;
  for (size_t k = 0; k < folds->k; k++)
    s->end[k + 1] += s->end[k];
  for (size_t i = 0; i < folds->n; i++) {
    size_t at = s->end[folds->of_row[i]]++;
    s->y[at] = gsl_vector_get(p->y, i);
    s->f[at] = cv->prediction[i];
    if (s->w)
      s->w[at] = gsl_vector_get(p->w, i);
  }
}

void dl_cv_score(struct dl_cv *cv, const struct dl_problem *p,
                 const struct dl_folds *folds) {
  struct scored s;
  free(cv->fold);
  cv->k = folds->k;
  cv->fold = dl_calloc(folds->k, sizeof *cv->fold);
  sort_by_fold(&s, cv, p, folds);
  for (size_t k = 0, first = 0; k < folds->k; first = s.end[k++])
    dl_score(&cv->fold[k], s.y + first, s.f + first, s.w ? s.w + first : NULL,
             s.end[k] - first);
  average(cv);
  dl_score(&cv->pooled, s.y, s.f, s.w, folds->n);
  free(s.y);
  free(s.f);
  free(s.w);
  free(s.end);
}

/* Whether equal rows may become one: the method shares work between settings,
 * which the spread of equal rows does not enter, and chooses none itself. */
static bool can_collapse(const struct dl_regression *r, const double *hyper) {
  bool settled = r->sweep;
  for (size_t i = 0; i < r->n_hyper; i++)
    settled = settled && !isnan(hyper[i]);
  return settled;
}

enum dl_status dl_cross_validate(struct dl_cv *cv, const struct dl_problem *p,
                                 const struct dl_regression *r,
                                 const double *hyper,
                                 const struct dl_folds *folds,
                                 struct dl_diag *d) {
  *cv = (struct dl_cv){0};
  struct job job = {cv, r, hyper, {0}};
  enum dl_status status =
      dl_splitter_make(&job.splitter, p, folds, can_collapse(r, hyper), d);
  if (status)
    return status;
  cv->prediction = dl_calloc(folds->n, sizeof *cv->prediction);
  status = dl_each_fold(folds, run_fold, &job, d);
  if (!status)
    dl_cv_score(cv, p, folds);
  dl_splitter_free(&job.splitter);
  if (status)
    dl_cv_free(cv);
  return status;
}
