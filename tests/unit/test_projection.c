/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Projecting a training from its first epochs. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "estimate/projection/projection.h"
#include "estimate/projection/projection_private.h"
#include "unit.h"
#include "tests/messages.h"

static struct dl_projection project(const char *name,
                                    const struct dl_measured_epochs *seen,
                                    const struct dl_projection_options *o) {
  struct dl_diag d = {0};
  struct dl_projection p;

  assert_ok(dl_project(&p, dl_projector_find(name), seen, o, &d), &d);
  dl_diag_free(&d);
  return p;
}

static struct dl_projection_options options(double low, double high) {
  struct dl_projection_options o;

  dl_projection_defaults(&o);
  o.n_low = low;
  o.n_high = high;
  return o;
}

/* A run of del Rey et al., arXiv 2307.05520: the figures given are rounded to
 * about 1e-5. Epochs share what is only known as a sum. */
static void published_example(void **state) {
  (void)state;
  double energy[15], duration[15], power[15];
  for (size_t i = 0; i < 15; i++) {
    energy[i] = i < 10 ? 5932.8 / 10 : 1788.389919 / 5;
    duration[i] = 0.086514 * 3600 / 126;
    power[i] = i < 10 ? 1 : 146.333333 + 2.517343;
  }
  struct dl_measured_epochs seen = {15, duration, energy, power, 0, 0,
                                    0,  0,        NULL,   false, 1};
  struct dl_projection_options o = options(126, 126);
  o.duration_s = 0.086514 * 3600;
  struct dl_projection p = project("step-power", &seen, &o);
  assert_near(p.energy_j, 46359.7, 1e-5);
  assert_true(p.duration_given);
  p = project("step-energy", &seen, &o);
  assert_near(p.energy_j, 47423.4, 1e-5);
  assert_true(isnan(p.low_j) && isnan(p.high_j));
}

/* e = 2, 4, 6, 8, 10; d = 1, 1, 2, 2, 4; s = 2, w = 2, N = 10, by hand. */
static void published_by_hand(void **state) {
  (void)state;
  static const double energy[] = {2, 4, 6, 8, 10}, duration[] = {1, 1, 2, 2, 4};
  struct dl_measured_epochs seen = {5, duration, energy, NULL,  3, 5,
                                    0, 0,        NULL,   false, 1};
  struct dl_projection_options o = options(10, 10);
  o.stable = o.window = 2;
  /* T = 3 + 2 + 8 x 2, P = (3 + 4) / 2 */
  struct dl_projection p = project("step-power", &seen, &o);
  assert_near(p.duration_s, 21, 1e-15);
  assert_near(p.energy_j, 3.5 * 21, 1e-15);
  assert_false(p.duration_given);
  /* 5 + 6 + 8 x 7 */
  p = project("step-energy", &seen, &o);
  assert_near(p.energy_j, 67, 1e-15);
  p = project("carbontracker", &seen, &o);
  assert_near(p.energy_j, 20, 1e-15);
  assert_near(p.duration_s, 10, 1e-15);
  o.k = 3;
  p = project("carbontracker", &seen, &o);
  assert_near(p.energy_j, 40, 1e-15);
  /* At least 5 are over: 5 to 9 epochs. */
  o.n_low = 1;
  o.n_high = 9;
  p = project("step-energy", &seen, &o);
  assert_near(p.low_j, 11 + 3 * 7, 1e-15);
  assert_near(p.energy_j, 11 + 5 * 7, 1e-15);
  assert_near(p.high_j, 11 + 7 * 7, 1e-15);
  p = project("step-power", &seen, &o);
  assert_near(p.low_j, 3.5 * 11, 1e-15);
  assert_near(p.high_j, 3.5 * 19, 1e-15);
}

static void too_few(void **state) {
  (void)state;
  static const double one[] = {1, 1};
  struct dl_measured_epochs seen = {2, one, one,  NULL,  0, 0,
                                    0, 0,   NULL, false, 1};
  struct dl_projection_options o = options(20, 20);
  o.k = 3;
  struct dl_projection p = project("step-power", &seen, &o);
  assert_string_equal(p.lacks, "the window of stable epochs is not over yet");
  assert_true(isnan(p.energy_j) && isnan(p.duration_s));
  p = project("step-energy", &seen, &o);
  assert_non_null(p.lacks);
  p = project("carbontracker", &seen, &o);
  assert_string_equal(p.lacks, "fewer epochs are over than the rule takes");
  seen.n = 0;
  p = project("step", &seen, &o);
  assert_string_equal(p.lacks, "no epoch is over yet");
  assert_true(isnan(p.energy_j));
}

