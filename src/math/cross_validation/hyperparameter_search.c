/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Search for hyper-parameters by cross-validation. */

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/cross_validation/cross_validate.h"
#include "math/cross_validation/split.h"

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

static bool fill_random(gsl_matrix *H, const struct dl_regression *r,
                        const double *fixed, unsigned long seed) {
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
  if (!rng)
    return false;
  gsl_rng_set(rng, seed);
  for (size_t i = 0; i < H->size1; i++)
    for (size_t j = 0; j < r->n_hyper; j++)
      gsl_matrix_set(H, i, j,
                     isnan(fixed[j])
                         ? between(&r->hyper[j], gsl_rng_uniform(rng))
                         : fixed[j]);
  gsl_rng_free(rng);
  return true;
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
  if (!H)
    return NULL;
  if (!any_free || kind == DL_SEARCH_GRID) {
    fill_grid(H, r, fixed, count);
  } else if (!fill_random(H, r, fixed, seed)) {
    gsl_matrix_free(H);
    return NULL;
  }
  return H;
}

/* Shared by the folds; each writes to its own row of squares only. */
struct job {
  const struct dl_problem *problem;
  const struct dl_regression *method;
  const gsl_matrix *H;
  const struct dl_folds *folds;
  const gsl_vector *target;
  gsl_matrix *squares; /* folds x candidates: sums of w (t - f)^2 */
};

/* A sweep for methods that have none of their own. */
static enum dl_status sweep_by_fits(const struct job *job,
                                    const struct dl_split *s, gsl_matrix *out,
                                    struct dl_diag *d) {
  const struct dl_regression *r = job->method;
  const struct dl_sample data = {.X = s->X_train,
                                 .y = s->t_train,
                                 .w = s->w_train,
                                 .names = job->problem->names};
  enum dl_status status = DL_OK;
  for (size_t i = 0; !status && i < job->H->size1; i++) {
    double hyper[DL_MAX_HYPER] = {0};
    for (size_t j = 0; j < r->n_hyper; j++)
      hyper[j] = gsl_matrix_get(job->H, i, j);
    void *state = NULL;
    gsl_vector_view row = gsl_matrix_row(out, i);
    status = r->fit(r, &state, &data, hyper, d);
    if (!status)
      status = r->predict(state, s->X_test, &row.vector, d);
    r->free(state);
  }
  return status;
}

static double sum_squares(const struct dl_split *s, const gsl_matrix *out,
                          size_t candidate) {
  double sum = 0;
  for (size_t k = 0; k < s->n_test; k++) {
    double e = gsl_vector_get(s->t_test, k) - gsl_matrix_get(out, candidate, k);
    sum += (s->w_test ? gsl_vector_get(s->w_test, k) : 1) * e * e;
  }
  return sum;
}

static enum dl_status run_fold(void *ctx, size_t fold, struct dl_diag *d) {
  const struct job *job = ctx;
  const struct dl_regression *r = job->method;
  struct dl_split s;
  enum dl_status status =
      dl_split_make(&s, job->problem, job->target, job->folds, fold, d);
  if (status)
    return status;
  gsl_matrix *out = gsl_matrix_alloc(job->H->size1, s.n_test);
  if (!out)
    status = dl_fail_memory(d);
  else if (r->sweep)
    status = r->sweep(
        &(struct dl_sample){.X = s.X_train, .y = s.t_train, .w = s.w_train},
        job->H, s.X_test, out, d);
  else
    status = sweep_by_fits(job, &s, out, d);
  for (size_t i = 0; !status && i < job->H->size1; i++)
    gsl_matrix_set(job->squares, fold, i, sum_squares(&s, out, i));
  gsl_matrix_free(out);
  dl_split_free(&s);
  return status;
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

static enum dl_status pick(struct dl_search_best *best, const struct job *job,
                           struct dl_diag *d) {
  double sum, total = 0;
  size_t i = lowest(job->squares, &sum);
  if (i == job->H->size1)
    return dl_fail(d, DL_EINPUT, "no candidate could be fitted");
  for (size_t k = 0; k < job->target->size; k++)
    total += job->problem->w ? gsl_vector_get(job->problem->w, k) : 1;
  for (size_t j = 0; j < job->method->n_hyper; j++)
    best->hyper[j] = gsl_matrix_get(job->H, i, j);
  best->score = sqrt(sum / total);
  return DL_OK;
}

enum dl_status dl_search(struct dl_search_best *best,
                         const struct dl_problem *p,
                         const struct dl_regression *r,
                         const gsl_matrix *candidates,
                         const struct dl_folds *folds, struct dl_diag *d) {
  enum dl_status status = dl_problem_check(p, folds, d);
  if (!status && candidates->size2 != r->n_hyper)
    status = dl_fail(d, DL_EFAILED,
                     "candidates have %zu columns but %s has %zu "
                     "hyper-parameters",
                     candidates->size2, r->name, r->n_hyper);
  if (status)
    return status;
  gsl_vector *target = dl_problem_target(p, d);
  if (!target)
    return d->status;
  struct job job = {p, r, candidates, folds, target, NULL};
  job.squares = gsl_matrix_calloc(folds->k, candidates->size1);
  if (!job.squares)
    status = dl_fail_memory(d);
  else
    status = dl_each_fold(folds, run_fold, &job, d);
  if (!status)
    status = pick(best, &job, d);
  gsl_matrix_free(job.squares);
  gsl_vector_free(target);
  return status;
}
