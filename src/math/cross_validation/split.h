/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: a problem cut into training and test rows. */

#ifndef DL_MATH_CROSS_VALIDATION_SPLIT_H
#define DL_MATH_CROSS_VALIDATION_SPLIT_H

#include "math/cross_validation/cross_validate.h"

/* The rows of one fold (test) and the others (train). The design is
 * standardised on the training rows where the problem asks for it. */
struct dl_split {
  gsl_matrix *X_train, *X_test; /* owned */
  gsl_vector *t_train, *t_test; /* owned; transformed targets */
  gsl_vector *w_train, *w_test; /* owned; NULL without weights */
  size_t *test_row;             /* rows of the problem, ascending; owned */
  size_t n_test;
};

/* Shapes of the problem and the folds. */
enum dl_status dl_problem_check(const struct dl_problem *p,
                                const struct dl_folds *folds,
                                struct dl_diag *d);

/* The transformed targets, owned by the caller; NULL and an error in d where
 * there are none. */
gsl_vector *dl_problem_target(const struct dl_problem *p, struct dl_diag *d);

enum dl_status dl_split_make(struct dl_split *s, const struct dl_problem *p,
                             const gsl_vector *t, const struct dl_folds *folds,
                             size_t fold, struct dl_diag *d);
void dl_split_free(struct dl_split *s);

#endif
