/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Pareto front against its definition, point by point. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "math/numeric/pareto.h"
#include "unit.h"

static bool is_known(const struct dl_pareto_point *p) {
  return !isnan(p->energy) && !isnan(p->time) && !isnan(p->merit);
}

static double low_of(const struct dl_pareto_point *p) {
  return isnan(p->low) ? p->energy : p->low;
}

static double high_of(const struct dl_pareto_point *p) {
  return isnan(p->low) ? p->energy : p->high;
}

/* As the header defines it. */
static struct dl_pareto_place by_definition(const struct dl_pareto_point *p,
                                            size_t n, size_t x) {
  bool beaten = false, surely = false, overlaps = false;
  if (!is_known(&p[x]))
    return (struct dl_pareto_place){false, false};
  for (size_t i = 0; i < n; i++) {
    if (i == x || !is_known(&p[i]) || p[i].time > p[x].time ||
        p[i].merit < p[x].merit)
      continue;
    bool better = p[i].time < p[x].time || p[i].merit > p[x].merit;
    beaten |=
        p[i].energy < p[x].energy || (better && p[i].energy <= p[x].energy);
    surely |= high_of(&p[i]) < low_of(&p[x]);
    overlaps |=
        low_of(&p[i]) <= high_of(&p[x]) && high_of(&p[i]) >= low_of(&p[x]);
  }
  return (struct dl_pareto_place){!beaten, !surely && overlaps};
}

static void check_all(const struct dl_pareto_point *p, size_t n) {
  struct dl_pareto_place place[256];
  struct dl_diag d = {0};

  assert_true(n <= 256);
  dl_pareto(p, n, place);
  for (size_t i = 0; i < n; i++) {
    struct dl_pareto_place want = by_definition(p, n, i);
    assert_int_equal(place[i].front, want.front);
    assert_int_equal(place[i].open, want.open);
  }
  dl_diag_free(&d);
}

static unsigned next(unsigned *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* Few distinct values make ties of every kind; some are not known. */
static double some(unsigned *seed, unsigned values) {
  unsigned v = next(seed) % (values + 1);
  return v == values && next(seed) % 4 == 0 ? (double)NAN : v + 1.0;
}

static void against_the_definition(void **state) {
  struct dl_pareto_point p[200];
  unsigned seed = 1;

  (void)state;
  for (int round = 0; round < 600; round++) {
    size_t n = next(&seed) % 200;
    unsigned values = 2 + next(&seed) % (round % 2 ? 5 : 1000);
    bool merit = next(&seed) % 2, exact = next(&seed) % 3 == 0;
    for (size_t i = 0; i < n; i++) {
      double e = some(&seed, values);
      double wide = exact ? (double)NAN : next(&seed) % 8 * 0.25;
      p[i] = (struct dl_pareto_point){.energy = e,
                                      .low = e - wide,
                                      .high = e + 2 * wide,
                                      .time = some(&seed, values),
                                      .merit = merit ? some(&seed, 4) : 0};
    }
    check_all(p, n);
  }
}

/* By hand: b beats c; d is dear, fast and good. */
static void a_few(void **state) {
  const struct dl_pareto_point p[] = {{10, 8, 12, 5, 0.9},
                                      {4, 3, 5, 9, 0.8},
                                      {6, 5.5, 7, 9, 0.8},
                                      {20, 19, 21, 1, 0.9},
                                      {4.5, 3, 6, 9, 0.8}};
  static const bool front[] = {true, true, false, true, false};
  static const bool open[] = {false, true, false, false, true};
  struct dl_pareto_place place[5];
  struct dl_diag d = {0};

  (void)state;
  dl_pareto(p, 5, place);
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(place[i].front, front[i]);
    assert_int_equal(place[i].open, open[i]);
  }
  dl_pareto(p, 0, place);
  dl_diag_free(&d);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_few),
      cmocka_unit_test(against_the_definition),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
