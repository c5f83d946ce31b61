/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The solver of hierarchical fits: its gradient against differences, its steps
 * and covariance against dense matrices, and fits that hold rows out from
 * several starts. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>

#include "base/portable.h"
#include "physics/fold_fit.h"
#include "physics/solver/minimise.h"
#include "training_table.h"
#include "unit.h"

enum { MOST = 128 };

/* A problem of which each measurement is off by a few percent, and what its
 * equations weigh. */
struct setting {
  struct table t;
  struct dl_hierarchical_problem q;
  double precision[DL_N_PHYSICAL_TARGETS * ROWS];
  double mean[MOST], prior[MOST], theta[MOST];
  bool known[MOST];
  struct dl_weighed_terms terms;
  struct dl_normal_equations e;
};

static struct dl_diag d;

static void make_problem(struct setting *s) {
  make_table(&s->t, 8, DL_TARGET_POWER);
  for (size_t i = 0; i < ROWS; i++)
    for (size_t k = 0; k < DL_N_PHYSICAL_TARGETS; k++)
      s->t.value[i][k] += 0.05 * sin(7.3 * (double)(3 * i + k));
  const struct dl_observations o = {
      .n = ROWS, .row = s->t.observed, .target = DL_TARGET_POWER};
  dl_hierarchical_problem_make(&s->q, &dl_training_physics, &o);
  assert_true(s->q.map.p <= MOST);
}

static int make(void **state) {
  static struct setting s;
  make_problem(&s);
  const struct dl_physics *physics = s.q.physics;
  for (size_t i = 0; i < s.q.configs.n_measurements; i++)
    s.precision[i] = 1 / physics->sigma[s.q.configs.m[i].target];
  for (size_t j = 0; j < s.q.map.p; j++) {
    bool constant = j < physics->n_constants;
    s.mean[j] = constant ? log(physics->constant[j].median) : 0;
    s.prior[j] = 1 / (0.2 * 0.2);
    s.theta[j] = s.mean[j] + 0.1 * cos(3.1 * (double)j);
    s.known[j] = true;
  }
  s.terms = (struct dl_weighed_terms){s.q.configs.m, s.precision, s.mean,
                                      s.prior, s.known};
  dl_normal_equations_make(&s.e, &s.q.blocks, &s.terms);
  *state = &s;
  return 0;
}

static int clear(void **state) {
  struct setting *s = *state;
  dl_normal_equations_free(&s->e);
  dl_hierarchical_problem_free(&s->q);
  dl_diag_free(&d);
  return 0;
}

/* Half the gradient of the squares, by central differences. */
static void gradient_as_differences(void **state) {
  struct setting *s = *state;
  double g[MOST], ignored[MOST], h = 1e-5;
  double squares = dl_normal_equations_gradient(&s->e, s->theta, g);
  assert_true(squares > 0);
  assert_near(dl_normal_equations_sum(&s->e, s->theta, ignored), squares,
              1e-12);
  assert_near(dl_squares_at(&s->q.blocks, &s->terms, s->theta), squares, 1e-12);
  for (size_t j = 0; j < s->q.map.p; j++) {
    double theta = s->theta[j];
    assert_near(ignored[j], g[j], 1e-9);
    s->theta[j] = theta + h;
    double up = dl_normal_equations_gradient(&s->e, s->theta, ignored);
    s->theta[j] = theta - h;
    double down = dl_normal_equations_gradient(&s->e, s->theta, ignored);
    s->theta[j] = theta;
    assert_true(fabs((up - down) / (4 * h) - g[j]) < 1e-4 * (1 + fabs(g[j])));
    dl_normal_equations_sum(&s->e, s->theta, ignored);
  }
}

/* J'J and the priors, from dense derivatives. */
static gsl_matrix *dense_equations(const struct setting *s) {
  size_t n = s->q.configs.n_measurements, p = s->q.map.p;
  gsl_matrix *J = gsl_matrix_alloc(n, p), *A = gsl_matrix_calloc(p, p);
  dl_differentiate_measurements(&s->q.map, s->theta, NULL, n, J->data);
  for (size_t i = 0; i < n; i++) {
    gsl_vector_view row = gsl_matrix_row(J, i);
    gsl_vector_scale(&row.vector, s->precision[i]);
  }
  gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, J, J, 0, A);
  for (size_t j = 0; j < p; j++)
    *gsl_matrix_ptr(A, j, j) += s->prior[j];
  gsl_matrix_free(J);
  return A;
}

