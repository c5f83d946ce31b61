/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-validation and the search for hyper-parameters. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_errno.h>

#include "base/portable.h"
#include "math/cross_validation/cross_validate.h"

#include "problem.h"
#include "tests/messages.h"

/* From tests/reference/math_reference.py: ridge with lambda 2.5 behind a
 * StandardScaler fitted within each of 5 consecutive folds. */
static const size_t ROW[3] = {0, 19, 39};
static const double PREDICTION[3] = {16.9824531601099, 16.0043585270664,
                                     11.9488967254506};
static const double LOG_PREDICTION[3] = {2.02351529863224, 2.09682445804974,
                                         1.63671383373655};

struct fixture {
  gsl_matrix *X;
  gsl_vector *y, *z, *w, *offset; /* z = exp(y / 20) */
  struct dl_folds folds;
  struct dl_diag d;
};

static int set_up(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  f->X = make_X();
  f->y = make_y(f->X);
  f->w = make_w();
  f->z = gsl_vector_alloc(N);
  f->offset = gsl_vector_alloc(N);
  for (size_t i = 0; i < N; i++) {
    gsl_vector_set(f->z, i, exp(gsl_vector_get(f->y, i) / 20));
    gsl_vector_set(f->offset, i, 0.1 * (double)(i % 3));
  }
  *state = f;
  return dl_folds_make(&f->folds, DL_KFOLD, N, 5, 0, &f->d);
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  gsl_matrix_free(f->X);
  gsl_vector_free(f->y);
  gsl_vector_free(f->z);
  gsl_vector_free(f->w);
  gsl_vector_free(f->offset);
  dl_folds_free(&f->folds);
  dl_diag_free(&f->d);
  free(f);
  return 0;
}

static void run(struct fixture *f, struct dl_cv *cv, const struct dl_design *p,
                const char *method, const double *hyper) {
  assert_int_equal(dl_cross_validate(cv, p, dl_regression_find(method), hyper,
                                     &f->folds, &f->d),
                   DL_OK);
}

static void matches_scikit_learn(void **state) {
  struct fixture *f = *state;
  struct dl_design p = {.X = f->X, .y = f->y, .scale = true};
  struct dl_cv cv;
  double lambda = 2.5;
  run(f, &cv, &p, "ridge", &lambda);
  for (size_t i = 0; i < 3; i++)
    near(cv.prediction[ROW[i]], PREDICTION[i], 1e-12);
  assert_int_equal(cv.k, 5);
  assert_int_equal(cv.fold[3].n, 8);
  assert_int_equal(cv.mean.n, N);
  assert_int_equal(cv.pooled.n, N);
  near(cv.pooled.r2, 0.726808693395835, 1e-12);
  near(cv.pooled.rmse, 1.48714759777152, 1e-12);
  near(cv.mean.r2, 0.660328136304055, 1e-12);
  near(cv.mean.rmse, 1.45032241791639, 1e-12);
  near(cv.mean.mape, 0.0886118687223538, 1e-12);
  dl_cv_free(&cv);
  assert_null(cv.prediction);
  dl_cv_free(&cv);
  dl_cv_free(NULL);
}

/* Standardised columns make another model than plain ones. */
static void scale_matters(void **state) {
  struct fixture *f = *state;
  struct dl_design p = {.X = f->X, .y = f->y};
  struct dl_cv cv;
  double lambda = 2.5;
  run(f, &cv, &p, "ridge", &lambda);
  assert_true(fabs(cv.prediction[0] - PREDICTION[0]) > 1e-3);
  dl_cv_free(&cv);
}

static void logarithm_and_offset(void **state) {
  struct fixture *f = *state;
  struct dl_design p = {.X = f->X,
                        .y = f->z,
                        .offset = f->offset,
                        .log_target = true,
                        .scale = true};
  struct dl_cv cv;
  double lambda = 2.5;
  run(f, &cv, &p, "ridge", &lambda);
  for (size_t i = 0; i < 3; i++)
    near(cv.prediction[ROW[i]], LOG_PREDICTION[i], 1e-12);
  near(cv.pooled.rmse, 0.309793537992283, 1e-12);
  dl_cv_free(&cv);
}

