/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration by a linear physics, log y = theta + effect of the GPU, whose
 * posterior is worked out by hand. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "physics/calibration/calibration.h"
#include "physics/calibration/run_information.h"
#include "physics/calibration/residual_precision.h"
#include "physics/fit_row.h"
#include "problem.h"

struct inputs {
  struct dl_grouping grouping;
  double bound;
  double share; /* of the time, in a part whose rate differs by GPU */
};

static void predict(const double *c, const double *fx, const void *inputs,
                    double *log_target) {
  (void)inputs;
  log_target[0] = log(c[0]) + fx[0];
}

static void gradient(const double *c, const double *fx, const void *inputs,
                     double *log_target, struct dl_gradient *g) {
  predict(c, fx, inputs, log_target);
  g[0].c[0] = g[0].fx[0] = 1;
}

static void bound(const double *c, const void *inputs, struct dl_place *to) {
  to->bound[0] = c[0] * ((const struct inputs *)inputs)->bound;
  to->rate[0] = ((const struct inputs *)inputs)->share;
}

static const struct dl_physics_constant constant = {"theta", NULL, 1, 1, ""};
static const struct dl_random_effect effect = {"gpu", 0.2, 0.1, 0.05};
static const struct dl_grouping_factor factor = {"gpu", 0, 1, .unit_share = 0};
static const struct dl_residual_component component = {0,   0.1, 0.05,
                                                       0.2, 1,   {2}};
static const double sigma = 0.05;
static const struct dl_residual_process process = {
    .component = &component,
    .n_components = 1,
    .repeat_sd = 0.02,
    .floor_sd = 0.005,
    .bound_length = 0.3,
    .near_length = 1.5,
};
static const char *const target = "y";
static struct dl_physics physics = {.name = "linear",
                                    .target = &target,
                                    .constant = &constant,
                                    .n_constants = 1,
                                    .factor = &factor,
                                    .n_factors = 1,
                                    .effect = &effect,
                                    .n_effects = 1,
                                    .sigma = &sigma,
                                    .n_targets = 1,
                                    .process = &process,
                                    .calibration = &process,
                                    .input_size = sizeof(struct inputs),
                                    .predict = predict,
                                    .gradient = gradient,
                                    .bound = bound};

/* A fit with theta = 1 and a standard error, which has seen no GPU. */
static struct dl_hierarchical_fit *make_fit(double error) {
  struct dl_hierarchical_fit *fit = dl_hierarchical_fit_new(&physics);
  gsl_matrix *L = gsl_matrix_alloc(1, 1);
  gsl_matrix_set(L, 0, 0, error);
  fit->theta[0] = 1;
  fit->c[0] = exp(1);
  dl_posterior_keep(&fit->posterior, L);
  gsl_matrix_free(L);
  return fit;
}

static struct inputs make_inputs(const char *gpu, const char *arch, double b) {
  struct inputs in;
  memset(&in, 0, sizeof in);
  in.grouping.name[DL_NAME_GPU] = gpu;
  in.grouping.name[DL_NAME_ARCH] = arch;
  in.grouping.level[0].name = DL_NAME_GPU;
  in.bound = b;
  return in;
}

static struct dl_hierarchical_fit *
calibrate(const struct dl_hierarchical_fit *from, const struct inputs *in,
          const double *y, size_t n) {
  struct dl_observed observed[2];
  struct dl_hierarchical_fit *fit;
  struct dl_diag d = {0};
  for (size_t i = 0; i < n; i++)
    observed[i] = (struct dl_observed){&in[i], &y[i]};
  const struct dl_observations o = {.n = n, .row = observed};
  assert_int_equal(dl_calibrate_fit(&fit, from, &o, NULL, &d), DL_OK);
  dl_diag_free(&d);
  return fit;
}

static double predicted(const struct dl_hierarchical_fit *fit,
                        struct inputs in) {
  struct dl_fit_row row;

  dl_fit_row_make(&row, fit, &in);
  return dl_fit_row_value(&row, 0);
}

/* A run measured 1 above the estimate. Its variance is .3^2 of theta, .1^2
 * of the GPU, .1^2 of similar configurations, .05^2 of the configuration, .2^2
 * of what bounds it and .02^2 + .005^2 of the measurement; another estimate
 * moves by what it shares of that. What bounds work is told by the medians of
 * constants (1), not by their values (e, and less after the run). */
