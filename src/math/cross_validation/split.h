/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: a problem cut into training and test rows, and fits of
 * the former that predict the latter. */

#ifndef DL_MATH_CROSS_VALIDATION_SPLIT_H
#define DL_MATH_CROSS_VALIDATION_SPLIT_H

#include "math/cross_validation/cross_validate.h"
#include "math/numeric/equal_rows.h"

/* What all folds of a problem share. */
struct dl_splitter {
  const struct dl_problem *problem;
  const struct dl_folds *folds;
  gsl_vector *t; /* n: transformed targets, owned */
  /* Equal rows of the design, collapsed; of_row is NULL where a row stands
   * for itself. */
  struct dl_distinct same;
};

/* The rows of one fold (test) and the others (train), m and q of them after
 * collapsing. The design is standardised on the training rows where the
 * problem asks for it. */
struct dl_split {
  gsl_matrix *X_train; /* m x p, owned */
  gsl_vector *t_train; /* m: transformed targets, owned */
  gsl_vector *w_train; /* m, owned; NULL: each row counts once */
  gsl_matrix *X_test;  /* q x p, owned */
  size_t n_test;
  size_t *test_row; /* n_test: rows of the problem, ascending; owned */
  size_t *test_at;  /* n_test: row of X_test of each, owned */
};

/* Fits without each fold. */
struct dl_fold_fits {
  const struct dl_regression *method;
  const gsl_matrix *H; /* settings x n_hyper; NaN: the method chooses */
  bool one_by_one;     /* no work is shared between the settings */
  /* Takes the predictions F (settings x rows of X_test) of t in a fold. Called
   * for several folds at the same time: each writes to elements of its own. */
  void (*take)(void *ctx, const struct dl_splitter *c, size_t fold,
               const struct dl_split *s, const gsl_matrix *F);
  void *ctx;
};

/* Each fold is cut out, standardised and collapsed once for all settings. */
enum dl_status dl_fit_folds(const struct dl_fold_fits *fits,
                            const struct dl_problem *p,
                            const struct dl_folds *folds, struct dl_diag *d);

#endif
