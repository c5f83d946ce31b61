/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits without a part of the rows. */

#include "physics/fold_fit.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"

/* Marks in `near` the configurations of the GPUs and architectures of those
 * that are marked in `held`. */
static void mark_near(const struct dl_hierarchical_problem *q, const bool *held,
                      bool *near) {
  size_t n = q->configs.n;
  DL_SCOPED(dl_intern_free)
  struct dl_intern pairs = {.size = 2 * sizeof(long)};
  DL_FREED size_t *pair = dl_calloc(n, sizeof *pair);
  for (size_t i = 0; i < n; i++) {
    const long *name = q->configs.names[i].number;
    const long key[] = {name[DL_NAME_GPU], name[DL_NAME_ARCH]};
    pair[i] = (size_t)dl_intern(&pairs, key);
  }
  DL_FREED bool *any_held = dl_calloc(pairs.n, sizeof *any_held);
  for (size_t i = 0; i < n; i++)
    any_held[pair[i]] |= held[i];
  for (size_t i = 0; i < n; i++)
    near[i] = any_held[pair[i]];
}

/* Predicts the configurations marked in `held`. */
static enum dl_status predict_held(const struct dl_hierarchical_problem *q,
                                   const struct dl_hierarchical_solution *s,
                                   const bool *held, const bool *near,
                                   double *y, struct dl_diag *d) {
  const struct dl_residual_process *process = q->physics->process;
  size_t n_targets = q->physics->n_targets;
  double c[DL_MAX_CONSTANTS];
  dl_constants_of(q->physics, s->theta, c);
  for (size_t i = 0; i < q->configs.n; i++)
    if (held[i])
      dl_predict_config(&q->map, c, s->theta, i, y + i * n_targets);
  enum dl_status status = DL_OK;
  for (size_t t = 0; process && t < n_targets && status == DL_OK; t++) {
    struct dl_residual_gp gp;
    status = dl_hierarchical_residuals(&gp, q, s, t, near, d);
    for (size_t i = 0; status == DL_OK && i < q->configs.n; i++) {
      struct dl_place place =
          dl_place_of(&q->configs.names[i], q->configs.inputs[i]);
      if (held[i])
        y[i * n_targets + t] += dl_residual_gp_at(&gp, process, &place, t);
    }
    dl_residual_gp_free(&gp);
  }
  return status;
}

enum dl_status dl_hold_out(const struct dl_hierarchical_problem *q,
                           const bool *out,
                           const struct dl_hierarchical_start *start, double *y,
                           struct dl_diag *d) {
  struct dl_hierarchical_solution s;
  DL_FREED bool *held = dl_calloc(q->configs.n, sizeof *held);
  DL_FREED bool *near = dl_calloc(q->configs.n, sizeof *near);
  for (size_t i = 0; i < q->rows.n; i++)
    if (out[i])
      held[q->configs.of_row[i]] = true;
  mark_near(q, held, near);
  enum dl_status status = dl_hierarchical_solve(&s, q, out, start, NULL, d);
  if (status == DL_OK) {
    status = predict_held(q, &s, held, near, y, d);
    dl_hierarchical_solution_free(&s);
  }
  return status;
}

void dl_hold_out_auxiliary(const struct dl_hierarchical_problem *q, bool *out) {
  static const enum dl_name groupings[] = {DL_NAME_GPU, DL_NAME_ARCH,
                                           DL_NAME_SOURCE};
  const struct dl_configurations *configs = &q->configs;
  size_t n_own = q->rows.n - q->rows.n_auxiliary, n_names = q->names.n + 1;
  DL_FREED bool *some_out = dl_calloc(n_names, sizeof *some_out);
  DL_FREED bool *some_in = dl_calloc(n_names, sizeof *some_in);
  DL_FREED bool *is_out = dl_calloc(configs->n, sizeof *is_out);
  DL_FREED bool *is_in = dl_calloc(configs->n, sizeof *is_in);
  for (size_t i = 0; i < n_own; i++)
    (out[i] ? is_out : is_in)[configs->of_row[i]] = true;
  for (size_t g = 0; g < sizeof groupings / sizeof *groupings; g++) {
    memset(some_out, 0, n_names * sizeof *some_out);
    memset(some_in, 0, n_names * sizeof *some_in);
    for (size_t k = 0; k < configs->n_own; k++) {
      some_out[configs->names[k].number[groupings[g]]] |= is_out[k];
      some_in[configs->names[k].number[groupings[g]]] |= is_in[k];
    }
    for (size_t i = n_own; i < q->rows.n; i++) {
      long name = configs->names[configs->of_row[i]].number[groupings[g]];
      out[i] = out[i] || (some_out[name] && !some_in[name]);
    }
  }
}

