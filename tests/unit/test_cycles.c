/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finding cycles: synthetic signals whose cycles are known. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "math/signal/cycles.h"
#include "unit.h"
#include "tests/messages.h"

#define SIGNALS(...) ((struct dl_signals){__VA_ARGS__})

/* A made-up training. */
struct made {
  double *t, *power, *use; /* n samples */
  size_t n;
  double *bound; /* n_bounds: true ones */
  size_t n_bounds;
  gsl_rng *rng;
};

static void made_init(struct made *m, unsigned long seed) {
  *m = (struct made){.rng = gsl_rng_alloc(gsl_rng_mt19937)};
  assert_non_null(m->rng);
  gsl_rng_set(m->rng, seed);
}

static void made_free(struct made *m) {
  free(m->t);
  free(m->power);
  free(m->use);
  free(m->bound);
  gsl_rng_free(m->rng);
}

static void add_bound(struct made *m, double at) {
  double *b = realloc(m->bound, (m->n_bounds + 1) * sizeof *b);
  assert_non_null(b);
  m->bound = b;
  m->bound[m->n_bounds++] = at;
}

/* `n` cycles of about this length from the last bound on. */
static void add_cycles(struct made *m, size_t n, double length, double spread) {
  for (size_t i = 0; i < n; i++)
    add_bound(m, m->bound[m->n_bounds - 1] +
                     length * (1 + gsl_ran_gaussian(m->rng, spread)));
}

/* Room for samples `step` apart from 0 to `end`. */
static void add_samples(struct made *m, double end, double step) {
  m->n = (size_t)(end / step) + 1;
  m->t = calloc(m->n, sizeof *m->t);
  m->power = calloc(m->n, sizeof *m->power);
  m->use = calloc(m->n, sizeof *m->use);
  assert_true(m->t && m->power && m->use);
  for (size_t i = 0; i < m->n; i++)
    m->t[i] = ((double)i + 0.2 * gsl_rng_uniform(m->rng)) * step;
}

enum shape { SQUARE, DIPS };

/* Idle outside the bounds, else high for 0.8 of a cycle and then low, or high
 * but for a dip of `dip` seconds at the start of each. */
static void fill(struct made *m, enum shape shape, double dip, double noise) {
  size_t c = 0;
  for (size_t i = 0; i < m->n; i++) {
    double t = m->t[i], level = 30;
    while (c + 1 < m->n_bounds && t >= m->bound[c + 1])
      c++;
    if (t >= m->bound[0] && c + 1 < m->n_bounds) {
      double age = t - m->bound[c], length = m->bound[c + 1] - m->bound[c];
      bool low = shape == SQUARE ? age > 0.8 * length : age < dip;
      level = low ? 150 : 250;
    }
    m->power[i] = level + gsl_ran_gaussian(m->rng, noise);
    m->use[i] = level > 30 ? 0.3 * level + gsl_ran_gaussian(m->rng, noise) : 0;
  }
}

static void find(const struct made *m, const struct dl_cycles_options *o,
                 struct dl_cycles *c) {
  const double *const signal[2] = {m->power, m->use};
  struct dl_diag d = {0};
  assert_ok(dl_cycles_find(&SIGNALS(m->t, m->n, signal, 2), o, c, &d), &d);
  dl_diag_free(&d);
  assert_true(c->n_low <= (double)c->n && (double)c->n <= c->n_high);
  assert_true(c->strength >= 0 && c->strength <= 1);
  assert_true((c->reason == NULL) == (c->verdict == DL_CYCLES_SURE));
  assert_true((c->n == 0) == (c->verdict == DL_CYCLES_NONE));
  for (size_t i = 0; i < c->n; i++)
    assert_true(c->boundary[i] < c->boundary[i + 1]);
}

/* The mean length of the cycles `first` to `end` - 1. */
static double period_s(const struct dl_cycles *c, size_t first, size_t end) {
  return (c->boundary[end] - c->boundary[first]) / (double)(end - first);
}

