/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the physics leaves over, learnt from configurations like the one in
 * question: kriging of the residuals (Gaussian process) in the logarithms of
 * batch, image side and samples, within the same network on the same GPU, with
 * the covariance of physical_runs.c. A configuration that was measured gets its
 * own mean back, a new one near to it a part of its residual; a new network or
 * GPU gets nothing. */

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>

#include "base/memory.h"
#include "physics/training/physical_private.h"

/* Over which they are alike, in factors of e. */
#define LENGTH_BATCH 0.7
#define LENGTH_PX 0.35
#define LENGTH_SAMPLES 1.4

void dl_near_place(const double *row, double *at) {
  at[DL_NEAR_BATCH] = log(row[DL_PC_BATCH]) / LENGTH_BATCH;
  at[DL_NEAR_PX] = log(fmax(row[DL_PC_PX], 1)) / LENGTH_PX;
  at[DL_NEAR_SAMPLES] = log(row[DL_PC_TRAIN]) / LENGTH_SAMPLES;
  at[DL_NEAR_FROZEN] = row[DL_PC_FROZEN];
  at[DL_NEAR_GPU] = row[DL_PC_GPU];
  at[DL_NEAR_ARCH] = row[DL_PC_ARCH];
  at[DL_NEAR_TARGET] = row[DL_PC_TARGET];
}

static bool differ(double a, double b) {
  return a < b || a > b;
}

double dl_near_distance2(const double *a, const double *b, bool *same) {
  double d2 = 0;
  for (size_t i = DL_NEAR_BATCH; i <= DL_NEAR_SAMPLES; i++)
    d2 += (a[i] - b[i]) * (a[i] - b[i]);
  *same = !(d2 > 0) && !differ(a[DL_NEAR_FROZEN], b[DL_NEAR_FROZEN]);
  return d2;
}

void dl_near_free(struct dl_near *near) {
  gsl_matrix_free(near->at);
  gsl_vector_free(near->weight);
  *near = (struct dl_near){0};
}

enum dl_status dl_near_fit(struct dl_near *near, const gsl_matrix *X,
                           const gsl_vector *r, const gsl_vector *n,
                           struct dl_diag *d) {
  size_t m = X->size1;
  gsl_matrix *K = gsl_matrix_alloc(m, m);
  near->at = gsl_matrix_alloc(m, DL_NEAR);
  near->weight = gsl_vector_alloc(m);
  if (!K || !near->at || !near->weight) {
    gsl_matrix_free(K);
    return dl_fail_memory(d);
  }
  for (size_t i = 0; i < m; i++)
    dl_near_place(gsl_matrix_const_ptr(X, i, 0),
                  gsl_matrix_ptr(near->at, i, 0));
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < m; j++)
      gsl_matrix_set(K, i, j,
                     dl_runs_covariance(gsl_matrix_const_ptr(near->at, i, 0),
                                        gsl_matrix_const_ptr(near->at, j, 0)));
    *gsl_matrix_ptr(K, i, i) += dl_runs_noise(gsl_vector_get(n, i));
  }
  int gsl = gsl_linalg_cholesky_decomp1(K);
  if (!gsl)
    gsl = gsl_linalg_cholesky_solve(K, r, near->weight);
  gsl_matrix_free(K);
  return gsl ? dl_fail(d, DL_EINPUT, "kriging of the residuals: %s",
                       gsl_strerror(gsl))
             : DL_OK;
}

double dl_near_at(const struct dl_near *near, const double *row) {
  double at[DL_NEAR], sum = 0;
  if (!near->at)
    return 0;
  dl_near_place(row, at);
  for (size_t i = 0; i < near->weight->size; i++)
    sum += gsl_vector_get(near->weight, i) *
           dl_runs_covariance(at, gsl_matrix_const_ptr(near->at, i, 0));
  return sum;
}

bool dl_near_append(struct dl_near *near, const struct dl_near *more) {
  size_t n = near->weight ? near->weight->size : 0;
  size_t m = more->weight ? more->weight->size : 0;
  if (m == 0)
    return true;
  gsl_matrix *at = gsl_matrix_alloc(n + m, DL_NEAR);
  gsl_vector *weight = gsl_vector_alloc(n + m);
  if (!at || !weight) {
    gsl_matrix_free(at);
    gsl_vector_free(weight);
    return false;
  }
  for (size_t i = 0; i < n + m; i++) {
    const struct dl_near *of = i < n ? near : more;
    size_t k = i < n ? i : i - n;
    gsl_vector_const_view row = gsl_matrix_const_row(of->at, k);
    gsl_matrix_set_row(at, i, &row.vector);
    gsl_vector_set(weight, i, gsl_vector_get(of->weight, k));
  }
  dl_near_free(near);
  *near = (struct dl_near){at, weight};
  return true;
}
