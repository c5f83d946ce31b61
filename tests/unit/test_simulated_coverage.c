/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals of projections and of scores on simulated truth.
 *
 * Each share is a count of R independent simulations, and is refused where a
 * binomial count with the least share that is allowed would be so low (or one
 * with the most so high) once in 1000 times. R is that of the environment
 * variable DLEST_SIMULATIONS (`make chaos`), else 200. */

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimate/projection/projection.h"
#include "math/cross_validation/bootstrap.h"
#include "unit.h"

static unsigned simulations(void) {
  const char *s = getenv("DLEST_SIMULATIONS");
  return s ? (unsigned)atoi(s) : 200;
}

static void at_least(unsigned count, double share, const char *what) {
  unsigned n = simulations();
  if (gsl_cdf_binomial_P(count, share, n) < 0.001)
    fail_msg("%s: %u of %u, expected %g %%", what, count, n, 100 * share);
}

static void at_most(unsigned count, double share, const char *what) {
  unsigned n = simulations();
  if (count > 0 && gsl_cdf_binomial_Q(count - 1, share, n) < 0.001)
    fail_msg("%s: %u of %u, expected at most %g %%", what, count, n,
             100 * share);
}

/* A training: what its epochs take, by the first ones. */
struct training {
  const char *name;
  double drift;   /* per epoch */
  double noise;   /* standard deviation of an epoch */
  double alike;   /* correlation of neighbours */
  unsigned every; /* so many epochs, at any phase, one takes longer; or */
  double stalls;  /* each with that probability */
  double longer;  /* by this share */
};

enum { MOST_EPOCHS = 100 };

static double simulate(const struct training *t, size_t n, double *energy,
                       gsl_rng *r) {
  double noise = gsl_ran_gaussian(r, t->noise), whole = 0;
  double own = sqrt(1 - t->alike * t->alike) * t->noise;
  size_t phase = t->every ? gsl_rng_uniform_int(r, t->every) : 1;
  for (size_t i = 0; i < n; i++) {
    bool stalls =
        t->every ? i % t->every == phase : gsl_rng_uniform(r) < t->stalls;
    energy[i] = 1e4 * (1 + t->drift * (double)i) * exp(noise) *
                (stalls ? 1 + t->longer : 1) * (i ? 1 : 1.3);
    whole += energy[i];
    noise = t->alike * noise + gsl_ran_gaussian(r, own);
  }
  return whole;
}

/* Trainings of n epochs of which `seen` are over: the interval holds the whole
 * in 85 % of them, and few are stable and missed. Returns how many are
 * stable. */
static unsigned project(const struct training *t, size_t seen, size_t n,
                        double least_honest) {
  gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
  struct dl_projection_options o;
  struct dl_diag d = {0};
  unsigned covered = 0, honest = 0, stable = 0;
  char name[80];
  dl_projection_defaults(&o);
  o.n_low = o.n_high = (double)n;
  gsl_rng_set(r, 20260101 + seen);
  for (unsigned i = 0; i < simulations(); i++) {
    double energy[MOST_EPOCHS], whole = simulate(t, n, energy, r);
    struct dl_projection p;
    struct dl_measured_epochs epochs = {
        .n = seen, .duration_s = energy, .energy_j = energy, .parts = 1};
    assert_ok(dl_project(&p, dl_projector_at(0), &epochs, &o, &d), &d);
    bool inside = p.low_j <= whole && whole <= p.high_j;
    covered += inside;
    honest += inside || p.verdict != DL_PROJECTION_STABLE;
    stable += p.verdict == DL_PROJECTION_STABLE;
  }
  gsl_rng_free(r);
  dl_diag_free(&d);
  snprintf(name, sizeof name, "%s, %zu of %zu epochs", t->name, seen, n);
  at_least(covered, 0.85, name);
  at_least(honest, least_honest, name);
  return stable;
}

