/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernel ridge regression. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>

#include "base/portable.h"
#include "math/regression/regression.h"

#include "problem.h"
#include "tests/messages.h"

static const struct dl_regression *krr(void) {
  return dl_regression_find("krr");
}

static void *fit(const gsl_matrix *X, const gsl_vector *y, const gsl_vector *w,
                 double alpha, double gamma) {
  struct dl_diag d = {0};
  void *s = NULL;
  double hyper[2] = {alpha, gamma};
  assert_int_equal(krr()->fit(krr(), &s,
                              &(struct dl_design){.X = X, .y = y, .w = w},
                              hyper, &d),
                   DL_OK);
  dl_diag_free(&d);
  return s;
}

static gsl_vector *predict(const void *s, const gsl_matrix *X) {
  struct dl_diag d = {0};
  gsl_vector *f = gsl_vector_alloc(X->size1);
  assert_int_equal(krr()->predict(s, X, f, &d), DL_OK);
  dl_diag_free(&d);
  return f;
}

static double kernel(const gsl_matrix *A, size_t i, const gsl_matrix *B,
                     size_t k, double gamma) {
  double d = 0;
  for (size_t j = 0; j < A->size2; j++)
    d += pow(gsl_matrix_get(A, i, j) - gsl_matrix_get(B, k, j), 2);
  return exp(-gamma * d);
}

/* The definition without any collapsing, by LU: predictions for Z. */
static gsl_vector *direct(const gsl_matrix *X, const gsl_vector *y,
                          const gsl_vector *w, double alpha, double gamma,
                          const gsl_matrix *Z) {
  size_t n = X->size1;
  int sign;
  gsl_matrix *A = gsl_matrix_alloc(n, n);
  gsl_vector *dual = gsl_vector_alloc(n), *f = gsl_vector_calloc(Z->size1);
  gsl_permutation *order = gsl_permutation_alloc(n);
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++)
      gsl_matrix_set(A, i, k,
                     kernel(X, i, X, k, gamma) +
                         (i == k ? alpha / (w ? gsl_vector_get(w, i) : 1) : 0));
  assert_int_equal(gsl_linalg_LU_decomp(A, order, &sign), 0);
  assert_int_equal(gsl_linalg_LU_solve(A, order, y, dual), 0);
  for (size_t i = 0; i < Z->size1; i++)
    for (size_t k = 0; k < n; k++)
      *gsl_vector_ptr(f, i) +=
          gsl_vector_get(dual, k) * kernel(Z, i, X, k, gamma);
  gsl_matrix_free(A);
  gsl_vector_free(dual);
  gsl_permutation_free(order);
  return f;
}

static void check_equal(const gsl_vector *a, const gsl_vector *b,
                        double share) {
  assert_int_equal(a->size, b->size);
  for (size_t i = 0; i < a->size; i++)
    near(gsl_vector_get(a, i), gsl_vector_get(b, i), share);
}

/* From tests/reference/math_reference.py (scikit-learn's KernelRidge). */
static void matches_scikit_learn(void **state) {
  (void)state;
  static const double want[3] = {17.0317794398285, 14.4928638833581,
                                 11.8207561046142};
  static const size_t row[3] = {0, 7, 39};
  gsl_matrix *X = make_X();
  gsl_vector *y = make_y(X);
  gsl_matrix_scale(X, 0.1);
  void *s = fit(X, y, NULL, 0.05, 0.3);
  gsl_matrix_add_constant(X, 0.05);
  gsl_vector *f = predict(s, X);
  for (size_t i = 0; i < 3; i++)
    near(gsl_vector_get(f, row[i]), want[i], 1e-11);
  assert_null(krr()->coefficient);
  assert_null(krr()->intercept);
  krr()->free(s);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  gsl_vector_free(f);
}

/* n rows that take 8 different values between them, among them both zeros,
 * and targets that differ between equal rows. */
static void make_repeated(size_t n, gsl_matrix **X, gsl_vector **y,
                          gsl_vector **w) {
  *X = gsl_matrix_alloc(n, 2);
  *y = gsl_vector_alloc(n);
  *w = gsl_vector_alloc(n);
  for (size_t i = 0; i < n; i++) {
    double k = (double)(i * i % 21);
    gsl_matrix_set(*X, i, 0, k == 0 && i % 2 ? -0.0 : 0.3 * k);
    gsl_matrix_set(*X, i, 1, sin(k));
    gsl_vector_set(*y, i, cos(k) + 0.2 * sin((double)i) + 2);
    gsl_vector_set(*w, i, 0.5 + (double)(i % 4));
  }
}

