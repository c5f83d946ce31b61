/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ridge regression and its choice of the penalty. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "math/regression/regression.h"

#include "problem.h"
#include "tests/messages.h"

/* From tests/reference/math_reference.py (scikit-learn, and for GCV the hat
 * matrix written out and scipy's bounded minimiser). */
static const double B[P] = {-1.02453277732817, -0.608871442331402,
                            0.778867486814685, 0.520929150488648};
static const double B0 = -10.0682402558762;
static const double W_B[P] = {-1.00149813714446, -0.673011127456169,
                              0.783907725015708, 0.530814198209346};
static const double W_B0 = -9.91170429550646;
static const double GCV_LAMBDA = 1.82010176963332;

struct fixture {
  gsl_matrix *X;
  gsl_vector *y, *w;
  struct dl_diag d;
};

static int set_up(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  f->X = make_X();
  f->y = make_y(f->X);
  f->w = make_w();
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  gsl_matrix_free(f->X);
  gsl_vector_free(f->y);
  gsl_vector_free(f->w);
  dl_diag_free(&f->d);
  free(f);
  return 0;
}

static const struct dl_regression *ridge(void) {
  return dl_regression_find("ridge");
}

static void *fit(struct fixture *f, const gsl_vector *w, double *lambda) {
  void *s = NULL;
  assert_int_equal(
      ridge()->fit(ridge(), &s,
                   &(struct dl_design){.X = f->X, .y = f->y, .w = w}, lambda,
                   &f->d),
      DL_OK);
  assert_int_equal(f->d.n_warnings, 0);
  return s;
}

static void check(const void *s, const double *b, double b0) {
  for (size_t j = 0; j < P; j++)
    near(ridge()->coefficient(s, j), b[j], 1e-12);
  near(ridge()->intercept(s), b0, 1e-12);
}

static void matches_scikit_learn(void **state) {
  struct fixture *f = *state;
  double lambda = 2.5;
  void *s = fit(f, NULL, &lambda);
  check(s, B, B0);
  ridge()->free(s);
  s = fit(f, f->w, &lambda);
  check(s, W_B, W_B0);
  ridge()->free(s);
  assert_true(lambda == 2.5);
}

/* One column: b = Sxy / (Sxx + lambda) by hand. x = -1, 0, 1 + 5, y = 1, 2, 6:
 * Sxx = 2, Sxy = 5, so that lambda 3 gives b = 1 and b0 = 3 - 5. */
static void one_column(void **state) {
  struct fixture *f = *state;
  static const double x[3] = {4, 5, 6}, y[3] = {1, 2, 6};
  gsl_matrix_const_view X = gsl_matrix_const_view_array(x, 3, 1);
  gsl_vector_const_view t = gsl_vector_const_view_array(y, 3);
  double lambda = 3;
  void *s = NULL;
  assert_int_equal(
      ridge()->fit(ridge(), &s,
                   &(struct dl_design){.X = &X.matrix, .y = &t.vector}, &lambda,
                   &f->d),
      DL_OK);
  near(ridge()->coefficient(s, 0), 1, 1e-14);
  near(ridge()->intercept(s), -2, 1e-14);
  ridge()->free(s);
}

static void generalised_cross_validation(void **state) {
  struct fixture *f = *state;
  double lambda = NAN, given;
  void *s = fit(f, NULL, &lambda);
  /* At a minimum the argument is good to half of the digits. */
  near(lambda, GCV_LAMBDA, 1e-6);
  given = lambda;
  void *again = fit(f, NULL, &given);
  for (size_t j = 0; j < P; j++)
    assert_true(ridge()->coefficient(s, j) == ridge()->coefficient(again, j));
  ridge()->free(s);
  ridge()->free(again);
}

/* The rows of f, each as often as its weight says. */
static void repeat_rows(const struct fixture *f, gsl_matrix **X,
                        gsl_vector **y) {
  size_t n = 0;
  for (size_t i = 0; i < N; i++)
    n += (size_t)gsl_vector_get(f->w, i);
  *X = gsl_matrix_alloc(n, P);
  *y = gsl_vector_alloc(n);
  for (size_t i = 0, to = 0; i < N; i++)
    for (size_t k = 0; k < (size_t)gsl_vector_get(f->w, i); k++, to++) {
      gsl_vector_set(*y, to, gsl_vector_get(f->y, i));
      for (size_t j = 0; j < P; j++)
        gsl_matrix_set(*X, to, j, gsl_matrix_get(f->X, i, j));
    }
}

/* Down to the lambda that is chosen. */
static void weights_are_repeats(void **state) {
  struct fixture *f = *state;
  gsl_matrix *X;
  gsl_vector *y;
  repeat_rows(f, &X, &y);
  double lambda = NAN, repeated = NAN, plain = NAN;
  void *s = fit(f, f->w, &lambda), *t = NULL;
  assert_int_equal(ridge()->fit(ridge(), &t,
                                &(struct dl_design){.X = X, .y = y}, &repeated,
                                &f->d),
                   DL_OK);
  near(lambda, repeated, 1e-6);
  for (size_t j = 0; j < P; j++)
    near(ridge()->coefficient(s, j), ridge()->coefficient(t, j), 1e-8);
  ridge()->free(s);
  s = fit(f, NULL, &plain);
  assert_true(fabs(plain / lambda - 1) > 1e-3);
  ridge()->free(s);
  ridge()->free(t);
  gsl_matrix_free(X);
  gsl_vector_free(y);
}