static void projections(void **state) {
  (void)state;
  static const struct training trainings[] = {
      {"no drift", 0, 0.02, 0, 0, 0, 0},
      {"no drift, neighbours alike", 0, 0.02, 0.5, 0, 0, 0},
      {"drift, calm", 0.003, 0.003, 0, 0, 0, 0},
      {"drift", 0.003, 0.01, 0, 0, 0, 0},
      {"drift, noise", 0.003, 0.02, 0, 0, 0, 0},
      {"every 20th epoch takes twice as long", 0, 0.01, 0, 20, 0, 1},
      {"every 5th epoch takes 50 % more", 0, 0.01, 0, 5, 0, 0.5},
      {"one epoch of 30 takes twice as long", 0, 0.01, 0, 0, 1 / 30.0, 1},
      {"one epoch of 30 takes 50 % more", 0, 0.01, 0, 0, 1 / 30.0, 0.5},
  };
  static const size_t early[][2] = {{12, 90}, {20, 100}, {45, 90}};
  for (size_t i = 0; i < COUNT(trainings); i++)
    for (size_t k = 0; k < COUNT(early); k++)
      project(&trainings[i], early[k][0], early[k][1], 0.9);
}

/* Stalls of a training that was not met yet show in nothing: the interval is
 * asked to hold the whole of those trainings in which one was. */
static void project_stalls(const struct training *t, size_t seen, size_t n) {
  gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
  struct dl_projection_options o;
  struct dl_diag d = {0};
  unsigned covered = 0;
  char name[80];
  dl_projection_defaults(&o);
  o.n_low = o.n_high = (double)n;
  gsl_rng_set(r, 20260102 + seen);
  for (unsigned i = 0; i < simulations();) {
    double energy[MOST_EPOCHS], whole = simulate(t, n, energy, r);
    size_t stalls = 0;
    for (size_t k = 1; k < seen; k++)
      stalls += energy[k] > 1e4 * (1 + t->longer / 2);
    if (stalls == 0)
      continue;
    struct dl_projection p;
    struct dl_measured_epochs epochs = {
        .n = seen, .duration_s = energy, .energy_j = energy, .parts = 1};
    assert_ok(dl_project(&p, dl_projector_at(0), &epochs, &o, &d), &d);
    covered += p.low_j <= whole && whole <= p.high_j;
    i++;
  }
  gsl_rng_free(r);
  dl_diag_free(&d);
  snprintf(name, sizeof name, "%g of epochs take %g times as long, %zu of %zu",
           t->stalls, 1 + t->longer, seen, n);
  at_least(covered, 0.85, name);
}

static const size_t lengths[][2] = {{6, 50}, {12, 90}, {20, 100}};

static void drifts(void **state) {
  (void)state;
  static const double drift[] = {-0.002, 0.001, 0.003, 0.01},
                      noise[] = {0.005, 0.01, 0.02};
  for (size_t i = 0; i < COUNT(drift); i++)
    for (size_t j = 0; j < COUNT(noise); j++)
      for (size_t k = 0; k < COUNT(lengths); k++) {
        char name[80];
        snprintf(name, sizeof name, "drift %g, noise %g", drift[i], noise[j]);
        struct training t = {name, drift[i], noise[j], 0, 0, 0, 0};
        project(&t, lengths[k][0], lengths[k][1], 0.85);
      }
}

static void stalls(void **state) {
  (void)state;
  static const double rate[] = {0.02, 0.05, 0.1}, longer[] = {2, 4},
                      noise[] = {0.005, 0.02};
  for (size_t i = 0; i < COUNT(rate); i++)
    for (size_t j = 0; j < COUNT(longer); j++)
      for (size_t h = 0; h < COUNT(noise); h++)
        for (size_t k = 0; k < COUNT(lengths); k++) {
          struct training t = {"", 0, noise[h], 0, 0, rate[i], longer[j]};
          project_stalls(&t, lengths[k][0], lengths[k][1]);
        }
}

