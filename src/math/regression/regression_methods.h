/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: the rows of the registry, and the checks they share. */

#ifndef DL_MATH_REGRESSION_REGRESSION_METHODS_H
#define DL_MATH_REGRESSION_REGRESSION_METHODS_H

#include "math/regression/regression.h"

extern const struct dl_regression dl_ols;
extern const struct dl_regression dl_ridge;
extern const struct dl_regression dl_krr;
extern const struct dl_regression dl_physical;
extern const struct dl_regression dl_serving;
extern const struct dl_regression dl_language;
extern const struct dl_regression dl_cpu;
extern const struct dl_regression dl_tuned;

/* DL_EFAILED if the shapes of a sample differ, DL_EINPUT if a weight is not
 * positive and finite. */
enum dl_status dl_check_fit(const struct dl_design *s, struct dl_diag *d);

/* X (n x p) against the number of features fitted, and out (n). */
enum dl_status dl_check_predict(size_t p, const gsl_matrix *X,
                                const gsl_vector *out, struct dl_diag *d);

/* H (sets x n_hyper), X_test (m x p) and out (sets x m) of a sweep. */
enum dl_status dl_check_sweep(const gsl_matrix *X, const gsl_matrix *H,
                              size_t n_hyper, const gsl_matrix *X_test,
                              const gsl_matrix *out, struct dl_diag *d);

/* The array of that name and shape with finite values; else NULL, and a
 * reason in d. rows = 0 takes any number of rows from one. */
const struct dl_array *dl_check_array(const struct dl_arrays *from,
                                      const char *name, size_t rows,
                                      size_t cols, struct dl_diag *d);

#endif
