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
#include "math/numeric/equal_rows.h"
#include "math/regression/kernel.h"
#include "math/regression/low_rank.h"
#include "math/regression/regression_methods.h"

enum { ALPHA, GAMMA, N_HYPER };

/* A sweep takes the kernel's features where they are at most this share of the
 * points, and there are more than a few points: else the systems cost less. */
enum { RANK_SHARE = 3, FEW_POINTS = 48 };

struct krr {
  gsl_matrix *points; /* m x p: distinct rows, owned */
  gsl_vector *dual;   /* m, owned */
  double gamma;
  struct dl_support support; /* points and dual once more, laid out */
};

static void krr_free(void *state) {
  struct krr *s = state;
  if (!s)
    return;
  gsl_matrix_free(s->points);
  gsl_vector_free(s->dual);
  dl_support_free(&s->support);
  free(s);
}

/* The training data, and what is shared between settings. */
struct training {
  struct dl_distinct rows;
  gsl_vector *weight; /* m: of the distinct rows, owned */
  gsl_vector *mean;   /* m: their targets, owned */
  /* NULL until they are needed: */
  gsl_matrix *D; /* m x m: squared distances, owned */
  gsl_matrix *K; /* m x m: kernel values for one gamma, owned */
  gsl_matrix *L; /* m x m: system for one alpha, owned */
};

static void training_free(struct training *t) {
  dl_distinct_free(&t->rows);
  gsl_vector_free(t->weight);
  gsl_vector_free(t->mean);
  gsl_matrix_free(t->D);
  gsl_matrix_free(t->K);
  gsl_matrix_free(t->L);
}

static bool is_finite(const double *x, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i]))
      return false;
  return true;
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

static enum dl_status training_init(struct training *t,
                                    const struct dl_sample *data,
                                    struct dl_diag *d) {
  *t = (struct training){0};
  dl_distinct_make(&t->rows, data->X);
  size_t m = t->rows.X->size1;
  t->weight = gsl_vector_alloc(m);
  t->mean = gsl_vector_alloc(m);
  dl_distinct_average(&t->rows, data->y, data->w, t->weight, t->mean);
  if (!finite_distances(t->rows.X))
    return dl_fail(d, DL_EINPUT,
                   "design holds values that are not finite, or too large");
  if (!is_finite(t->mean->data, m))
    return dl_fail(d, DL_EINPUT,
                   "target holds values that are not finite, or too large");
  return DL_OK;
}

/* Room for the systems, and the distances. */
static void need_systems(struct training *t) {
  size_t m = t->rows.X->size1;
  if (t->D)
    return;
  t->D = gsl_matrix_alloc(m, m);
  t->K = gsl_matrix_alloc(m, m);
  t->L = gsl_matrix_alloc(m, m);
  dl_sq_distances(t->D, t->rows.X, t->rows.X);
}

/* K_ij = exp(-gamma D_ij) */
static void fill_kernel(gsl_matrix *K, const gsl_matrix *D, double gamma) {
  for (size_t i = 0; i < D->size1; i++)
    dl_decay(gsl_matrix_ptr(K, i, 0), gsl_matrix_const_ptr(D, i, 0), gamma,
             D->size2);
}

/* Solves (K + alpha W^-1) dual = mean; a GSL error number where the system
 * is not positive definite. */
