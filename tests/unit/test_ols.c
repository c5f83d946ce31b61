/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Least squares against the certified values of NIST, rank deficiency. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <gsl/gsl_rng.h>

#include "base/portable.h"
#include "math/regression/regression.h"

#include "problem.h"
#include "tests/messages.h"

static const struct dl_regression *ols(void) {
  return dl_regression_find("ols");
}

static void *fit(const gsl_matrix *X, const gsl_vector *y, const gsl_vector *w,
                 const char *const *names, struct dl_diag *d) {
  void *s = NULL;
  *d = (struct dl_diag){0};
  assert_int_equal(
      ols()->fit(ols(), &s,
                 &(struct dl_design){.X = X, .y = y, .w = w, .names = names},
                 NULL, d),
      DL_OK);
  return s;
}

/* NIST Statistical Reference Datasets, Longley: J. W. Longley, JASA 62 (1967)
 * 819-841; https://www.itl.nist.gov/div898/strd/lls/data/Longley.shtml */
static const double LONGLEY[16][7] = {
    {60323, 83.0, 234289, 2356, 1590, 107608, 1947},
    {61122, 88.5, 259426, 2325, 1456, 108632, 1948},
    {60171, 88.2, 258054, 3682, 1616, 109773, 1949},
    {61187, 89.5, 284599, 3351, 1650, 110929, 1950},
    {63221, 96.2, 328975, 2099, 3099, 112075, 1951},
    {63639, 98.1, 346999, 1932, 3594, 113270, 1952},
    {64989, 99.0, 365385, 1870, 3547, 115094, 1953},
    {63761, 100.0, 363112, 3578, 3350, 116219, 1954},
    {66019, 101.2, 397469, 2904, 3048, 117388, 1955},
    {67857, 104.6, 419180, 2822, 2857, 118734, 1956},
    {68169, 108.4, 442769, 2936, 2798, 120445, 1957},
    {66513, 110.8, 444546, 4681, 2637, 121950, 1958},
    {68655, 112.6, 482704, 3813, 2552, 123366, 1959},
    {69564, 114.2, 502601, 3931, 2514, 125368, 1960},
    {69331, 115.7, 518173, 4806, 2572, 127852, 1961},
    {70551, 116.9, 554894, 4007, 2827, 130081, 1962},
};
static const double LONGLEY_B[7] = {
    -3482258.63459582, 15.0618722713733,  -0.358191792925910e-01,
    -2.02022980381683, -1.03322686717359, -0.511041056535807e-01,
    1829.15146461355};

static void longley(void **state) {
  (void)state;
  struct dl_diag d;
  gsl_matrix *X = gsl_matrix_alloc(16, 6);
  gsl_vector *y = gsl_vector_alloc(16);
  for (size_t i = 0; i < 16; i++) {
    gsl_vector_set(y, i, LONGLEY[i][0]);
    for (size_t j = 0; j < 6; j++)
      gsl_matrix_set(X, i, j, LONGLEY[i][j + 1]);
  }
  void *s = fit(X, y, NULL, NULL, &d);
  assert_int_equal(d.n_warnings, 0);
  near(ols()->intercept(s), LONGLEY_B[0], 1e-11);
  for (size_t j = 0; j < 6; j++)
    near(ols()->coefficient(s, j), LONGLEY_B[j + 1], 1e-11);
  ols()->free(s);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  dl_diag_free(&d);
}

/* NIST Statistical Reference Datasets, Filip (A. Filippelli):
 * https://www.itl.nist.gov/div898/strd/lls/data/Filip.shtml; y and x. */
