/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernel ridge regression.
 *
 *   k(x, z) = exp(-gamma |x - z|^2)
 *   dual    = (K + alpha W^-1)^-1 y        K_ij = k(x_i, x_j), W = diag(w)
 *   f(x)    = sum_i dual_i k(x, x_i)
 *
 * without intercept, y not centred (Saunders, Gammerman, Vovk, "Ridge
 * regression learning algorithm in dual variables", ICML 1998). W is the
 * identity without weights. Equal rows are collapsed (equal_rows.h), which
 * changes nothing but the size of the system: experiments are repeated, and
 * 857 runs hold 49 settings. The system is solved by Cholesky. */

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sort.h"
#include "math/numeric/equal_rows.h"
#include "math/regression/kernel.h"
#include "math/regression/low_rank.h"
#include "math/regression/regression_methods.h"

enum { ALPHA, GAMMA, N_HYPER };

/* A sweep takes the kernel's features where they are at most this share of the
 * points, and there are more than a few points: else the systems cost less. */
enum { RANK_SHARE = 3, FEW_POINTS = 48 };

struct kernel_machine {
  gsl_matrix *points; /* m x p: distinct rows, owned */
  gsl_vector *dual;   /* m, owned */
  double gamma;
  struct dl_rbf_points support; /* points and dual once more, laid out */
};

static void krr_free(void *state) {
  struct kernel_machine *s = state;
  if (!s)
    return;
  gsl_matrix_free(s->points);
  gsl_vector_free(s->dual);
  dl_rbf_points_free(&s->support);
  free(s);
}

/* Distinct training rows and, for a sweep, distinct test rows: results that
 * settings of one gamma share are worked out once for all of them. All is
 * owned, and NULL until it is needed. */
struct kernel_systems {
  gsl_matrix *X;      /* m x p: training rows */
  gsl_vector *weight; /* m: sums of their weights */
  gsl_vector *mean;   /* m: their targets */
  gsl_matrix *D;      /* m x m: squared distances */
  gsl_matrix *K;      /* m x m: kernel values for one gamma */
  gsl_matrix *L;      /* m x m: system for one alpha */

  gsl_matrix *Z;      /* q x p: test rows */
  size_t *test_row;   /* rows of X_test: which of Z each one is */
  gsl_vector *f;      /* q: predictions */
  gsl_matrix *test_D; /* q x m: squared distances to the training rows */
  gsl_matrix *test_K; /* q x m: kernel values for one gamma */
  gsl_vector *dual;   /* m: coefficients of one setting */
  struct dl_low_rank low;
  bool dense; /* this gamma and larger ones have too many features */
};

static void systems_free(struct kernel_systems *w) {
  dl_low_rank_free(&w->low);
  gsl_matrix_free(w->X);
  gsl_vector_free(w->weight);
  gsl_vector_free(w->mean);
  gsl_matrix_free(w->D);
  gsl_matrix_free(w->K);
  gsl_matrix_free(w->L);
  gsl_matrix_free(w->Z);
  free(w->test_row);
  gsl_vector_free(w->f);
  gsl_matrix_free(w->test_D);
  gsl_matrix_free(w->test_K);
  gsl_vector_free(w->dual);
}

/* Whether all distances are finite: none is more than four times as large as
 * the largest from the first row. */
static bool finite_distances(const gsl_matrix *X) {
  for (size_t i = 0; i < X->size1; i++) {
    double sum = 0;
    for (size_t j = 0; j < X->size2; j++) {
      double e = gsl_matrix_get(X, i, j) - gsl_matrix_get(X, 0, j);
      sum += e * e;
    }
    if (!isfinite(4 * sum))
      return false;
  }
  return true;
}

static enum dl_status take_training(struct kernel_systems *w,
                                    const struct dl_design *data,
                                    struct dl_diag *d) {
  DL_FREED size_t *of_row = dl_calloc(data->X->size1, sizeof *of_row);
  size_t m = dl_number_distinct(data->X, of_row);
  w->X = dl_distinct_rows(data->X, of_row, m);
  w->weight = gsl_vector_alloc(m);
  w->mean = gsl_vector_alloc(m);
  dl_distinct_average(of_row, data->y, data->w, w->weight, w->mean);
  if (!finite_distances(w->X))
    return dl_fail(d, DL_EINPUT,
                   "design holds values that are not finite, or too large");
  if (!dl_all_finite(w->mean->data, m))
    return dl_fail(d, DL_EINPUT,
                   "target holds values that are not finite, or too large");
  return DL_OK;
}

/* Makes room for the systems, and fills in the distances. */
static void need_systems(struct kernel_systems *w) {
  size_t m = w->X->size1;
  if (w->D)
    return;
  w->D = gsl_matrix_alloc(m, m);
  w->K = gsl_matrix_alloc(m, m);
  w->L = gsl_matrix_alloc(m, m);
  dl_sq_distances(w->D, w->X, w->X);
}

/* K_ij = exp(-gamma D_ij) */
static void fill_kernel(gsl_matrix *K, const gsl_matrix *D, double gamma) {
  for (size_t i = 0; i < D->size1; i++)
    dl_rbf(gsl_matrix_ptr(K, i, 0), gsl_matrix_const_ptr(D, i, 0), gamma,
           D->size2);
}

/* Solves (K + alpha W^-1) dual = mean; a GSL error number where the system
 * is not positive definite. */
static int solve(gsl_vector *dual, struct kernel_systems *w, double alpha) {
  int gsl = gsl_matrix_memcpy(w->L, w->K);
  for (size_t i = 0; i < dual->size; i++)
    *gsl_matrix_ptr(w->L, i, i) += alpha / gsl_vector_get(w->weight, i);
  if (!gsl)
    gsl = gsl_linalg_cholesky_decomp1(w->L);
  if (!gsl)
    gsl = gsl_linalg_cholesky_solve(w->L, w->mean, dual);
  for (size_t i = 0; !gsl && i < dual->size; i++)
    if (!isfinite(gsl_vector_get(dual, i)))
      gsl = GSL_EDOM;
  return gsl;
}

static enum dl_status fail_solve(double alpha, struct dl_diag *d) {
  return dl_fail(d, DL_EINPUT,
                 "kernel matrix is not positive definite with alpha %g: raise "
                 "alpha",
                 alpha);
}

static enum dl_status check_hyper(const char *name, double value,
                                  struct dl_diag *d) {
  if (isnan(value))
    return dl_fail(d, DL_EUSAGE, "%s needs a value", name);
  if (!isfinite(value) || value <= 0)
    return dl_fail(d, DL_EUSAGE, "%s must be positive, not %g", name, value);
  return DL_OK;
}

static enum dl_status check_hypers(double alpha, double gamma,
                                   struct dl_diag *d) {
  DL_TRY(check_hyper("alpha", alpha, d));
  return check_hyper("gamma", gamma, d);
}

/* The state with room for m points of p features. */
static struct kernel_machine *krr_new(size_t m, size_t p, double gamma) {
  struct kernel_machine *s = dl_calloc(1, sizeof *s);
  s->gamma = gamma;
  s->points = gsl_matrix_alloc(m, p);
  s->dual = gsl_vector_alloc(m);
  return s;
}

/* Fits the training data; on failure the caller frees *s. */
static enum dl_status fit_training(struct kernel_machine **s,
                                   struct kernel_systems *w, double alpha,
                                   double gamma, struct dl_diag *d) {
  *s = krr_new(w->X->size1, w->X->size2, gamma);
  need_systems(w);
  fill_kernel(w->K, w->D, gamma);
  int gsl = gsl_matrix_memcpy((*s)->points, w->X);
  if (!gsl)
    gsl = solve((*s)->dual, w, alpha);
  if (gsl)
    return fail_solve(alpha, d);
  dl_rbf_points_init(&(*s)->support, (*s)->points, (*s)->dual);
  return DL_OK;
}

static enum dl_status fit(const struct dl_regression *self, void **state,
                          const struct dl_design *data, double *hyper,
                          struct dl_diag *d) {
  (void)self;
  DL_TRY(dl_check_fit(data, d));
  DL_TRY(check_hypers(hyper[ALPHA], hyper[GAMMA], d));
  DL_SCOPED(systems_free) struct kernel_systems w = {0};
  DL_TRY(take_training(&w, data, d));
  struct kernel_machine *s = NULL;
  enum dl_status status = fit_training(&s, &w, hyper[ALPHA], hyper[GAMMA], d);
  if (status)
    krr_free(s);
  else
    *state = s;
  return status;
}

static enum dl_status predict(const void *state, const gsl_matrix *X,
                              gsl_vector *out, struct dl_diag *d) {
  const struct kernel_machine *s = state;
  DL_TRY(dl_check_predict(s->points->size2, X, out, d));
  dl_rbf_predict(&s->support, s->gamma, X, out);
  return DL_OK;
}

static void need_test_systems(struct kernel_systems *w) {
  size_t q = w->Z->size1, m = w->X->size1;
  if (w->test_D)
    return;
  w->test_D = gsl_matrix_alloc(q, m);
  w->test_K = gsl_matrix_alloc(q, m);
  w->dual = gsl_vector_alloc(m);
  dl_sq_distances(w->test_D, w->Z, w->X);
}

static enum dl_status sweep_init(struct kernel_systems *w,
                                 const struct dl_design *data,
                                 const gsl_matrix *X_test, struct dl_diag *d) {
  DL_TRY(take_training(w, data, d));
  size_t m = w->X->size1;
  w->test_row = dl_calloc(X_test->size1, sizeof *w->test_row);
  size_t q = dl_number_distinct(X_test, w->test_row);
  w->Z = dl_distinct_rows(X_test, w->test_row, q);
  w->f = gsl_vector_alloc(q);
  w->dense = m < FEW_POINTS;
  w->low =
      (struct dl_low_rank){.X = w->X, .Z = w->Z, .w = w->weight, .y = w->mean};
  if (!w->dense)
    dl_low_rank_alloc(&w->low, m / RANK_SHARE);
  return DL_OK;
}

/* Works out what the settings of one gamma share; gammas ascend. */
static void new_gamma(struct kernel_systems *w, double gamma) {
  w->dense = w->dense || !dl_low_rank_factorise(&w->low, gamma);
  if (!w->dense)
    return;
  need_systems(w);
  need_test_systems(w);
  fill_kernel(w->K, w->D, gamma);
  fill_kernel(w->test_K, w->test_D, gamma);
}

static int predict_setting(struct kernel_systems *w, double alpha) {
  if (!w->dense)
    return dl_low_rank_predict(&w->low, alpha, w->f);
  int gsl = solve(w->dual, w, alpha);
  return gsl ? gsl
             : gsl_blas_dgemv(CblasNoTrans, 1, w->test_K, w->dual, 0, w->f);
}

/* Predictions for one setting into a row of out, NaN where the system cannot
 * be solved. */
static void sweep_one(gsl_vector *out, struct kernel_systems *w, double alpha) {
  int gsl = predict_setting(w, alpha);
  for (size_t i = 0; i < out->size; i++)
    gsl_vector_set(out, i,
                   gsl ? (double)NAN : gsl_vector_get(w->f, w->test_row[i]));
}

/* Orders rows of settings so that equal gammas follow each other. */
static int by_gamma(const void *a, const void *b, void *settings) {
  const gsl_matrix *H = settings;
  size_t i = *(const size_t *)a, k = *(const size_t *)b;
  double x = gsl_matrix_get(H, i, GAMMA), z = gsl_matrix_get(H, k, GAMMA);
  int order = (x > z) - (x < z);
  return order ? order : (i > k) - (i < k);
}

static enum dl_status sort_settings(size_t *order, const gsl_matrix *H,
                                    struct dl_diag *d) {
  for (size_t i = 0; i < H->size1; i++) {
    order[i] = i;
    DL_TRY(check_hypers(gsl_matrix_get(H, i, ALPHA),
                        gsl_matrix_get(H, i, GAMMA), d));
  }
  gsl_matrix settings = *H;
  dl_sort_with(order, H->size1, sizeof *order, by_gamma, &settings);
  return DL_OK;
}

static void run_settings(const size_t *order, const gsl_matrix *H,
                         struct kernel_systems *w, gsl_matrix *out) {
  double last = 0;
  for (size_t i = 0; i < H->size1; i++) {
    double gamma = gsl_matrix_get(H, order[i], GAMMA);
    if (i == 0 || gamma > last)
      new_gamma(w, gamma);
    last = gamma;
    gsl_vector_view row = gsl_matrix_row(out, order[i]);
    sweep_one(&row.vector, w, gsl_matrix_get(H, order[i], ALPHA));
  }
}

static enum dl_status sweep(const struct dl_design *data, const gsl_matrix *H,
                            const gsl_matrix *X_test, gsl_matrix *out,
                            struct dl_diag *d) {
  DL_TRY(dl_check_fit(data, d));
  DL_TRY(dl_check_sweep(data->X, H, N_HYPER, X_test, out, d));
  DL_FREED size_t *order = dl_calloc(H->size1, sizeof *order);
  DL_SCOPED(systems_free) struct kernel_systems w = {0};
  DL_TRY(sweep_init(&w, data, X_test, d));
  DL_TRY(sort_settings(order, H, d));
  run_settings(order, H, &w, out);
  return DL_OK;
}

static void save(const void *state, struct dl_arrays *to) {
  const struct kernel_machine *s = state;
  dl_arrays_add_matrix(to, "support", s->points);
  dl_arrays_add_vector(to, "dual", s->dual);
  dl_arrays_add_scalar(to, "gamma", s->gamma);
}

static enum dl_status restore(const struct dl_regression *self, void **state,
                              const struct dl_arrays *from, size_t p,
                              struct dl_diag *d) {
  (void)self;
  if (p == 0)
    return dl_fail(d, DL_EINPUT, "model has no features");
  const struct dl_array *points = dl_check_array(from, "support", 0, p, d);
  if (!points)
    return DL_EINPUT;
  const struct dl_array *dual =
      dl_check_array(from, "dual", points->rows, 1, d);
  const struct dl_array *gamma = dl_check_array(from, "gamma", 1, 1, d);
  if (!dual || !gamma)
    return DL_EINPUT;
  if (gamma->data[0] <= 0)
    return dl_fail(d, DL_EINPUT, "gamma must be positive, not %g",
                   gamma->data[0]);
  struct kernel_machine *s = krr_new(points->rows, p, gamma->data[0]);
  for (size_t i = 0; i < points->rows; i++) {
    gsl_vector_set(s->dual, i, dual->data[i]);
    for (size_t j = 0; j < p; j++)
      gsl_matrix_set(s->points, i, j, points->data[i * p + j]);
  }
  dl_rbf_points_init(&s->support, s->points, s->dual);
  *state = s;
  return DL_OK;
}

const struct dl_regression dl_krr = {
    .name = "krr",
    .summary = "kernel ridge regression with a radial basis function",
    .hyper = {[ALPHA] = {"alpha", "weight of the penalty", 1e-6, 1e2},
              [GAMMA] = {"gamma", "inverse width of the kernel", 1e-5, 1e1}},
    .n_hyper = N_HYPER,
    .fit = fit,
    .predict = predict,
    .sweep = sweep,
    .save = save,
    .restore = restore,
    .free = krr_free,
};
