/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/cross_validation/split.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"
#include "math/regression/scale.h"

static enum dl_status check(const struct dl_problem *p,
                            const struct dl_folds *folds, struct dl_diag *d) {
  size_t n = p->X ? p->X->size1 : p->y->size;
  if (p->y->size != n || (p->w && p->w->size != n) ||
      (p->offset && p->offset->size != n))
    return dl_fail(d, DL_EFAILED,
                   "design has %zu rows but targets, weights or offsets have "
                   "not",
                   n);
  if (folds->n != n)
    return dl_fail(d, DL_EFAILED, "design has %zu rows but the folds %zu", n,
                   folds->n);
  return DL_OK;
}

/* The transformed targets. */
static enum dl_status transform(gsl_vector *t, const struct dl_problem *p,
                                struct dl_diag *d) {
  for (size_t i = 0; i < t->size; i++) {
    double y = gsl_vector_get(p->y, i);
    if (p->log_target && !(y > 0))
      return dl_fail(d, DL_EINPUT, "row %zu: target %g has no logarithm", i + 1,
                     y);
    gsl_vector_set(t, i,
                   (p->log_target ? log(y) : y) -
                       (p->offset ? gsl_vector_get(p->offset, i) : 0));
  }
  return DL_OK;
}

static void splitter_free(struct dl_splitter *c) {
  gsl_vector_free(c->t);
  dl_distinct_free(&c->same);
  c->t = NULL;
}

/* Checks the shapes. With `collapse` equal training rows become one with the
 * mean of their targets and the sum of their weights, and equal test rows
 * one: exact for least squares with a given penalty, which then costs what
 * the distinct rows cost. */
static enum dl_status splitter_make(struct dl_splitter *c,
                                    const struct dl_problem *p,
                                    const struct dl_folds *folds, bool collapse,
                                    struct dl_diag *d) {
  *c = (struct dl_splitter){.problem = p, .folds = folds};
  DL_TRY(check(p, folds, d));
  c->t = gsl_vector_alloc(p->y->size);
  if (collapse)
    dl_distinct_make(&c->same, p->X);
  enum dl_status status = transform(c->t, p, d);
  if (status)
    splitter_free(c);
  return status;
}

/* How many rows of X_train and X_test there are, and which each row of the
 * problem goes to. */
struct places {
  size_t *at; /* n, owned */
  size_t n_train, n_test, n_rows_test;
};

/* Rows are numbered by first appearance on their side. */
static void find_places(struct places *p, const struct dl_splitter *c,
                        size_t fold) {
  const size_t *of_row = c->same.of_row;
  size_t n = c->folds->n, m = of_row ? c->same.X->size1 : 0;
  DL_FREED size_t *train = dl_calloc(m, sizeof *train);
  DL_FREED size_t *test = dl_calloc(m, sizeof *test);
  *p = (struct places){.at = dl_calloc(n, sizeof *p->at)};
  for (size_t i = 0; i < n; i++) {
    bool is_test = c->folds->of_row[i] == fold;
    size_t *count = is_test ? &p->n_test : &p->n_train;
    /* 0: not met yet, else the number plus 1 */
    size_t *met = of_row ? (is_test ? test : train) + of_row[i] : NULL;
    p->n_rows_test += is_test;
    if (met && !*met)
      *met = ++*count;
    p->at[i] = met ? *met - 1 : (*count)++;
  }
}

static void allocate(struct dl_split *s, const struct places *p,
                     const struct dl_splitter *c) {
  size_t features = c->problem->X->size2;
  s->X_train = gsl_matrix_alloc(p->n_train, features);
  s->X_test = gsl_matrix_alloc(p->n_test, features);
  s->t_train = gsl_vector_calloc(p->n_train);
  s->test_row = dl_calloc(p->n_rows_test, sizeof *s->test_row);
  s->test_at = dl_calloc(p->n_rows_test, sizeof *s->test_at);
  if (c->problem->w || c->same.of_row)
    s->w_train = gsl_vector_calloc(p->n_train);
}

/* Rows of the problem to the two sides; t_train holds weighted sums where
 * rows are collapsed. */
static void deal(struct dl_split *s, const struct places *p,
                 const struct dl_splitter *c, size_t fold) {
  const struct dl_problem *from = c->problem;
  for (size_t i = 0; i < c->folds->n; i++) {
    bool is_test = c->folds->of_row[i] == fold;
    size_t at = p->at[i];
    double *x = gsl_matrix_ptr(is_test ? s->X_test : s->X_train, at, 0);
    for (size_t j = 0; j < from->X->size2; j++)
      x[j] = gsl_matrix_get(from->X, i, j);
    if (is_test) {
      s->test_row[s->n_test] = i;
      s->test_at[s->n_test++] = at;
      continue;
    }
    double w = from->w ? gsl_vector_get(from->w, i) : 1;
    double t = gsl_vector_get(c->t, i);
    if (s->w_train)
      *gsl_vector_ptr(s->w_train, at) += w;
    *gsl_vector_ptr(s->t_train, at) += c->same.of_row ? w * t : t;
  }
  if (c->same.of_row)
    gsl_vector_div(s->t_train, s->w_train);
}

static void standardise(struct dl_split *s) {
  struct dl_scale scale;
  dl_scale_fit(&scale, s->X_train, s->w_train);
  dl_scale_apply(&scale, s->X_train);
  dl_scale_apply(&scale, s->X_test);
  dl_scale_free(&scale);
}