static void moves_by_the_covariance(void **state) {
  (void)state;
  const double theta = 0.09, gpu = 0.01, own = 0.0025, like = 0.04,
               near_by = 0.01, noise = 0.000425;
  const double all = theta + gpu + near_by + own + like + noise, y = 2;
  const struct inputs run = make_inputs("a", "n", 1);
  struct dl_hierarchical_fit *from = make_fit(0.3);
  struct dl_hierarchical_fit *fit = calibrate(from, &run, &y, 1);
  /* Another GPU: by theta alone, whatever bounds the work. */
  near(predicted(fit, make_inputs("b", "n", 1)), 1 + theta / all, 1e-5);
  near(predicted(fit, make_inputs("b", "m", 9)), 1 + theta / all, 1e-5);
  /* The same GPU: a network that is bound alike, one at a distance of two
   * length scales (2 x .3), and the configuration itself. */
  near(predicted(fit, make_inputs("a", "m", 1)), 1 + (theta + gpu + like) / all,
       1e-5);
  near(predicted(fit, make_inputs("a", "m", 1.6)),
       1 + (theta + gpu + like / 3) / all, 1e-5);
  near(predicted(fit, run), 1 + (all - noise) / all, 1e-5);
  /* Another configuration of the network, two length scales (2 x 1.5) away. */
  struct inputs other = run;
  other.grouping.x[0] = 3;
  near(predicted(fit, other),
       1 + (theta + gpu + near_by * exp(-2) + like) / all, 1e-5);
  dl_hierarchical_fit_free(fit);
  dl_hierarchical_fit_free(from);
}

/* Where only residuals are open, one run after the other teaches what both do
 * at once. */
static void runs_may_come_one_by_one(void **state) {
  (void)state;
  const struct inputs run[] = {make_inputs("a", "n", 1),
                               make_inputs("a", "m", 1.2)};
  const double y[] = {2, 1.4};
  struct dl_hierarchical_fit *from = make_fit(0);
  from->by[0].level = calloc(1, sizeof *from->by[0].level);
  assert_true(dl_intern(&from->names, "a") == 0);
  from->by[0].level[0].key.name = 1; /* its effect is 0, and known */
  from->by[0].n = 1;
  free(from->posterior.factor);
  gsl_matrix *L = gsl_matrix_calloc(2, 2);
  dl_posterior_keep(&from->posterior, L);
  struct dl_hierarchical_fit *both = calibrate(from, run, y, 2);
  struct dl_hierarchical_fit *first = calibrate(from, run, y, 1);
  struct dl_hierarchical_fit *second = calibrate(first, run + 1, y + 1, 1);
  for (double b = 0.6; b < 2; b += 0.2)
    near(predicted(second, make_inputs("a", "o", b)),
         predicted(both, make_inputs("a", "o", b)), 1e-9);
  near(predicted(second, run[0]), predicted(both, run[0]), 1e-9);
  assert_true(predicted(first, run[0]) > predicted(second, run[0]));
  gsl_matrix_free(L);
  dl_hierarchical_fit_free(second);
  dl_hierarchical_fit_free(first);
  dl_hierarchical_fit_free(both);
  dl_hierarchical_fit_free(from);
}

/* Where the target moves no parameters, the residuals alone tell: theta and the
 * effect stay, and other GPUs with them. */
static void settled_targets_leave_parameters(void **state) {
  (void)state;
  const double own = 0.0025, like = 0.04, near_by = 0.01, noise = 0.000425;
  const double all = near_by + own + like + noise, y = 2;
  const struct inputs run = make_inputs("a", "n", 1);
  physics.settled = 1;
  struct dl_hierarchical_fit *from = make_fit(0.3);
  struct dl_hierarchical_fit *fit = calibrate(from, &run, &y, 1);
  near(fit->theta[0], 1, 0);
  near(predicted(fit, make_inputs("b", "n", 1)), 1, 0);
  near(predicted(fit, make_inputs("a", "m", 1)), 1 + like / all, 1e-9);
  near(predicted(fit, run), 1 + (all - noise) / all, 1e-9);
  /* What is known of theta stays too. */
  near(dl_posterior_at(&fit->posterior, 0, 0), 0.3, 1e-6);
  physics.settled = 0;
  dl_hierarchical_fit_free(fit);
  dl_hierarchical_fit_free(from);
}

/* A part that takes 1 + v times as long, v with a standard deviation of 2: of a
 * run with a share of .15 in it by a variance of .3^2, and of another with .1
 * by a covariance of .3 x .2. */
static void slow_parts_slow_other_networks(void **state) {
  (void)state;
  const double own = 0.0025, like = 0.04, near_by = 0.01, noise = 0.000425;
  const double all = near_by + own + like + 0.09 + noise, y = 2;
  struct inputs run = make_inputs("a", "n", 1), other = run, none = run;
  run.share = 0.15;
  other.share = 0.1;
  other.grouping.name[DL_NAME_ARCH] = none.grouping.name[DL_NAME_ARCH] = "m";
  physics.settled = 1;
  struct dl_hierarchical_fit *from = make_fit(0.3);
  struct dl_hierarchical_fit *fit = calibrate(from, &run, &y, 1);
  near(predicted(fit, run), 1 + (all - noise) / all, 1e-9);
  near(predicted(fit, other), 1 + (like + 0.06) / all, 1e-9);
  near(predicted(fit, none), 1 + like / all, 1e-9);
  other.grouping.name[DL_NAME_GPU] = "b";
  near(predicted(fit, other), 1, 1e-9);
  physics.settled = 0;
  dl_hierarchical_fit_free(fit);
  dl_hierarchical_fit_free(from);
}