/* Weights reach the scale, the fit and the scores: the same as repeated rows
 * in groups. */
static void weights_are_repeats(void **state) {
  struct fixture *f = *state;
  size_t n = 0, group[3 * N];
  static const char *const names[5] = {"a", "b", "c", "d", "e"};
  gsl_matrix *X = gsl_matrix_alloc(3 * N, P);
  gsl_vector *y = gsl_vector_alloc(3 * N);
  for (size_t i = 0; i < N; i++)
    for (double k = 0; k < gsl_vector_get(f->w, i); k++, n++) {
      for (size_t j = 0; j < P; j++)
        gsl_matrix_set(X, n, j, gsl_matrix_get(f->X, i, j));
      gsl_vector_set(y, n, gsl_vector_get(f->y, i));
      group[n] = i / 8;
    }
  gsl_matrix_view X_n = gsl_matrix_submatrix(X, 0, 0, n, P);
  gsl_vector_view y_n = gsl_vector_subvector(y, 0, n);
  struct dl_design repeated = {
      .X = &X_n.matrix, .y = &y_n.vector, .scale = true};
  struct dl_design weighted = {.X = f->X, .y = f->y, .w = f->w, .scale = true};
  struct dl_folds groups;
  struct dl_cv a, b;
  double lambda = 2.5;
  assert_int_equal(dl_folds_by_group(&groups, group, n, names, N / 8, &f->d),
                   DL_OK);
  assert_int_equal(dl_cross_validate(&a, &repeated, dl_regression_find("ridge"),
                                     &lambda, &groups, &f->d),
                   DL_OK);
  run(f, &b, &weighted, "ridge", &lambda);
  near(a.pooled.rmse, b.pooled.rmse, 1e-12);
  near(a.pooled.median_ape, b.pooled.median_ape, 1e-10);
  near(a.mean.r2, b.mean.r2, 1e-12);
  near(a.fold[4].bias, b.fold[4].bias, 1e-11);
  dl_cv_free(&a);
  dl_cv_free(&b);
  dl_folds_free(&groups);
  gsl_matrix_free(X);
  gsl_vector_free(y);
}

static void any_number_of_threads(void **state) {
  struct fixture *f = *state;
  struct dl_design p = {.X = f->X, .y = f->z, .w = f->w, .log_target = true};
  double hyper[2] = {0.01, 0.02}, free_hyper[2] = {NAN, NAN};
  struct dl_search_best best[3] = {0};
  struct dl_cv cv[3];
  const struct dl_regression *krr = dl_regression_find("krr");
  gsl_matrix *H = dl_candidates(krr, free_hyper, DL_SEARCH_GRID, 6, 0);
  for (int threads = 1; threads <= 3; threads++) {
    dl_set_threads(threads);
    run(f, &cv[threads - 1], &p, "krr", hyper);
    assert_int_equal(
        dl_search(&best[threads - 1], &p, krr, H, &f->folds, &f->d), DL_OK);
  }
  for (size_t k = 1; k < 3; k++) {
    assert_memory_equal(cv[0].prediction, cv[k].prediction, N * sizeof(double));
    assert_memory_equal(&cv[0].pooled, &cv[k].pooled, sizeof cv[0].pooled);
    assert_memory_equal(&cv[0].mean, &cv[k].mean, sizeof cv[0].mean);
    assert_memory_equal(&best[0], &best[k], sizeof best[0]);
  }
  for (size_t k = 0; k < 3; k++)
    dl_cv_free(&cv[k]);
  gsl_matrix_free(H);
}

/* Errors of candidates are those of predictions left out one setting at a
 * time. Rows repeat with other targets, which the
 * methods collapse or, without a sweep, do not. */