/* Share of the true bounds that have one found within `near` s. The flank at
 * which a cycle is cut is free: `shift` is that flank less the true one. */
static double share_near(const struct made *m, const struct dl_cycles *c,
                         double shift, double near) {
  size_t hits = 0;
  for (size_t i = 0; i < m->n_bounds; i++)
    for (size_t j = 0; j <= c->n; j++)
      if (fabs(c->boundary[j] - m->bound[i] - shift) <= near) {
        hits++;
        break;
      }
  return (double)hits / (double)m->n_bounds;
}

static void assert_count(const struct dl_cycles *c, size_t want, size_t off) {
  if (c->n + off < want || c->n > want + off)
    fail_msg("%zu cycles, not %zu (%s)", c->n, want,
             c->reason ? c->reason : "sure");
}

/* Idle, 40 cycles of a minute that vary by 2 %, idle. */
static void training_and_validation(void **state) {
  (void)state;
  struct made m;
  struct dl_cycles c;
  made_init(&m, 1);
  add_bound(&m, 25);
  add_cycles(&m, 40, 60, 0.02);
  add_samples(&m, m.bound[40] + 20, 1);
  fill(&m, SQUARE, 0, 4);
  find(&m, NULL, &c);
  assert_int_equal(c.n, 40);
  assert_int_equal(c.verdict, DL_CYCLES_SURE);
  assert_near(period_s(&c, 0, 40), 60, 0.02);
  assert_true(c.strength > 0.8);
  assert_true(share_near(&m, &c, 0, 1.6) > 0.9);
  assert_true(fabs(c.boundary[0] - m.bound[0]) < 3);
  assert_true(fabs(c.boundary[40] - m.bound[40]) < 3);
  dl_cycles_free(&c);
  made_free(&m);
}

/* A frozen base, a pause, fine-tuning: another period. */
static void two_phases(void **state) {
  (void)state;
  struct made m;
  struct dl_cycles c;
  made_init(&m, 2);
  add_bound(&m, 30);
  add_cycles(&m, 10, 20, 0.01);
  double pause = m.bound[10];
  add_bound(&m, pause + 8);
  add_cycles(&m, 50, 45, 0.01);
  add_samples(&m, m.bound[m.n_bounds - 1], 1);
  fill(&m, SQUARE, 0, 4);
  for (size_t i = 0; i < m.n; i++)
    if (m.t[i] >= pause && m.t[i] < pause + 8) {
      m.power[i] = 60;
      m.use[i] = 0;
    }
  find(&m, NULL, &c);
  assert_count(&c, 60, 1);
  assert_int_equal(c.verdict, DL_CYCLES_SURE);
  assert_near(period_s(&c, 0, 9), 20, 0.05);
  assert_near(period_s(&c, 11, c.n), 45, 0.05);
  dl_cycles_free(&c);
  made_free(&m);
}

/* Only two seconds of each cycle differ, less clearly than a plain
 * autocorrelation would show. */
static void short_dips(void **state) {
  (void)state;
  struct made m;
  struct dl_cycles c;
  made_init(&m, 3);
  add_bound(&m, 10);
  add_cycles(&m, 80, 50, 0.015);
  add_samples(&m, m.bound[80], 1);
  fill(&m, DIPS, 2.2, 25);
  find(&m, NULL, &c);
  assert_count(&c, 80, 1);
  assert_int_equal(c.verdict, DL_CYCLES_SURE);
  assert_true(share_near(&m, &c, 0, 3) > 0.9 ||
              share_near(&m, &c, 2.2, 3) > 0.9);
  dl_cycles_free(&c);
  made_free(&m);
}

