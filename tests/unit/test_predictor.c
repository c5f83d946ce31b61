/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions for the rows of a plan. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <gsl/gsl_errno.h>

#include "fit.h"
#include "model/predictor.h"
#include "table.h"
#include "tests/messages.h"

/* A fit that says target = exp(or not)(c0 + c1 a + c2 b), made by fitting
 * exact values, and its predictor on a table. */
struct bench {
  struct table t;
  struct dl_fit fit;
  struct dl_predictor *p;
  struct dl_prediction out;
};

/* 2 + 3 a - b on the linear scale: least squares finds it exactly. */
static void linear_fit(struct dl_fit *f) {
  static const double points[][2] = {{0, 0}, {1, 0}, {0, 1}, {2, 5}, {4, 1}};
  gsl_matrix *X = gsl_matrix_alloc(COUNT(points), 2);
  gsl_vector *y = gsl_vector_alloc(COUNT(points));
  struct dl_diag d = {0};
  double none[DL_MAX_HYPER];

  *f = (struct dl_fit){.method = dl_regression_find("ols")};
  for (size_t i = 0; i < COUNT(points); i++) {
    double a = points[i][0], b = points[i][1];
    gsl_matrix_set(X, i, 0, a);
    gsl_matrix_set(X, i, 1, b);
    gsl_vector_set(y, i, 2 + 3 * a - b);
  }
  assert_ok(f->method->fit(f->method, &f->state,
                           &(struct dl_design){.X = X, .y = y}, none, &d),
            &d);
  f->target = strdup("y");
  dl_strlist_add(&f->features, "a");
  dl_strlist_add(&f->features, "b");
  gsl_matrix_free(X);
  gsl_vector_free(y);
}

static void open_bench(struct bench *x, const char *text, double coverage) {
  x->t = open_table(text);
  assert_ok(dl_predictor_new(&x->p, &x->fit, x->t.f, coverage, false, &x->t.d),
            &x->t.d);
  load(&x->t);
}

static void predict(struct bench *x, size_t i) {
  row(&x->t, i);
  assert_int_equal(x->t.row->fault.kind, DL_FAULT_NONE);
  struct dl_predictor_row at;
  dl_predictor_take(x->p, x->t.row, &at);
  assert_ok(dl_predict(&at, &x->out, &x->t.d), &x->t.d);
}

static void close_bench(struct bench *x) {
  dl_predictor_free(x->p);
  dl_fit_free(&x->fit);
  close_table(&x->t);
}

static void predicts(void **state) {
  struct bench x;

  (void)state;
  linear_fit(&x.fit);
  open_bench(&x, "a,b\n10,4\n-1,0.5\n1,\n", 0.9);
  predict(&x, 0);
  assert_near(x.out.value, 28, 1e-13);
  assert_true(isnan(x.out.low) && isnan(x.out.high)); /* no residuals */
  assert_int_equal(x.out.outside, 0);
  assert_null(dl_predictor_lacks(x.p, x.t.row));
  predict(&x, 1);
  assert_near(x.out.value, -1.5, 1e-13);
  predict(&x, 2);
  assert_true(isnan(x.out.value));
  assert_string_equal(dl_predictor_lacks(x.p, x.t.row), "b");
  close_bench(&x);
  dl_predictor_free(NULL);
}

static void features_are_formulas(void **state) {
  struct bench x;

  (void)state;
  linear_fit(&x.fit);
  dl_strlist_free(&x.fit.features);
  dl_strlist_add(&x.fit.features, "log2(n)");
  dl_strlist_add(&x.fit.features, "kind == 'x'");
  open_bench(&x, "n,kind\n8,x\n8,y\n0,x\n8,\n", 0.9);
  predict(&x, 0);
  assert_near(x.out.value, 2 + 9 - 1, 1e-13);
  predict(&x, 1);
  assert_near(x.out.value, 2 + 9, 1e-13);
  predict(&x, 2); /* log2(0) */
  assert_true(isnan(x.out.value));
  predict(&x, 3);
  assert_true(isnan(x.out.value));
  assert_string_equal(dl_predictor_lacks(x.p, x.t.row), "kind");
  close_bench(&x);
}

