/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimators against figures computed by hand and published ones. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <gsl/gsl_errno.h>

#include "estimate/engine.h"
#include "table.h"
#include "tests/messages.h"

enum { MOST_METHODS = 8 };

struct bench {
  struct table t;
  struct dl_engine *s;
  struct dl_result result;
  struct dl_estimate est[MOST_METHODS];
};

/* An engine on the settings given in pairs, ended by NULL. */
static void open_bench(struct bench *x, const struct dl_model *m,
                       const char *methods, const char *const *settings) {
  x->t = open_table(NULL);
  for (; *settings; settings += 2) {
    char field[64];
    snprintf(field, sizeof field, "%s=%s", settings[0], settings[1]);
    if (dl_run_member_find(settings[0]))
      set(&x->t, settings[0], settings[1]);
    else /* of a GPU without a name */
      define(&x->t, field);
  }
  assert_ok(dl_engine_new(&x->s, x->t.f, m, methods, 0.9, &x->t.d), &x->t.d);
  assert_true(x->s->n <= MOST_METHODS);
  load(&x->t);
  row(&x->t, 0);
  assert_int_equal(x->t.row->fault.kind, DL_FAULT_NONE);
  x->result = (struct dl_result){.est = x->est, .n = x->s->n};
  assert_ok(dl_engine_row(x->s, x->t.row, &x->result, &x->t.d), &x->t.d);
}

static void close_bench(struct bench *x) {
  dl_engine_free(x->s);
  close_table(&x->t);
}

/* A worked example: one run of del Rey et al., arXiv 2307.05520. */
static void published_example(void **state) {
  static const char *const settings[] = {
      "gpu.tdp_w",   "350",      "ram_gb",     "16",       "n_gpus", "1",
      "utilisation", "0.291538", "duration_s", "311.4504", /* 0.086514 h */
      NULL};
  struct bench x;

  (void)state;
  open_bench(&x, NULL, "green-algorithms, tdp", settings);
  assert_string_equal(x.est[0].method, "green-algorithms");
  assert_string_equal(x.est[0].boundary, "gpu+ram");
  assert_near(x.est[0].energy_j.x, 33636.2, 1e-5);
  assert_near(x.est[0].power_w.x, 107.9983, 1e-12);
  assert_string_equal(x.est[1].method, "tdp");
  assert_string_equal(x.est[1].boundary, "gpu");
  assert_near(x.est[1].energy_j.x, 109007.9, 1e-5);
  for (int i = 0; i < 2; i++) {
    assert_near(x.est[i].duration_s.x, 311.4504, 1e-15);
    assert_string_equal(x.est[i].duration_from, "given");
    assert_null(x.est[i].lacks);
    assert_true(isnan(x.est[i].energy_j.low) && isnan(x.est[i].energy_j.high));
  }
  close_bench(&x);
}

static void several_gpus(void **state) {
  static const char *const settings[] = {
      "gpu.tdp_w",  "300", "ram_gb",      "100", "n_gpus", "4",
      "duration_s", "10",  "utilisation", "0.5", NULL};
  struct bench x;

  (void)state;
  open_bench(&x, NULL, "green-algorithms,tdp", settings);
  assert_near(x.est[0].power_w.x, 637.25, 1e-15); /* 4 * 150 + 37.25 */
  assert_near(x.est[0].energy_j.x, 6372.5, 1e-15);
  assert_near(x.est[1].energy_j.x, 12000, 1e-15);
  close_bench(&x);
}

/* 2 * 4e9 * (3 * 1000 + 500) * 10 = 2.8e14 operations at 2 * 14e12 * 0.5 a
 * second take 20 s; 2 boards of 250 W take 10 kJ. */