static void blocks_solve_the_dense_equations(void **state) {
  struct setting *s = *state;
  size_t p = s->q.map.p;
  double g[MOST], x[MOST];
  gsl_matrix *A = dense_equations(s);
  dl_normal_equations_sum(&s->e, s->theta, g);
  memcpy(x, g, sizeof x);
  assert_true(dl_normal_equations_factor(&s->e, &s->e.products, 0));
  dl_normal_equations_solve(&s->e, x);
  for (size_t i = 0; i < p; i++) {
    double sum = 0, scale = 0;
    for (size_t j = 0; j < p; j++) {
      sum += gsl_matrix_get(A, i, j) * x[j];
      scale += fabs(gsl_matrix_get(A, i, j) * x[j]);
    }
    assert_true(fabs(sum - g[i]) < 1e-9 * (scale + fabs(g[i])));
  }
  gsl_matrix_free(A);
}

static void covariance_is_the_dense_inverse(void **state) {
  struct setting *s = *state;
  size_t p = s->q.map.p;
  double g[MOST];
  gsl_matrix *A = dense_equations(s), *cov = gsl_matrix_alloc(p, p);
  dl_normal_equations_sum(&s->e, s->theta, g);
  assert_true(dl_normal_equations_invert(&s->e, cov));
  gsl_linalg_cholesky_decomp1(A);
  gsl_linalg_cholesky_invert(A);
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j < p; j++) {
      double scale =
          sqrt(gsl_matrix_get(A, i, i)) * sqrt(gsl_matrix_get(A, j, j));
      assert_true(fabs(gsl_matrix_get(cov, i, j) - gsl_matrix_get(A, i, j)) <
                  1e-9 * scale);
    }
  gsl_matrix_free(A);
  gsl_matrix_free(cov);
}

/* The gradient by central differences along a direction, about theta. */
static void slope_along(struct setting *s, const double *x, double *slope) {
  double g[2][MOST], h = 1e-4;
  for (int side = 0; side < 2; side++) {
    double step = side == 0 ? h : -h;
    for (size_t j = 0; j < s->q.map.p; j++)
      s->theta[j] += step * x[j];
    dl_normal_equations_gradient(&s->e, s->theta, g[side]);
    for (size_t j = 0; j < s->q.map.p; j++)
      s->theta[j] -= step * x[j];
  }
  for (size_t j = 0; j < s->q.map.p; j++)
    slope[j] = (g[0][j] - g[1][j]) / (2 * h);
}

/* Along the solution of the curvature for a vector, the gradient at the minimum
 * grows by that vector. */
static void curvature_as_differences(void **state) {
  struct setting *s = *state;
  struct dl_cell_products curvature;
  double v[MOST], x[MOST], slope[MOST];
  assert_ok(dl_minimise(s->theta, false, NULL, &s->q.blocks, &s->terms, &d),
            &d);
  dl_cell_products_make(&curvature, &s->q.blocks);
  dl_curvature_at(&curvature, &s->q.blocks, &s->terms, s->theta);
  for (size_t j = 0; j < s->q.map.p; j++)
    v[j] = x[j] = 10 * sin(2.7 * (double)j);
  assert_true(dl_normal_equations_factor(&s->e, &curvature, 0));
  dl_normal_equations_solve(&s->e, x);
  slope_along(s, x, slope);
  for (size_t j = 0; j < s->q.map.p; j++)
    assert_true(fabs(slope[j] - v[j]) < 2e-3 * (1 + fabs(v[j])));
  dl_cell_products_free(&curvature);
}

/* The same bits whatever the number of threads. */
static void threads_do_not_matter(void **state) {
  struct setting *s = *state;
  double g[2][MOST], x[2][MOST];
  int most = dl_threads();
  for (int k = 0; k < 2; k++) {
    dl_set_threads(k + 1);
    dl_normal_equations_sum(&s->e, s->theta, g[k]);
    assert_true(dl_normal_equations_factor(&s->e, &s->e.products, 0));
    memcpy(x[k], g[k], sizeof x[k]);
    dl_normal_equations_solve(&s->e, x[k]);
  }
  dl_set_threads(most);
  assert_memory_equal(g[0], g[1], s->q.map.p * sizeof **g);
  assert_memory_equal(x[0], x[1], s->q.map.p * sizeof **x);
}

enum start { PRIOR, UNSEEN, FULL };

/* Predictions of the rows of the first GPU, held out, by a fit that begins at
 * the prior, where one without the second GPU too has ended, or at the solution
 * for all rows with its curvature. `poisoned` rows of the first GPU measure ten
 * times as much. */
