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
  const struct dl_problem *problem;
  const struct dl_regression *method;
  const double *hyper;
  const struct dl_folds *folds;
  const gsl_vector *target;
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
                                 .names = job->problem->names,
                                 .rows = s->rows_train,
                                 .n_rows = s->n_train};
  void *state = NULL;
  enum dl_status status = r->fit(&state, &data, hyper, d);
  if (!status && s->rows_test)
    status = r->predict_rows(state, s->rows_test, out, d);
  else if (!status)
    status = r->predict(state, s->X_test, out, d);
  r->free(state);
  return status;
}

/* Scores the fold on the scale of y; y and f have room for its rows. */
static int score_fold(struct job *job, size_t fold, const struct dl_split *s,
                      const gsl_vector *t, double *y, double *f) {
  for (size_t k = 0; k < s->n_test; k++) {
    size_t row = s->test_row[k];
    y[k] = gsl_vector_get(job->problem->y, row);
    f[k] = back(job->problem, row, gsl_vector_get(t, k));
    job->cv->prediction[row] = f[k];
  }
  return dl_score(&job->cv->fold[fold], y, f,
                  s->w_test ? s->w_test->data : NULL, s->n_test);
}

static enum dl_status run_fold(void *ctx, size_t fold, struct dl_diag *d) {
  struct job *job = ctx;
  struct dl_split s;
  enum dl_status status =
      dl_split_make(&s, job->problem, job->target, job->folds, fold, d);
  if (status)
    return status;
  gsl_vector *t = gsl_vector_alloc(s.n_test);
  double *y = dl_calloc(s.n_test, sizeof *y);
  double *f = dl_calloc(s.n_test, sizeof *f);
  if (!t || !y || !f)
    status = dl_fail_memory(d);
  else
    status = fit_predict(job, &s, t, d);
  if (!status && score_fold(job, fold, &s, t, y, f))
    status = dl_fail_memory(d);
  gsl_vector_free(t);
  free(y);
  free(f);
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

/* A copy without stride; NULL when memory is out. */
static double *plain_copy(const gsl_vector *v) {
  double *copy = dl_calloc(v->size, sizeof *copy);
  for (size_t i = 0; copy && i < v->size; i++)
    copy[i] = gsl_vector_get(v, i);
  return copy;
}

static enum dl_status pool(struct dl_cv *cv, const struct dl_problem *p,
                           struct dl_diag *d) {
  double *y = plain_copy(p->y);
  double *w = p->w ? plain_copy(p->w) : NULL;
  bool ok = y && (w || !p->w) &&
            dl_score(&cv->pooled, y, cv->prediction, w, p->y->size) == 0;
  free(y);
  free(w);
  return ok ? DL_OK : dl_fail_memory(d);
}

enum dl_status dl_cross_validate(struct dl_cv *cv, const struct dl_problem *p,
                                 const struct dl_regression *r,
                                 const double *hyper,
                                 const struct dl_folds *folds,
                                 struct dl_diag *d) {
  *cv = (struct dl_cv){.k = folds->k};
  enum dl_status status = dl_problem_check(p, folds, d);
  if (status)
    return status;
  gsl_vector *target = dl_problem_target(p, d);
  if (!target)
    return d->status;
  struct job job = {cv, p, r, hyper, folds, target};
  cv->fold = dl_calloc(folds->k, sizeof *cv->fold);
  cv->prediction = dl_calloc(folds->n, sizeof *cv->prediction);
  if (!cv->fold || !cv->prediction)
    status = dl_fail_memory(d);
  else
    status = dl_each_fold(folds, run_fold, &job, d);
  if (!status) {
    average(cv);
    status = pool(cv, p, d);
  }
  gsl_vector_free(target);
  if (status)
    dl_cv_free(cv);
  return status;
}
