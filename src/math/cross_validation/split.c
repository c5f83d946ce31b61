/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/cross_validation/split.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/numeric/equal_rows.h"
#include "math/numeric/scoped_gsl.h"
#include "math/regression/scale.h"

static enum dl_status check(const struct dl_design *p,
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
static enum dl_status transform(gsl_vector *t, const struct dl_design *p,
                                struct dl_diag *d) {
  for (size_t i = 0; i < t->size; i++) {
    double y = gsl_vector_get(p->y, i);
    if (p->log_target && !(y > 0))
      return dl_fail(d, DL_EINPUT, "row %zu: target %g has no logarithm", i + 1,
                     y);
    if (p->log_target)
      y = log(y);
    gsl_vector_set(t, i, p->offset ? y - gsl_vector_get(p->offset, i) : y);
  }
  return DL_OK;
}

static void free_own(struct dl_fold_fits *fits) {
  gsl_vector_free(fits->t);
  free(fits->of_row);
  fits->t = NULL;
  fits->of_row = NULL;
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

/* Checks the shapes. Equal training rows may become one with the mean of their
 * targets and the sum of their weights, and equal test rows one: exact for
 * least squares with a given penalty, which then costs what the distinct rows
 * cost. */
static enum dl_status prepare(struct dl_fold_fits *fits, struct dl_diag *d) {
  const struct dl_design *g = fits->design;
  DL_TRY(check(g, fits->folds, d));
  fits->t = gsl_vector_alloc(g->y->size);
  if (can_collapse(fits)) {
    fits->of_row = dl_calloc(g->X->size1, sizeof *fits->of_row);
    fits->n_distinct = dl_number_distinct(g->X, fits->of_row);
  }
  return transform(fits->t, g, d);
}

/* Numbers the rows by first appearance on their side, at[i] in X_train or
 * X_test, and allocates both sides; n_test is the number of test rows before
 * they are collapsed. */
static void allocate(struct dl_split *s, size_t *at,
                     const struct dl_fold_fits *fits, size_t fold,
                     size_t n_test) {
  size_t features = fits->design->X->size2, count[2] = {0, 0}; /* train, test */
  DL_FREED size_t *met = dl_calloc(2 * fits->n_distinct, sizeof *met);
  for (size_t i = 0; i < fits->folds->n; i++) {
    bool is_test = fits->folds->of_row[i] == fold;
    size_t *k = &count[is_test];
    if (!fits->of_row) {
      at[i] = (*k)++;
      continue;
    }
    /* 0: not met yet, else the number plus 1 */
    size_t *its = &met[is_test * fits->n_distinct + fits->of_row[i]];
    if (!*its)
      *its = ++*k;
    at[i] = *its - 1;
  }
  s->X_train = gsl_matrix_alloc(count[0], features);
  s->X_test = gsl_matrix_alloc(count[1], features);
  s->t_train = gsl_vector_calloc(count[0]);
  s->test_row = dl_calloc(n_test, sizeof *s->test_row);
  s->test_at = dl_calloc(n_test, sizeof *s->test_at);
  if (fits->design->w || fits->of_row)
    s->w_train = gsl_vector_calloc(count[0]);
}

/* Copies the rows of the design to the two sides; t_train holds weighted sums
 * where rows are collapsed. */
static void deal(struct dl_split *s, const size_t *place,
                 const struct dl_fold_fits *fits, size_t fold) {
  const struct dl_design *from = fits->design;
  for (size_t i = 0; i < fits->folds->n; i++) {
    bool is_test = fits->folds->of_row[i] == fold;
    size_t at = place[i];
    double *x = gsl_matrix_ptr(is_test ? s->X_test : s->X_train, at, 0);
    for (size_t j = 0; j < from->X->size2; j++)
      x[j] = gsl_matrix_get(from->X, i, j);
    if (is_test) {
      s->test_row[s->n_test] = i;
      s->test_at[s->n_test++] = at;
      continue;
    }
    double w = from->w ? gsl_vector_get(from->w, i) : 1;
    double t = gsl_vector_get(fits->t, i);
    if (s->w_train)
      *gsl_vector_ptr(s->w_train, at) += w;
    *gsl_vector_ptr(s->t_train, at) += fits->of_row ? w * t : t;
  }
  if (fits->of_row)
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
                                 const struct dl_fold_fits *fits, size_t fold,
                                 struct dl_diag *d) {
  size_t n = fits->folds->n, n_test = 0;
  *s = (struct dl_split){0};
  for (size_t i = 0; i < n; i++)
    n_test += fits->folds->of_row[i] == fold;
  if (n_test == 0 || n_test == n)
    return dl_fail(d, DL_EFAILED, "has %zu of %zu rows", n_test, n);
  DL_FREED size_t *at = dl_calloc(n, sizeof *at);
  allocate(s, at, fits, fold, n_test);
  deal(s, at, fits, fold);
  if (fits->design->scale)
    standardise(s);
  return DL_OK;
}

static enum dl_status fit_one_by_one(const struct dl_fold_fits *fits,
                                     const struct dl_design *train,
                                     const gsl_matrix *X_test, gsl_matrix *F,
                                     struct dl_diag *d) {
  const struct dl_regression *r = fits->method;
  enum dl_status status = DL_OK;
  for (size_t i = 0; !status && i < F->size1; i++) {
    double hyper[DL_MAX_HYPER] = {0};
    for (size_t j = 0; j < r->n_hyper; j++)
      hyper[j] = gsl_matrix_get(fits->H, i, j);
    void *state = NULL;
    gsl_vector_view row = gsl_matrix_row(F, i);
    status = r->fit(r, &state, train, hyper, d);
    if (!status)
      status = r->predict(state, X_test, &row.vector, d);
    r->free(state);
  }
  return status;
}

static enum dl_status fit_fold(void *fits_at, size_t fold, struct dl_diag *d) {
  const struct dl_fold_fits *fits = fits_at;
  DL_SCOPED(split_free) struct dl_split s = {0};
  DL_TRY(split_make(&s, fits, fold, d));
  const struct dl_design train = {.X = s.X_train,
                                  .y = s.t_train,
                                  .w = s.w_train,
                                  .names = fits->design->names};
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *F = gsl_matrix_alloc(fits->H->size1, s.X_test->size1);
  if (fits->method->sweep && !fits->one_by_one)
    DL_TRY(fits->method->sweep(&train, fits->H, s.X_test, F, d));
  else
    DL_TRY(fit_one_by_one(fits, &train, s.X_test, F, d));
  fits->take(fits, fold, &s, F);
  return DL_OK;
}

enum dl_status dl_fit_folds(struct dl_fold_fits *fits, struct dl_diag *d) {
  const struct dl_regression *r = fits->method;
  if (fits->H->size2 != r->n_hyper)
    return dl_fail(d, DL_EFAILED,
                   "candidates have %zu columns but %s has %zu "
                   "hyper-parameters",
                   fits->H->size2, r->name, r->n_hyper);
  enum dl_status status = prepare(fits, d);
  if (status == DL_OK)
    status = dl_each_fold(fits->folds, fit_fold, fits, d);
  free_own(fits);
  return status;
}