/* Cycles that grow from 40 to 56 s; the bounds follow. */
static void drift(void **state) {
  (void)state;
  struct made m;
  struct dl_cycles c;
  made_init(&m, 4);
  add_bound(&m, 0);
  for (int i = 0; i < 80; i++)
    add_cycles(&m, 1, 40 + 0.2 * i, 0.01);
  add_samples(&m, m.bound[80], 1);
  fill(&m, SQUARE, 0, 8);
  find(&m, NULL, &c);
  assert_count(&c, 80, 1);
  double found = share_near(&m, &c, 0, 2);
  for (size_t i = 0; i < 80; i++) /* or the other flank, at 0.8 of a cycle */
    m.bound[i] += 0.8 * (m.bound[i + 1] - m.bound[i]);
  assert_true(found > 0.9 || share_near(&m, &c, 0, 2) > 0.9);
  dl_cycles_free(&c);
  made_free(&m);
}

/* Every tenth sample is missing, and the rest are uneven. */
static void uneven_samples(void **state) {
  (void)state;
  struct made m;
  struct dl_cycles c;
  made_init(&m, 5);
  add_bound(&m, 12);
  add_cycles(&m, 30, 40, 0.02);
  add_samples(&m, m.bound[30] + 15, 1);
  fill(&m, SQUARE, 0, 4);
  size_t kept = 0;
  for (size_t i = 0; i < m.n; i++)
    if (gsl_rng_uniform(m.rng) > 0.1) {
      m.t[kept] = m.t[i];
      m.power[kept] = m.power[i];
      m.use[kept++] = m.use[i];
    }
  m.n = kept;
  find(&m, NULL, &c);
  assert_count(&c, 30, 0);
  assert_int_equal(c.verdict, DL_CYCLES_SURE);
  dl_cycles_free(&c);
  made_free(&m);
}

/* A gap of two and a half cycles; a channel with holes, one without values,
 * one that never changes. */
static void gaps(void **state) {
  (void)state;
  struct made m;
  struct dl_cycles c;
  struct dl_diag d = {0};
  made_init(&m, 6);
  add_bound(&m, 0);
  add_cycles(&m, 50, 40, 0.01);
  add_samples(&m, m.bound[50], 1);
  fill(&m, SQUARE, 0, 4);
  size_t kept = 0;
  for (size_t i = 0; i < m.n; i++)
    if (m.t[i] < 900 || m.t[i] > 1000) {
      m.t[kept] = m.t[i];
      m.power[kept] = i % 400 < 80 ? NAN : m.power[i];
      m.use[kept++] = m.use[i];
    }
  double *unknown = calloc(kept, sizeof *unknown);
  double *same = calloc(kept, sizeof *same);
  assert_true(unknown && same);
  for (size_t i = 0; i < kept; i++)
    unknown[i] = NAN;
  const double *const signal[4] = {unknown, m.power, same, m.use};
  assert_ok(dl_cycles_find(&SIGNALS(m.t, kept, signal, 4), NULL, &c, &d), &d);
  assert_count(&c, 50, 2);
  assert_true(c.n_low <= 50 && c.n_high >= 50);
  dl_cycles_free(&c);
  const double *const nothing[2] = {unknown, same};
  assert_ok(dl_cycles_find(&SIGNALS(m.t, kept, nothing, 2), NULL, &c, &d), &d);
  assert_int_equal(c.verdict, DL_CYCLES_NONE);
  assert_string_equal(c.reason, "the signals do not change");
  assert_null(c.boundary);
  free(unknown);
  free(same);
  made_free(&m);
}

/* 10 Hz, 0.1 Hz, epochs of seconds and of hours, few and many. */
static void other_scales(void **state) {
  (void)state;
  static const struct {
    double step, length;
    size_t n;
  } scale[] = {{0.1, 3, 25}, {0.1, 60, 12}, {10, 600, 100}, {10, 3600, 20},
               {1, 15, 400}, {1, 2000, 6},  {60, 7200, 30}, {0.01, 0.5, 300}};
  for (size_t i = 0; i < COUNT(scale); i++) {
    struct made m;
    struct dl_cycles c;
    made_init(&m, 70 + i);
    add_bound(&m, 0.4 * scale[i].length);
    add_cycles(&m, scale[i].n, scale[i].length, 0.01);
    add_samples(&m, m.bound[scale[i].n] + 5 * scale[i].step, scale[i].step);
    fill(&m, SQUARE, 0, 4);
    find(&m, NULL, &c);
    assert_count(&c, scale[i].n, 1);
    assert_near(period_s(&c, 0, c.n), scale[i].length, 0.03);
    dl_cycles_free(&c);
    made_free(&m);
  }
}

