/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The law of a locked clock, by hand and against published measurements. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>

#include "physics/conditioning/gpu_clock.h"
#include "unit.h"

/* Far below the limit the GPU runs at its boost clock: half the clock takes 1 -
 * c + c / .5 of the time, and draws .5 x .8^2 of what is beyond the static
 * power. */
static void by_hand(void **state) {
  struct dl_gpu_clock l = {
      .x = 0.5, .power = 200, .lowest = 50, .limit = 1000, .bound = 0.6};
  (void)state;
  dl_gpu_clock_apply(&l);
  assert_true(fabs(l.time - 1.6) < 1e-3);
  assert_true(fabs(l.at_power - (50 + 150 * 0.32) / 200) < 1e-3);
  l.x = 1;
  dl_gpu_clock_apply(&l);
  assert_true(l.time <= 1 && l.at_power >= 1);
}

/* A GPU at its power limit is slowed down already: a clock that it would not
 * reach has no effect. */
static void at_the_limit(void **state) {
  struct dl_gpu_clock l = {
      .x = 0.95, .power = 390, .lowest = 50, .limit = 400, .bound = 1};
  (void)state;
  dl_gpu_clock_apply(&l);
  assert_true(l.time <= 1 && l.at_power >= 1);
  l.x = 0.6;
  dl_gpu_clock_apply(&l);
  assert_true(l.time > 1 && l.time < 1 / 0.6);
  assert_true(l.at_power < 1);
}

/* Forward passes of Bloom's first stage on an A100 with a limit of 500 W, at
 * 1410, 1080 and 855 MHz: 51.2, 62.9 and 78.5 ms, 471, 262 and 221 W (Chung et
 * al., Perseus, SOSP 2024). */
static void published(void **state) {
  static const struct {
    double mhz, time, power;
  } of[] = {{1080, 62.9 / 51.2, 262. / 471}, {855, 78.5 / 51.2, 221. / 471}};
  (void)state;
  for (size_t i = 0; i < COUNT(of); i++) {
    struct dl_gpu_clock l = {.x = of[i].mhz / 1410,
                             .power = 471,
                             .lowest = 50,
                             .limit = 500,
                             .bound = 0.9};
    dl_gpu_clock_apply(&l);
    assert_true(fabs(log(l.time / of[i].time)) < 0.1);
    assert_true(fabs(log(l.at_power / of[i].power)) < 0.2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(by_hand),
      cmocka_unit_test(at_the_limit),
      cmocka_unit_test(published),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