static void operations(void **state) {
  static const char *settings[] = {
      "gpu.tdp_w",   "250", "n_gpus",        "2",    "macs_g", "4",
      "peak_tflops", "14",  "train_samples", "1000", "epochs", "10",
      "efficiency",  "0.5", "val_samples",   "500",  NULL,     NULL,
      NULL};
  struct bench x;

  (void)state;
  open_bench(&x, NULL, "flops,tdp", settings);
  assert_near(x.est[0].duration_s.x, 20, 1e-14);
  assert_near(x.est[0].power_w.x, 500, 1e-14);
  assert_near(x.est[0].energy_j.x, 10000, 1e-14);
  assert_string_equal(x.est[0].boundary, "gpu");
  /* The others take its duration. */
  assert_string_equal(x.est[1].duration_from, "flops");
  assert_near(x.est[1].duration_s.x, 20, 1e-14);
  assert_near(x.est[1].energy_j.x, 10000, 1e-14);
  close_bench(&x);
  /* A frozen base costs one pass: (1000 + 500) / 3500 of the time. */
  settings[16] = "frozen_base";
  settings[17] = "1";
  open_bench(&x, NULL, "flops", settings);
  assert_near(x.est[0].energy_j.x, 30000.0 / 7, 1e-14);
  close_bench(&x);
  /* Its own duration counts for flops even where one is given. */
  settings[16] = "duration_s";
  settings[17] = "14";
  open_bench(&x, NULL, "flops,tdp", settings);
  assert_near(x.est[0].duration_s.x, 20, 1e-14);
  assert_string_equal(x.est[0].duration_from, "flops");
  assert_near(x.est[1].energy_j.x, 7000, 1e-14);
  assert_string_equal(x.est[1].duration_from, "given");
  close_bench(&x);
  /* No validation: 3000 of 3500 samples. */
  settings[14] = NULL;
  open_bench(&x, NULL, "flops", settings);
  assert_near(x.est[0].energy_j.x, 60000.0 / 7, 1e-14);
  close_bench(&x);
}

/* Leaving out one setting at a time, the method names it. */
static void names_what_it_lacks(void **state) {
  static const char *const settings[] = {
      "gpu.tdp_w",   "250", "n_gpus",        "2",    "macs_g",      "4",
      "peak_tflops", "14",  "train_samples", "1000", "epochs",      "10",
      "efficiency",  "0.5", "ram_gb",        "8",    "utilisation", "1",
      "duration_s",  "50"};
  static const char *const needs[][8] = {
      {"tdp", "gpu.tdp_w", "n_gpus"},
      {"green-algorithms", "gpu.tdp_w", "n_gpus", "ram_gb", "utilisation"},
      {"flops", "gpu.tdp_w", "n_gpus", "macs_g", "peak_tflops", "train_samples",
       "epochs"},
  };

  (void)state;
  for (size_t left = 0; left < COUNT(settings); left += 2)
    for (size_t m = 0; m < COUNT(needs); m++) {
      const char *some[COUNT(settings) + 1] = {NULL};
      struct bench x;
      bool needed = false;
      size_t n = 0;
      for (size_t i = 0; i < COUNT(settings); i++)
        if (i / 2 != left / 2)
          some[n++] = settings[i];
      for (size_t k = 1; k < COUNT(needs[m]) && needs[m][k]; k++)
        needed |= strcmp(needs[m][k], settings[left]) == 0;
      open_bench(&x, NULL, needs[m][0], some);
      assert_int_equal(isnan(x.est[0].energy_j.x), needed);
      assert_int_equal(x.est[0].lacks != NULL, needed);
      /* No GPU is named that has a TDP, no architecture that has MACs. */
      const char *named = strcmp(settings[left], "gpu.tdp_w") == 0 ||
                                  strcmp(settings[left], "peak_tflops") == 0
                              ? "gpu"
                          : strcmp(settings[left], "macs_g") == 0
                              ? "arch"
                              : settings[left];
      if (needed)
        assert_string_equal(x.est[0].lacks, named);
      close_bench(&x);
    }
}