/* z = (x - mean) / sd before the regression. */
static void scales(void **state) {
  struct bench x;

  (void)state;
  linear_fit(&x.fit);
  x.fit.scaled = true;
  x.fit.scale.mean = gsl_vector_alloc(2);
  x.fit.scale.sd = gsl_vector_alloc(2);
  gsl_vector_set(x.fit.scale.mean, 0, 4);
  gsl_vector_set(x.fit.scale.sd, 0, 2);
  gsl_vector_set(x.fit.scale.mean, 1, -1);
  gsl_vector_set(x.fit.scale.sd, 1, 10);
  open_bench(&x, "a,b\n10,4\n", 0.9);
  predict(&x, 0);
  /* 2 + 3 (10 - 4) / 2 - (4 + 1) / 10 */
  assert_near(x.out.value, 10.5, 1e-13);
  close_bench(&x);
}

static void log_target_and_offset(void **state) {
  struct bench x;

  (void)state;
  /* On a logarithmic scale the offset is a factor. */
  linear_fit(&x.fit);
  x.fit.log_target = true;
  x.fit.offset = strdup("100*c");
  open_bench(&x, "a,b,c\n0,1,2\n0,1,\n", 0.9);
  predict(&x, 0);
  assert_near(x.out.value, 543.656365691809, 1e-13); /* 200 exp(2 - 1) */
  predict(&x, 1);
  assert_true(isnan(x.out.value));
  assert_string_equal(dl_predictor_lacks(x.p, x.t.row), "c");
  close_bench(&x);
  /* Else it is added. */
  linear_fit(&x.fit);
  x.fit.offset = strdup("100*c");
  open_bench(&x, "a,b,c\n0,1,2\n", 0.9);
  predict(&x, 0);
  assert_near(x.out.value, 201, 1e-13);
  close_bench(&x);
}

/* 39 groups of +-0.2: at 90 % the bounds are quantiles of them. */
static void intervals(void **state) {
  struct bench x;

  (void)state;
  linear_fit(&x.fit);
  add_residuals(&x.fit, DL_HELD_OUT_CONFIG, 39, 0.2);
  open_bench(&x, "a,b\n10,4\n", 0.9);
  predict(&x, 0);
  assert_int_equal(x.out.novelty, DL_HELD_OUT_CONFIG);
  assert_near(x.out.low, 27.8, 1e-13);
  assert_near(x.out.high, 28.2, 1e-13);
  close_bench(&x);

  linear_fit(&x.fit);
  x.fit.log_target = true;
  add_residuals(&x.fit, DL_HELD_OUT_ROWS, 39, 0.2);
  open_bench(&x, "a,b\n0,1\n", 0.9);
  predict(&x, 0);
  assert_int_equal(x.out.novelty, DL_HELD_OUT_ROWS);
  assert_near(x.out.value, 2.71828182845905, 1e-13);
  assert_near(x.out.low, 2.22554092849247, 1e-13);  /* exp(0.8) */
  assert_near(x.out.high, 3.32011692273655, 1e-13); /* exp(1.2) */
  close_bench(&x);
}

/* What the GPU and the architecture of a row add. */
static void novelty(void **state) {
  static const struct {
    size_t row;
    enum dl_held_out_group novelty;
    double half;
  } cases[] = {
      {0, DL_HELD_OUT_CONFIG, 0.1},
      {1, DL_HELD_OUT_ARCH, 0.3},
      {2, DL_HELD_OUT_GPU, 0.4},
      {3, DL_HELD_OUT_GPU, 0.5},    /* hypot(0.3, 0.4) */
      {4, DL_HELD_OUT_GPU, 0.5},    /* names unknown to the catalogue */
      {5, DL_HELD_OUT_CONFIG, 0.1}, /* the same in other spellings */
  };
  struct bench x;

  (void)state;
  linear_fit(&x.fit);
  add_residuals(&x.fit, DL_HELD_OUT_CONFIG, 39, 0.1);
  add_residuals(&x.fit, DL_HELD_OUT_ARCH, 39, 0.3);
  add_residuals(&x.fit, DL_HELD_OUT_GPU, 39, 0.4);
  dl_strlist_add(&x.fit.archs, "resnet50");
  dl_strlist_add(&x.fit.gpus, "rtx-3090");
  open_bench(&x,
             "a,b,arch,gpu\n10,4,resnet50,rtx-3090\n10,4,vgg11,rtx-3090\n"
             "10,4,resnet50,rtx-3070\n10,4,vgg11,rtx-3070\n"
             "10,4,none,such\n10,4,ResNet-50,NVIDIA RTX 3090\n",
             0.9);
  for (size_t i = 0; i < COUNT(cases); i++) {
    predict(&x, cases[i].row);
    assert_int_equal(x.out.novelty, cases[i].novelty);
    assert_near(x.out.low, 28 - cases[i].half, 1e-13);
    assert_near(x.out.high, 28 + cases[i].half, 1e-13);
  }
  close_bench(&x);
}