static const double FILIP[82][2] = {
    {0.8116, -6.860120914}, {0.9072, -4.324130045}, {0.9052, -4.358625055},
    {0.9039, -4.358426747}, {0.8053, -6.955852379}, {0.8377, -6.661145254},
    {0.8667, -6.355462942}, {0.8809, -6.118102026}, {0.7975, -7.115148017},
    {0.8162, -6.815308569}, {0.8515, -6.519993057}, {0.8766, -6.204119983},
    {0.8885, -5.853871964}, {0.8859, -6.109523091}, {0.8959, -5.79832982},
    {0.8913, -5.482672118}, {0.8959, -5.171791386}, {0.8971, -4.851705903},
    {0.9021, -4.517126416}, {0.909, -4.143573228},  {0.9139, -3.709075441},
    {0.9199, -3.499489089}, {0.8692, -6.300769497}, {0.8872, -5.953504836},
    {0.89, -5.642065153},   {0.891, -5.031376979},  {0.8977, -4.680685696},
    {0.9035, -4.329846955}, {0.9078, -3.928486195}, {0.7675, -8.56735134},
    {0.7705, -8.363211311}, {0.7713, -8.107682739}, {0.7736, -7.823908741},
    {0.7775, -7.522878745}, {0.7841, -7.218819279}, {0.7971, -6.920818754},
    {0.8329, -6.628932138}, {0.8641, -6.323946875}, {0.8804, -5.991399828},
    {0.7668, -8.781464495}, {0.7633, -8.663140179}, {0.7678, -8.473531488},
    {0.7697, -8.247337057}, {0.77, -7.971428747},   {0.7749, -7.676129393},
    {0.7796, -7.352812702}, {0.7897, -7.072065318}, {0.8131, -6.774174009},
    {0.8498, -6.478861916}, {0.8741, -6.159517513}, {0.8061, -6.835647144},
    {0.846, -6.53165267},   {0.8751, -6.224098421}, {0.8856, -5.910094889},
    {0.8919, -5.598599459}, {0.8934, -5.290645224}, {0.894, -4.974284616},
    {0.8957, -4.64454848},  {0.9047, -4.290560426}, {0.9129, -3.885055584},
    {0.9209, -3.408378962}, {0.9219, -3.13200249},  {0.7739, -8.726767166},
    {0.7681, -8.66695597},  {0.7665, -8.511026475}, {0.7703, -8.165388579},
    {0.7702, -7.886056648}, {0.7761, -7.588043762}, {0.7809, -7.283412422},
    {0.7961, -6.995678626}, {0.8253, -6.691862621}, {0.8602, -6.392544977},
    {0.8809, -6.067374056}, {0.8301, -6.684029655}, {0.8664, -6.378719832},
    {0.8834, -6.065855188}, {0.8898, -5.752272167}, {0.8964, -5.132414673},
    {0.8963, -4.811352704}, {0.9074, -4.098269308}, {0.9119, -3.66174277},
    {0.9228, -3.2644011},
};
static const double FILIP_B[11] = {
    -1467.48961422980,      -2772.17959193342,     -2316.37108160893,
    -1127.97394098372,      -354.478233703349,     -75.1242017393757,
    -10.8753180355343,      -1.06221498588947,     -0.670191154593408e-01,
    -0.246781078275479e-02, -0.402962525080404e-04};

static void filip(void **state) {
  (void)state;
  struct dl_diag d;
  gsl_matrix *X = gsl_matrix_alloc(82, 10);
  gsl_vector *y = gsl_vector_alloc(82);
  for (size_t i = 0; i < 82; i++) {
    gsl_vector_set(y, i, FILIP[i][0]);
    double power = 1;
    for (size_t j = 0; j < 10; j++) {
      power *= FILIP[i][1];
      gsl_matrix_set(X, i, j, power);
    }
  }
  void *s = fit(X, y, NULL, NULL, &d);
  assert_int_equal(d.n_warnings, 0);
  near(ols()->intercept(s), FILIP_B[0], 1e-7);
  for (size_t j = 0; j < 10; j++)
    near(ols()->coefficient(s, j), FILIP_B[j + 1], 1e-7);
  ols()->free(s);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  dl_diag_free(&d);
}