static void durations_may_be_unknown(void **state) {
  static const char *const settings[] = {"gpu.tdp_w",   "250",    "n_gpus",
                                         "1",           "ram_gb", "8",
                                         "utilisation", "1",      NULL};
  struct bench x;

  (void)state;
  open_bench(&x, NULL, "all", settings);
  assert_null(dl_estimators[x.s->n]);
  for (size_t i = 0; i < x.s->n; i++) {
    assert_string_equal(x.est[i].method, x.s->method[i]->name);
    assert_true(isnan(x.est[i].energy_j.x));
    assert_non_null(x.est[i].lacks);
    if (x.est[i].id == DL_METHOD_TDP ||
        x.est[i].id == DL_METHOD_GREEN_ALGORITHMS)
      assert_string_equal(x.est[i].lacks, "duration_s");
    if (strncmp(x.est[i].method, "pre-", 4) == 0)
      assert_string_equal(x.est[i].lacks, "model");
  }
  assert_int_equal(dl_recommended(x.est, x.s->n, false), -1);
  close_bench(&x);
}

/* A fit that always says `value`: a constant feature, no effect. */
static void constant_fit(struct dl_fit *f, const char *target, double value) {
  gsl_matrix *X = gsl_matrix_alloc(3, 1);
  gsl_vector *y = gsl_vector_alloc(3);
  double none[DL_MAX_HYPER];
  struct dl_diag d = {0};

  *f = (struct dl_fit){.method = dl_regression_find("ols")};
  for (size_t i = 0; i < 3; i++)
    gsl_matrix_set(X, i, 0, (double)i);
  gsl_vector_set_all(y, value);
  assert_ok(f->method->fit(f->method, &f->state,
                           &(struct dl_design){.X = X, .y = y}, none, &d),
            &d);
  f->target = strdup(target);
  f->boundary = strdup(strcmp(target, "gpu_power_w") == 0 ? "gpu" : "gpu+ram");
  dl_strlist_add(&f->features, "batch_size");
  gsl_matrix_free(X);
  gsl_vector_free(y);
}

static struct dl_model *make_model(void) {
  struct dl_model *m = calloc(1, sizeof *m);

  m->fit = calloc(2, sizeof *m->fit);
  m->n_fits = 2;
  constant_fit(&m->fit[0], "gpu_power_w", 96.3);
  constant_fit(&m->fit[1], "epoch_energy_j", 1000);
  return m;
}

/* 96.3 W and 1000 J an epoch: with 3.7 W of memory an epoch takes 10 s. */
static void pre(void **state) {
  static const char *settings[] = {"batch_size", "32", "epochs",    "5",
                                   "n_gpus",     "1",  "gpu.tdp_w", "250",
                                   NULL,         NULL, NULL};
  struct dl_model *m = make_model();
  struct bench x;

  (void)state;
  open_bench(&x, m, "pre-epoch,pre-power,tdp", settings);
  assert_near(x.est[0].energy_j.x, 5000, 1e-12);
  assert_string_equal(x.est[0].boundary, "gpu+ram");
  assert_near(x.est[0].duration_s.x, 50, 1e-12);
  assert_near(x.est[0].power_w.x, 100, 1e-12);
  assert_near(x.est[1].energy_j.x, 4815, 1e-12);
  assert_string_equal(x.est[1].boundary, "gpu");
  assert_string_equal(x.est[1].duration_from, "pre-epoch");
  assert_near(x.est[2].energy_j.x, 12500, 1e-12);
  assert_int_equal(dl_recommended(x.est, 3, false), 0);
  assert_int_equal(dl_recommended(x.est, 3, true), 1);
  close_bench(&x);
  /* A given duration is taken for the power; the epochs have their own:
   * 5 * 1000 J / (96.3 + 3.7) W. */
  settings[8] = "duration_s";
  settings[9] = "20";
  open_bench(&x, m, "pre-epoch,pre-power", settings);
  assert_near(x.est[0].energy_j.x, 5000, 1e-12);
  assert_near(x.est[0].duration_s.x, 50, 1e-12);
  assert_near(x.est[0].power_w.x, 100, 1e-12);
  assert_string_equal(x.est[0].duration_from, "pre-epoch");
  assert_near(x.est[1].energy_j.x, 1926, 1e-12);
  assert_string_equal(x.est[1].duration_from, "given");
  close_bench(&x);
  /* Two GPUs share the work: the same energy in half the time. */
  settings[8] = NULL;
  settings[5] = "2";
  open_bench(&x, m, "pre-epoch,pre-power", settings);
  assert_near(x.est[0].energy_j.x, 5000, 1e-12);
  assert_near(x.est[0].duration_s.x, 25, 1e-12);
  assert_near(x.est[1].energy_j.x, 4815, 1e-12);
  assert_near(x.est[1].power_w.x, 192.6, 1e-12);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(x.est[i].n_outside, 1);
    assert_string_equal(x.est[i].outside[0], "n_gpus");
  }
  close_bench(&x);
  dl_model_free(m);
}

