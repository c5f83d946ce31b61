/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: the fitted state that linear methods share,
 * f(x) = intercept + x'coef, and the members of their dl_regression that
 * follow from it. */

#ifndef DL_MATH_REGRESSION_LINEAR_H
#define DL_MATH_REGRESSION_LINEAR_H

#include "math/numeric/triangular_reduction.h"
#include "math/regression/regression.h"

struct dl_linear {
  gsl_vector *coef; /* p, owned */
  double intercept;
};

/* p coefficients of 0. */
struct dl_linear *dl_linear_new(size_t p);

/* Sets the intercept that belongs to the coefficients of s. */
void dl_linear_centre(struct dl_linear *s, const struct dl_reduced *r);

/* f for the rows of X into out; shapes have been checked. */
void dl_linear_eval(const struct dl_linear *s, const gsl_matrix *X,
                    gsl_vector *out);

enum dl_status dl_linear_predict(const void *state, const gsl_matrix *X,
                                 gsl_vector *out, struct dl_diag *d);
void dl_linear_save(const void *state, struct dl_arrays *to);
enum dl_status dl_linear_restore(const struct dl_regression *r, void **state,
                                 const struct dl_arrays *from, size_t p,
                                 struct dl_diag *d);
double dl_linear_coefficient(const void *state, size_t j);
double dl_linear_intercept(const void *state);
void dl_linear_free(void *state);

#endif