static void group_errors(void **state) {
  struct fixture *f = *state;
  static const char *const methods[3] = {"krr", "ridge", "ols"};
  static const double h[4] = {0.1, 0.05, 2, 0.3};
  for (size_t i = 1; i < N; i += 2)
    for (size_t j = 0; j < P; j++)
      gsl_matrix_set(f->X, i, j, gsl_matrix_get(f->X, i - 1, j));
  struct dl_design p = {
      .X = f->X, .y = f->z, .w = f->w, .log_target = true, .scale = true};
  for (size_t m = 0; m < 3; m++) {
    const struct dl_regression *r = dl_regression_find(methods[m]);
    size_t n = r->n_hyper > 0 ? 2 : 1;
    gsl_matrix *H = gsl_matrix_calloc(n, r->n_hyper);
    for (size_t i = 0; i < n * r->n_hyper; i++)
      H->data[i] = h[i];
    double error[2];
    assert_int_equal(dl_group_errors(error, &p, r, H, &f->folds, &f->d), DL_OK);
    for (size_t i = 0; i < n; i++) {
      struct dl_cv cv;
      double sum[5] = {0}, mean = 0;
      run(f, &cv, &p, methods[m], H->data + i * r->n_hyper);
      for (size_t k = 0; k < N; k++)
        sum[f->folds.of_row[k]] +=
            fabs(log(cv.prediction[k] / gsl_vector_get(f->z, k)));
      for (size_t g = 0; g < 5; g++)
        mean += sum[g] / 8 / 5;
      near(error[i], mean, 1e-11);
      dl_cv_free(&cv);
    }
    gsl_matrix_free(H);
  }
}

/* The score is that of t; its value for lambda 2.5 is from scikit-learn. */
static void search_score(void **state) {
  struct fixture *f = *state;
  struct dl_design p = {.X = f->X,
                        .y = f->z,
                        .offset = f->offset,
                        .log_target = true,
                        .scale = true};
  static const double lambdas[4] = {1e4, 2.5, 2.5, 1e4};
  gsl_matrix_const_view H = gsl_matrix_const_view_array(lambdas, 4, 1);
  struct dl_search_best best;
  assert_int_equal(dl_search(&best, &p, dl_regression_find("ridge"), &H.matrix,
                             &f->folds, &f->d),
                   DL_OK);
  assert_true(best.hyper[0] == 2.5);
  near(best.score, 0.140902780945084, 1e-12);
}

static double search_one(struct fixture *f, const struct dl_design *p,
                         const double *hyper) {
  struct dl_search_best best;
  gsl_matrix_const_view H = gsl_matrix_const_view_array(hyper, 1, 2);
  assert_int_equal(dl_search(&best, p, dl_regression_find("krr"), &H.matrix,
                             &f->folds, &f->d),
                   DL_OK);
  return best.score;
}

/* The best of a grid is no worse than any of its candidates tried alone, and
 * its score is the pooled error of a cross-validation with it. */
static void search_finds_the_lowest(void **state) {
  struct fixture *f = *state;
  struct dl_design p = {.X = f->X, .y = f->y, .w = f->w};
  double free_hyper[2] = {NAN, NAN};
  struct dl_search_best best;
  const struct dl_regression *krr = dl_regression_find("krr");
  gsl_matrix *H = dl_candidates(krr, free_hyper, DL_SEARCH_RANDOM, 20, 3);
  struct dl_cv cv;
  size_t reached = 0;
  assert_int_equal(dl_search(&best, &p, krr, H, &f->folds, &f->d), DL_OK);
  for (size_t i = 0; i < 20; i++) {
    double alone = search_one(f, &p, gsl_matrix_ptr(H, i, 0));
    assert_true(alone >= best.score);
    reached += alone == best.score;
  }
  assert_true(reached >= 1);
  run(f, &cv, &p, "krr", best.hyper);
  near(cv.pooled.rmse, best.score, 1e-9);
  dl_cv_free(&cv);
  gsl_matrix_free(H);
}

/* A constant target is met exactly by any lambda. */
static void ties_go_to_the_first(void **state) {
  struct fixture *f = *state;
  static const double lambdas[3] = {5, 1, 9};
  struct dl_design p = {.X = f->X, .y = f->y};
  gsl_matrix_const_view H = gsl_matrix_const_view_array(lambdas, 3, 1);
  struct dl_search_best best;
  gsl_vector_set_all(f->y, 7);
  assert_int_equal(dl_search(&best, &p, dl_regression_find("ridge"), &H.matrix,
                             &f->folds, &f->d),
                   DL_OK);
  assert_true(best.hyper[0] == 5 && best.score == 0);
}