/* 39 groups of +-`half`: quantiles at 90 %. */
static void add_groups(struct dl_fit *f, double half) {
  struct dl_residuals *r = &f->held_out_residuals[DL_HELD_OUT_CONFIG];

  r->g = calloc(39, sizeof *r->g);
  r->n = 39;
  for (size_t i = 0; i < r->n; i++) {
    r->g[i] =
        (struct dl_group_residuals){.name = strdup("g"), .n = 1, .n_values = 1};
    r->g[i].value[0] = i % 2 ? half : -half;
  }
}

/* 96.3 +- 30 W and 1000 J +- some: the relative errors of power and of the
 * duration, which pre-epoch gives, add as squares (of logarithms). */
static void pre_intervals(void **state) {
  static const struct {
    double half, low, high;
  } cases[] = {
      {400, 2557.57491387389, 7417.86811568031},
      {2000, 0, 14929.2914336432}, /* below 0 J: nothing is known of it */
  };
  static const char *settings[] = {"batch_size", "32", "epochs", "5", "n_gpus",
                                   "1",          NULL, NULL,     NULL};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct dl_model *m = make_model();
    struct bench x;
    add_groups(&m->fit[0], 30);
    add_groups(&m->fit[1], cases[i].half);
    settings[6] = NULL;
    open_bench(&x, m, "pre-epoch,pre-power", settings);
    assert_near(x.est[0].energy_j.low, 5000 - 5 * cases[i].half, 1e-12);
    assert_near(x.est[0].energy_j.high, 5000 + 5 * cases[i].half, 1e-12);
    assert_near(x.est[1].energy_j.low, cases[i].low, 1e-12);
    assert_near(x.est[1].energy_j.high, cases[i].high, 1e-12);
    close_bench(&x);
    /* With the duration given only the power is uncertain. */
    settings[6] = "duration_s";
    settings[7] = "50";
    open_bench(&x, m, "pre-power", settings);
    assert_near(x.est[0].energy_j.low, 3315, 1e-12);
    assert_near(x.est[0].energy_j.high, 6315, 1e-12);
    close_bench(&x);
    dl_model_free(m);
  }
}

static void pre_lacks(void **state) {
  static const char *const without_batch[] = {"epochs", "5", "n_gpus", "1",
                                              NULL};
  static const char *const without_epochs[] = {"batch_size", "32", "n_gpus",
                                               "1", NULL};
  struct dl_model *m = make_model();
  struct bench x;

  (void)state;
  open_bench(&x, m, "pre-epoch,pre-power", without_batch);
  assert_string_equal(x.est[0].lacks, "batch_size");
  assert_string_equal(x.est[1].lacks, "batch_size");
  close_bench(&x);
  open_bench(&x, m, "pre-epoch,pre-power", without_epochs);
  assert_string_equal(x.est[0].lacks, "epochs");
  assert_string_equal(x.est[1].lacks, "duration_s");
  assert_true(isnan(x.est[1].duration_s.x));
  assert_null(x.est[1].duration_from);
  close_bench(&x);
  dl_model_free(m);
}