/* From tests/reference/math_reference.py (scikit-learn). */
static void weighted(void **state) {
  (void)state;
  static const double want[P] = {-1.06733328651924, -0.684949063322696,
                                 0.78912147845137, 0.533546457283104};
  struct dl_diag d;
  gsl_matrix *X = make_X();
  gsl_vector *y = make_y(X), *w = make_w();
  void *s = fit(X, y, w, NULL, &d);
  near(ols()->intercept(s), -9.97463615561745, 1e-11);
  for (size_t j = 0; j < P; j++)
    near(ols()->coefficient(s, j), want[j], 1e-11);
  ols()->free(s);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  gsl_vector_free(w);
  dl_diag_free(&d);
}

/* Six columns: x and 2 x + 3, a constant, and z, u, 5 z - u. */
static gsl_matrix *dependent(void) {
  gsl_matrix *X = gsl_matrix_alloc(N, 6);
  for (size_t i = 0; i < N; i++) {
    double x = sin((double)i), z = cos(1.3 * (double)i),
           u = sin(0.7 * (double)i);
    double row[6] = {x, 2 * x + 3, 0.1, z, u, 5 * z - u};
    for (size_t j = 0; j < 6; j++)
      gsl_matrix_set(X, i, j, row[j]);
  }
  return X;
}

/* Exact targets: predictions are right although coefficients are not unique,
 * and of those the shortest in scaled columns is taken, which shares the
 * effect of x and 2 x + 3 equally. */
static void rank_deficient(void **state) {
  (void)state;
  static const char *const names[6] = {"x", "x2", "c", "z", "u", "zu"};
  struct dl_diag d;
  gsl_matrix *X = dependent();
  gsl_vector *y = gsl_vector_alloc(N), *f = gsl_vector_alloc(N);
  for (size_t i = 0; i < N; i++)
    gsl_vector_set(y, i,
                   7 + 4 * gsl_matrix_get(X, i, 0) -
                       2 * gsl_matrix_get(X, i, 3) + gsl_matrix_get(X, i, 4));
  void *s = fit(X, y, NULL, names, &d);
  assert_int_equal(d.n_warnings, 1);
  assert_string_equal(d.warnings[0],
                      MSG_design_is_rank_deficient(
                          "3", "6",
                          "columns 'x', 'x2' are linear combinations of each "
                          "other; column 'c' is constant; columns 'z', 'u', "
                          "'zu' are linear combinations of each other"));
  near(ols()->coefficient(s, 0), 2, 1e-13);
  near(ols()->coefficient(s, 1), 1, 1e-13);
  assert_true(ols()->coefficient(s, 2) == 0);
  assert_int_equal(ols()->predict(s, X, f, &d), DL_OK);
  for (size_t i = 0; i < N; i++)
    near(gsl_vector_get(f, i), gsl_vector_get(y, i), 1e-13);
  ols()->free(s);
  dl_diag_free(&d);
  s = fit(X, y, NULL, NULL, &d);
  assert_non_null(strstr(d.warnings[0], "columns 1, 2 are linear"));
  ols()->free(s);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  gsl_vector_free(f);
  dl_diag_free(&d);
}

/* A dependence blurred by the rounding of values far from 0. */
static void rounded_dependence(void **state) {
  (void)state;
  struct dl_diag d;
  gsl_matrix *X = gsl_matrix_alloc(N, 3);
  gsl_vector *y = gsl_vector_alloc(N);
  for (size_t i = 0; i < N; i++) {
    double x = 1e5 + sin((double)i);
    gsl_matrix_set(X, i, 0, x);
    gsl_matrix_set(X, i, 1, cos(1.3 * (double)i));
    gsl_matrix_set(X, i, 2, 0.3 * x + 0.7);
    gsl_vector_set(y, i, cos((double)i));
  }
  void *s = fit(X, y, NULL, NULL, &d);
  assert_int_equal(d.n_warnings, 1);
  assert_string_equal(
      d.warnings[0],
      MSG_design_is_rank_deficient(
          "2", "3", "columns 1, 3 are linear combinations of each other"));
  ols()->free(s);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  dl_diag_free(&d);
}

