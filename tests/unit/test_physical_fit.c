/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits of the physical regression to rows made from known constants: what is
 * recovered, kept and adapted, and that a GPU left out of a fold stays out. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "physics/rows/physics_regression.h"
#include "physics/rows/physics_rows.h"
#include "physics/training/training_inputs.h"
#include "math/regression/regression.h"
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

/* Rows of a table, all measured. */
struct table {
  size_t n;
  struct dl_training_inputs in[ROWS];
  double value[ROWS][DL_N_PHYSICAL_TARGETS];
  struct dl_observed observed[ROWS];
  const void *rows[ROWS];
};

static struct dl_sample sample(const struct table *t) {
  return (struct dl_sample){.rows = t->rows, .n_rows = t->n};
}

static void make_row(struct dl_training_inputs *in, size_t gpu, size_t arch,
                     double batch) {
  static const char *const gpus[] = {"g0", "g1", "g2"},
                           *const hosts[] = {"h0", "h1", "h2"},
                           *const archs[] = {"a0", "a1", "a2"},
                           *const datasets[] = {"d0", "d1", "d2"};
  const double *g = gpu_facts[gpu], *a = arch_facts[arch];
  const struct dl_level_names machine = {DL_NAME_SOURCE, DL_NAME_GPU};
  memset(in, 0, sizeof *in);
  in->batch = batch;
  in->train = a[4];
  in->val = a[4] / 4;
  in->flops = 2e9 * a[0];
  in->bytes = 4e6 * a[1];
  in->bytes_known = 1;
  in->kernels = a[2];
  in->weights = 4e6 * a[3];
  in->peak = 1e12 * g[0];
  in->has_tensor = 1;
  in->bandwidth = 1e9 * g[1];
  in->tdp = in->limit = g[2];
  in->gddr = g[3] > 0 ? g[1] : 0;
  in->ram_w = 5;
  struct dl_grouping *p = &in->grouping;
  p->name[DL_NAME_GPU] = gpus[gpu];
  p->name[DL_NAME_HOST] = hosts[gpu];
  p->name[DL_NAME_ARCH] = archs[arch];
  p->name[DL_NAME_DATASET] = datasets[arch];
  p->name[DL_NAME_SOURCE] = "s";
  p->level[DL_FACTOR_HOST].name = DL_NAME_HOST;
  p->unnamed[DL_FACTOR_HOST].within = DL_NAME_GPU;
  p->level[DL_FACTOR_GPU].name = DL_NAME_GPU;
  p->level[DL_FACTOR_ARCH].name = DL_NAME_ARCH;
  p->level[DL_FACTOR_FRAMEWORK] = machine;
  p->x[0] = log(batch) / 0.7;
  p->x[1] = log(224) / 0.35;
  p->x[2] = log(in->train) / 1.4;
}

/* Sets what a row would measure on a host `slower` times as slow. */
static void measure(struct table *t, size_t i, double slower) {
  double c[DL_N_TRAINING_CONSTANTS], fx[DL_N_TRAINING_EFFECTS] = {0};
  true_constants(c);
  fx[DL_EFFECT_HOST_LAUNCH] = fx[DL_EFFECT_HOST_EPOCH] = log(slower);
  dl_training_physics.predict(c, fx, &t->in[i], t->value[i]);
}

static void add_row(struct table *t, enum dl_physical_target target) {
  size_t i = t->n++;
  t->observed[i] = (struct dl_observed){&t->in[i], t->value[i], target};
  t->rows[i] = &t->observed[i];
}

/* All GPUs, networks and batches. */
static void make_table(struct table *t, double first_batch,
                       enum dl_physical_target target) {
  t->n = 0;
  for (size_t g = 0; g < GPUS; g++)
    for (size_t a = 0; a < ARCHS; a++)
      for (size_t b = 0; b < BATCHES; b++) {
        make_row(&t->in[t->n], g, a, first_batch * pow(4, (double)b));
        measure(t, t->n, 1);
        add_row(t, target);
      }
}

