/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/cross_validation/split.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/regression/scale.h"

enum dl_status dl_problem_check(const struct dl_problem *p,
                                const struct dl_folds *folds,
                                struct dl_diag *d) {
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

gsl_vector *dl_problem_target(const struct dl_problem *p, struct dl_diag *d) {
  gsl_vector *t = gsl_vector_alloc(p->y->size);
  if (!t) {
    dl_fail_memory(d);
    return NULL;
  }
  for (size_t i = 0; i < t->size; i++) {
    double y = gsl_vector_get(p->y, i);
    if (p->log_target && !(y > 0)) {
      dl_fail(d, DL_EINPUT, "row %zu: target %g has no logarithm", i + 1, y);
      gsl_vector_free(t);
      return NULL;
    }
    gsl_vector_set(t, i,
                   (p->log_target ? log(y) : y) -
                       (p->offset ? gsl_vector_get(p->offset, i) : 0));
  }
  return t;
}

static bool allocate(struct dl_split *s, size_t train, size_t test,
                     const struct dl_problem *p) {
  s->X_train = gsl_matrix_alloc(train, p->X->size2);
  s->X_test = gsl_matrix_alloc(test, p->X->size2);
  s->t_train = gsl_vector_alloc(train);
  s->t_test = gsl_vector_alloc(test);
  s->test_row = dl_calloc(test, sizeof *s->test_row);
  if (p->w) {
    s->w_train = gsl_vector_alloc(train);
    s->w_test = gsl_vector_alloc(test);
  }
  return s->X_train && s->X_test && s->t_train && s->t_test && s->test_row &&
         (!p->w || (s->w_train && s->w_test));
}

/* Row i of the problem becomes row k of one of the two sides. */
static void copy_row(struct dl_split *s, bool test, size_t k,
                     const struct dl_problem *p, size_t i, double target) {
  gsl_matrix *X = test ? s->X_test : s->X_train;
  gsl_vector *w = test ? s->w_test : s->w_train;
  for (size_t j = 0; j < X->size2; j++)
    gsl_matrix_set(X, k, j, gsl_matrix_get(p->X, i, j));
  gsl_vector_set(test ? s->t_test : s->t_train, k, target);
  if (w)
    gsl_vector_set(w, k, gsl_vector_get(p->w, i));
}

static bool standardise(struct dl_split *s) {
  struct dl_scale scale;
  if (!dl_scale_fit(&scale, s->X_train, s->w_train))
    return false;
  dl_scale_apply(&scale, s->X_train);
  dl_scale_apply(&scale, s->X_test);
  dl_scale_free(&scale);
  return true;
}

enum dl_status dl_split_make(struct dl_split *s, const struct dl_problem *p,
                             const gsl_vector *t, const struct dl_folds *folds,
                             size_t fold, struct dl_diag *d) {
  *s = (struct dl_split){0};
  size_t test = 0;
  for (size_t i = 0; i < folds->n; i++)
    test += folds->of_row[i] == fold;
  if (test == 0 || test == folds->n)
    return dl_fail(d, DL_EFAILED, "has %zu of %zu rows", test, folds->n);
  if (!allocate(s, folds->n - test, test, p)) {
    dl_split_free(s);
    return dl_fail_memory(d);
  }
  size_t n_train = 0;
  for (size_t i = 0; i < folds->n; i++) {
    bool is_test = folds->of_row[i] == fold;
    if (is_test)
      s->test_row[s->n_test] = i;
    copy_row(s, is_test, is_test ? s->n_test++ : n_train++, p, i,
             gsl_vector_get(t, i));
  }
  if (p->scale && !standardise(s)) {
    dl_split_free(s);
    return dl_fail_memory(d);
  }
  return DL_OK;
}

void dl_split_free(struct dl_split *s) {
  gsl_matrix_free(s->X_train);
  gsl_matrix_free(s->X_test);
  gsl_vector_free(s->t_train);
  gsl_vector_free(s->t_test);
  gsl_vector_free(s->w_train);
  gsl_vector_free(s->w_test);
  free(s->test_row);
  *s = (struct dl_split){0};
}

/* Hands over what fold reported. Warnings go without the fold's number, so
 * that one which comes in every fold is shown once. */
static void merge(struct dl_diag *d, const struct dl_diag *from,
                  enum dl_status status, const struct dl_folds *folds,
                  size_t fold) {
  for (size_t i = 0; i < from->n_warnings; i++)
    dl_warn(d, "%s", from->warnings[i]);
  d->n_more += from->n_more;
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
  struct dl_diag *own = dl_calloc(folds->k, sizeof *own);
  enum dl_status *status = dl_calloc(folds->k, sizeof *status);
  enum dl_status result = own && status ? DL_OK : dl_fail_memory(d);
  if (!result) {
#pragma omp parallel for schedule(dynamic)
    for (size_t fold = 0; fold < folds->k; fold++) {
      dl_diag_init(&own[fold]);
      status[fold] = work(ctx, fold, &own[fold]);
    }
    for (size_t fold = 0; fold < folds->k; fold++) {
      merge(d, &own[fold], status[fold], folds, fold);
      if (!result)
        result = status[fold];
      dl_diag_free(&own[fold]);
    }
  }
  free(own);
  free(status);
  return result;
}
