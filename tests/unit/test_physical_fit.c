/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits of the physical regression to rows made from known constants: what is
 * recovered, kept and adapted, and that a GPU left out of a fold stays out. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "physics/training/physical.h"
#include "math/regression/regression.h"
#include "math/cross_validation/cross_validate.h"
#include "unit.h"

enum { GPUS = 3, ARCHS = 3, BATCHES = 3, ROWS = GPUS * ARCHS * BATCHES };

static struct dl_diag d;
static const struct dl_regression *method;

static int start(void **state) {
  (void)state;
  dl_diag_init(&d);
  method = dl_regression_find("physical");
  return method ? 0 : -1;
}

static int finish(void **state) {
  (void)state;
  dl_diag_free(&d);
  return 0;
}

/* Constants off their priors' medians by up to half a standard deviation, each
 * its own way. */
static void true_constants(double c[DL_N_TRAINING_CONSTANTS]) {
  for (size_t i = 0; i < DL_N_TRAINING_CONSTANTS; i++) {
    const struct dl_physics_constant *info = &dl_training_physics.constant[i];
    c[i] = info->median * exp(0.5 * info->sd * cos(2.1 * (double)i));
  }
}

static const double gpu_facts[GPUS][4] = {/* TFLOP/s, GB/s, W, GDDR6 */
                                          {35.6, 936, 350, 1},
                                          {20.3, 448, 220, 1},
                                          {14.1, 900, 250, 0}};
static const double arch_facts[ARCHS][5] = {
    /* GMACs, elements, kernels, parameters, samples */
    {4.09, 26, 175, 25.6, 9000},
    {0.31, 14, 150, 3.5, 24000},
    {15.5, 30, 40, 138, 4000}};

static void make_row(double *row, size_t gpu, size_t arch, double batch) {
  const double *g = gpu_facts[gpu], *a = arch_facts[arch];
  const double values[DL_PC_N] = {[DL_PC_TARGET] = DL_PT_TIME + 1,
                                  [DL_PC_BATCH] = batch,
                                  [DL_PC_PX] = 224,
                                  [DL_PC_TRAIN] = a[4],
                                  [DL_PC_VAL] = a[4] / 4,
                                  [DL_PC_MACS] = a[0],
                                  [DL_PC_TRAFFIC] = a[1],
                                  [DL_PC_KERNELS] = a[2],
                                  [DL_PC_WEIGHTS] = a[3],
                                  [DL_PC_ELEMENT] = 4,
                                  [DL_PC_PEAK] = g[0],
                                  [DL_PC_HAS_TENSOR] = 1,
                                  [DL_PC_BANDWIDTH] = g[1],
                                  [DL_PC_TDP] = g[2],
                                  [DL_PC_GDDR] = g[3],
                                  [DL_PC_RAM_W] = 5,
                                  [DL_PC_GPU] = 11 + (double)gpu,
                                  [DL_PC_HOST] = 21 + (double)gpu,
                                  [DL_PC_ARCH] = 31 + (double)arch,
                                  [DL_PC_SOURCE] = 41,
                                  [DL_PC_DATASET] = 51 + (double)arch};
  memcpy(row, values, sizeof values);
}

/* The logarithm of what a row would measure on a host `slower` times as slow;
 * fills in what is measured beside it. */
static double measure(double *row, double slower) {
  double c[DL_N_TRAINING_CONSTANTS], fx[DL_N_TRAINING_EFFECTS] = {0},
                                     out[DL_N_PHYSICAL_TARGETS];
  struct dl_training_inputs load;
  true_constants(c);
  fx[DL_FX_HOST_LAUNCH] = fx[DL_FX_HOST_EPOCH] = log(slower);
  dl_training_inputs_of(row, &load);
  dl_training_physics.predict(c, fx, &load, out);
  row[DL_PC_POWER] = exp(out[DL_PT_POWER]);
  row[DL_PC_ENERGY] = exp(out[DL_PT_ENERGY]);
  row[DL_PC_TIME] = exp(out[DL_PT_TIME]);
  return out[(size_t)row[DL_PC_TARGET] - 1];
}

/* All GPUs, networks and batches; y holds logarithms. */
static void make_table(gsl_matrix *X, gsl_vector *y, double first_batch,
                       enum dl_physical_target target) {
  size_t i = 0;
  for (size_t g = 0; g < GPUS; g++)
    for (size_t a = 0; a < ARCHS; a++)
      for (size_t b = 0; b < BATCHES; b++, i++) {
        double *row = gsl_matrix_ptr(X, i, 0);
        make_row(row, g, a, first_batch * pow(4, (double)b));
        row[DL_PC_TARGET] = target + 1;
        gsl_vector_set(y, i, measure(row, 1));
      }
}

