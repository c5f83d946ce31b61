/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits of the physical regression to rows made from known constants: what is
 * recovered, kept and adapted, and that a GPU left out of a fold stays out. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "physics/calibration/calibration.h"
#include "physics/fold_fit.h"
#include "physics/rows/physics_regression.h"
#include "physics/rows/physics_rows.h"
#include "physics/training/training_inputs.h"
#include "math/regression/regression.h"
#include "predict_rows.h"
#include "training_table.h"
#include "unit.h"

static struct dl_diag d;
static const struct dl_regression *method;

static int start(void **state) {
  (void)state;
  method = dl_regression_find("physical");
  return method ? 0 : -1;
}

static int finish(void **state) {
  (void)state;
  dl_diag_free(&d);
  return 0;
}

static void *fit_table(enum dl_physical_target target) {
  static struct table t;
  void *fit = NULL;
  make_table(&t, 8, target);
  struct dl_design s = sample(&t);
  assert_ok(method->fit(method, &fit, &s, NULL, &d), &d);
  return fit;
}

static void predict(const void *fit, const struct table *t, double *out) {
  predict_rows(fit, t->observed, t->n, t->target, out);
}

static void check_recovered(enum dl_physical_target target,
                            double first_batch) {
  static struct table t;
  double got[ROWS];
  void *fit = fit_table(target);
  make_table(&t, first_batch, target);
  predict(fit, &t, got);
  for (size_t i = 0; i < ROWS; i++)
    assert_near(exp(got[i]), exp(t.value[i][target]), 0.02);
  method->free(fit);
}

static void recovers_what_it_saw(void **state) {
  (void)state;
  for (size_t t = DL_TARGET_POWER; t <= DL_TARGET_TIME; t++)
    check_recovered((enum dl_physical_target)t, 8);
}

static void recovers_other_batches(void **state) {
  (void)state;
  for (size_t t = DL_TARGET_POWER; t <= DL_TARGET_TIME; t++)
    check_recovered((enum dl_physical_target)t, 16);
}

static void restores_bit_for_bit(void **state) {
  static struct table t;
  double saved[ROWS], got[ROWS];
  struct dl_arrays arrays = {0};
  void *fit = fit_table(DL_TARGET_ENERGY), *back = NULL;

  (void)state;
  make_table(&t, 11, DL_TARGET_ENERGY);
  predict(fit, &t, saved);
  method->save(fit, &arrays);
  assert_ok(method->restore(method, &back, &arrays, 0, &d), &d);
  predict(back, &t, got);
  assert_memory_equal(got, saved, sizeof saved);
  method->free(fit);
  method->free(back);
  dl_arrays_free(&arrays);
}

/* A matrix, and rows without what an epoch needs, are refused. */
static void refuses_other_features(void **state) {
  static struct table t;
  gsl_matrix *X = gsl_matrix_alloc(ROWS, 3);
  gsl_vector *y = gsl_vector_alloc(ROWS);
  void *fit = NULL;

  (void)state;
  make_table(&t, 8, DL_TARGET_POWER);
  struct dl_design s = sample(&t), matrix = {.X = X, .y = y};
  method->fit(method, &fit, &matrix, NULL, &d);
  assert_error_has(&d, DL_EUSAGE, "takes its own features");
  t.in[4].bandwidth = 0;
  method->fit(method, &fit, &s, NULL, &d);
  assert_error_has(&d, DL_EINPUT, "row 5: ");
  assert_null(fit);
  gsl_matrix_free(X);
  gsl_vector_free(y);
}

/* One run of a new GPU on a host that launches half as fast, of a small
 * network in small batches: the host decides. The other GPUs stay where they
 * were, to 5 % in the mean; those that wait for their hosts move by more, as
 * what a launch costs is learnt apart from what their hosts differ by. */