/* More samples than bins. */
static void long_signal(void **state) {
  (void)state;
  struct made m;
  struct dl_cycles c;
  made_init(&m, 8);
  add_bound(&m, 300);
  add_cycles(&m, 200, 1500, 0.02);
  add_samples(&m, m.bound[200] + 900, 1);
  fill(&m, SQUARE, 0, 10);
  find(&m, NULL, &c);
  assert_count(&c, 200, 0);
  assert_int_equal(c.verdict, DL_CYCLES_SURE);
  assert_true(share_near(&m, &c, 0, 40) > 0.9); /* a bin has 18 s */
  dl_cycles_free(&c);
  made_free(&m);
}

/* Few cycles are found, if without certainty. */
static void three_cycles(void **state) {
  (void)state;
  struct made m;
  struct dl_cycles c;
  made_init(&m, 9);
  add_bound(&m, 100);
  add_cycles(&m, 3, 300, 0.005);
  add_samples(&m, m.bound[3], 1);
  fill(&m, SQUARE, 0, 2);
  find(&m, NULL, &c);
  assert_count(&c, 3, 0);
  dl_cycles_free(&c);
  made_free(&m);
}

enum { TRIES = 8 };

static void assert_none(const struct made *m) {
  struct dl_cycles c;
  find(m, NULL, &c);
  if (c.verdict != DL_CYCLES_NONE)
    fail_msg("%zu cycles of %g s", c.n, period_s(&c, 0, c.n));
  assert_string_equal(c.reason, "no cycle stands out");
  dl_cycles_free(&c);
}

static void no_cycle(void **state) {
  (void)state;
  for (unsigned long seed = 0; seed < TRIES; seed++) {
    struct made m;
    made_init(&m, 100 + seed);
    add_samples(&m, 500. * (double)(seed + 1), 1);
    for (size_t i = 0; i < m.n; i++) { /* white noise */
      m.power[i] = gsl_ran_gaussian(m.rng, 1);
      m.use[i] = gsl_ran_gaussian(m.rng, 1);
    }
    assert_none(&m);
    bool on = false;
    for (size_t i = 0; i < m.n; i++) { /* random telegraph */
      on = gsl_rng_uniform(m.rng) < 0.03 ? !on : on;
      m.power[i] = on ? 250 : 80;
      m.use[i] = on ? 90 : gsl_rng_uniform(m.rng);
    }
    assert_none(&m);
    for (size_t i = 0; i < m.n; i++) { /* a trend, and noise about it */
      m.power[i] = m.t[i];
      m.use[i] = exp(-m.t[i] / 300) + gsl_ran_gaussian(m.rng, 0.01);
    }
    assert_none(&m);
    for (size_t i = 0; i < m.n; i++) { /* one burst */
      bool in = i > m.n / 3 && i < m.n / 2;
      m.power[i] = (in ? 200 : 50) + gsl_ran_gaussian(m.rng, 1);
      m.use[i] = in ? 80 : 0;
    }
    assert_none(&m);
    for (size_t i = 1; i < m.n; i++) { /* a random walk */
      m.power[i] = m.power[i - 1] + gsl_ran_gaussian(m.rng, 1);
      m.use[i] = 0.9 * m.use[i - 1] + gsl_ran_gaussian(m.rng, 1);
    }
    assert_none(&m);
    made_free(&m);
  }
}