static size_t support_size(const void *s) {
  struct dl_arrays as = {0};
  struct dl_diag d = {0};
  krr()->save(s, &as);
  size_t rows = dl_arrays_find(&as, "support")->rows;
  dl_arrays_free(&as);
  dl_diag_free(&d);
  return rows;
}

static void collapse_changes_nothing(void **state) {
  (void)state;
  gsl_matrix *X;
  gsl_vector *y, *w;
  make_repeated(120, &X, &y, &w);
  gsl_matrix *Z = gsl_matrix_alloc(17, 2);
  for (size_t i = 0; i < 34; i++)
    Z->data[i] = 3 * sin((double)i) + 2;
  for (int weighted = 0; weighted < 2; weighted++) {
    void *s = fit(X, y, weighted ? w : NULL, 0.01, 0.4);
    assert_int_equal(support_size(s), 8);
    gsl_vector *got = predict(s, Z);
    gsl_vector *want = direct(X, y, weighted ? w : NULL, 0.01, 0.4, Z);
    check_equal(got, want, 1e-10);
    gsl_vector_free(got);
    gsl_vector_free(want);
    krr()->free(s);
  }
  gsl_matrix_free(X);
  gsl_matrix_free(Z);
  gsl_vector_free(y);
  gsl_vector_free(w);
}

static void weights_are_repeats(void **state) {
  (void)state;
  gsl_matrix *X = make_X(), *X2 = gsl_matrix_alloc(2 * N, P);
  gsl_vector *y = make_y(X), *y2 = gsl_vector_alloc(2 * N);
  gsl_vector *w = gsl_vector_alloc(N);
  gsl_vector_set_all(w, 2);
  for (size_t i = 0; i < 2 * N; i++) {
    gsl_vector_set(y2, i, gsl_vector_get(y, i % N));
    for (size_t j = 0; j < P; j++)
      gsl_matrix_set(X2, i, j, gsl_matrix_get(X, i % N, j));
  }
  void *plain = fit(X, y, NULL, 0.1, 0.3);
  void *weighted = fit(X, y, w, 0.1, 0.3);
  void *repeated = fit(X2, y2, NULL, 0.1, 0.3);
  gsl_vector *f = predict(plain, X), *g = predict(weighted, X),
             *h = predict(repeated, X);
  check_equal(g, h, 1e-14);
  assert_true(fabs(gsl_vector_get(f, 0) / gsl_vector_get(g, 0) - 1) > 1e-3);
  krr()->free(plain);
  krr()->free(weighted);
  krr()->free(repeated);
  gsl_matrix_free(X);
  gsl_matrix_free(X2);
  gsl_vector_free(y);
  gsl_vector_free(y2);
  gsl_vector_free(w);
  gsl_vector_free(f);
  gsl_vector_free(g);
  gsl_vector_free(h);
}

/* Grid of settings, gammas out of order and one twice; test rows repeat. */
static void sweep_equals_fits(void **state) {
  (void)state;
  static const double h[10] = {0.1, 3, 0.01, 0.2, 10, 3, 1e-4, 1, 0.5, 0.2};
  struct dl_diag d = {0};
  gsl_matrix *X;
  gsl_vector *y, *w;
  make_repeated(50, &X, &y, &w);
  gsl_matrix_const_view H = gsl_matrix_const_view_array(h, 5, 2);
  gsl_matrix *out = gsl_matrix_alloc(5, 50);
  assert_int_equal(krr()->sweep(&(struct dl_design){.X = X, .y = y, .w = w},
                                &H.matrix, X, out, &d),
                   DL_OK);
  for (size_t i = 0; i < 5; i++) {
    void *s = fit(X, y, w, h[2 * i], h[2 * i + 1]);
    gsl_vector *f = predict(s, X);
    gsl_vector_view row = gsl_matrix_row(out, i);
    check_equal(&row.vector, f, 1e-10);
    gsl_vector_free(f);
    krr()->free(s);
  }
  gsl_matrix_free(out);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  gsl_vector_free(w);
  dl_diag_free(&d);
}

/* 240 points on two features, whose kernel matrices have a small numerical
 * rank but for the largest gamma: predictions of other points, against a
 * solution of the whole system. */
