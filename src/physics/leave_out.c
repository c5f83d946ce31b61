/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions of configurations as if they had not been fitted, without another
 * fit: to first order about the solution for all rows. With J the derivatives
 * of their measurements, V the posterior covariance and W the weights of the
 * measurements, the residuals r of the fit become
 *
 *   (I - J V J' W)^-1 r
 *
 * (Cook and Weisberg 1982, chapter 2: deletion of several cases; a prior is as
 * good as a case). It holds where the parameters move little. */

#include "physics/hold_out.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"

/* Measurements that are left out together. */
struct left {
  size_t n, *which; /* owned */
  struct dl_derivatives by;
  gsl_vector *r; /* residuals of the fit, then those without them; owned */
};

static void free_left(struct left *l) {
  free(l->which);
  dl_derivatives_free(&l->by);
  gsl_vector_free(l->r);
}

/* Residuals of the fit, and derivatives. */
static void gather(struct left *l, const struct dl_hierarchical_problem *q,
                   const size_t *config, size_t n) {
  const size_t *first = q->configs.first;
  const struct dl_hierarchical_solution *full = &q->full.s;
  double c[DL_MAX_CONSTANTS], y[DL_MAX_TARGETS];
  dl_constants_of(q->physics, full->theta, c);
  for (size_t i = 0; i < n; i++)
    l->n += first[config[i] + 1] - first[config[i]];
  l->which = dl_calloc(l->n, sizeof *l->which);
  l->r = gsl_vector_alloc(l->n);
  for (size_t i = 0, k = 0; i < n; i++) {
    dl_predict_config(&q->map, c, full->theta, config[i], y);
    for (size_t m = first[config[i]]; m < first[config[i] + 1]; m++) {
      const struct dl_measurement *its = &full->terms.m[m];
      gsl_vector_set(l->r, k, its->mean - y[its->target]);
      l->which[k++] = m;
    }
  }
  dl_derivatives_make(&l->by, &q->map, full->theta, l->which, l->n,
                      full->terms.known);
}

/* Solves for the residuals without them. */
static void solve(struct left *l, const struct dl_hierarchical_problem *q) {
  size_t p = l->by.p;
  const gsl_matrix *J = l->by.J;
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *V = gsl_matrix_alloc(p, p);
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *JV = gsl_matrix_alloc(l->n, p);
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *A = gsl_matrix_alloc(l->n, l->n);
  gsl_permutation *order = gsl_permutation_alloc(l->n);
  int sign;
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j < p; j++)
      gsl_matrix_set(
          V, i, j, gsl_matrix_get(q->full.cov, l->by.param[i], l->by.param[j]));
  gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, J, V, 0, JV);
  gsl_blas_dgemm(CblasNoTrans, CblasTrans, -1, JV, J, 0, A);
  for (size_t k = 0; k < l->n; k++) {
    gsl_vector_view column = gsl_matrix_column(A, k);
    gsl_vector_scale(&column.vector, dl_measurement_precision(
                                         q, &q->full.s.terms.m[l->which[k]]));
    *gsl_matrix_ptr(A, k, k) += 1;
  }
  gsl_linalg_LU_decomp(A, order, &sign);
  gsl_linalg_LU_svx(A, order, l->r);
  gsl_permutation_free(order);
}

void dl_leave_out(const struct dl_hierarchical_problem *q, const size_t *config,
                  size_t n, double *y) {
  DL_SCOPED(free_left) struct left l = {0};
  gather(&l, q, config, n);
  solve(&l, q);
  for (size_t k = 0; k < l.n; k++) {
    const struct dl_measurement *m = &q->full.s.terms.m[l.which[k]];
    y[m->config * q->physics->n_targets + m->target] =
        m->mean - gsl_vector_get(l.r, k);
  }
}
