/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: a design cut into training and test rows, and fits of
 * the former that predict the latter. */

#ifndef DL_MATH_CROSS_VALIDATION_SPLIT_H
#define DL_MATH_CROSS_VALIDATION_SPLIT_H

#include "math/cross_validation/folds.h"
#include "math/regression/regression.h"

/* The rows of one fold (test) and the others (train), m and q of them after
 * collapsing. The design is standardised on the training rows where it asks
 * for that. */
struct dl_split {
  gsl_matrix *X_train; /* m x p, owned */
  gsl_vector *t_train; /* m: transformed targets, owned */
  gsl_vector *w_train; /* m, owned; NULL: each row counts once */
  gsl_matrix *X_test;  /* q x p, owned */
  size_t n_test;
  size_t *test_row; /* n_test: rows of the design, ascending; owned */
  size_t *test_at;  /* n_test: row of X_test of each, owned */
};

/* Fits without each fold. All that the caller sets is borrowed. */
struct dl_fold_fits {
  const struct dl_design *design;
  const struct dl_regression *method;
  const gsl_matrix *H; /* settings x n_hyper; NaN: the method chooses */
  const struct dl_folds *folds;
  bool one_by_one; /* no work is shared between the settings */
  /* Takes the predictions F (settings x rows of X_test) of t in a fold. Called
   * for several folds at once: each writes to elements of its own of one of the
   * next members, which the caller owns. */
  void (*take)(const struct dl_fold_fits *fits, size_t fold,
               const struct dl_split *s, const gsl_matrix *F);
  double *prediction;            /* n: of y */
  gsl_matrix *sum;               /* folds or groups x settings */
  const struct dl_folds *groups; /* whose errors are summed */

  /* Set by dl_fit_folds, which frees them again. */
  gsl_vector *t;     /* n: transformed targets */
  size_t *of_row;    /* n: which distinct row each row is; NULL: rows stand for
                      * themselves */
  size_t n_distinct; /* distinct rows */
};

/* Fits without each fold. Each is cut out, standardised and collapsed once for
 * all settings. */
enum dl_status dl_fit_folds(struct dl_fold_fits *fits, struct dl_diag *d);

#endif