static void sweep_of_low_rank(void **state) {
  (void)state;
  enum { M = 240, Q = 17 };
  static const double h[12] = {1e-3, 10, 1e-3, 1e-4, 1, 0.01,
                               1e-2, 1,  1e-3, 0.1,  1, 10};
  gsl_matrix *X = gsl_matrix_alloc(M, 2), *Z = gsl_matrix_alloc(Q, 2);
  gsl_vector *y = gsl_vector_alloc(M), *w = gsl_vector_alloc(M);
  for (size_t i = 0; i < M; i++) {
    double a = sin((double)(7 * i)), b = cos((double)(i * i));
    gsl_matrix_set(X, i, 0, 2 * a);
    gsl_matrix_set(X, i, 1, 1 + b);
    gsl_vector_set(y, i, 3 + a * b + 0.2 * sin((double)(31 * i)));
    gsl_vector_set(w, i, 1 + (double)(i % 4));
  }
  for (size_t i = 0; i < Q; i++) {
    gsl_matrix_set(Z, i, 0, 0.2 * (double)i - 1.5);
    gsl_matrix_set(Z, i, 1, sin((double)i));
  }
  gsl_matrix_const_view H = gsl_matrix_const_view_array(h, 6, 2);
  gsl_matrix *out = gsl_matrix_alloc(6, Q);
  struct dl_diag d = {0};
  assert_int_equal(krr()->sweep(&(struct dl_design){.X = X, .y = y, .w = w},
                                &H.matrix, Z, out, &d),
                   DL_OK);
  for (size_t i = 0; i < 6; i++) {
    gsl_vector *f = direct(X, y, w, h[2 * i], h[2 * i + 1], Z);
    gsl_vector_view row = gsl_matrix_row(out, i);
    check_equal(&row.vector, f, 1e-9);
    gsl_vector_free(f);
  }
  gsl_matrix_free(X);
  gsl_matrix_free(Z);
  gsl_matrix_free(out);
  gsl_vector_free(y);
  gsl_vector_free(w);
  dl_diag_free(&d);
}

static void save_and_restore(void **state) {
  (void)state;
  struct dl_diag d = {0};
  struct dl_arrays as = {0};
  gsl_matrix *X = make_X();
  gsl_vector *y = make_y(X);
  void *s = fit(X, y, NULL, 1e-3, 0.2), *again = NULL;
  krr()->save(s, &as);
  assert_int_equal(krr()->restore(krr(), &again, &as, P, &d), DL_OK);
  gsl_vector *a = predict(s, X), *b = predict(again, X);
  assert_memory_equal(a->data, b->data, N * sizeof *a->data);
  krr()->free(again);
  again = NULL;
  assert_int_equal(krr()->restore(krr(), &again, &as, P - 1, &d), DL_EINPUT);
  assert_string_equal(d.error, MSG_array_has_wrong_shape("support", "40", "4"));
  dl_diag_free(&d);
  as.a[2].data[0] = -1;
  assert_int_equal(krr()->restore(krr(), &again, &as, P, &d), DL_EINPUT);
  assert_string_equal(d.error, MSG_gamma_must_be_positive("-1"));
  dl_diag_free(&d);
  as.a[1].rows--;
  assert_int_equal(krr()->restore(krr(), &again, &as, P, &d), DL_EINPUT);
  assert_string_equal(d.error, MSG_array_has_wrong_shape("dual", "39", "1"));
  dl_diag_free(&d);
  assert_null(again);
  krr()->free(s);
  krr()->free(NULL);
  dl_arrays_free(&as);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  gsl_vector_free(a);
  gsl_vector_free(b);
}

/* Enough rows for threads, not a multiple of any block. */
static void any_number_of_threads(void **state) {
  (void)state;
  const size_t n = 10007;
  gsl_matrix *X = make_X(), *Z = gsl_matrix_alloc(n, P);
  gsl_vector *y = make_y(X), *f[3];
  for (size_t i = 0; i < n * P; i++)
    Z->data[i] = 20 + 15 * sin((double)(i % 65537));
  for (int threads = 1; threads <= 3; threads++) {
    dl_set_threads(threads);
    void *s = fit(X, y, NULL, 0.01, 0.05);
    f[threads - 1] = predict(s, Z);
    krr()->free(s);
  }
  for (size_t k = 1; k < 3; k++)
    assert_memory_equal(f[0]->data, f[k]->data, n * sizeof *f[0]->data);
  size_t alive = 0;
  for (size_t i = 0; i < n; i++)
    alive += fabs(gsl_vector_get(f[0], i)) > 1e-3;
  assert_true(alive > n / 10);
  /* The same for rows on their own, wherever they stood. */
  void *s = fit(X, y, NULL, 0.01, 0.05);
  for (size_t i = 0; i < 100; i++) {
    gsl_matrix_view one = gsl_matrix_submatrix(Z, i, 0, 1, P);
    gsl_vector *g = predict(s, &one.matrix);
    assert_memory_equal(g->data, f[0]->data + i, sizeof *g->data);
    gsl_vector_free(g);
  }
  krr()->free(s);
  for (size_t k = 0; k < 3; k++)
    gsl_vector_free(f[k]);
  gsl_matrix_free(X);
  gsl_matrix_free(Z);
  gsl_vector_free(y);
}