static int solve(gsl_vector *dual, struct training *t, double alpha) {
  int gsl = gsl_matrix_memcpy(t->L, t->K);
  for (size_t i = 0; i < dual->size; i++)
    *gsl_matrix_ptr(t->L, i, i) += alpha / gsl_vector_get(t->weight, i);
  if (!gsl)
    gsl = gsl_linalg_cholesky_decomp1(t->L);
  if (!gsl)
    gsl = gsl_linalg_cholesky_solve(t->L, t->mean, dual);
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
static struct krr *krr_new(size_t m, size_t p, double gamma) {
  struct krr *s = dl_calloc(1, sizeof *s);
  s->gamma = gamma;
  s->points = gsl_matrix_alloc(m, p);
  s->dual = gsl_vector_alloc(m);
  return s;
}

/* Fits the training data; on failure the caller frees *s. */
static enum dl_status fit_training(struct krr **s, struct training *t,
                                   double alpha, double gamma,
                                   struct dl_diag *d) {
  *s = krr_new(t->rows.X->size1, t->rows.X->size2, gamma);
  need_systems(t);
  fill_kernel(t->K, t->D, gamma);
  int gsl = gsl_matrix_memcpy((*s)->points, t->rows.X);
  if (!gsl)
    gsl = solve((*s)->dual, t, alpha);
  if (gsl)
    return fail_solve(alpha, d);
  dl_support_init(&(*s)->support, (*s)->points, (*s)->dual);
  return DL_OK;
}

static enum dl_status fit(const struct dl_regression *self, void **state,
                          const struct dl_sample *data, double *hyper,
                          struct dl_diag *d) {
  (void)self;
  DL_TRY(dl_check_fit(data, d));
  DL_TRY(check_hypers(hyper[ALPHA], hyper[GAMMA], d));
  DL_SCOPED(training_free) struct training t = {0};
  DL_TRY(training_init(&t, data, d));
  struct krr *s = NULL;
  enum dl_status status = fit_training(&s, &t, hyper[ALPHA], hyper[GAMMA], d);
  if (status)
    krr_free(s);
  else
    *state = s;
  return status;
}

static enum dl_status predict(const void *state, const gsl_matrix *X,
                              gsl_vector *out, struct dl_diag *d) {
  const struct krr *s = state;
  DL_TRY(dl_check_predict(s->points->size2, X, out, d));
  dl_expand(&s->support, s->gamma, X, out);
  return DL_OK;
}

/* The test rows of a sweep, collapsed as well: what they need is worked out
 * once for all settings with the same gamma. */
struct test_rows {
  struct dl_distinct rows;
  gsl_vector *f; /* q: predictions, owned */
  /* NULL until they are needed: */
  gsl_matrix *D;    /* q x m: squared distances to the training rows, owned */
  gsl_matrix *K;    /* q x m: kernel values for one gamma, owned */
  gsl_vector *dual; /* m: coefficients of one setting, owned */
};

static void test_free(struct test_rows *e) {
  dl_distinct_free(&e->rows);
  gsl_vector_free(e->f);
  gsl_matrix_free(e->D);
  gsl_matrix_free(e->K);
  gsl_vector_free(e->dual);
}

static void need_test_systems(struct test_rows *e, const struct training *t) {
  size_t q = e->rows.X->size1, m = t->rows.X->size1;
  if (e->D)
    return;
  e->D = gsl_matrix_alloc(q, m);
  e->K = gsl_matrix_alloc(q, m);
  e->dual = gsl_vector_alloc(m);
  dl_sq_distances(e->D, e->rows.X, t->rows.X);
}

/* Work of a sweep. */
struct sweep {
  struct training t;
  struct test_rows e;
  struct dl_low_rank low;
  bool dense; /* this gamma and larger ones have too many features */
};

static enum dl_status sweep_init(struct sweep *w, const struct dl_sample *data,
                                 const gsl_matrix *X_test, struct dl_diag *d) {
  DL_TRY(training_init(&w->t, data, d));
  size_t m = w->t.rows.X->size1;
  dl_distinct_make(&w->e.rows, X_test);
  w->e.f = gsl_vector_alloc(w->e.rows.X->size1);
  w->dense = m < FEW_POINTS;
  w->low = (struct dl_low_rank){
      .X = w->t.rows.X, .Z = w->e.rows.X, .w = w->t.weight, .y = w->t.mean};
  if (!w->dense)
    dl_low_rank_alloc(&w->low, m / RANK_SHARE);
  return DL_OK;
}

static void sweep_free(struct sweep *w) {
  training_free(&w->t);
  test_free(&w->e);
  dl_low_rank_free(&w->low);
}

/* What the settings of one gamma share; gammas ascend. */
static void new_gamma(struct sweep *w, double gamma) {
  w->dense = w->dense || !dl_low_rank_factorise(&w->low, gamma);
  if (!w->dense)
    return;
  need_systems(&w->t);
  need_test_systems(&w->e, &w->t);
  fill_kernel(w->t.K, w->t.D, gamma);
  fill_kernel(w->e.K, w->e.D, gamma);
}

static int predict_setting(struct sweep *w, double alpha) {
  if (!w->dense)
    return dl_low_rank_predict(&w->low, alpha, w->e.f);
  int gsl = solve(w->e.dual, &w->t, alpha);
  return gsl ? gsl
             : gsl_blas_dgemv(CblasNoTrans, 1, w->e.K, w->e.dual, 0, w->e.f);
}

/* Predictions for one setting into a row of out, NaN where the system cannot
 * be solved. */
static void sweep_one(gsl_vector *out, struct sweep *w, double alpha) {
  int gsl = predict_setting(w, alpha);
  for (size_t i = 0; i < out->size; i++)
    gsl_vector_set(out, i,
                   gsl ? (double)NAN
                       : gsl_vector_get(w->e.f, w->e.rows.of_row[i]));
}

/* A setting, to be sorted so that equal gammas follow each other. */
struct setting {
  double gamma;
  size_t row;
};

static int by_gamma(const void *a, const void *b) {
  const struct setting *x = a, *y = b;
  int order = (x->gamma > y->gamma) - (x->gamma < y->gamma);
  return order ? order : (x->row > y->row) - (x->row < y->row);
}

static enum dl_status sort_settings(struct setting *order, const gsl_matrix *H,
                                    struct dl_diag *d) {
  for (size_t i = 0; i < H->size1; i++) {
    order[i] = (struct setting){gsl_matrix_get(H, i, GAMMA), i};
    DL_TRY(check_hypers(gsl_matrix_get(H, i, ALPHA), order[i].gamma, d));
  }
  qsort(order, H->size1, sizeof *order, by_gamma);
  return DL_OK;
}

static void run_settings(const struct setting *order, const gsl_matrix *H,
                         struct sweep *w, gsl_matrix *out) {
  for (size_t i = 0; i < H->size1; i++) {
    double gamma = order[i].gamma;
    if (i == 0 || gamma > order[i - 1].gamma)
      new_gamma(w, gamma);
    gsl_vector_view row = gsl_matrix_row(out, order[i].row);
    sweep_one(&row.vector, w, gsl_matrix_get(H, order[i].row, ALPHA));
  }
}

static enum dl_status sweep(const struct dl_sample *data, const gsl_matrix *H,
                            const gsl_matrix *X_test, gsl_matrix *out,
                            struct dl_diag *d) {
  DL_TRY(dl_check_fit(data, d));
  DL_TRY(dl_check_sweep(data->X, H, N_HYPER, X_test, out, d));
  DL_FREED struct setting *order = dl_calloc(H->size1, sizeof *order);
  DL_SCOPED(sweep_free) struct sweep w = {0};
  DL_TRY(sweep_init(&w, data, X_test, d));
  DL_TRY(sort_settings(order, H, d));
  run_settings(order, H, &w, out);
  return DL_OK;
}

static void save(const void *state, struct dl_arrays *to) {
  const struct krr *s = state;
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
  struct krr *s = krr_new(points->rows, p, gamma->data[0]);
  for (size_t i = 0; i < points->rows; i++) {
    gsl_vector_set(s->dual, i, dual->data[i]);
    for (size_t j = 0; j < p; j++)
      gsl_matrix_set(s->points, i, j, points->data[i * p + j]);
  }
  dl_support_init(&s->support, s->points, s->dual);
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
