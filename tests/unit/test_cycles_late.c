/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cycles of a training that goes on: made-up signals whose cycles are known. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "math/signal/cycles.h"
#include "unit.h"
#include "tests/messages.h"

enum { SETUP = 10, FIRST = 20, PAUSE = 5, MOST = 600 };

static double noise(uint32_t *seed) {
  *seed = (1103515245U * *seed + 12345U) & 0x7fffffffU;
  return *seed / 65536U % 1000U / 1000.0 - 0.5;
}

/* Ten cycles of 20 s with a validation of 5 s at higher power, a pause, then
 * cycles of `later` s, of which a dip of two samples at the end is all that
 * shows. Returns the end of the pause. */
static size_t make(double *t, double *power, double *use, size_t later) {
  uint32_t seed = 3;
  size_t change = SETUP + 10 * FIRST + PAUSE;
  for (size_t i = 0; i < MOST; i++) {
    t[i] = (double)i;
    power[i] = 30;
    use[i] = 0;
    if (i >= change) {
      bool dip = (i - change) % later >= later - 2;
      power[i] = dip ? 315 : 330;
      use[i] = dip ? 60 : 80;
    } else if (i >= SETUP && i < change - PAUSE) {
      bool valid = (i - SETUP) % FIRST >= 15;
      power[i] = valid ? 320 : 270;
      use[i] = valid ? 75 : 50;
    }
    power[i] += 6 * noise(&seed);
    use[i] += use[i] > 0 ? 4 * noise(&seed) : 0;
  }
  return change;
}

/* Cuts after some cycles of the second phase. */
static void check(size_t later, double cycles, size_t want) {
  double t[MOST], power[MOST], use[MOST];
  const double *const signal[] = {power, use};
  struct dl_cycles_options o = {.n_total = 60};
  struct dl_cycles c;
  struct dl_diag d = {0};
  size_t change = make(t, power, use, later);
  size_t n = change + (size_t)(cycles * (double)later);
  assert_true(n <= MOST);
  for (int planned = 0; planned < 2; planned++) {
    o.n_first = planned ? 10 : 0;
    assert_ok(dl_cycles_find(&(struct dl_signals){t, n, signal, 2}, &o, &c, &d),
              &d);
    assert_int_equal(c.n, 10 + want);
    double change_s = c.boundary[10];
    assert_near((change_s - c.boundary[0]) / 10, FIRST, 0.05);
    assert_near((c.boundary[c.n] - change_s) / (double)want, (double)later,
                0.05);
    /* The last bound leaves the part of a cycle that has not ended. */
    double left = (double)n - c.boundary[c.n];
    assert_true(fabs(left / (double)later - (cycles - (double)want)) < 0.2);
    dl_cycles_free(&c);
  }
  dl_diag_free(&d);
}

static void few_faint_cycles(void **state) {
  (void)state;
  check(44, 3.4, 3);
  check(44, 5.5, 5);
  check(31, 4.4, 4);
  check(58, 3.5, 3);
}

/* While the first phase goes on nothing is added. */
static void first_phase(void **state) {
  (void)state;
  double t[MOST], power[MOST], use[MOST];
  const double *const signal[] = {power, use};
  struct dl_cycles_options o = {.n_total = 60};
  struct dl_cycles c;
  struct dl_diag d = {0};
  make(t, power, use, 44);
  assert_ok(
      dl_cycles_find(&(struct dl_signals){t, SETUP + 7 * FIRST + 12, signal, 2},
                     &o, &c, &d),
      &d);
  assert_int_equal(c.n, 7);
  assert_true(fabs(c.boundary[7] - SETUP - 7 * FIRST) < 2.5);
  dl_cycles_free(&c);
  dl_diag_free(&d);
}

static void errors(void **state) {
  (void)state;
  static const double t[] = {0, 1, 2, 3}, x[] = {1, 2, 1, 2};
  static const double *const signal[] = {x};
  struct dl_cycles_options o = {.n_total = -1};
  struct dl_cycles c;
  struct dl_diag d = {0};
  assert_int_equal(
      dl_cycles_find(&(struct dl_signals){t, 4, signal, 1}, &o, &c, &d),
      DL_EINPUT);
  assert_error(&d, DL_EINPUT, MSG_no_such_number_cycles("-1", "0"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(few_faint_cycles),
      cmocka_unit_test(first_phase),
      cmocka_unit_test(errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
