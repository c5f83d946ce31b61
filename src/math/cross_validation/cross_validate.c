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

/* Keeps the predictions of t as predictions of y. */
static void take_predictions(void *ctx, const struct dl_splitter *c,
                             size_t fold, const struct dl_split *s,
                             const gsl_matrix *F) {
  struct dl_cv *cv = ctx;
  const struct dl_problem *p = c->problem;
  (void)fold;
  for (size_t k = 0; k < s->n_test; k++) {
    size_t row = s->test_row[k];
    double t = gsl_matrix_get(F, 0, s->test_at[k]) +
               (p->offset ? gsl_vector_get(p->offset, row) : 0);
    cv->prediction[row] = p->log_target ? exp(t) : t;
  }
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

void dl_cv_score(struct dl_cv *cv, const struct dl_problem *p,
                 const struct dl_folds *folds) {
  size_t n = folds->n, *row, *first;
  DL_FREED double *y = dl_calloc(n, sizeof *y); /* by fold */
  DL_FREED double *f = dl_calloc(n, sizeof *f);
  DL_FREED double *w = p->w ? dl_calloc(n, sizeof *w) : NULL;
  dl_list_by_group(folds->of_row, n, folds->k, &row, &first);
  for (size_t i = 0; i < n; i++) {
    y[i] = gsl_vector_get(p->y, row[i]);
    f[i] = cv->prediction[row[i]];
    if (w)
      w[i] = gsl_vector_get(p->w, row[i]);
  }
  free(cv->fold);
  cv->k = folds->k;
  cv->fold = dl_calloc(folds->k, sizeof *cv->fold);
  for (size_t k = 0; k < folds->k; k++)
    dl_score(&cv->fold[k], y + first[k], f + first[k], w ? w + first[k] : NULL,
             first[k + 1] - first[k]);
  average(cv);
  dl_score(&cv->pooled, y, f, w, n);
  free(row);
}

enum dl_status dl_cross_validate(struct dl_cv *cv, const struct dl_problem *p,
                                 const struct dl_regression *r,
                                 const double *hyper,
                                 const struct dl_folds *folds,
                                 struct dl_diag *d) {
  double one[DL_MAX_HYPER] = {0};
  for (size_t i = 0; i < r->n_hyper; i++)
    one[i] = hyper[i];
  const gsl_matrix H = {
      .size1 = 1, .size2 = r->n_hyper, .tda = r->n_hyper, .data = one};
  *cv =
      (struct dl_cv){.prediction = dl_calloc(folds->n, sizeof *cv->prediction)};
  const struct dl_fold_fits fits = {.method = r,
                                    .H = &H,
                                    .one_by_one = true,
                                    .take = take_predictions,
                                    .ctx = cv};
  enum dl_status status = dl_fit_folds(&fits, p, folds, d);
  if (status)
    dl_cv_free(cv);
  else
    dl_cv_score(cv, p, folds);
  return status;
}
