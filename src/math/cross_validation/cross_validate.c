/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-validation, and the search for hyper-parameters by it: each fold is
 * predicted by a model fitted on the others. Everything that is learned from
 * data, the standardisation included, is learned on the training rows of the
 * fold. */

#include "math/cross_validation/cross_validate.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdint.h>
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

/* Keeps the predictions of t as predictions of y. */
static void take_predictions(const struct dl_fold_fits *fits, size_t fold,
                             const struct dl_split *s, const gsl_matrix *F) {
  const struct dl_design *g = fits->design;
  (void)fold;
  for (size_t k = 0; k < s->n_test; k++) {
    size_t row = s->test_row[k];
    double t = gsl_matrix_get(F, 0, s->test_at[k]) +
               (g->offset ? gsl_vector_get(g->offset, row) : 0);
    fits->prediction[row] = g->log_target ? exp(t) : t;
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

void dl_cv_score(struct dl_cv *cv, const struct dl_design *p,
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

enum dl_status dl_cross_validate(struct dl_cv *cv, const struct dl_design *p,
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
  struct dl_fold_fits fits = {.design = p,
                              .method = r,
                              .H = &H,
                              .folds = folds,
                              .one_by_one = true,
                              .take = take_predictions,
                              .prediction = cv->prediction};
  enum dl_status status = dl_fit_folds(&fits, d);
  if (status)
    dl_cv_free(cv);
  else
    dl_cv_score(cv, p, folds);
  return status;
}

/* The point at `share` (0 to 1) of the range, on a logarithmic scale. */
static double between(const struct dl_hyper_info *h, double share) {
  if (share <= 0)
    return h->low;
  if (share >= 1)
    return h->high;
  return exp(log(h->low) + share * (log(h->high) - log(h->low)));
}

/* How many rows the grid has; 0 where that does not fit. */
static size_t grid_size(const struct dl_regression *r, const double *fixed,
                        size_t count) {
  size_t rows = 1;
  for (size_t j = 0; j < r->n_hyper; j++)
    if (isnan(fixed[j]) && __builtin_mul_overflow(rows, count, &rows))
      return 0;
  return rows;
}

/* The last free hyper-parameter runs fastest. A single point is the middle
 * of its range. */
static void fill_grid(gsl_matrix *H, const struct dl_regression *r,
                      const double *fixed, size_t count) {
  for (size_t i = 0; i < H->size1; i++) {
    size_t rest = i;
    for (size_t j = r->n_hyper; j-- > 0;) {
      double value = fixed[j];
      if (isnan(value)) {
        double share =
            count > 1 ? (double)(rest % count) / (double)(count - 1) : 0.5;
        value = between(&r->hyper[j], share);
        rest /= count;
      }
      gsl_matrix_set(H, i, j, value);
    }
  }
}

static void fill_random(gsl_matrix *H, const struct dl_regression *r,
                        const double *fixed, unsigned long seed) {
  DL_SCOPED(gsl_rng_free_local) gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
  gsl_rng_set(rng, seed);
  for (size_t i = 0; i < H->size1; i++)
    for (size_t j = 0; j < r->n_hyper; j++)
      gsl_matrix_set(H, i, j,
                     isnan(fixed[j])
                         ? between(&r->hyper[j], gsl_rng_uniform(rng))
                         : fixed[j]);
}

gsl_matrix *dl_candidates(const struct dl_regression *r, const double *fixed,
                          enum dl_search_kind kind, size_t count,
                          unsigned long seed) {
  bool any_free = false;
  for (size_t j = 0; j < r->n_hyper; j++)
    any_free = any_free || isnan(fixed[j]);
  size_t rows = 1;
  if (any_free)
    rows = kind == DL_SEARCH_GRID ? grid_size(r, fixed, count) : count;
  /* GSL does not check the product that it asks memory for. */
  if (rows == 0 || rows > SIZE_MAX / sizeof(double) / DL_MAX_HYPER)
    return NULL;
  gsl_matrix *H = gsl_matrix_alloc(rows, r->n_hyper);
  if (!any_free || kind == DL_SEARCH_GRID) {
    fill_grid(H, r, fixed, count);
  } else {
    fill_random(H, r, fixed, seed);
  }
  return H;
}

/* Sums w (t - f)^2 of all candidates by fold. */
static void add_squares(const struct dl_fold_fits *fits, size_t fold,
                        const struct dl_split *s, const gsl_matrix *F) {
  const gsl_vector *w = fits->design->w;
  for (size_t i = 0; i < F->size1; i++) {
    double sum = 0;
    for (size_t k = 0; k < s->n_test; k++) {
      double e = gsl_vector_get(fits->t, s->test_row[k]) -
                 gsl_matrix_get(F, i, s->test_at[k]);
      sum += (w ? gsl_vector_get(w, s->test_row[k]) : 1) * e * e;
    }
    gsl_matrix_set(fits->sum, fold, i, sum);
  }
}

/* The candidate with the lowest pooled error, the first of equal ones; the
 * number of candidates where none has a finite error. Sums run over the
 * folds in order. */
static size_t lowest(const gsl_matrix *squares, double *sum) {
  size_t best = squares->size2;
  *sum = INFINITY;
  for (size_t i = 0; i < squares->size2; i++) {
    double total = 0;
    for (size_t fold = 0; fold < squares->size1; fold++)
      total += gsl_matrix_get(squares, fold, i);
    if (total < *sum) {
      *sum = total;
      best = i;
    }
  }
  return best;
}

enum dl_status dl_search(struct dl_search_best *best, const struct dl_design *p,
                         const struct dl_regression *r,
                         const gsl_matrix *candidates,
                         const struct dl_folds *folds, struct dl_diag *d) {
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *squares = gsl_matrix_calloc(folds->k, candidates->size1);
  struct dl_fold_fits fits = {.design = p,
                              .method = r,
                              .H = candidates,
                              .folds = folds,
                              .take = add_squares,
                              .sum = squares};
  DL_TRY(dl_fit_folds(&fits, d));
  double sum, total = 0;
  size_t i = lowest(squares, &sum);
  if (i == candidates->size1)
    return dl_fail(d, DL_EINPUT, "no candidate could be fitted");
  for (size_t k = 0; k < p->y->size; k++)
    total += p->w ? gsl_vector_get(p->w, k) : 1;
  for (size_t j = 0; j < candidates->size2; j++)
    best->hyper[j] = gsl_matrix_get(candidates, i, j);
  best->score = sqrt(sum / total);
  return DL_OK;
}

/* Sums absolute errors of all candidates by group. */
static void add_absolutes(const struct dl_fold_fits *fits, size_t fold,
                          const struct dl_split *s, const gsl_matrix *F) {
  (void)fold;
  for (size_t k = 0; k < s->n_test; k++) {
    double t = gsl_vector_get(fits->t, s->test_row[k]);
    size_t group = fits->groups->of_row[s->test_row[k]];
    double *sum = gsl_matrix_ptr(fits->sum, group, 0);
    for (size_t i = 0; i < F->size1; i++)
      sum[i] += fabs(t - gsl_matrix_get(F, i, s->test_at[k]));
  }
}

/* Means over the groups g of their means; sum: groups x candidates. */
static void average_groups(double *error, const struct dl_folds *g,
                           const gsl_matrix *sum) {
  DL_FREED size_t *n = dl_calloc(g->k, sizeof *n);
  for (size_t k = 0; k < g->n; k++)
    n[g->of_row[k]]++;
  for (size_t i = 0; i < sum->size2; i++) {
    error[i] = 0;
    for (size_t k = 0; k < g->k; k++)
      error[i] += gsl_matrix_get(sum, k, i) / (double)n[k];
    error[i] /= (double)g->k;
  }
}

enum dl_status dl_group_errors(double *error, const struct dl_design *p,
                               const struct dl_regression *r,
                               const gsl_matrix *candidates,
                               const struct dl_folds *groups,
                               struct dl_diag *d) {
  DL_FREED size_t *of_row = NULL;
  const struct dl_folds sets = dl_folds_in_sets(groups, &of_row);
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *sum = gsl_matrix_calloc(groups->k, candidates->size1);
  struct dl_fold_fits fits = {.design = p,
                              .method = r,
                              .H = candidates,
                              .folds = &sets,
                              .take = add_absolutes,
                              .sum = sum,
                              .groups = groups};
  DL_TRY(dl_fit_folds(&fits, d));
  average_groups(error, groups, sum);
  return DL_OK;
}
