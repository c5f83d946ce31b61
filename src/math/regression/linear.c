/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/regression/linear.h"

#include <stdlib.h>

#include "base/memory.h"
#include "math/regression/regression_methods.h"

/* Below this number of rows starting threads costs more than it saves. */
#define MANY_ROWS 20000

struct dl_linear *dl_linear_new(size_t p) {
  struct dl_linear *s = dl_calloc(1, sizeof *s);
  s->coef = gsl_vector_calloc(p);
  return s;
}

void dl_linear_free(void *state) {
  struct dl_linear *s = state;
  if (!s)
    return;
  gsl_vector_free(s->coef);
  free(s);
}

void dl_linear_centre(struct dl_linear *s, const struct dl_reduced *r) {
  double at_mean = 0;
  for (size_t j = 0; j < s->coef->size; j++)
    at_mean += gsl_vector_get(r->mean, j) * gsl_vector_get(s->coef, j);
  s->intercept = r->y_mean - at_mean;
}

static void eval_row(const struct dl_linear *s, const gsl_matrix *X, size_t i,
                     gsl_vector *out) {
  const double *x = gsl_matrix_const_ptr(X, i, 0);
  double f = s->intercept;
  for (size_t j = 0; j < X->size2; j++)
    f += x[j] * s->coef->data[j];
  gsl_vector_set(out, i, f);
}

void dl_linear_eval(const struct dl_linear *s, const gsl_matrix *X,
                    gsl_vector *out) {
  /* Even one thread costs, where this is called for row after row. */
  if (X->size1 <= MANY_ROWS) {
    for (size_t i = 0; i < X->size1; i++)
      eval_row(s, X, i, out);
    return;
  }
#pragma omp parallel for schedule(static)
  for (size_t i = 0; i < X->size1; i++)
    eval_row(s, X, i, out);
}

enum dl_status dl_linear_predict(const void *state, const gsl_matrix *X,
                                 gsl_vector *out, struct dl_diag *d) {
  const struct dl_linear *s = state;
  DL_TRY(dl_check_predict(s->coef->size, X, out, d));
  dl_linear_eval(s, X, out);
  return DL_OK;
}

void dl_linear_save(const void *state, struct dl_arrays *to) {
  const struct dl_linear *s = state;
  dl_arrays_add_vector(to, "coefficient", s->coef);
  dl_arrays_add_scalar(to, "intercept", s->intercept);
}

enum dl_status dl_linear_restore(const struct dl_regression *r, void **state,
                                 const struct dl_arrays *from, size_t p,
                                 struct dl_diag *d) {
  (void)r;
  if (p == 0)
    return dl_fail(d, DL_EINPUT, "model has no features");
  const struct dl_array *coef = dl_check_array(from, "coefficient", p, 1, d);
  const struct dl_array *intercept = dl_check_array(from, "intercept", 1, 1, d);
  if (!coef || !intercept)
    return DL_EINPUT;
  struct dl_linear *s = dl_linear_new(p);
  for (size_t j = 0; j < p; j++)
    gsl_vector_set(s->coef, j, coef->data[j]);
  s->intercept = intercept->data[0];
  *state = s;
  return DL_OK;
}

double dl_linear_coefficient(const void *state, size_t j) {
  const struct dl_linear *s = state;
  return gsl_vector_get(s->coef, j);
}

double dl_linear_intercept(const void *state) {
  const struct dl_linear *s = state;
  return s->intercept;
}
