/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The spread of a run by a linear physics, log y = theta + effect of the GPU +
 * effect of the network, whose variances are worked out by hand. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "physics/conditioning/joint_prediction.h"
#include "unit.h"

static void predict(const double *c, const double *fx, const void *inputs,
                    double *log_target) {
  (void)inputs;
  log_target[0] = log(c[0]) + fx[0] + fx[1];
  log_target[1] = 2 * log(c[0]) + fx[0];
}

static void gradient(const double *c, const double *fx, const void *inputs,
                     double *log_target, struct dl_gradient *g) {
  predict(c, fx, inputs, log_target);
  g[0].c[0] = g[0].fx[0] = g[0].fx[1] = 1;
  g[1].c[0] = 2;
  g[1].fx[0] = 1;
  g[1].fx[1] = 0;
}

static void bound(const double *c, const void *inputs, struct dl_place *to) {
  (void)c;
  to->rate[0] = ((const struct dl_grouping *)inputs)->x[0];
}

static const struct dl_physics_constant constant = {"theta", NULL, 1, 1, ""};
static const struct dl_random_effect effects[] = {{"gpu", 0.2, 0.1, 0.1},
                                                  {"arch", 0.3, 0.1, 0.1}};
static const struct dl_grouping_factor factors[] = {
    {"gpu", 0, 1, .unit_share = 0}, {"arch", 1, 1, .unit_share = 0}};
static const struct dl_residual_component component = {0,   0.1, 0.05,
                                                       0.2, 1,   {2}};
static const double sigma[] = {0.05, 0.05};
static const struct dl_residual_process process = {
    .component = &component,
    .n_components = 1,
    .repeat_sd = 0.02,
    .floor_sd = 0.005,
};
static const char *const target[] = {"y", "z"};
static struct dl_physics physics = {.name = "linear",
                                    .target = target,
                                    .constant = &constant,
                                    .n_constants = 1,
                                    .factor = factors,
                                    .n_factors = 2,
                                    .effect = effects,
                                    .n_effects = 2,
                                    .sigma = sigma,
                                    .n_targets = 2,
                                    .process = &process,
                                    .calibration = &process,
                                    .bound = bound,
                                    .widths_by_run = true,
                                    .input_size = sizeof(struct dl_grouping),
                                    .predict = predict,
                                    .gradient = gradient};

/* A level of factor k, number 1 of its names. */
static void add_level(struct dl_hierarchical_fit *fit, size_t k,
                      const char *name) {
  fit->by[k].level = calloc(1, sizeof *fit->by[k].level);
  fit->by[k].level[0].key.name = dl_intern(&fit->names, name) + 1;
  fit->by[k].n = 1;
}

/* A fit that has seen GPU "a" and network "n": standard errors .3 of theta, .15
 * of the GPU, .1 of the network, and a covariance of .02 of theta and the GPU's
 * effect, which is negative. By rows, its factor is .3; -.02 / .3 and what is
 * left of
 * .15^2; .1. */
static struct dl_hierarchical_fit *make_fit(void) {
  struct dl_hierarchical_fit *fit = dl_hierarchical_fit_new(&physics);
  gsl_matrix *L = gsl_matrix_calloc(3, 3);
  gsl_matrix_set(L, 0, 0, 0.3);
  gsl_matrix_set(L, 1, 0, -0.02 / 0.3);
  gsl_matrix_set(L, 1, 1, sqrt(0.0225 - 0.0004 / 0.09));
  gsl_matrix_set(L, 2, 2, 0.1);
  fit->theta[0] = 1;
  fit->c[0] = exp(1);
  add_level(fit, 0, "a");
  add_level(fit, 1, "n");
  dl_posterior_keep(&fit->posterior, L);
  gsl_matrix_free(L);
  return fit;
}

static struct dl_grouping make_inputs(const char *gpu, const char *arch) {
  struct dl_grouping in;
  memset(&in, 0, sizeof in);
  in.name[DL_NAME_GPU] = gpu;
  in.name[DL_NAME_ARCH] = arch;
  in.level[0].name = DL_NAME_GPU;
  in.level[1].name = DL_NAME_ARCH;
  return in;
}

/* The spread of target 0. */
static double spread_of(const struct dl_hierarchical_fit *fit,
                        const struct dl_grouping *in, bool new_arch,
                        bool new_gpu) {
  struct dl_fit_row row;
  double spread[DL_MAX_TARGETS];

  dl_fit_row_make(&row, fit, in);
  dl_run_spreads(&row, new_arch, new_gpu, spread);
  return spread[0];
}