static void *fit_table(enum dl_physical_target target) {
  static struct table t;
  void *fit = NULL;
  make_table(&t, 8, target);
  struct dl_sample s = sample(&t);
  assert_ok(method->fit(method, &fit, &s, NULL, &d), &d);
  return fit;
}

static void predict(const void *fit, const struct table *t, double *out) {
  gsl_vector_view view = gsl_vector_view_array(out, t->n);
  assert_ok(method->predict_rows(fit, t->rows, &view.vector, &d), &d);
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
  assert_ok(method->save(fit, &arrays, &d), &d);
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
  struct dl_sample s = sample(&t), matrix = {.X = X, .y = y};
  method->fit(method, &fit, &matrix, NULL, &d);
  assert_error_has(&d, DL_EUSAGE, "takes its own features");
  dl_diag_init(&d);
  t.in[4].bandwidth = 0;
  method->fit(method, &fit, &s, NULL, &d);
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
  static struct table t, one;
  double old[ROWS], now[ROWS], before, after;
  void *fit = fit_table(DL_TARGET_TIME), *adapted = NULL;

  (void)state;
  make_table(&t, 8, DL_TARGET_TIME);
  make_row(&one.in[0], 0, 1, 8);
  one.in[0].grouping.name[DL_NAME_GPU] = "new";
  one.in[0].grouping.name[DL_NAME_HOST] = "new host";
  measure(&one, 0, 2);
  add_row(&one, DL_TARGET_TIME);
  struct dl_sample s = sample(&one);
  predict(fit, &one, &before);
  predict(fit, &t, old);
  assert_ok(method->adapt(&adapted, fit, &s, &d), &d);
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

/* Ten times what was measured. */
static void poison(double *value) {
  for (size_t t = 0; t < DL_N_PHYSICAL_TARGETS; t++)
    value[t] += log(10);
}

/* Own rows, and auxiliary ones of other batches. */
struct both {
  struct table own, more;
  const void *rows[2 * ROWS];
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
    b->rows[i] = b->own.rows[i];
    b->rows[ROWS + i] = b->more.rows[i];
  }
  const struct dl_observations o = {2 * ROWS, b->rows, NULL, ROWS};
  assert_true(dl_hierarchical_problem_make(&b->q, &dl_training_physics, &o));
}

/* The power of each own row where its GPU is held out. */
static void hold_gpus_out(const struct both *b, double power[ROWS]) {
  static double y[2 * ROWS][DL_N_PHYSICAL_TARGETS];
  for (size_t gpu = 0; gpu < GPUS; gpu++) {
    bool out[2 * ROWS] = {false};
    for (size_t i = 0; i < ROWS; i++)
      out[i] = i / (ARCHS * BATCHES) == gpu;
    assert_true(dl_hold_out_auxiliary(&b->q, out));
    for (size_t i = 0; i < ROWS; i++)
      assert_int_equal(out[ROWS + i], out[i]);
    assert_ok(dl_hold_out(&b->q, out, y[0], &d), &d);
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
  static const void *rows[3 * ROWS];
  struct dl_hierarchical_problem q;
  const struct dl_observations o = {3 * ROWS, rows, NULL, 0};

  (void)state;
  make_table(&t, 8, DL_TARGET_TIME);
  for (size_t i = 0; i < 3 * ROWS; i++) {
    size_t row = i % ROWS;
    for (size_t k = 0; k < DL_N_PHYSICAL_TARGETS; k++)
      values[i][k] = t.value[row][k] + 0.1 * ((double)(i / ROWS) - 1);
    repeats[i] = (struct dl_observed){&t.in[row], values[i], DL_TARGET_TIME};
    rows[i] = &repeats[i];
  }
  assert_true(dl_hierarchical_problem_make(&q, &dl_training_physics, &o));
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
      TEST(repeats_collapse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