/* Beyond the training range of a variable the effect is known but for a
 * power of 0.1: the half-width grows by 0.1 |log(x / end)|. */
static void extrapolation(void **state) {
  struct bench x;

  (void)state;
  linear_fit(&x.fit);
  x.fit.log_target = true;
  add_residuals(&x.fit, DL_HELD_OUT_CONFIG, 39, 0.3);
  add_range(&x.fit, "a", 1, 2);
  add_range(&x.fit, "b", 10, 20);
  open_bench(&x, "a,b\n1,10\n2,20\n4,15\n1,5\n4,5\n", 0.9);
  for (size_t i = 0; i < 2; i++) {
    predict(&x, i);
    assert_int_equal(x.out.outside, 0);
    assert_true(x.out.extrapolation == 0);
    assert_near(x.out.high / x.out.value, exp(0.3), 1e-13);
  }
  predict(&x, 2);
  assert_int_equal(x.out.outside, 1);
  assert_near(x.out.extrapolation, 0.0693147180559945, 1e-12); /* 0.1 ln 2 */
  /* sqrt(0.09 + (0.1 ln 2)^2) */
  assert_near(log(x.out.high / x.out.value), 0.307903442882963, 1e-12);
  assert_near(log(x.out.low / x.out.value), -0.307903442882963, 1e-12);
  predict(&x, 3);
  assert_int_equal(x.out.outside, 2);
  assert_near(x.out.extrapolation, 0.0693147180559945, 1e-12);
  predict(&x, 4);
  assert_int_equal(x.out.outside, 3);
  assert_near(x.out.extrapolation, 0.0980258143468547, 1e-12); /* sqrt(2) */
  close_bench(&x);
}

/* Where there are no logarithms: relative to the width of the range. */
static void extrapolation_without_logarithms(void **state) {
  struct bench x;

  (void)state;
  linear_fit(&x.fit);
  add_residuals(&x.fit, DL_HELD_OUT_CONFIG, 39, 3);
  add_range(&x.fit, "a", 0, 4);
  open_bench(&x, "a,b\n10,12\n-2,0\n", 0.9);
  predict(&x, 0);
  assert_int_equal(x.out.outside, 1);
  assert_near(x.out.extrapolation, 0.15, 1e-12); /* 0.1 (10 - 4) / 4 */
  /* 20 and hypot(3, 0.15 * 20) = 4.24264068711928 */
  assert_near(x.out.low, 15.7573593128807, 1e-12);
  assert_near(x.out.high, 24.2426406871193, 1e-12);
  predict(&x, 1);
  assert_near(x.out.extrapolation, 0.05, 1e-12);
  close_bench(&x);
}

static void needs_its_names(void **state) {
  struct dl_predictor *p;
  struct bench x;

  (void)state;
  linear_fit(&x.fit);
  x.t = open_table("a,b\n1,2\n");
  dl_strlist_add(&x.fit.features, "log(");
  assert_int_equal(dl_predictor_new(&p, &x.fit, x.t.f, 0.9, false, &x.t.d),
                   DL_EUSAGE);
  assert_null(p);
  assert_error_has(&x.t.d, DL_EUSAGE, MSG_formula_column("log(", "5", ""));
  dl_fit_free(&x.fit);
  close_table(&x.t);
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predicts),
      cmocka_unit_test(features_are_formulas),
      cmocka_unit_test(scales),
      cmocka_unit_test(log_target_and_offset),
      cmocka_unit_test(intervals),
      cmocka_unit_test(novelty),
      cmocka_unit_test(extrapolation),
      cmocka_unit_test(extrapolation_without_logarithms),
      cmocka_unit_test(needs_its_names),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
