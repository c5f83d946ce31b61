/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interval of a projection on simulated trainings whose disturbance is
 * known. */

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "estimate/projection/projection.h"
#include "estimate/projection/projection_private.h"
#include "unit.h"

enum { N_EPOCHS = 60, SEEN = 15, TRAININGS = 400, B = DL_EPOCH_BLOCKS };

/* How a machine is disturbed, as shares of an epoch's energy. */
struct machine {
  double noise;  /* standard deviation of a part of an epoch, alone */
  double jitter; /* of where an epoch is found to begin */
  double stalls; /* probability that an epoch takes 1.8 times its energy */
  bool parts;    /* the power within epochs is known */
};

struct training {
  double energy[N_EPOCHS], part[N_EPOCHS * B], total;
};

static void simulate(struct training *t, const struct machine *m, gsl_rng *r) {
  double begin = 0;
  t->total = 0;
  for (size_t i = 0; i < N_EPOCHS; i++) {
    double factor = gsl_ran_flat(r, 0, 1) < m->stalls ? 1.8 : 1;
    double end = gsl_ran_gaussian(r, m->jitter), whole = 0;
    for (size_t b = 0; b < B; b++) {
      double *part = &t->part[i * B + b];
      *part = 100.0 / B * (1 + gsl_ran_gaussian(r, m->noise)) * factor;
      t->total += *part;
      *part *= 1 + end - begin;
      whole += *part;
    }
    t->energy[i] = whole;
    begin = end;
  }
}

struct score {
  double covered, width;
};

static struct score score_of(const struct machine *m) {
  gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
  struct dl_projection_options o;
  struct score s = {0, 0};
  struct dl_diag d = {0};
  dl_projection_defaults(&o);
  o.n_low = o.n_high = N_EPOCHS;
  for (size_t i = 0; i < TRAININGS; i++) {
    struct training t;
    struct dl_projection p;
    simulate(&t, m, r);
    struct dl_measured_epochs seen = {.n = SEEN,
                                      .duration_s = t.energy,
                                      .energy_j = t.energy,
                                      .block_j = m->parts ? t.part : NULL,
                                      .found = m->parts};
    assert_ok(dl_project(&p, dl_projector_at(0), &seen, &o, &d), &d);
    s.covered +=
        (p.low_j <= t.total && t.total <= p.high_j) / (double)TRAININGS;
    s.width += (p.high_j - p.low_j) / t.total / TRAININGS;
  }
  gsl_rng_free(r);
  dl_diag_free(&d);
  return s;
}

/* Standard deviation s of eight equal parts is one of s / sqrt(8) of their sum;
 * what an epoch's parts have in common is none of it. */
static void within_epochs(void **state) {
  (void)state;
  gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
  double sum = 0, part[10 * B];
  for (size_t k = 0; k < TRAININGS; k++) {
    for (size_t i = 0; i < 10; i++) {
      double whole = 1 + gsl_ran_gaussian(r, 0.1);
      for (size_t b = 0; b < B; b++)
        part[i * B + b] = whole * (1 + gsl_ran_gaussian(r, 0.04));
    }
    double s = dl_level_within(part, 10);
    sum += s * s / TRAININGS;
  }
  gsl_rng_free(r);
  assert_near(sqrt(sum), 0.04 / sqrt(8), 0.03);
  /* By hand: two epochs, one of which has 1.25 and 0.75 of the mean in two of
   * its parts, the other 0.75 and 1.25: w^2 (4 x 0.25^2) x 8 / 7, w = 1 / 8. */
  for (size_t i = 0; i < (size_t)2 * B; i++)
    part[i] = 4;
  part[0] = part[B + 1] = 5;
  part[1] = part[B] = 3;
  assert_near(dl_level_within(part, 2), sqrt(4 * 0.0625 / 64 * 8 / 7), 1e-12);
  for (size_t i = 0; i < B; i++)
    part[i] = 2 * part[B + i];
  assert_near(dl_level_within(part, 2), 0, 1e-12);
  for (size_t i = 0; i < (size_t)2 * B; i++)
    part[i] = 0;
  assert_near(dl_level_within(part, 2), 0, 0);
}

/* Whatever the machine, the intervals hold; the calm one's are the narrower,
 * by as much as the machine is calmer or more. */
static void coverage(void **state) {
  (void)state;
  static const struct machine calm = {0.01, 0.01, 0, true},
                              calm_table = {0.01, 0, 0, false},
                              noisy = {0.3, 0.01, 0, true},
                              noisy_table = {0.3, 0, 0, false},
                              stalls = {0.01, 0, 0.15, false};
  struct score quiet = score_of(&calm), table = score_of(&calm_table);
  assert_true(quiet.covered >= 0.85 && table.covered >= 0.85);
  assert_true(score_of(&noisy).covered >= 0.85);
  assert_true(score_of(&noisy_table).covered >= 0.85);
  assert_true(score_of(&stalls).covered >= 0.8);
  assert_true(quiet.width < 0.09 && table.width < 0.09);
  assert_true(score_of(&noisy).width > 1.5 * quiet.width);
  assert_true(score_of(&noisy_table).width > 2 * table.width);
  assert_true(score_of(&stalls).width > 2 * table.width);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(within_epochs),
      cmocka_unit_test(coverage),
  };

  return cmocka_run_group_tests_name("projection intervals", tests, NULL, NULL);
}