/* A trend that the epochs show clearly is not stable. */
static void clear_trends(void **state) {
  (void)state;
  static const struct training trends[] = {
      {"drift of 1 %, calm", 0.01, 0.002, 0, 0, 0, 0},
      {"drift of -1 %, calm", -0.01, 0.002, 0, 0, 0, 0},
  };
  for (size_t i = 0; i < COUNT(trends); i++)
    for (size_t k = 0; k < COUNT(lengths); k++)
      at_most(project(&trends[i], lengths[k][0], lengths[k][1], 0.85), 0.01,
              trends[i].name);
}

/* Errors of methods, normal on the logarithm: effects of GPUs and of
 * architectures, and of each run. */
struct errors {
  size_t gpus, archs;
  double gpu, arch, run; /* standard deviations */
};

enum { BATCHES = 3, MOST_RUNS = 12 * 12 * BATCHES };

static void draw_errors(const struct errors *e, double *f, gsl_rng *r) {
  double arch[12];
  for (size_t a = 0; a < e->archs; a++)
    arch[a] = gsl_ran_gaussian(r, e->arch);
  for (size_t g = 0, i = 0; g < e->gpus; g++) {
    double gpu = gsl_ran_gaussian(r, e->gpu);
    for (size_t a = 0; a < e->archs; a++)
      for (size_t b = 0; b < BATCHES; b++)
        f[i++] = exp(gpu + arch[a] + gsl_ran_gaussian(r, e->run));
  }
}

/* The MAPE of new GPUs and architectures is E |exp(x) - 1| = exp(s^2 / 2)
 * (2 Phi(s) - 1) for x normal with s. 90 % of the 95 % intervals hold it; two
 * methods with equal errors are told apart by chance in 5 % at most. */
static void scores(const struct errors *e) {
  gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
  static double y[MOST_RUNS], f[2][MOST_RUNS];
  static uint32_t gpu[MOST_RUNS], arch[MOST_RUNS];
  const double *ys[] = {y, y}, *fs[] = {f[0], f[1]};
  size_t n = e->gpus * e->archs * BATCHES;
  double s = sqrt(e->gpu * e->gpu + e->arch * e->arch + e->run * e->run);
  double truth = exp(s * s / 2) * (2 * gsl_cdf_ugaussian_P(s) - 1);
  unsigned covered = 0, apart = 0;
  char name[80];
  for (size_t i = 0; i < n; i++) {
    y[i] = 1;
    gpu[i] = (uint32_t)(i / BATCHES / e->archs);
    arch[i] = (uint32_t)(i / BATCHES % e->archs);
  }
  gsl_rng_set(r, 7);
  for (unsigned i = 0; i < simulations(); i++) {
    struct dl_boot_scores out[2];
    draw_errors(e, f[0], r);
    draw_errors(e, f[1], r);
    struct dl_boot b = {
        n, 2, {e->gpus, e->archs}, {gpu, arch}, 2, ys, fs, 200, 0.95, i, NULL};
    dl_bootstrap(&b, out);
    covered += out[0].mape.low <= truth && truth <= out[0].mape.high;
    apart += out[0].rank != out[1].rank;
  }
  gsl_rng_free(r);
  snprintf(name, sizeof name, "%zu GPUs (%g) and %zu architectures (%g)",
           e->gpus, e->gpu, e->archs, e->arch);
  at_least(covered, 0.9, name);
  at_most(apart, 0.05, name);
}

static void comparisons(void **state) {
  (void)state;
  static const struct errors errors[] = {
      {3, 6, 0.2, 0, 0.05},    {4, 6, 0.2, 0.2, 0.05}, {5, 6, 0.2, 0, 0.05},
      {8, 6, 0.2, 0.05, 0.1},  {8, 4, 0.1, 0.2, 0.05}, {12, 12, 0.2, 0.2, 0.05},
      {6, 6, 0.02, 0.02, 0.2},
  };
  for (size_t i = 0; i < COUNT(errors); i++)
    scores(&errors[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(projections), cmocka_unit_test(drifts),
      cmocka_unit_test(stalls),      cmocka_unit_test(clear_trends),
      cmocka_unit_test(comparisons),
  };
  return cmocka_run_group_tests_name("simulated coverage", tests, NULL, NULL);
}
