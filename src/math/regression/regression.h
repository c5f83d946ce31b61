/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regressions behind one interface.
 *
 * A regression maps a design matrix X (n rows, p features, no column of
 * ones) and targets y (n) to a state that predicts. Adding one is one file
 * that defines a dl_regression and one row in the table of regression.c. */

#ifndef DL_MATH_REGRESSION_REGRESSION_H
#define DL_MATH_REGRESSION_REGRESSION_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "math/numeric/named_arrays.h"
#include "math/regression/design.h"

#define DL_MAX_HYPER 4

/* A hyper-parameter. `name` is also the option's name (--alpha). */
struct dl_hyper_info {
  const char *name;
  const char *summary;
  double low, high; /* range searched, on a logarithmic scale */
};

/* fit and restore get the regression itself. */
struct dl_regression {
  const char *name;    /* "ols" */
  const char *summary; /* one line for --help and list */
  struct dl_hyper_info hyper[DL_MAX_HYPER];
  size_t n_hyper;

  /* Fits. hyper[0..n_hyper) are values > 0, or NaN to let the method choose
   * where it can (ridge: generalised cross-validation); the chosen value is
   * written back. Shapes are checked: DL_EFAILED with a reason. On DL_OK
   * *state is owned by the caller. */
  enum dl_status (*fit)(const struct dl_regression *r, void **state,
                        const struct dl_design *s, double *hyper,
                        struct dl_diag *d);

  /* Predictions for the rows of X (n x p) into out (n). */
  enum dl_status (*predict)(const void *state, const gsl_matrix *X,
                            gsl_vector *out, struct dl_diag *d);

  /* Optional: for each of n_hyper_sets rows of H (n_hyper_sets x n_hyper), fit
   * and predict X_test into that row of out (n_hyper_sets x rows of X_test);
   * shares work between the sets. A set that has no solution gets NaN. NULL:
   * the caller loops over fit and predict. */
  enum dl_status (*sweep)(const struct dl_design *s, const gsl_matrix *H,
                          const gsl_matrix *X_test, gsl_matrix *out,
                          struct dl_diag *d);

  /* The state as named arrays and back. restore(save(s)) predicts equal bits.
   * `p` is the number of features, checked against. */
  void (*save)(const void *state, struct dl_arrays *to);
  enum dl_status (*restore)(const struct dl_regression *r, void **state,
                            const struct dl_arrays *from, size_t p,
                            struct dl_diag *d);

  /* Linear methods: coefficient of feature j, and the intercept; NULL where
   * there are none. */
  double (*coefficient)(const void *state, size_t j);
  double (*intercept)(const void *state);

  void (*free)(void *state); /* accepts NULL */

  /* Methods that take typed rows of a physics in place of a matrix
   * (physics/rows/), and predict by physics/fit_row.h; else NULL. */
  const struct dl_physics *physics;
};

/* The registry. */
enum { DL_N_REGRESSIONS = 8 };
extern const struct dl_regression *const dl_regressions[DL_N_REGRESSIONS];

/* A regression by its name, or NULL. */
const struct dl_regression *dl_regression_find(const char *name);

#endif