/* Level and interval, by a program in Python from the formulas of
 * projection_level.c and projection_predictive.c, the quantile by bisection. */
static void level_and_interval(void **state) {
  (void)state;
  static const double quiet[] = {300, 100, 102, 98, 101, 99};
  static const double stalled[] = {500, 100, 100, 100, 180, 100};
  static const struct {
    const double *energy;
    double n, coverage, level, total, low, high;
  } want[] = {
      {quiet, 20, 0.9, 100.516666666667, 2207.23333333333, 2087.86134276548,
       2432.84504807692},
      {quiet, 20, 0.5, 100.516666666667, 2207.23333333333, 2167.86081153474,
       2244.57793659833},
      {stalled, 50, 0.9, 113.987466666667, 6095.44853333333, 5198.16283580172,
       7365.13707492494},
  };
  for (size_t i = 0; i < COUNT(want); i++) {
    struct dl_measured_epochs seen = {
        6, want[i].energy, want[i].energy, NULL, 0, 0, 0, 0, NULL, false, 1};
    struct dl_projection_options o = options(want[i].n, want[i].n);
    o.coverage = want[i].coverage;
    struct dl_projection p = project("step", &seen, &o);
    assert_int_equal(p.stable_from, 1);
    assert_int_equal(p.n_stable, 5);
    assert_near(p.level_j, want[i].level, 1e-12);
    assert_near(p.energy_j, want[i].total, 1e-12);
    assert_near(p.low_j, want[i].low, 1e-12);
    assert_near(p.high_j, want[i].high, 1e-12);
    assert_near(p.duration_s, p.energy_j, 1e-12); /* the same series */
    /* Standard errors of 0.7 % and of 0.4 / sqrt(5) = 18 %. */
    assert_int_equal(p.verdict, want[i].energy == quiet
                                    ? DL_PROJECTION_STABLE
                                    : DL_PROJECTION_NOT_YET);
  }
}

/* Measured and projected add up; all epochs over leave nothing to project. */
static void ends(void **state) {
  (void)state;
  static const double e[] = {30, 10, 11, 10, 9}, d[] = {3, 1, 1, 1, 1};
  struct dl_measured_epochs seen = {5, d, e, NULL, 2, 7, 0, 0, NULL, false, 1};
  struct dl_projection_options o = options(5, 5);
  struct dl_projection p = project("step", &seen, &o);
  assert_near(p.energy_j, 77, 1e-15);
  assert_near(p.low_j, 77, 1e-15);
  assert_near(p.high_j, 77, 1e-15);
  assert_near(p.duration_s, 9, 1e-15);
  /* An open epoch that took more than the rest was given is not undone. */
  seen.open_j = 1000;
  seen.open_s = 100;
  o = options(6, 6);
  p = project("step", &seen, &o);
  assert_near(p.energy_j, 1077, 1e-15);
  assert_near(p.low_j, 1077, 1e-15);
  assert_near(p.duration_s, 109, 1e-15);
  /* Early stopping: the interval has those of both ends. */
  seen.open_j = seen.open_s = 0;
  o = options(3, 40);
  p = project("step", &seen, &o);
  assert_near(p.low_j, 77, 1e-15);
  o = options(40, 40);
  assert_near(p.high_j, project("step", &seen, &o).high_j, 1e-12);
  assert_true(p.energy_j > 77 && p.energy_j < p.high_j);
  /* With the duration: 20 s more at the power of the stable epochs. */
  o.duration_s = 29;
  p = project("step", &seen, &o);
  assert_near(p.energy_j, 77 + 20 * 10, 1e-12);
  assert_near(p.duration_s, 29, 1e-15);
  assert_true(p.low_j < p.energy_j && p.energy_j < p.high_j);
}

static void few_epochs(void **state) {
  (void)state;
  static const double e[] = {40, 10, 10, 10};
  struct dl_measured_epochs seen = {1, e, e, NULL, 0, 0, 0, 0, NULL, false, 1};
  struct dl_projection_options o = options(10, 10);
  struct dl_projection p = project("step", &seen, &o);
  assert_int_equal(p.verdict, DL_PROJECTION_NOT_YET);
  assert_string_equal(p.reason,
                      "only one epoch is over, which holds the warm-up");
  assert_true(p.low_j < 40 + 9 * 10 && p.high_j > 40 + 9 * 40);
  double width = INFINITY;
  for (seen.n = 2; seen.n <= 4; seen.n++) {
    p = project("step", &seen, &o);
    assert_int_equal(p.stable_from, 1);
    assert_true(p.high_j - p.low_j < width);
    width = p.high_j - p.low_j;
    if (seen.n < 4)
      assert_string_equal(p.reason, "fewer than three epochs are over since "
                                    "the warm-up or the last change");
  }
  assert_int_equal(p.verdict, DL_PROJECTION_STABLE);
}