static void split_free(struct dl_split *s) {
  gsl_matrix_free(s->X_train);
  gsl_matrix_free(s->X_test);
  gsl_vector_free(s->t_train);
  gsl_vector_free(s->w_train);
  free(s->test_row);
  free(s->test_at);
  *s = (struct dl_split){0};
}

static enum dl_status split_make(struct dl_split *s,
                                 const struct dl_splitter *c, size_t fold,
                                 struct dl_diag *d) {
  struct places p;
  *s = (struct dl_split){0};
  enum dl_status status = DL_OK;
  find_places(&p, c, fold);
  if (p.n_rows_test == 0 || p.n_rows_test == c->folds->n) {
    status = dl_fail(d, DL_EFAILED, "has %zu of %zu rows", p.n_rows_test,
                     c->folds->n);
  } else {
    allocate(s, &p, c);
    deal(s, &p, c, fold);
    if (c->problem->scale)
      standardise(s);
  }
  free(p.at);
  return status;
}

/* Hands over what fold reported. Warnings go without the fold's number, so
 * that one which comes in every fold is shown once. */
static void merge(struct dl_diag *d, const struct dl_diag *from,
                  enum dl_status status, const struct dl_folds *folds,
                  size_t fold) {
  dl_diag_take_warnings(d, from);
  if (!status)
    return;
  const char *reason = from->error ? from->error : "failed";
  if (folds->name)
    dl_fail(d, status, "fold '%s': %s", folds->name[fold], reason);
  else
    dl_fail(d, status, "fold %zu: %s", fold + 1, reason);
}

enum dl_status dl_each_fold(const struct dl_folds *folds, dl_fold_fn *work,
                            void *ctx, struct dl_diag *d) {
  DL_FREED struct dl_diag *own = dl_calloc(folds->k, sizeof *own);
  DL_FREED enum dl_status *status = dl_calloc(folds->k, sizeof *status);
  enum dl_status result = DL_OK;
  size_t done = 0;
#pragma omp parallel for schedule(dynamic)
  for (size_t fold = 0; fold < folds->k; fold++) {
    size_t so_far;
    status[fold] = work(ctx, fold, &own[fold]);
#pragma omp atomic capture
    so_far = ++done;
    dl_progress_step(d->progress, (double)so_far / (double)folds->k);
  }
  for (size_t fold = 0; fold < folds->k; fold++) {
    merge(d, &own[fold], status[fold], folds, fold);
    if (!result)
      result = status[fold];
    dl_diag_free(&own[fold]);
  }
  return result;
}

/* What the folds share. */
struct job {
  const struct dl_fold_fits *fits;
  struct dl_splitter splitter;
};

static enum dl_status fit_one_by_one(const struct job *job,
                                     const struct dl_sample *train,
                                     const gsl_matrix *X_test, gsl_matrix *F,
                                     struct dl_diag *d) {
  const struct dl_regression *r = job->fits->method;
  enum dl_status status = DL_OK;
  for (size_t i = 0; !status && i < F->size1; i++) {
    double hyper[DL_MAX_HYPER] = {0};
    for (size_t j = 0; j < r->n_hyper; j++)
      hyper[j] = gsl_matrix_get(job->fits->H, i, j);
    void *state = NULL;
    gsl_vector_view row = gsl_matrix_row(F, i);
    status = r->fit(r, &state, train, hyper, d);
    if (!status)
      status = r->predict(state, X_test, &row.vector, d);
    r->free(state);
  }
  return status;
}

static enum dl_status fit_fold(void *ctx, size_t fold, struct dl_diag *d) {
  const struct job *job = ctx;
  const struct dl_fold_fits *fits = job->fits;
  DL_SCOPED(split_free) struct dl_split s = {0};
  DL_TRY(split_make(&s, &job->splitter, fold, d));
  const struct dl_sample train = {.X = s.X_train,
                                  .y = s.t_train,
                                  .w = s.w_train,
                                  .names = job->splitter.problem->names};
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *F = gsl_matrix_alloc(fits->H->size1, s.X_test->size1);
  if (fits->method->sweep && !fits->one_by_one)
    DL_TRY(fits->method->sweep(&train, fits->H, s.X_test, F, d));
  else
    DL_TRY(fit_one_by_one(job, &train, s.X_test, F, d));
  fits->take(fits->ctx, &job->splitter, fold, &s, F);
  return DL_OK;
}

/* Whether equal rows may become one: the method shares work between settings,
 * which the spread of equal rows does not enter, and chooses none itself. */
static bool can_collapse(const struct dl_fold_fits *fits) {
  bool settled = fits->method->sweep;
  for (size_t i = 0; i < fits->H->size1; i++)
    for (size_t j = 0; j < fits->H->size2; j++)
      settled = settled && !isnan(gsl_matrix_get(fits->H, i, j));
  return settled;
}

enum dl_status dl_fit_folds(const struct dl_fold_fits *fits,
                            const struct dl_problem *p,
                            const struct dl_folds *folds, struct dl_diag *d) {
  const struct dl_regression *r = fits->method;
  struct job job = {.fits = fits};
  if (fits->H->size2 != r->n_hyper)
    return dl_fail(d, DL_EFAILED,
                   "candidates have %zu columns but %s has %zu "
                   "hyper-parameters",
                   fits->H->size2, r->name, r->n_hyper);
  DL_TRY(splitter_make(&job.splitter, p, folds, can_collapse(fits), d));
  enum dl_status status = dl_each_fold(folds, fit_fold, &job, d);
  splitter_free(&job.splitter);
  return status;
}
