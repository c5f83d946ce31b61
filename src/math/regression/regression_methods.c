/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/regression/regression_methods.h"

#include <math.h>

static enum dl_status check_weights(const gsl_vector *w, struct dl_diag *d) {
  for (size_t i = 0; i < w->size; i++) {
    double wi = gsl_vector_get(w, i);
    if (!isfinite(wi) || wi <= 0)
      return dl_fail(d, DL_EINPUT, "row %zu: weight %g is not positive", i + 1,
                     wi);
  }
  return DL_OK;
}

enum dl_status dl_check_fit(const struct dl_design *s, struct dl_diag *d) {
  const gsl_matrix *X = s->X;
  if (X->size1 == 0)
    return dl_fail(d, DL_EFAILED, "design has no rows");
  if (X->size2 == 0)
    return dl_fail(d, DL_EFAILED, "design has no columns");
  if (s->y->size != X->size1)
    return dl_fail(d, DL_EFAILED,
                   "design has %zu rows but there are %zu targets", X->size1,
                   s->y->size);
  if (s->w && s->w->size != X->size1)
    return dl_fail(d, DL_EFAILED,
                   "design has %zu rows but there are %zu weights", X->size1,
                   s->w->size);
  return s->w ? check_weights(s->w, d) : DL_OK;
}

enum dl_status dl_check_predict(size_t p, const gsl_matrix *X,
                                const gsl_vector *out, struct dl_diag *d) {
  if (X->size2 != p)
    return dl_fail(d, DL_EFAILED,
                   "design has %zu columns but the model has %zu features",
                   X->size2, p);
  if (out->size != X->size1)
    return dl_fail(d, DL_EFAILED,
                   "design has %zu rows but there is room for %zu predictions",
                   X->size1, out->size);
  return DL_OK;
}

enum dl_status dl_check_sweep(const gsl_matrix *X, const gsl_matrix *H,
                              size_t n_hyper, const gsl_matrix *X_test,
                              const gsl_matrix *out, struct dl_diag *d) {
  if (H->size2 != n_hyper)
    return dl_fail(d, DL_EFAILED,
                   "candidates have %zu columns but there are %zu "
                   "hyper-parameters",
                   H->size2, n_hyper);
  if (X_test->size2 != X->size2)
    return dl_fail(d, DL_EFAILED,
                   "test design has %zu columns but the training design %zu",
                   X_test->size2, X->size2);
  if (out->size1 != H->size1 || out->size2 != X_test->size1)
    return dl_fail(d, DL_EFAILED,
                   "predictions of a sweep are %zu x %zu, not %zu x %zu",
                   H->size1, X_test->size1, out->size1, out->size2);
  return DL_OK;
}

const struct dl_array *dl_check_array(const struct dl_arrays *from,
                                      const char *name, size_t rows,
                                      size_t cols, struct dl_diag *d) {
  const struct dl_array *a = dl_arrays_find(from, name);
  if (!a) {
    dl_fail(d, DL_EINPUT, "no array '%s'", name);
    return NULL;
  }
  if (a->cols != cols || (rows > 0 ? a->rows != rows : a->rows == 0)) {
    dl_fail(d, DL_EINPUT, "array '%s' has the wrong shape %zu x %zu", name,
            a->rows, a->cols);
    return NULL;
  }
  if (!dl_all_finite(a->data, a->rows * a->cols)) {
    dl_fail(d, DL_EINPUT, "array '%s' has a value that is not finite", name);
    return NULL;
  }
  return a;
}
