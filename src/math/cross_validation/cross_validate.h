/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-validation, and the search for hyper-parameters by it.
 *
 * The model may be fitted on a transformed target: t = log(y) - offset when
 * `log_target` is set, else t = y - offset. Predictions are transformed back
 * before they are scored, so that scores are always in the unit of y. */

#ifndef DL_MATH_CROSS_VALIDATION_CROSS_VALIDATE_H
#define DL_MATH_CROSS_VALIDATION_CROSS_VALIDATE_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "math/cross_validation/folds.h"
#include "math/cross_validation/metrics.h"
#include "math/regression/regression.h"

struct dl_cv {
  size_t k;
  struct dl_scores *fold;  /* k, owned */
  struct dl_scores mean;   /* mean of the folds' scores; n is the sum */
  struct dl_scores pooled; /* over all out-of-fold predictions at once */
  /* n, of each row when its fold was held out, owned */
  double *prediction;
};

void dl_cv_free(struct dl_cv *cv);

/* Cross-validates one setting. hyper may hold NaN (see regression.h). Folds
 * run in parallel; the result does not depend on the number of threads. */
enum dl_status dl_cross_validate(struct dl_cv *cv, const struct dl_design *p,
                                 const struct dl_regression *r,
                                 const double *hyper,
                                 const struct dl_folds *folds,
                                 struct dl_diag *d);

/* Scores cv->prediction (of the n rows when their fold was held out) on the
 * scale of y: by fold, their mean, and pooled. */
void dl_cv_score(struct dl_cv *cv, const struct dl_design *p,
                 const struct dl_folds *folds);

enum dl_search_kind { DL_SEARCH_GRID, DL_SEARCH_RANDOM };

/* Candidates for the hyper-parameters of r that are NaN in `fixed`: a grid
 * with `count` points per free parameter (log-spaced from low to high), or
 * `count` random points (log-uniform, seeded). Returns an n x n_hyper matrix
 * owned by the caller. One row when none is free, NULL where there would be no
 * rows or too many. */
gsl_matrix *dl_candidates(const struct dl_regression *r, const double *fixed,
                          enum dl_search_kind kind, size_t count,
                          unsigned long seed);

/* The best of the candidates. */
struct dl_search_best {
  double hyper[DL_MAX_HYPER]; /* the method's n_hyper */
  double score; /* pooled RMSE of out-of-fold predictions of t (for a
                 * logarithmic target: the RMSE of the logarithm) */
};

/* Finds the row of `candidates` (any number x n_hyper) with the lowest score,
 * the first of equal ones. DL_EINPUT: none could be fitted. */
enum dl_status dl_search(struct dl_search_best *best, const struct dl_design *p,
                         const struct dl_regression *r,
                         const gsl_matrix *candidates,
                         const struct dl_folds *folds, struct dl_diag *d);

/* For each row of `candidates`, the mean over the groups of the mean absolute
 * out-of-fold error of t, into error (one a row); NaN where it could not be
 * fitted. Many groups are held out in sets (dl_folds_in_sets). */
enum dl_status dl_group_errors(double *error, const struct dl_design *p,
                               const struct dl_regression *r,
                               const gsl_matrix *candidates,
                               const struct dl_folds *groups,
                               struct dl_diag *d);

#endif