/* A candidate that cannot be solved is passed over; none that can be is an
 * error. A method without a sweep is searched as well. */
static void search_corner_cases(void **state) {
  struct fixture *f = *state;
  static const double h[4] = {1e-20, 1e-30, 0.1, 0.05};
  struct dl_design p = {.X = f->X, .y = f->y};
  struct dl_search_best best = {0};
  const struct dl_regression *krr = dl_regression_find("krr");
  const struct dl_regression *ols = dl_regression_find("ols");
  gsl_matrix_const_view H = gsl_matrix_const_view_array(h, 2, 2);
  gsl_matrix_const_view bad = gsl_matrix_const_view_array(h, 1, 2);
  assert_int_equal(dl_search(&best, &p, krr, &H.matrix, &f->folds, &f->d),
                   DL_OK);
  assert_true(best.hyper[0] == 0.1 && best.hyper[1] == 0.05);
  gsl_matrix *none = dl_candidates(ols, NULL, DL_SEARCH_GRID, 7, 0);
  assert_true(none && none->size1 == 1 && none->size2 == 0);
  assert_int_equal(dl_search(&best, &p, ols, none, &f->folds, &f->d), DL_OK);
  struct dl_cv cv;
  run(f, &cv, &p, "ols", NULL);
  near(best.score, cv.pooled.rmse, 1e-12);
  dl_cv_free(&cv);
  gsl_matrix_free(none);
  assert_int_equal(dl_search(&best, &p, krr, &bad.matrix, &f->folds, &f->d),
                   DL_EINPUT);
  assert_string_equal(f->d.error, MSG_no_candidate_could_be);
  dl_diag_free(&f->d);
  assert_int_equal(dl_search(&best, &p, ols, &H.matrix, &f->folds, &f->d),
                   DL_EFAILED);
  assert_string_equal(f->d.error,
                      MSG_candidates_have_columns_but_has("2", "ols", "0"));
}

static void candidates(void **state) {
  (void)state;
  const struct dl_regression *krr = dl_regression_find("krr");
  const double both[2] = {NAN, NAN}, one[2] = {NAN, 0.5}, none[2] = {1, 2};
  gsl_matrix *H = dl_candidates(krr, both, DL_SEARCH_GRID, 3, 0);
  static const double alpha[3] = {1e-6, 1e-2, 1e2}, gamma[3] = {1e-5, 1e-2, 10};
  assert_true(H->size1 == 9 && H->size2 == 2);
  for (size_t i = 0; i < 9; i++) {
    near(gsl_matrix_get(H, i, 0), alpha[i / 3], 1e-13);
    near(gsl_matrix_get(H, i, 1), gamma[i % 3], 1e-13);
  }
  /* The ends are met exactly. */
  assert_true(gsl_matrix_get(H, 0, 0) == 1e-6);
  assert_true(gsl_matrix_get(H, 8, 1) == 10);
  gsl_matrix_free(H);

  H = dl_candidates(krr, one, DL_SEARCH_GRID, 1, 0);
  assert_true(H->size1 == 1 && gsl_matrix_get(H, 0, 1) == 0.5);
  near(gsl_matrix_get(H, 0, 0), 1e-2, 1e-13);
  gsl_matrix_free(H);

  H = dl_candidates(krr, none, DL_SEARCH_RANDOM, 50, 0);
  assert_true(H->size1 == 1 && gsl_matrix_get(H, 0, 0) == 1 &&
              gsl_matrix_get(H, 0, 1) == 2);
  gsl_matrix_free(H);

  H = dl_candidates(krr, one, DL_SEARCH_RANDOM, 200, 1);
  gsl_matrix *same = dl_candidates(krr, one, DL_SEARCH_RANDOM, 200, 1);
  gsl_matrix *other = dl_candidates(krr, one, DL_SEARCH_RANDOM, 200, 2);
  assert_true(gsl_matrix_equal(H, same));
  assert_false(gsl_matrix_equal(H, other));
  size_t below = 0;
  for (size_t i = 0; i < 200; i++) {
    double a = gsl_matrix_get(H, i, 0);
    assert_true(a >= 1e-6 && a <= 1e2 && gsl_matrix_get(H, i, 1) == 0.5);
    below += a < 1e-2; /* half of the range on a logarithmic scale */
  }
  assert_in_range(below, 70, 130);
  gsl_matrix_free(H);
  gsl_matrix_free(same);
  gsl_matrix_free(other);
  assert_null(dl_candidates(krr, both, DL_SEARCH_GRID, 0, 0));
  assert_null(dl_candidates(krr, both, DL_SEARCH_GRID, SIZE_MAX / 2, 0));
}