/* Predictions of configurations as if they had not been fitted, without another
 * fit: to first order about the solution for all rows. With J the derivatives
 * of their measurements, V the posterior covariance and W the weights of the
 * measurements, the residuals r of the fit become
 *
 *   (I - J V J' W)^-1 r
 *
 * (Cook and Weisberg 1982, chapter 2: deletion of several cases; a prior is as
 * good as a case). It holds where the parameters move little. */

/* Lists the measurements of n configurations, with the residuals of the fit. */
static void gather(const struct dl_hierarchical_problem *q,
                   const size_t *config, size_t n, size_t *which,
                   gsl_vector *r) {
  const size_t *first = q->configs.first;
  double c[DL_MAX_CONSTANTS], y[DL_MAX_TARGETS];
  dl_constants_of(q->physics, q->full.theta, c);
  for (size_t i = 0, k = 0; i < n; i++) {
    dl_predict_config(&q->map, c, q->full.theta, config[i], y);
    for (size_t m = first[config[i]]; m < first[config[i] + 1]; m++) {
      const struct dl_measurement *its = &q->full.terms.m[m];
      gsl_vector_set(r, k, its->mean - y[its->target]);
      which[k++] = m;
    }
  }
}

/* Solves for the residuals r without these measurements. */
static void solve(const struct dl_hierarchical_problem *q,
                  const struct dl_derivatives *by, const size_t *which,
                  gsl_vector *r) {
  size_t p = by->p, n = r->size;
  const gsl_matrix *J = by->J;
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *V = gsl_matrix_alloc(p, p);
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *JV = gsl_matrix_alloc(n, p);
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *A = gsl_matrix_alloc(n, n);
  gsl_permutation *order = gsl_permutation_alloc(n);
  int sign;
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j < p; j++)
      gsl_matrix_set(V, i, j,
                     gsl_matrix_get(q->full_cov, by->param[i], by->param[j]));
  gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, J, V, 0, JV);
  gsl_blas_dgemm(CblasNoTrans, CblasTrans, -1, JV, J, 0, A);
  for (size_t k = 0; k < n; k++) {
    gsl_vector_view column = gsl_matrix_column(A, k);
    gsl_vector_scale(&column.vector,
                     dl_measurement_precision(q, &q->full.terms.m[which[k]]));
    *gsl_matrix_ptr(A, k, k) += 1;
  }
  gsl_linalg_LU_decomp(A, order, &sign);
  gsl_linalg_LU_svx(A, order, r);
  gsl_permutation_free(order);
}

void dl_leave_out(const struct dl_hierarchical_problem *q, const size_t *config,
                  size_t n, double *y) {
  size_t n_out = 0;
  for (size_t i = 0; i < n; i++)
    n_out += q->configs.first[config[i] + 1] - q->configs.first[config[i]];
  DL_FREED size_t *which = dl_calloc(n_out, sizeof *which);
  DL_SCOPED(gsl_vector_free_local) gsl_vector *r = gsl_vector_alloc(n_out);
  DL_SCOPED(dl_derivatives_free) struct dl_derivatives by;
  gather(q, config, n, which, r);
  dl_derivatives_make(&by, &q->map, q->full.theta, which, n_out,
                      q->full.terms.known);
  solve(q, &by, which, r);
  for (size_t k = 0; k < n_out; k++) {
    const struct dl_measurement *m = &q->full.terms.m[which[k]];
    y[m->config * q->physics->n_targets + m->target] =
        m->mean - gsl_vector_get(r, k);
  }
}