static void refused(const gsl_matrix *X, const gsl_vector *y, double alpha,
                    double gamma, enum dl_status status, const char *why) {
  struct dl_diag d = {0};
  void *s = NULL;
  double hyper[2] = {alpha, gamma};
  assert_int_equal(
      krr()->fit(krr(), &s, &(struct dl_design){.X = X, .y = y}, hyper, &d),
      status);
  assert_string_equal(d.error, why);
  assert_null(s);
  dl_diag_free(&d);
}

static void errors(void **state) {
  (void)state;
  struct dl_diag d = {0};
  gsl_matrix *X = make_X();
  gsl_vector *y = make_y(X);
  gsl_vector_view some = gsl_vector_subvector(y, 0, N - 1);
  gsl_matrix_view narrow = gsl_matrix_submatrix(X, 0, 0, N, P - 1);
  refused(X, &some.vector, 1, 1, DL_EFAILED,
          MSG_design_has_rows_but("40", "39"));
  refused(X, y, NAN, 1, DL_EUSAGE, MSG_needs_a_value("alpha"));
  refused(X, y, 1, NAN, DL_EUSAGE, MSG_needs_a_value("gamma"));
  refused(X, y, 1, 0, DL_EUSAGE, MSG_gamma_must_be_positive("0"));
  /* All kernel values are 1 to the last bit, and alpha is lost in them. */
  refused(X, y, 1e-20, 1e-30, DL_EINPUT, MSG_kernel_matrix_is_not("1e-20"));
  void *s = fit(X, y, NULL, 1, 1);
  assert_int_equal(krr()->predict(s, &narrow.matrix, y, &d), DL_EFAILED);
  dl_diag_free(&d);
  assert_int_equal(krr()->predict(s, X, &some.vector, &d), DL_EFAILED);
  dl_diag_free(&d);
  krr()->free(s);
  gsl_matrix_set(X, 39, 3, INFINITY);
  refused(X, y, 1, 1, DL_EINPUT, MSG_design_holds_values_that);
  gsl_matrix_set(X, 39, 3, 0);
  gsl_vector_set(y, 5, NAN);
  refused(X, y, 1, 1, DL_EINPUT, MSG_target_holds_values_that);
  gsl_matrix_free(X);
  gsl_vector_free(y);
}

/* A setting that cannot be solved gives NaN, the others their values. */
static void sweep_goes_on(void **state) {
  (void)state;
  static const double h[4] = {1e-20, 1e-30, 0.1, 0.3};
  struct dl_diag d = {0};
  gsl_matrix *X = make_X(), *out = gsl_matrix_alloc(2, N);
  gsl_vector *y = make_y(X);
  gsl_matrix_const_view H = gsl_matrix_const_view_array(h, 2, 2);
  assert_int_equal(
      krr()->sweep(&(struct dl_design){.X = X, .y = y}, &H.matrix, X, out, &d),
      DL_OK);
  for (size_t i = 0; i < N; i++) {
    assert_true(isnan(gsl_matrix_get(out, 0, i)));
    assert_true(isfinite(gsl_matrix_get(out, 1, i)));
  }
  gsl_matrix_free(X);
  gsl_matrix_free(out);
  gsl_vector_free(y);
  dl_diag_free(&d);
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matches_scikit_learn),
      cmocka_unit_test(collapse_changes_nothing),
      cmocka_unit_test(weights_are_repeats),
      cmocka_unit_test(sweep_equals_fits),
      cmocka_unit_test(sweep_of_low_rank),
      cmocka_unit_test(save_and_restore),
      cmocka_unit_test(any_number_of_threads),
      cmocka_unit_test(errors),
      cmocka_unit_test(sweep_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