static void sweep_equals_fits(void **state) {
  struct fixture *f = *state;
  static const double lambdas[3] = {1e-3, 2.5, 400};
  gsl_matrix_const_view H = gsl_matrix_const_view_array(lambdas, 3, 1);
  gsl_matrix *out = gsl_matrix_alloc(3, N);
  gsl_vector *one = gsl_vector_alloc(N);
  assert_int_equal(
      ridge()->sweep(&(struct dl_design){.X = f->X, .y = f->y, .w = f->w},
                     &H.matrix, f->X, out, &f->d),
      DL_OK);
  for (size_t i = 0; i < 3; i++) {
    double lambda = lambdas[i];
    void *s = fit(f, f->w, &lambda);
    assert_int_equal(ridge()->predict(s, f->X, one, &f->d), DL_OK);
    assert_memory_equal(one->data, gsl_matrix_ptr(out, i, 0),
                        N * sizeof *one->data);
    ridge()->free(s);
  }
  gsl_matrix_free(out);
  gsl_vector_free(one);
}

static void save_and_restore(void **state) {
  struct fixture *f = *state;
  struct dl_arrays as = {0};
  gsl_vector *a = gsl_vector_alloc(N), *b = gsl_vector_alloc(N);
  double lambda = NAN;
  void *s = fit(f, f->w, &lambda), *again = NULL;
  ridge()->save(s, &as);
  assert_int_equal(ridge()->restore(ridge(), &again, &as, P, &f->d), DL_OK);
  assert_int_equal(ridge()->predict(s, f->X, a, &f->d), DL_OK);
  assert_int_equal(ridge()->predict(again, f->X, b, &f->d), DL_OK);
  assert_memory_equal(a->data, b->data, N * sizeof *a->data);
  dl_arrays_free(&as);
  ridge()->free(s);
  ridge()->free(again);
  gsl_vector_free(a);
  gsl_vector_free(b);
}

static void refused(struct fixture *f, double lambda, enum dl_status status,
                    const char *why) {
  void *s = NULL;
  assert_int_equal(ridge()->fit(ridge(), &s,
                                &(struct dl_design){.X = f->X, .y = f->y},
                                &lambda, &f->d),
                   status);
  assert_string_equal(f->d.error, why);
  assert_null(s);
  dl_diag_free(&f->d);
}

static void errors(void **state) {
  struct fixture *f = *state;
  refused(f, 0, DL_EUSAGE, MSG_lambda_must_be_positive("0"));
  refused(f, -1, DL_EUSAGE, MSG_lambda_must_be_positive("-1"));
  refused(f, INFINITY, DL_EUSAGE, MSG_lambda_must_be_positive("inf"));
  static const double lambdas[2] = {1, 1};
  gsl_matrix_const_view wide = gsl_matrix_const_view_array(lambdas, 1, 2);
  gsl_matrix_const_view H = gsl_matrix_const_view_array(lambdas, 2, 1);
  gsl_matrix *out = gsl_matrix_alloc(1, N);
  assert_int_equal(ridge()->sweep(&(struct dl_design){.X = f->X, .y = f->y},
                                  &wide.matrix, f->X, out, &f->d),
                   DL_EFAILED);
  assert_string_equal(f->d.error, MSG_candidates_have_columns_but("2", "1"));
  dl_diag_free(&f->d);
  assert_int_equal(ridge()->sweep(&(struct dl_design){.X = f->X, .y = f->y},
                                  &H.matrix, f->X, out, &f->d),
                   DL_EFAILED);
  assert_string_equal(f->d.error,
                      MSG_predictions_a_sweep_are("2", "40", "1", "40"));
  dl_diag_free(&f->d);
  gsl_matrix_free(out);
  /* One row, and weights that count as less than one. */
  double nan = NAN;
  void *s = NULL;
  gsl_matrix_view X = gsl_matrix_submatrix(f->X, 0, 0, 1, P);
  gsl_vector_view y = gsl_vector_subvector(f->y, 0, 1);
  assert_int_equal(
      ridge()->fit(ridge(), &s,
                   &(struct dl_design){.X = &X.matrix, .y = &y.vector}, &nan,
                   &f->d),
      DL_EINPUT);
  assert_non_null(strstr(f->d.error, "cannot choose lambda"));
  assert_null(s);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      CASE(matches_scikit_learn),
      CASE(one_column),
      CASE(generalised_cross_validation),
      CASE(weights_are_repeats),
      CASE(sweep_equals_fits),
      CASE(save_and_restore),
      CASE(errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