static void tiny(void **state) {
  (void)state;
  static const double t[4] = {0, 1, 2, 3}, x[4] = {1, 5, 1, 5};
  const double *const signal[1] = {x};
  struct dl_cycles c;
  struct dl_diag d = {0};
  for (size_t n = 0; n <= 4; n++) {
    assert_ok(dl_cycles_find(&SIGNALS(t, n, signal, 1), NULL, &c, &d), &d);
    assert_int_equal(c.verdict, DL_CYCLES_NONE);
    assert_int_equal(c.n, 0);
    assert_string_equal(c.reason, "too few samples");
    dl_cycles_free(&c);
  }
  assert_ok(dl_cycles_find(&SIGNALS(t, 4, NULL, 0), NULL, &c, &d), &d);
  assert_int_equal(c.verdict, DL_CYCLES_NONE);
  dl_cycles_free(&c);
  dl_cycles_free(&c);
  dl_cycles_free(NULL);
}

/* The same again; a hint decides between a cycle and its half. */
static void options(void **state) {
  (void)state;
  struct made m;
  struct dl_cycles c, again;
  made_init(&m, 10);
  add_bound(&m, 0);
  add_cycles(&m, 60, 30, 0.01);
  add_samples(&m, m.bound[60], 1);
  fill(&m, SQUARE, 0, 4);
  find(&m, NULL, &c);
  find(&m, &(struct dl_cycles_options){0}, &again);
  assert_count(&c, 60, 0);
  assert_int_equal(again.n, c.n);
  assert_memory_equal(c.boundary, again.boundary,
                      (c.n + 1) * sizeof *c.boundary);
  dl_cycles_free(&c);
  dl_cycles_free(&again);
  find(&m, &(struct dl_cycles_options){.hint_s = 60}, &c);
  assert_count(&c, 30, 1);
  dl_cycles_free(&c);
  find(&m, &(struct dl_cycles_options){.hint_s = 33}, &c);
  assert_count(&c, 60, 0);
  dl_cycles_free(&c);
  made_free(&m);
}

static void errors(void **state) {
  (void)state;
  static const double x[4] = {0}, back[4] = {0, 1, 1, 2};
  static const double t[4] = {0, 1, 2, 3}, endless[4] = {0, 1, NAN, 2};
  static const struct dl_cycles_options bad[] = {
      {.hint_s = -1}, {.hint_s = NAN}, {.hint_s = INFINITY}};
  static const char *const messages[] = {MSG_no_such_length_cycle("-1"),
                                         MSG_no_such_length_cycle("nan"),
                                         MSG_no_such_length_cycle("inf")};
  const double *const signal[1] = {x};
  struct dl_cycles c;
  struct dl_diag d = {0};
  assert_int_equal(dl_cycles_find(&SIGNALS(back, 4, signal, 1), NULL, &c, &d),
                   DL_EINPUT);
  assert_error(&d, DL_EINPUT, MSG_sample_time_does_not("2"));
  assert_int_equal(
      dl_cycles_find(&SIGNALS(endless, 4, signal, 1), NULL, &c, &d), DL_EINPUT);
  assert_error_has(&d, DL_EINPUT, "sample 2");
  for (size_t i = 0; i < COUNT(bad); i++) {
    assert_int_equal(dl_cycles_find(&SIGNALS(t, 4, signal, 1), &bad[i], &c, &d),
                     DL_EINPUT);
    assert_error(&d, DL_EINPUT, messages[i]);
    assert_null(c.boundary);
  }
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(training_and_validation),
      cmocka_unit_test(two_phases),
      cmocka_unit_test(short_dips),
      cmocka_unit_test(drift),
      cmocka_unit_test(uneven_samples),
      cmocka_unit_test(gaps),
      cmocka_unit_test(other_scales),
      cmocka_unit_test(long_signal),
      cmocka_unit_test(three_cycles),
      cmocka_unit_test(no_cycle),
      cmocka_unit_test(tiny),
      cmocka_unit_test(options),
      cmocka_unit_test(errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