/* Fewer rows than columns, down to one row, interpolates. */
static void few_rows(void **state) {
  (void)state;
  gsl_matrix *X = make_X();
  gsl_vector *y = make_y(X);
  for (size_t n = 1; n <= P; n++) {
    struct dl_diag d;
    gsl_matrix_view top = gsl_matrix_submatrix(X, 0, 0, n, P);
    gsl_vector_view t = gsl_vector_subvector(y, 0, n);
    gsl_vector *f = gsl_vector_alloc(n);
    void *s = fit(&top.matrix, &t.vector, NULL, NULL, &d);
    assert_int_equal(d.n_warnings, 1);
    assert_int_equal(ols()->predict(s, &top.matrix, f, &d), DL_OK);
    for (size_t i = 0; i < n; i++)
      near(gsl_vector_get(f, i), gsl_vector_get(y, i), 1e-11);
    ols()->free(s);
    gsl_vector_free(f);
    dl_diag_free(&d);
  }
  gsl_matrix_free(X);
  gsl_vector_free(y);
}

/* Enough rows for several chunks; a last one that is not full. */
static void large(gsl_matrix **X, gsl_vector **y, gsl_vector **w) {
  const size_t n = 100003;
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
  *X = gsl_matrix_alloc(n, 3);
  *y = gsl_vector_alloc(n);
  *w = gsl_vector_alloc(n);
  for (size_t i = 0; i < n; i++) {
    double sum = 2.5;
    for (size_t j = 0; j < 3; j++) {
      double x = gsl_rng_uniform(rng) + 100 * (double)j;
      gsl_matrix_set(*X, i, j, x);
      sum += x * ((double)j - 0.5);
    }
    gsl_vector_set(*y, i, sum + gsl_rng_uniform(rng));
    gsl_vector_set(*w, i, 0.5 + gsl_rng_uniform(rng));
  }
  gsl_rng_free(rng);
}

/* Against GSL's solution of the whole problem at once; b ends with the
 * intercept. */
static void check_by_gsl(const double b[4], const gsl_matrix *X,
                         const gsl_vector *y, const gsl_vector *w) {
  size_t n = X->size1;
  gsl_multifit_linear_workspace *work = gsl_multifit_linear_alloc(n, 4);
  gsl_matrix *A = gsl_matrix_alloc(n, 4), *cov = gsl_matrix_alloc(4, 4);
  gsl_vector *c = gsl_vector_alloc(4);
  double chisq;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < 4; j++)
      gsl_matrix_set(A, i, j, j < 3 ? gsl_matrix_get(X, i, j) : 1);
  assert_int_equal(gsl_multifit_wlinear(A, w, y, c, cov, &chisq, work), 0);
  for (size_t j = 0; j < 4; j++)
    near(b[j], gsl_vector_get(c, j), 1e-9);
  gsl_multifit_linear_free(work);
  gsl_matrix_free(A);
  gsl_matrix_free(cov);
  gsl_vector_free(c);
}

static void any_number_of_threads(void **state) {
  (void)state;
  struct dl_diag d;
  gsl_matrix *X;
  gsl_vector *y, *w;
  double b[4][4];
  large(&X, &y, &w);
  for (int threads = 1; threads <= 4; threads++) {
    dl_set_threads(threads);
    void *s = fit(X, y, w, NULL, &d);
    for (size_t j = 0; j < 3; j++)
      b[threads - 1][j] = ols()->coefficient(s, j);
    b[threads - 1][3] = ols()->intercept(s);
    ols()->free(s);
    dl_diag_free(&d);
  }
  for (size_t k = 1; k < 4; k++)
    assert_memory_equal(b[0], b[k], sizeof b[0]);
  check_by_gsl(b[0], X, y, w);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  gsl_vector_free(w);
}