static void recommends(void **state) {
  struct dl_estimate est[3] = {
      {.method = "flops", .energy_j.x = 1},
      {.method = "tdp", .energy_j.x = 1},
      {.method = "green-algorithms", .energy_j.x = NAN}};

  (void)state;
  assert_int_equal(dl_recommended(est, 3, true), 1);
  assert_int_equal(dl_recommended(est, 3, false), 0);
  est[2].energy_j.x = 1;
  assert_int_equal(dl_recommended(est, 3, true), 2);
  assert_int_equal(dl_recommended(est, 3, false), 0);
  est[0].energy_j.x = est[1].energy_j.x = est[2].energy_j.x = NAN;
  assert_int_equal(dl_recommended(est, 3, true), -1);
  assert_int_equal(dl_recommended(est, 0, true), -1);
}

static void refuses_methods(void **state) {
  struct dl_engine *s;
  struct table t = open_table(NULL);

  (void)state;
  assert_int_equal(dl_engine_new(&s, t.f, NULL, "tdp,flop", 0.9, &t.d),
                   DL_EUSAGE);
  assert_null(s);
  assert_error_has(
      &t.d, DL_EUSAGE,
      MSG_unknown_method_nearest("flop", " (did you mean 'flops'?)"));
  close_table(&t);
  assert_null(dl_estimator_find("none"));
  for (size_t i = 0; dl_estimators[i]; i++) {
    const char *name = dl_estimators[i]->name;
    assert_string_equal(dl_method_words[dl_estimators[i]->id], name);
    assert_ptr_equal(dl_estimator_find(name), dl_estimators[i]);
  }
  dl_engine_free(NULL);
}

static void checks_names(void **state) {
  static const struct {
    const char *settings[7];
    const char *error;
  } cases[] = {
      {{"gpu", "rtx-3090", "arch", "resnet50"}, NULL},
      {{"gpu", "rtx-3091", "arch", "resnet50"},
       MSG_unknown_nearest("gpu", "rtx-3091", " (did you mean 'rtx-3090'")},
      {{"gpu", "rtx-3090", "arch", "resnt50"},
       MSG_unknown_nearest("arch", "resnt50", " (did you mean 'resnet50'")},
      {{"gpu", "rtx-3090", "arch", "own", "macs_g", "3"}, NULL},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct bench x;
    open_bench(&x, NULL, "tdp", cases[i].settings);
    bool bad = dl_engine_refuses(x.t.catalog, &x.result.job, NULL, 0, &x.t.d);
    assert_int_equal(bad, cases[i].error != NULL);
    if (bad) {
      assert_error_has(&x.t.d, DL_EINPUT, cases[i].error);
      assert_true(
          dl_engine_refuses(x.t.catalog, &x.result.job, "f.csv", 3, &x.t.d));
      assert_int_equal(x.t.d.n_skipped, 1);
      assert_memory_equal(x.t.d.warnings[0], "f.csv:3: unknown ", 17);
    }
    close_bench(&x);
  }
}

/* What estimators say they need are fields that there are: a slip there would
 * make 'dlest check' find nothing lacking. */
static void needs_are_fields(void **state) {
  size_t n = 0;

  (void)state;
  for (size_t i = 0; dl_estimators[i]; i++) {
    const char *const *need = dl_estimators[i]->needs;
    for (; need && *need; need++, n++) {
      bool found = false;
      for (int k = 0; k < DL_N_KINDS; k++) {
        const char *word = dl_kinds[(enum dl_kind)k].word;
        size_t len = strlen(word);
        if (strncmp(*need, word, len) == 0 && (*need)[len] == '.')
          found |= dl_field_find((enum dl_kind)k, *need + len + 1) != NULL;
      }
      if (!found)
        fail_msg("%s: no field '%s'", dl_estimators[i]->name, *need);
    }
  }
  assert_true(n >= 5);
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(published_example),
      cmocka_unit_test(several_gpus),
      cmocka_unit_test(operations),
      cmocka_unit_test(names_what_it_lacks),
      cmocka_unit_test(durations_may_be_unknown),
      cmocka_unit_test(pre),
      cmocka_unit_test(pre_intervals),
      cmocka_unit_test(pre_lacks),
      cmocka_unit_test(recommends),
      cmocka_unit_test(refuses_methods),
      cmocka_unit_test(checks_names),
      cmocka_unit_test(needs_are_fields),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