/* Residuals have .1^2 + .05^2 and the measurement .02^2 + .005^2. */
static const double residual = 0.01 + 0.0025 + 0.0004 + 0.000025;

static void check(const struct dl_hierarchical_fit *fit, const char *gpu,
                  const char *arch, double variance) {
  const struct dl_grouping in = make_inputs(gpu, arch);
  double want = sqrt(sqrt((variance + residual) / residual));

  assert_near(spread_of(fit, &in, false, false), want, 1e-6);
}

/* The fourth root of the ratio of variances. */
static void by_what_is_new(void **state) {
  const double theta = 0.09, gpu = 0.0225, arch = 0.01, both = -0.02;
  const double new_gpu = 0.04, new_arch = 0.09;
  struct dl_hierarchical_fit *fit = make_fit();
  const struct dl_grouping seen = make_inputs("a", "n");

  (void)state;
  check(fit, "a", "n", theta + gpu + arch + 2 * both);
  check(fit, "b", "n", theta + new_gpu + arch);
  check(fit, "a", "m", theta + gpu + 2 * both + new_arch);
  check(fit, "b", "m", theta + new_gpu + new_arch);
  check(fit, NULL, "n", theta + new_gpu + arch);
  /* As if they were new, whatever the fit has seen. */
  for (unsigned i = 0; i < 4; i++) {
    const struct dl_grouping in =
        make_inputs(i & 1 ? "b" : "a", i & 2 ? "m" : "n");
    assert_near(spread_of(fit, &seen, i & 2, i & 1),
                spread_of(fit, &in, false, false), 1e-12);
  }
  dl_hierarchical_fit_free(fit);
}

/* A new GPU may take longer for a part of the work, a tenth of the time, by a
 * multiple whose standard deviation is 2. */
static void rates_of_a_new_gpu(void **state) {
  struct dl_hierarchical_fit *fit = make_fit();
  struct dl_grouping in = make_inputs("a", "n");
  double seen = spread_of(fit, &in, false, false);

  (void)state;
  in.x[0] = 0.1;
  assert_near(spread_of(fit, &in, false, false), seen, 1e-12);
  in.name[DL_NAME_GPU] = "b";
  assert_near(spread_of(fit, &in, false, false),
              sqrt(sqrt((0.09 + 0.04 + 0.01 + 0.04 + residual) / residual)),
              1e-6);
  dl_hierarchical_fit_free(fit);
}

/* Of both targets at once. The second has no residual but the measurement's:
 * 4 x .09 + .0225 - 4 x .02 = .3025. Their covariance is 2 x .09 + .0225 - 3 x
 * .02. */
static void two_targets_at_once(void **state) {
  struct dl_hierarchical_fit *fit = make_fit();
  const struct dl_grouping in = make_inputs("a", "n");
  const double noise = 0.0004 + 0.000025, first = 0.09 + 0.0225 + 0.01 - 0.04;
  struct dl_joint_prediction joint;
  struct dl_fit_row row;
  double spread[DL_MAX_TARGETS];

  (void)state;
  dl_fit_row_make(&row, fit, &in);
  dl_run_spreads(&row, false, false, spread);
  assert_near(spread[1], sqrt(sqrt((0.3025 + noise) / noise)), 1e-5);
  assert_near(spread[0], sqrt(sqrt((first + residual) / residual)), 1e-6);
  dl_predict_jointly(&row, &joint);
  assert_near(joint.cov[0][0], first + residual, 1e-5);
  assert_near(joint.cov[1][1], 0.3025 + noise, 1e-5);
  assert_near(joint.cov[1][0], 0.1425, 1e-5);
  assert_near(joint.mean[1], 2, 1e-12);
  dl_hierarchical_fit_free(fit);
}

static void one_width_for_all(void **state) {
  struct dl_hierarchical_fit *fit = make_fit();
  const struct dl_grouping in = make_inputs("b", "m");

  (void)state;
  physics.widths_by_run = false;
  assert_near(spread_of(fit, &in, false, false), 1, 0);
  physics.widths_by_run = true;
  dl_hierarchical_fit_free(fit);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(by_what_is_new),
                                     cmocka_unit_test(rates_of_a_new_gpu),
                                     cmocka_unit_test(two_targets_at_once),
                                     cmocka_unit_test(one_width_for_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