/* Small irregular numbers in -1 ... 1, the same everywhere. */
static double noise(size_t i) {
  return (double)(i * 7919 % 101) / 50 - 1;
}

static void regimes(void **state) {
  (void)state;
  double x[1000];
  struct dl_regimes r;
  for (size_t i = 0; i < 1000; i++)
    x[i] = (i < 10 ? 40 : 100) * (1 + 0.01 * noise(i));
  dl_regimes_find(&r, x, 15);
  assert_int_equal(r.n, 2);
  assert_int_equal(r.start, 10);
  assert_near(r.last_change, 2.5, 0.03);
  dl_regimes_find(&r, x, 12); /* two are enough */
  assert_int_equal(r.start, 10);
  dl_regimes_find(&r, x, 11); /* one is not */
  assert_int_equal(r.n, 1);
  assert_true(isnan(r.last_change));
  /* Single stalls and a pair of them are none. */
  for (size_t i = 0; i < 1000; i++)
    x[i] = 100 * (1 + 0.01 * noise(i));
  x[0] = 300;
  x[20] = x[21] = 170;
  x[39] = 200;
  dl_regimes_find(&r, x, 60);
  assert_int_equal(r.n, 1);
  /* More than fit one by one: to a block of four. */
  for (size_t i = 900; i < 1000; i++)
    x[i] *= 1.5;
  dl_regimes_find(&r, x, 1000);
  assert_int_equal(r.n, 2);
  assert_in_range(r.start, 896, 904);
  /* There and back: all of it is of the last level. */
  for (size_t i = 0; i < 60; i++)
    x[i] = (i / 20 == 1 ? 150 : 100) * (1 + 0.01 * noise(i));
  dl_regimes_find(&r, x, 60);
  assert_int_equal(r.n, 3);
  assert_int_equal(r.start, 0);
  assert_near(r.last_change, 100.0 / 150, 0.03);
  for (size_t n = 0; n < 6; n++) {
    dl_regimes_find(&r, x, n);
    assert_int_equal(r.n, 1);
  }
}

/* Ten frozen epochs, then fine-tuning at 2.5 times the energy. */
static void phases(void **state) {
  (void)state;
  double e[40], known[] = {10, 90};
  for (size_t i = 0; i < 40; i++)
    e[i] = (i < 10 ? 40 : 100) * (1 + 0.01 * noise(i));
  struct dl_measured_epochs seen = {8, e, e, NULL, 0, 0, 0, 0, NULL, false, 1};
  struct dl_projection_options o = options(100, 100);
  struct dl_projection told, p = project("step", &seen, &o);
  o.phase = known;
  o.n_phases = 2;
  told = project("step", &seen, &o);
  assert_near(told.energy_j, p.energy_j, 1e-12);
  assert_true(told.high_j > 2 * p.high_j && told.low_j < p.low_j);
  /* The coming phase takes up to four times the present level. */
  assert_true(told.high_j - told.energy_j > 2.9 * 90 * told.level_j);
  assert_true(told.high_j - told.energy_j < 3.1 * 90 * told.level_j);
  assert_string_equal(told.reason,
                      "a planned phase is to come whose level is unknown");
  seen.n = 10;
  told = project("step", &seen, &o);
  assert_string_equal(told.reason,
                      "a planned phase begins, of which no epoch is over");
  /* Told, two epochs of the new phase are enough for its level. */
  seen.n = 12;
  told = project("step", &seen, &o);
  assert_int_equal(told.stable_from, 11);
  assert_near(told.level_j, 100, 0.03);
  o.n_phases = 0;
  p = project("step", &seen, &o);
  assert_near(p.level_j, 100, 0.03);
  assert_int_equal(p.verdict, DL_PROJECTION_NOT_YET);
  assert_true(p.low_j < 600 + 88 * 42); /* the two may have been stalls */
  seen.n = 11;
  p = project("step", &seen, &o);
  assert_true(p.level_j > 39 && p.level_j < 60);
  seen.n = 20;
  p = project("step", &seen, &o);
  assert_int_equal(p.stable_from, 11);
  assert_int_equal(p.n_regimes, 2);
  assert_near(p.energy_j, 400 + 90 * 100, 0.01);
  assert_int_equal(p.verdict, DL_PROJECTION_STABLE);
}