/* Networks without a name are none that was measured, unless all is the
 * same. */
static void networks_without_a_name_differ(void **state) {
  (void)state;
  const double own = 0.0025, like = 0.04, near_by = 0.01, noise = 0.000425;
  const double all = near_by + own + like + noise, y = 2;
  const struct inputs run = make_inputs("a", NULL, 1);
  physics.settled = 1;
  struct dl_hierarchical_fit *from = make_fit(0.3);
  struct dl_hierarchical_fit *fit = calibrate(from, &run, &y, 1);
  near(predicted(fit, run), 1 + (all - noise) / all, 1e-9);
  near(predicted(fit, make_inputs("a", NULL, 1.6)), 1 + like / 3 / all, 1e-9);
  physics.settled = 0;
  dl_hierarchical_fit_free(fit);
  dl_hierarchical_fit_free(from);
}

/* Half the standard deviations in tuned software: a quarter of the covariance,
 * with other software too. */
static void tuned_software_differs(void **state) {
  (void)state;
  static const struct dl_residual_component half = {0,   0.05, 0.025,
                                                    0.1, 1,    {0}};
  struct dl_residual_process halved = process;
  struct dl_residual_point a = {.place = {.gpu = 1, .arch = 1, .bound = {1}}},
                           b = a;
  b.place.tuned = true;
  halved.tuned = &half;
  double all = dl_residual_covariance(&process, &a, &b);
  near(dl_residual_covariance(&halved, &a, &a), all, 1e-12);
  near(dl_residual_covariance(&halved, &a, &b), all / 4, 1e-12);
  near(dl_residual_covariance(&halved, &b, &b), all / 4, 1e-12);
}

/* The inverse by blocks and a low rank times the covariance, element by element
 * (dl_residual_covariance), is the identity; so are its parts. */
static void inverts_the_covariance(void **state) {
  (void)state;
  enum { POINTS = 24 };
  struct dl_residual_gp gp = {.point = calloc(POINTS, sizeof *gp.point),
                              .n = POINTS};
  struct dl_residual_precision k = {0};
  static const struct dl_residual_component tuned = {0,   0.05, 0.08,
                                                     0.1, 1,    {0}};
  struct dl_residual_process both = process;
  double noise[POINTS], x[POINTS];
  struct dl_diag d = {0};
  for (size_t i = 0; i < POINTS; i++) {
    struct dl_place *p = &gp.point[i].place;
    p->tuned = i % 3 == 0;
    p->gpu = 1 + (long)(i * 5 % 3);
    p->arch = 1 + (long)(i * 7 % 4);
    p->x[0] = cos(1.1 * (double)i);
    p->bound[0] = 1 + 0.3 * sin(1.7 * (double)i);
    noise[i] = 0.001 + 0.0001 * (double)i;
  }
  both.tuned = &tuned;
  dl_residual_gp_sort(&gp);
  assert_int_equal(dl_residual_precision_make(&k, &gp, &both, noise, &d),
                   DL_OK);
  assert_int_equal(k.n_groups, 3);
  for (size_t column = 0; column < POINTS; column++) {
    for (size_t i = 0; i < POINTS; i++)
      x[i] = dl_residual_covariance(&both, &gp.point[i], &gp.point[column]) +
             (i == column ? noise[i] : 0);
    dl_residual_precision_apply(&k, x);
    for (size_t i = 0; i < POINTS; i++)
      assert_true(fabs(x[i] - (i == column ? 1 : 0)) < 1e-9);
  }
  const struct dl_precision_part *g = &k.group[1];
  const size_t place[] = {g->first, g->first + 3, g->first + g->n - 1};
  gsl_matrix *part = gsl_matrix_alloc(3, 3);
  dl_residual_precision_among(&k, 1, place, 3, part);
  for (size_t column = 0; column < 3; column++) {
    memset(x, 0, sizeof x);
    x[gp.order[place[column]]] = 1;
    dl_residual_precision_apply(&k, x);
    for (size_t i = column; i < 3; i++)
      near(gsl_matrix_get(part, i, column), x[gp.order[place[i]]], 1e-9);
  }
  gsl_matrix_free(part);
  dl_residual_precision_free(&k);
  dl_residual_gp_free(&gp);
  dl_diag_free(&d);
}

static const double first_target[DL_MAX_TARGETS] = {1};