static void *fit_table(enum dl_physical_target target) {
  gsl_matrix *X = gsl_matrix_alloc(ROWS, DL_PC_N);
  gsl_vector *y = gsl_vector_alloc(ROWS);
  void *fit = NULL;
  make_table(X, y, 8, target);
  assert_ok(method->fit(&fit, &(struct dl_sample){X, y, NULL, NULL}, NULL, &d),
            &d);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  return fit;
}

static void check_recovered(enum dl_physical_target target,
                            double first_batch) {
  gsl_matrix *X = gsl_matrix_alloc(ROWS, DL_PC_N);
  gsl_vector *y = gsl_vector_alloc(ROWS), *got = gsl_vector_alloc(ROWS);
  void *fit = fit_table(target);
  make_table(X, y, first_batch, target);
  assert_ok(method->predict(fit, X, got, &d), &d);
  for (size_t i = 0; i < ROWS; i++)
    assert_near(exp(gsl_vector_get(got, i)), exp(gsl_vector_get(y, i)), 0.02);
  method->free(fit);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  gsl_vector_free(got);
}

static void recovers_what_it_saw(void **state) {
  (void)state;
  for (size_t t = DL_PT_POWER; t <= DL_PT_TIME; t++)
    check_recovered((enum dl_physical_target)t, 8);
}

static void recovers_other_batches(void **state) {
  (void)state;
  for (size_t t = DL_PT_POWER; t <= DL_PT_TIME; t++)
    check_recovered((enum dl_physical_target)t, 16);
}

static void restores_bit_for_bit(void **state) {
  gsl_matrix *X = gsl_matrix_alloc(ROWS, DL_PC_N);
  gsl_vector *y = gsl_vector_alloc(ROWS);
  gsl_vector *saved = gsl_vector_alloc(ROWS), *got = gsl_vector_alloc(ROWS);
  struct dl_arrays arrays = {0};
  void *fit = fit_table(DL_PT_ENERGY), *back = NULL;

  (void)state;
  make_table(X, y, 11, DL_PT_ENERGY);
  assert_ok(method->predict(fit, X, saved, &d), &d);
  assert_ok(method->save(fit, &arrays, &d), &d);
  assert_ok(method->restore(&back, &arrays, DL_PC_N, &d), &d);
  assert_ok(method->predict(back, X, got, &d), &d);
  assert_memory_equal(got->data, saved->data, ROWS * sizeof(double));
  method->free(fit);
  method->free(back);
  dl_arrays_free(&arrays);
  gsl_matrix_free(X);
  gsl_vector_free(y);
  gsl_vector_free(saved);
  gsl_vector_free(got);
}

/* Rows of the wrong shape or without what an epoch needs are refused. */
static void refuses_other_features(void **state) {
  gsl_matrix *X = gsl_matrix_alloc(ROWS, DL_PC_N);
  gsl_vector *y = gsl_vector_alloc(ROWS);
  void *fit = NULL;

  (void)state;
  make_table(X, y, 8, DL_PT_POWER);
  gsl_matrix_view few = gsl_matrix_submatrix(X, 0, 0, ROWS, DL_PC_N - 1);
  method->fit(&fit, &(struct dl_sample){&few.matrix, y, NULL, NULL}, NULL, &d);
  assert_error_has(&d, DL_EUSAGE, "takes its own features");
  dl_diag_init(&d);
  gsl_matrix_set(X, 4, DL_PC_BANDWIDTH, 0);
  method->fit(&fit, &(struct dl_sample){X, y, NULL, NULL}, NULL, &d);
  assert_error_has(&d, DL_EINPUT, "row 5: ");
  dl_diag_init(&d);
  assert_null(fit);
  gsl_matrix_free(X);
  gsl_vector_free(y);
}

/* One run of a new GPU on a host that launches half as fast, of a small
 * network in small batches: the host decides. The other GPUs stay where they
 * were, to 5 % in the mean; those that wait for their hosts move by more, as
 * what a launch costs is learnt apart from what their hosts differ by. */