static void drifting(void **state) {
  (void)state;
  double e[60];
  for (size_t i = 0; i < 60; i++) /* 0.4 % an epoch, as with throttling */
    e[i] = 100 * exp(0.004 * (double)i) * (1 + 0.005 * noise(i));
  struct dl_measured_epochs seen = {14, e, e, NULL, 0, 0, 0, 0, NULL, false, 1};
  struct dl_projection_options o = options(60, 60);
  struct dl_projection p = project("step", &seen, &o);
  assert_int_equal(p.verdict, DL_PROJECTION_DRIFTING);
  assert_string_equal(p.reason, "the level moves from epoch to epoch");
  assert_near(p.drift, 0.004, 0.2);
  assert_true(p.drift > 3 * p.drift_se);
  double whole = 0;
  for (size_t i = 0; i < 60; i++)
    whole += e[i];
  assert_true(p.low_j < whole && whole < p.high_j);
  for (size_t i = 0; i < 60; i++) /* up and down again, as with a neighbour */
    e[i] = (i / 12 % 2 ? 160 : 100) * (1 + 0.005 * noise(i));
  seen.n = 45;
  p = project("step", &seen, &o);
  assert_int_equal(p.n_regimes, 4);
  assert_int_equal(p.verdict, DL_PROJECTION_DRIFTING);
  assert_string_equal(p.reason, "the level has changed more than once");
  static const double uneven[] = {260, 100, 260, 100, 150, 320};
  memcpy(e, uneven, sizeof uneven);
  seen.n = 6;
  p = project("step", &seen, &o);
  assert_string_equal(p.reason, "epochs differ too much for a level yet");
}

static void refused(void **state) {
  (void)state;
  double e[] = {1, 1, 1}, s[] = {1, 1, 1}, w[] = {1, -1, 1}, phase[] = {2, 0};
  struct dl_measured_epochs good = {3, s, e, NULL, 0, 0, 0, 0, NULL, false, 1},
                            seen = good;
  struct dl_projection_options o = options(5, 5);
  struct dl_projection p;
  struct dl_diag d = {0};
  const struct dl_projector *by = dl_projector_at(0);
#define REFUSED(text)                                                          \
  do {                                                                         \
    assert_int_equal(dl_project(&p, by, &seen, &o, &d), DL_EINPUT);            \
    assert_error(&d, DL_EINPUT, text);                                         \
    seen = good;                                                               \
    o = options(5, 5);                                                         \
  } while (0)
  e[1] = 0;
  REFUSED(MSG_epoch_has_no_energy("1", "0"));
  e[1] = 1;
  s[2] = NAN;
  REFUSED(MSG_epoch_has_no_duration("2", "nan"));
  s[2] = 1;
  seen.power_w = w;
  REFUSED(MSG_epoch_has_no_mean("1"));
  seen.open_s = -1;
  REFUSED(MSG_time_or_energy_outside);
  o.n_low = NAN;
  REFUSED(MSG_invalid_number_epochs_whole("nan", "5"));
  o.n_low = 6;
  REFUSED(MSG_invalid_number_epochs_whole("6", "5"));
  o.n_low = o.n_high = 2;
  REFUSED(MSG_epochs_are_over_already("3", "2"));
  o.phase = phase;
  o.n_phases = 2;
  REFUSED(MSG_invalid_length_phase_epochs("2", "0"));
  o.window = 0;
  REFUSED(MSG_a_window_no_epochs);
  o.coverage = 1;
  REFUSED(MSG_invalid_coverage("1"));
  o.duration_s = 2;
  REFUSED(MSG_are_over_already_which("3", "2"));
}

static void registry(void **state) {
  (void)state;
  size_t n = 0;
  for (const struct dl_projector *p; (p = dl_projector_at(n)) != NULL; n++)
    assert_ptr_equal(dl_projector_find(p->name), p);
  assert_int_equal(n, 4);
  assert_string_equal(dl_projector_at(0)->name, "step");
  assert_null(dl_projector_find("crystal-ball"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(published_example),
      cmocka_unit_test(published_by_hand),
      cmocka_unit_test(too_few),
      cmocka_unit_test(level_and_interval),
      cmocka_unit_test(ends),
      cmocka_unit_test(few_epochs),
      cmocka_unit_test(regimes),
      cmocka_unit_test(phases),
      cmocka_unit_test(drifting),
      cmocka_unit_test(refused),
      cmocka_unit_test(registry),
  };

  return cmocka_run_group_tests_name("projection", tests, NULL, NULL);
}