/* Before two runs on a GPU, of what is wanted on another GPU, of a network that
 * is bound otherwise (like / 3), and of the first run's own configuration. */
enum { WANTED = 3 };
static struct dl_run_information *
make_prospects(const struct dl_hierarchical_fit *from,
               struct dl_information_request *request, struct inputs in[5],
               struct dl_information_run run[2], const void *wanted[WANTED]) {
  struct dl_run_information *p;
  struct dl_diag d = {0};
  in[0] = make_inputs("a", "n", 1);
  in[1] = make_inputs("a", "m", 1.6);
  in[2] = make_inputs("b", "o", 1);
  in[3] = make_inputs("a", "o", 1.6);
  in[4] = in[0];
  for (size_t i = 0; i < 2; i++)
    run[i] = (struct dl_information_run){&in[i], 1};
  for (size_t i = 0; i < WANTED; i++)
    wanted[i] = &in[2 + i];
  *request = (struct dl_information_request){.from = from,
                                             .run = run,
                                             .n_runs = 2,
                                             .wanted = wanted,
                                             .n_wanted = WANTED,
                                             .quantity = first_target};
  assert_int_equal(dl_run_information_new(&p, request, &d), DL_OK);
  return p;
}

/* Variances as above. A run leaves v - c^2 / all of a variance v with the
 * covariance c; two runs with the covariance b leave
 *
 *   v - (all (c^2 + e^2) - 2 b c e) / (all^2 - b^2). */
static void runs_are_valued_before_they_are_measured(void **state) {
  (void)state;
  const double theta = 0.09, gpu = 0.01, like = 0.04, near_by = 0.01,
               own = 0.0025, noise = 0.000425;
  const double all = theta + gpu + near_by + own + like + noise;
  const double far = theta + gpu + like / 3, same = all - noise;
  const double by_first[WANTED] = {theta, far, same};
  const double by_second[WANTED] = {theta, theta + gpu + like, far};
  struct dl_information_request request;
  struct inputs in[5];
  struct dl_information_run run[2];
  const void *wanted[WANTED];
  double after[2 * WANTED];
  struct dl_hierarchical_fit *from = make_fit(0.3);
  struct dl_run_information *p =
      make_prospects(from, &request, in, run, wanted);
  dl_variance_after(p, 0, 2, after);
  for (size_t i = 0; i < WANTED; i++) {
    near(dl_variance_before(p)[i], all, 1e-6);
    near(after[i], all - by_first[i] * by_first[i] / all, 1e-6);
    near(after[WANTED + i], all - by_second[i] * by_second[i] / all, 1e-6);
  }
  dl_run_information_measure(p, 0);
  dl_variance_after(p, 1, 1, after);
  for (size_t i = 0; i < WANTED; i++) {
    double c = by_first[i], e = by_second[i];
    near(dl_variance_before(p)[i], all - c * c / all, 1e-6);
    near(after[i],
         all - (all * (c * c + e * e) - 2 * far * c * e) /
                   (all * all - far * far),
         1e-6);
  }
  dl_run_information_free(p);
  dl_hierarchical_fit_free(from);
}

/* What was valued is what a calibration does: with both runs the factor of the
 * new posterior has the variance that is left of theta, and of another GPU's
 * estimate only the residual's and the GPU's variance is left beside it. The
 * factor is kept in multiples of 1e-6. */
static void prospects_are_those_of_calibrations(void **state) {
  (void)state;
  const double others = 0.01 + 0.01 + 0.0025 + 0.04 + 0.000425;
  const double y[] = {2, 1.4};
  struct dl_information_request request;
  struct inputs in[5];
  struct dl_information_run run[2];
  const void *wanted[WANTED];
  struct dl_hierarchical_fit *from = make_fit(0.3);
  struct dl_run_information *p =
      make_prospects(from, &request, in, run, wanted);
  struct dl_hierarchical_fit *fit = calibrate(from, in, y, 2);
  double sd = dl_posterior_at(&fit->posterior, 0, 0);
  dl_run_information_measure(p, 1);
  dl_run_information_measure(p, 0);
  near(dl_variance_before(p)[0], sd * sd + others, 5e-6);
  dl_run_information_free(p);
  dl_hierarchical_fit_free(fit);
  dl_hierarchical_fit_free(from);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moves_by_the_covariance),
      cmocka_unit_test(runs_may_come_one_by_one),
      cmocka_unit_test(tuned_software_differs),
      cmocka_unit_test(inverts_the_covariance),
      cmocka_unit_test(slow_parts_slow_other_networks),
      cmocka_unit_test(settled_targets_leave_parameters),
      cmocka_unit_test(networks_without_a_name_differ),
      cmocka_unit_test(runs_are_valued_before_they_are_measured),
      cmocka_unit_test(prospects_are_those_of_calibrations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