static void adapts_to_one_run(void **state) {
  static struct table t, one;
  double old[ROWS], now[ROWS], before, after;
  void *fit = fit_table(DL_TARGET_TIME);
  struct dl_hierarchical_fit *adapted = NULL;

  (void)state;
  make_table(&t, 8, DL_TARGET_TIME);
  make_row(&one.in[0], 0, 1, 8);
  one.in[0].grouping.name[DL_NAME_GPU] = "new";
  one.in[0].grouping.name[DL_NAME_HOST] = "new host";
  measure(&one, 0, 2);
  add_row(&one, DL_TARGET_TIME);
  struct dl_design s = sample(&one);
  predict(fit, &one, &before);
  predict(fit, &t, old);
  assert_ok(dl_calibrate_fit(&adapted, fit, s.rows, NULL, &d), &d);
  predict(adapted, &one, &after);
  predict(adapted, &t, now);
  double want = one.value[0][DL_TARGET_TIME];
  assert_true(want - before > log(1.5));
  assert_true(fabs(want - after) < 0.25 * (want - before));
  double moved = 0;
  for (size_t i = 0; i < ROWS; i++) {
    assert_near(exp(now[i]), exp(old[i]), 0.15);
    moved += fabs(now[i] - old[i]) / ROWS;
  }
  assert_true(moved < 0.05);
  method->free(fit);
  method->free(adapted);
}

/* The rows of `all` that are not in a set. */
static void take_others(struct table *to, const struct table *all,
                        const size_t *set, size_t k) {
  to->n = 0;
  to->target = all->target;
  for (size_t i = 0; i < all->n; i++)
    if (set[i] != k)
      to->observed[to->n++] = all->observed[i];
}

/* Predictions that leave sets out are those of adaptations without them, and
 * the others those of the adaptation to all: with hosts that are slower on two
 * of the GPUs, energies missing in every fifth row, repeats of configurations,
 * and a fit that was adapted before. */
static void leaves_out_as_refits_do(void **state) {
  static struct table all, others;
  static const struct table *const of = &all;
  double got[ROWS], fitted[ROWS], left_out[ROWS];
  size_t set[ROWS];
  void *fit = fit_table(DL_TARGET_ENERGY);
  struct dl_hierarchical_fit *first = NULL, *adapted = NULL;
  gsl_vector_view f = gsl_vector_view_array(fitted, ROWS);
  gsl_vector_view l = gsl_vector_view_array(left_out, ROWS);

  (void)state;
  make_table(&all, 12, DL_TARGET_ENERGY);
  for (size_t i = 0; i < ROWS; i++) {
    measure(&all, i, i < 18 ? 1.7 : 1);
    all.in[i].grouping.name[DL_NAME_GPU] = i < 9 ? "new" : "g1";
    for (size_t t = 0; t < DL_N_PHYSICAL_TARGETS; t++)
      all.value[i][t] += 0.05 * cos(1.3 * (double)(i * i + t));
    if (i % 9 == 8) /* the same as the row before */
      all.in[i] = all.in[i - 1];
    set[i] = i % 9 == 8 ? set[i - 1] : i % 4;
    if (i % 5 == 1)
      all.value[i][DL_TARGET_ENERGY] = NAN;
  }
  const struct dl_adapted_rows rows = {.set = set,
                                       .n_sets = 4,
                                       .n_targets = 1,
                                       .target = {DL_TARGET_ENERGY},
                                       .fitted = {&f.vector},
                                       .left_out = {&l.vector}};
  struct dl_design s = sample(&all);
  struct dl_observations three = *s.rows;
  three.n = 3;
  assert_ok(dl_calibrate_fit(&first, fit, &three, NULL, &d), &d);
  assert_ok(dl_calibrate_fit(&adapted, first, s.rows, &rows, &d), &d);
  predict(adapted, of, got);
  for (size_t i = 0; i < ROWS; i++)
    if (isnan(all.value[i][DL_TARGET_ENERGY]))
      assert_true(i % 9 >= 7 || isnan(fitted[i]));
    else
      assert_near(got[i], fitted[i], 1e-6);
  for (size_t k = 0; k < rows.n_sets; k++) {
    struct dl_hierarchical_fit *without = NULL;
    take_others(&others, of, set, k);
    struct dl_design rest = sample(&others);
    assert_ok(dl_calibrate_fit(&without, first, rest.rows, NULL, &d), &d);
    predict(without, of, got);
    for (size_t i = 0; i < ROWS; i++)
      if (set[i] == k && !isnan(all.value[i][DL_TARGET_ENERGY]))
        assert_near(got[i], left_out[i], 1e-6);
    method->free(without);
  }
  method->free(fit);
  method->free(first);
  method->free(adapted);
}

/* Ten times what was measured. */
static void poison(double *value) {
  for (size_t t = 0; t < DL_N_PHYSICAL_TARGETS; t++)
    value[t] += log(10);
}