static void save_and_restore(void **state) {
  (void)state;
  struct dl_diag d;
  struct dl_arrays as = {0};
  gsl_matrix *X = make_X();
  gsl_vector *y = make_y(X);
  gsl_vector *a = gsl_vector_alloc(N), *b = gsl_vector_alloc(N);
  void *s = fit(X, y, NULL, NULL, &d), *again = NULL;
  ols()->save(s, &as);
  assert_int_equal(ols()->restore(ols(), &again, &as, P, &d), DL_OK);
  assert_int_equal(ols()->predict(s, X, a, &d), DL_OK);
  assert_int_equal(ols()->predict(again, X, b, &d), DL_OK);
  assert_memory_equal(a->data, b->data, N * sizeof *a->data);
  ols()->free(again);
  again = NULL;
  assert_int_equal(ols()->restore(ols(), &again, &as, P + 1, &d), DL_EINPUT);
  assert_string_equal(d.error,
                      MSG_array_has_wrong_shape("coefficient", "4", "1"));
  dl_diag_free(&d);
  as.a[1].data[0] = NAN;
  assert_int_equal(ols()->restore(ols(), &again, &as, P, &d), DL_EINPUT);
  assert_string_equal(d.error, MSG_array_has_a_value("intercept"));
  dl_diag_free(&d);
  strcpy(as.a[0].name, "other");
  assert_int_equal(ols()->restore(ols(), &again, &as, P, &d), DL_EINPUT);
  assert_string_equal(d.error, "no array 'coefficient'");
  assert_null(again);
  ols()->free(s);
  ols()->free(NULL);
  dl_arrays_free(&as);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  gsl_vector_free(a);
  gsl_vector_free(b);
  dl_diag_free(&d);
}

static void refused(const gsl_matrix *X, const gsl_vector *y,
                    const gsl_vector *w, enum dl_status status,
                    const char *why) {
  struct dl_diag d = {0};
  void *s = NULL;
  assert_int_equal(ols()->fit(ols(), &s,
                              &(struct dl_design){.X = X, .y = y, .w = w}, NULL,
                              &d),
                   status);
  assert_string_equal(d.error, why);
  assert_null(s);
  dl_diag_free(&d);
}

static void errors(void **state) {
  (void)state;
  struct dl_diag d;
  gsl_matrix *X = make_X(), *empty = gsl_matrix_alloc(N, 0);
  gsl_vector *y = make_y(X), *w = make_w();
  gsl_vector_view some = gsl_vector_subvector(y, 0, N - 1);
  gsl_matrix_view narrow = gsl_matrix_submatrix(X, 0, 0, N, P - 1);
  refused(empty, y, NULL, DL_EFAILED, MSG_design_has_no_columns);
  refused(X, &some.vector, NULL, DL_EFAILED,
          MSG_design_has_rows_but("40", "39"));
  refused(X, y, &some.vector, DL_EFAILED,
          MSG_design_has_rows_but_there("40", "39"));
  gsl_vector_set(w, 2, 0);
  refused(X, y, w, DL_EINPUT, MSG_row_weight_is_not("3", "0"));
  void *s = fit(X, y, NULL, NULL, &d);
  assert_int_equal(ols()->predict(s, &narrow.matrix, y, &d), DL_EFAILED);
  assert_string_equal(d.error, MSG_design_has_columns_but("3", "4"));
  dl_diag_free(&d);
  assert_int_equal(ols()->predict(s, X, &some.vector, &d), DL_EFAILED);
  assert_string_equal(d.error, MSG_design_has_rows_but_there_is("40", "39"));
  dl_diag_free(&d);
  ols()->free(s);
  gsl_matrix_set(X, 3, 1, NAN);
  refused(X, y, NULL, DL_EINPUT, MSG_design_or_target_holds);
  gsl_matrix_free(X);
  gsl_matrix_free(empty);
  gsl_vector_free(y);
  gsl_vector_free(w);
}

static void registry(void **state) {
  (void)state;
  for (size_t i = 0; i < DL_N_REGRESSIONS; i++) {
    const struct dl_regression *r = dl_regressions[i];
    assert_ptr_equal(dl_regression_find(r->name), r);
  }
  assert_null(dl_regression_find("OLS"));
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(longley),
      cmocka_unit_test(filip),
      cmocka_unit_test(weighted),
      cmocka_unit_test(rank_deficient),
      cmocka_unit_test(rounded_dependence),
      cmocka_unit_test(few_rows),
      cmocka_unit_test(any_number_of_threads),
      cmocka_unit_test(save_and_restore),
      cmocka_unit_test(errors),
      cmocka_unit_test(registry),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