/* A warning that each fold gives is passed on once. */
static void warnings_once(void **state) {
  struct fixture *f = *state;
  struct dl_design p = {.X = f->X, .y = f->y};
  struct dl_cv cv;
  for (size_t i = 0; i < N; i++)
    gsl_matrix_set(f->X, i, 2, 0.1);
  run(f, &cv, &p, "ols", NULL);
  assert_int_equal(f->d.n_warnings, 1);
  assert_string_equal(f->d.warnings[0], MSG_design_is_rank_deficient(
                                            "3", "4", "column 3 is constant"));
  dl_cv_free(&cv);
}

static void refused(struct fixture *f, const struct dl_design *p,
                    const struct dl_folds *folds, enum dl_status status,
                    const char *why) {
  struct dl_cv cv;
  double hyper[2] = {1e-20, 1e-30};
  struct dl_search_best best;
  const struct dl_regression *krr = dl_regression_find("krr");
  gsl_matrix *H = dl_candidates(krr, hyper, DL_SEARCH_GRID, 1, 0);
  assert_int_equal(dl_cross_validate(&cv, p, krr, hyper, folds, &f->d), status);
  assert_string_equal(f->d.error, why);
  assert_null(cv.prediction);
  dl_diag_free(&f->d);
  /* The search checks the same; only a fold that cannot be solved is for it
   * a candidate that is not chosen. */
  assert_int_equal(dl_search(&best, p, krr, H, folds, &f->d), status);
  dl_diag_free(&f->d);
  gsl_matrix_free(H);
}

static void errors(void **state) {
  struct fixture *f = *state;
  struct dl_design p = {.X = f->X, .y = f->y};
  struct dl_folds few;
  static const char *const labels[] = {"left out", "other"};
  size_t group[N];
  for (size_t i = 0; i < N; i++)
    group[i] = i >= 5;

  refused(f, &p, &f->folds, DL_EINPUT,
          "fold 1: " MSG_kernel_matrix_is_not("1e-20"));
  assert_int_equal(dl_folds_by_group(&few, group, N, labels, 2, &f->d), DL_OK);
  refused(f, &p, &few, DL_EINPUT,
          "fold 'left out': " MSG_kernel_matrix_is_not("1e-20"));
  dl_folds_free(&few);

  assert_int_equal(dl_folds_make(&few, DL_KFOLD, N - 1, 5, 0, &f->d), DL_OK);
  refused(f, &p, &few, DL_EFAILED, MSG_design_has_rows_but_folds("40", "39"));
  dl_folds_free(&few);

  gsl_vector_view some = gsl_vector_subvector(f->w, 0, N - 1);
  p.w = &some.vector;
  refused(f, &p, &f->folds, DL_EFAILED, MSG_design_has_rows_but_targets("40"));
  p.w = NULL;
  p.log_target = true;
  gsl_vector_set(f->y, 6, -2);
  refused(f, &p, &f->folds, DL_EINPUT, MSG_row_target_has_no("7", "-2"));
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      CASE(matches_scikit_learn),   CASE(scale_matters),
      CASE(logarithm_and_offset),   CASE(weights_are_repeats),
      CASE(any_number_of_threads),  CASE(group_errors),
      CASE(search_score),           CASE(search_finds_the_lowest),
      CASE(ties_go_to_the_first),   CASE(search_corner_cases),
      CASE(warnings_once),          CASE(errors),
      cmocka_unit_test(candidates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