/* Own rows, and auxiliary ones of other batches. */
struct both {
  struct table own, more;
  struct dl_observed rows[2 * ROWS];
  struct dl_hierarchical_problem q;
};

static void make_both(struct both *b, bool own, bool same, bool other) {
  make_table(&b->own, 8, DL_TARGET_POWER);
  make_table(&b->more, 16, DL_TARGET_POWER);
  for (size_t i = 0; i < ROWS; i++) {
    size_t gpu = i / (ARCHS * BATCHES);
    struct dl_grouping *p = &b->more.in[i].grouping;
    p->steady = 1;
    p->sd[DL_TARGET_POWER] = p->sd[DL_TARGET_ENERGY] = 0.15;
    p->sd[DL_TARGET_TIME] = 4 * 0.15;
    b->more.in[i].mid_run = 1;
    if (own && gpu == 0)
      poison(b->own.value[i]);
    if ((same && gpu == 0) || (other && gpu == 1))
      poison(b->more.value[i]);
    b->rows[i] = b->own.observed[i];
    b->rows[ROWS + i] = b->more.observed[i];
  }
  const struct dl_observations o = {.n = 2 * ROWS,
                                    .row = b->rows,
                                    .n_auxiliary = ROWS,
                                    .target = DL_TARGET_POWER};
  dl_hierarchical_problem_make(&b->q, &dl_training_physics, &o);
}

/* The power of each own row where its GPU is held out. */
static void hold_gpus_out(const struct both *b, double power[ROWS]) {
  static double y[2 * ROWS][DL_N_PHYSICAL_TARGETS];
  for (size_t gpu = 0; gpu < GPUS; gpu++) {
    bool out[2 * ROWS] = {false};
    for (size_t i = 0; i < ROWS; i++)
      out[i] = i / (ARCHS * BATCHES) == gpu;
    dl_hold_out_auxiliary(&b->q, out);
    for (size_t i = 0; i < ROWS; i++)
      assert_int_equal(out[ROWS + i], out[i]);
    assert_ok(dl_hold_out(&b->q, out, NULL, y[0], &d), &d);
    for (size_t i = 0; i < ROWS; i++)
      if (out[i])
        power[i] = exp(y[b->q.configs.of_row[i]][DL_TARGET_POWER]);
  }
}

/* Out-of-fold predictions where the rows of the first GPU (`own`), the
 * auxiliary rows of the same GPU (`same`) or of the second (`other`) are
 * poisoned. */
static void leave_gpus_out(bool own, bool same, bool other, double out[ROWS]) {
  static struct both b;
  make_both(&b, own, same, other);
  hold_gpus_out(&b, out);
  dl_hierarchical_problem_free(&b.q);
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

/* Repeats of a run are one configuration with their mean and number. */
static void repeats_collapse(void **state) {
  static struct table t;
  static struct dl_observed repeats[3 * ROWS];
  static double values[3 * ROWS][DL_N_PHYSICAL_TARGETS];
  struct dl_hierarchical_problem q;
  const struct dl_observations o = {
      .n = 3 * ROWS, .row = repeats, .target = DL_TARGET_TIME};

  (void)state;
  make_table(&t, 8, DL_TARGET_TIME);
  for (size_t i = 0; i < 3 * ROWS; i++) {
    size_t row = i % ROWS;
    for (size_t k = 0; k < DL_N_PHYSICAL_TARGETS; k++)
      values[i][k] = t.value[row][k] + 0.1 * ((double)(i / ROWS) - 1);
    repeats[i] = (struct dl_observed){&t.in[row], values[i]};
  }
  dl_hierarchical_problem_make(&q, &dl_training_physics, &o);
  assert_int_equal(q.configs.n, ROWS);
  for (size_t i = 0; i < q.configs.n_measurements; i++) {
    const struct dl_measurement *m = &q.configs.m[i];
    assert_near(m->weight, 3, 1e-12);
    assert_near(m->mean, t.value[m->config][m->target], 1e-12);
  }
  dl_hierarchical_problem_free(&q);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, start, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(recovers_what_it_saw), TEST(recovers_other_batches),
      TEST(restores_bit_for_bit), TEST(refuses_other_features),
      TEST(adapts_to_one_run),    TEST(left_out_gpus_stay_out),
      TEST(repeats_collapse),     TEST(leaves_out_as_refits_do),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