static void adapts_to_one_run(void **state) {
  gsl_matrix *X = gsl_matrix_alloc(ROWS, DL_PC_N);
  gsl_vector *y = gsl_vector_alloc(ROWS), *old = gsl_vector_alloc(ROWS);
  gsl_vector *now = gsl_vector_alloc(ROWS);
  gsl_matrix *one = gsl_matrix_alloc(1, DL_PC_N);
  gsl_vector *seen = gsl_vector_alloc(1), *before = gsl_vector_alloc(1);
  gsl_vector *after = gsl_vector_alloc(1);
  void *fit = fit_table(DL_PT_TIME), *adapted = NULL;

  (void)state;
  make_table(X, y, 8, DL_PT_TIME);
  double *row = gsl_matrix_ptr(one, 0, 0);
  make_row(row, 0, 1, 8);
  row[DL_PC_GPU] = row[DL_PC_HOST] = 99;
  gsl_vector_set(seen, 0, measure(row, 2));
  assert_ok(method->predict(fit, one, before, &d), &d);
  assert_ok(method->predict(fit, X, old, &d), &d);
  assert_ok(method->adapt(&adapted, fit, one, seen, &d), &d);
  assert_ok(method->predict(adapted, one, after, &d), &d);
  assert_ok(method->predict(adapted, X, now, &d), &d);
  double want = gsl_vector_get(seen, 0), was = gsl_vector_get(before, 0);
  double is = gsl_vector_get(after, 0);
  assert_true(want - was > log(1.5));
  assert_true(fabs(want - is) < 0.25 * (want - was));
  double moved = 0;
  for (size_t i = 0; i < ROWS; i++) {
    assert_near(exp(gsl_vector_get(now, i)), exp(gsl_vector_get(old, i)), 0.15);
    moved += fabs(gsl_vector_get(now, i) - gsl_vector_get(old, i)) / ROWS;
  }
  assert_true(moved < 0.05);
  method->free(fit);
  method->free(adapted);
  gsl_matrix_free(X);
  gsl_matrix_free(one);
  gsl_vector_free(y);
  gsl_vector_free(old);
  gsl_vector_free(now);
  gsl_vector_free(seen);
  gsl_vector_free(before);
  gsl_vector_free(after);
}

/* Ten times what was measured. */
static void poison(double *row) {
  row[DL_PC_POWER] *= 10;
  row[DL_PC_ENERGY] *= 10;
  row[DL_PC_TIME] *= 10;
}

static const size_t apart[] = {DL_PC_GPU, DL_PC_ARCH};

/* Out-of-fold predictions where the rows of the first GPU (`own`), the rows
 * to learn from of the same GPU (`same`) or of the second (`other`) are
 * poisoned. */
static void leave_gpus_out(bool own, bool same, bool other, double out[ROWS]) {
  gsl_matrix *X = gsl_matrix_alloc(ROWS, DL_PC_N);
  gsl_matrix *more = gsl_matrix_alloc(ROWS, DL_PC_N);
  gsl_vector *y = gsl_vector_alloc(ROWS), *t = gsl_vector_alloc(ROWS);
  size_t of_row[ROWS];
  struct dl_folds folds = {.n = ROWS, .k = GPUS, .of_row = of_row};
  struct dl_cv cv = {0};

  make_table(X, y, 8, DL_PT_POWER);
  make_table(more, t, 16, DL_PT_POWER);
  for (size_t i = 0; i < ROWS; i++) {
    size_t gpu = i / (ARCHS * BATCHES);
    of_row[i] = gpu;
    gsl_vector_set(y, i, exp(gsl_vector_get(y, i)));
    gsl_matrix_set(more, i, DL_PC_DOUBT, 0.15);
    if (own && gpu == 0) {
      poison(gsl_matrix_ptr(X, i, 0));
      gsl_vector_set(y, i, 10 * gsl_vector_get(y, i));
    }
    if ((same && gpu == 0) || (other && gpu == 1)) {
      poison(gsl_matrix_ptr(more, i, 0));
      gsl_vector_set(t, i, log(10) + gsl_vector_get(t, i));
    }
  }
  struct dl_problem p = {.X = X,
                         .y = y,
                         .log_target = true,
                         .more_X = more,
                         .more_t = t,
                         .apart = apart,
                         .n_apart = COUNT(apart)};
  assert_ok(dl_cross_validate(&cv, &p, method, NULL, &folds, &d), &d);
  memcpy(out, cv.prediction, ROWS * sizeof *out);
  dl_cv_free(&cv);
  gsl_matrix_free(X);
  gsl_matrix_free(more);
  gsl_vector_free(y);
  gsl_vector_free(t);
}

/* The left-out GPU's predictions do not depend on its own rows by one bit,
 * wherever they come from; those of the other GPUs do. */
static void left_out_gpus_stay_out(void **state) {
  const size_t own = ARCHS * BATCHES;
  double clean[ROWS], poisoned[ROWS];

  (void)state;
  leave_gpus_out(false, false, false, clean);
  for (size_t i = 0; i < 3; i++) {
    leave_gpus_out(i != 1, i != 0, false, poisoned);
    assert_memory_equal(poisoned, clean, own * sizeof *clean);
    for (size_t k = own; k < ROWS; k++)
      assert_true(fabs(log(poisoned[k] / clean[k])) > 0.01);
  }
  leave_gpus_out(false, false, true, poisoned);
  for (size_t k = 0; k < own; k++)
    assert_true(fabs(log(poisoned[k] / clean[k])) > 0.01);
  assert_memory_equal(poisoned + own, clean + own, own * sizeof *clean);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, start, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(recovers_what_it_saw), TEST(recovers_other_batches),
      TEST(restores_bit_for_bit), TEST(refuses_other_features),
      TEST(adapts_to_one_run),    TEST(left_out_gpus_stay_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