static void hold_first_out(struct setting *s, enum start start, bool poisoned,
                           double y[ROWS][DL_N_PHYSICAL_TARGETS]) {
  const size_t own = ARCHS * BATCHES;
  bool out[ROWS] = {false}, more[ROWS] = {false};
  struct dl_hierarchical_solution unseen;
  dl_hierarchical_problem_free(&s->q);
  make_problem(s);
  for (size_t i = 0; i < own; i++) {
    out[i] = more[i] = more[own + i] = true;
    for (size_t k = 0; poisoned && k < DL_N_PHYSICAL_TARGETS; k++)
      s->t.value[i][k] += log(10);
  }
  assert_ok(dl_hierarchical_solve(&unseen, &s->q, more, NULL, NULL, &d), &d);
  assert_ok(dl_full_solution_get(&s->q, true, &d), &d);
  struct dl_hierarchical_start from = {NULL, NULL};
  if (start == UNSEEN)
    from.theta = unseen.theta;
  else if (start == FULL)
    from =
        (struct dl_hierarchical_start){s->q.full.theta, &s->q.full_curvature};
  assert_ok(dl_hold_out(&s->q, out, &from, y[0], &d), &d);
  dl_hierarchical_solution_free(&unseen);
}

/* All end at the same optimum, and what has not seen the held-out rows does not
 * depend on them by one bit. */
static void starts_do_not_matter(void **state) {
  struct setting *s = *state;
  static double cold[ROWS][DL_N_PHYSICAL_TARGETS];
  static double unseen[ROWS][DL_N_PHYSICAL_TARGETS];
  static double full[ROWS][DL_N_PHYSICAL_TARGETS];
  static double poisoned[ROWS][DL_N_PHYSICAL_TARGETS];
  hold_first_out(s, PRIOR, false, cold);
  hold_first_out(s, UNSEEN, false, unseen);
  hold_first_out(s, FULL, false, full);
  hold_first_out(s, UNSEEN, true, poisoned);
  for (size_t i = 0; i < ARCHS * BATCHES; i++) {
    for (size_t k = 0; k < DL_N_PHYSICAL_TARGETS; k++) {
      assert_true(fabs(unseen[i][k] - cold[i][k]) < 1e-5);
      assert_true(fabs(full[i][k] - cold[i][k]) < 1e-5);
    }
    assert_memory_equal(poisoned[i], unseen[i], sizeof *unseen);
  }
}

/* The first configurations, of one network on one GPU, left out to first order
 * and by a fit without them: what is left out moves the predictions by more
 * than the two differ. */
static void predict(const struct setting *s, const double *theta, size_t config,
                    double *y) {
  double c[DL_MAX_CONSTANTS];
  dl_constants_of(s->q.physics, theta, c);
  dl_predict_config(&s->q.map, c, theta, config, y);
}

static void leaving_out_is_a_fit_without(void **state) {
  struct setting *s = *state;
  static double y[ROWS][DL_N_PHYSICAL_TARGETS];
  const size_t config[BATCHES] = {0, 1, 2};
  bool out[ROWS] = {true, true, true};
  struct dl_hierarchical_solution without;
  for (size_t i = 0; i < BATCHES; i++)
    for (size_t k = 0; k < DL_N_PHYSICAL_TARGETS; k++)
      s->t.value[i][k] += 0.1;
  assert_ok(dl_full_solution_get(&s->q, false, &d), &d);
  const struct dl_hierarchical_start from = {s->q.full.theta, NULL};
  assert_ok(dl_hierarchical_solve(&without, &s->q, out, &from, NULL, &d), &d);
  dl_leave_out(&s->q, config, BATCHES, y[0]);
  double moved = 0, off = 0;
  for (size_t i = 0; i < BATCHES; i++) {
    double fitted[DL_N_PHYSICAL_TARGETS], exact[DL_N_PHYSICAL_TARGETS];
    predict(s, s->q.full.theta, i, fitted);
    predict(s, without.theta, i, exact);
    for (size_t m = s->q.configs.first[i]; m < s->q.configs.first[i + 1]; m++) {
      size_t k = s->q.configs.m[m].target;
      moved = fmax(moved, fabs(exact[k] - fitted[k]));
      off = fmax(off, fabs(y[i][k] - exact[k]));
    }
  }
  assert_true(moved > 0.02);
  assert_true(off < 0.05 * moved);
  dl_hierarchical_solution_free(&without);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, make, clear)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(gradient_as_differences),
      TEST(blocks_solve_the_dense_equations),
      TEST(covariance_is_the_dense_inverse),
      TEST(curvature_as_differences),
      TEST(threads_do_not_matter),
      TEST(starts_do_not_matter),
      TEST(leaving_out_is_a_fit_without),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
