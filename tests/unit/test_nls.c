/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expected values: the certified ones of NIST's Statistical Reference
 * Datasets (Misra1a, Thurber, both starting points), and analytic solutions. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "math/numeric/nls.h"
#include "unit.h"
#include "tests/messages.h"

static struct dl_diag d;

static int start(void **state) {
  (void)state;
  dl_diag_init(&d);
  return 0;
}

static int finish(void **state) {
  (void)state;
  dl_diag_free(&d);
  return 0;
}

struct data {
  size_t n;
  const double *x, *y;
  double (*f)(const double *b, double x);
};

static void misfit(const double *theta, double *r, void *ctx) {
  const struct data *t = ctx;
  for (size_t i = 0; i < t->n; i++)
    r[i] = t->f(theta, t->x[i]) - t->y[i];
}

static double misra(const double *b, double x) {
  return b[0] * (1 - exp(-b[1] * x));
}

static const double misra_x[] = {77.6,  114.9, 141.1, 190.8, 239.9,
                                 289.0, 332.8, 378.4, 434.8, 477.3,
                                 536.8, 593.1, 689.1, 760.0};
static const double misra_y[] = {10.07, 14.73, 17.94, 23.93, 29.61,
                                 35.18, 40.02, 44.82, 50.76, 55.05,
                                 61.01, 66.40, 75.47, 81.78};

static void misra1a(void **state) {
  static const double starts[2][2] = {{500, 0.0001}, {250, 0.0005}};
  struct data t = {14, misra_x, misra_y, misra};

  (void)state;
  for (size_t i = 0; i < 2; i++) {
    double b[2] = {starts[i][0], starts[i][1]};
    struct dl_nls q = {.n = 14, .p = 2, .residuals = misfit, .ctx = &t};
    struct dl_nls_result result;
    gsl_matrix *cov = gsl_matrix_alloc(2, 2);
    assert_ok(dl_nls_solve(&q, b, cov, &result, &d), &d);
    assert_true(result.converged);
    assert_near(b[0], 2.3894212918e+02, 1e-6);
    assert_near(b[1], 5.5015643181e-04, 1e-6);
    assert_near(result.cost, 1.2455138894e-01, 1e-8);
    double s2 = result.cost / 12;
    assert_near(sqrt(s2 * gsl_matrix_get(cov, 0, 0)), 2.7070075241e+00, 1e-4);
    assert_near(sqrt(s2 * gsl_matrix_get(cov, 1, 1)), 7.2668688436e-06, 1e-4);
    gsl_matrix_free(cov);
  }
}

static double line(const double *b, double x) {
  return b[0] + b[1] * x;
}

static const double line_x[] = {-1, 0, 1};
static const double line_y[] = {1, 2, 6};

/* With a prior of mean m and standard deviation s on the slope of a line
 * through centred points: (sum x y + m / s^2) / (sum x^2 + 1 / s^2). */
static void prior_draws(void **state) {
  struct data t = {3, line_x, line_y, line};
  double b[2] = {0, 0};
  const double mean[] = {0, 1}, sd[] = {INFINITY, 0.5};
  struct dl_nls q = {
      .n = 3, .p = 2, .residuals = misfit, .ctx = &t, .mean = mean, .sd = sd};
  struct dl_nls_result result;
  gsl_matrix *cov = gsl_matrix_alloc(2, 2);

  (void)state;
  assert_ok(dl_nls_solve(&q, b, cov, &result, &d), &d);
  assert_near(b[0], 3, 1e-8);
  assert_near(b[1], (5 + 1 * 4.0) / (2 + 4.0), 1e-8);
  assert_near(gsl_matrix_get(cov, 0, 0), 1 / 3.0, 1e-6);
  assert_near(gsl_matrix_get(cov, 1, 1), 1 / 6.0, 1e-6);
  gsl_matrix_free(cov);
}

/* A prior stands in for a value. */
static void needs_values(void **state) {
  struct data t = {1, line_x, line_y, line};
  double b[2] = {0, 0};
  const double mean[] = {0, 1}, sd[] = {INFINITY, 0.5};
  struct dl_nls q = {.n = 1, .p = 2, .residuals = misfit, .ctx = &t};
  struct dl_nls_result result;

  (void)state;
  assert_error_has(&d, dl_nls_solve(&q, b, NULL, &result, &d),
                   "too few for 2 parameters");
  dl_diag_free(&d);
  dl_diag_init(&d);
  q.mean = mean;
  q.sd = sd;
  assert_ok(dl_nls_solve(&q, b, NULL, &result, &d), &d);
  assert_near(b[1], 1, 1e-8);
  assert_near(b[0], 2, 1e-8);
}

static void refuses_nonsense(void **state) {
  static const double y[] = {1, NAN, 6};
  struct data t = {3, line_x, y, line};
  double b[2] = {0, 0};
  struct dl_nls q = {.n = 3, .p = 2, .residuals = misfit, .ctx = &t};
  struct dl_nls_result result;

  (void)state;
  assert_error_has(&d, dl_nls_solve(&q, b, NULL, &result, &d),
                   MSG_value_has_no_finite("2"));
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, start, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(misra1a),
      TEST(prior_draws),
      TEST(needs_values),
      TEST(refuses_nonsense),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
