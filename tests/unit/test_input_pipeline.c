/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rates of loader processes, by hand. */

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "physics/training/input_pipeline.h"
#include "unit.h"

/* An image of 0.2 million pixels at 224, with 0.6 bytes per pixel: 0.4 + 4.2 x
 * 0.2 + 12.4 x 0.12 + 10e-6 x 224 x 224 = 0.4 + 0.84 + 1.488 + 0.50176 ms. */
static void rates(void **state) {
  (void)state;
  struct dl_input_pipeline in = {
      .stored_mpx = 0.2, .stored_kb = NAN, .image_px = 224, .workers = 1};
  assert_near(dl_input_rate(&in), 1000 / 3.22976, 1e-12);
  in.workers = 12;
  assert_near(dl_input_rate(&in), 12000 / 3.22976, 1e-12);
  in.workers = NAN; /* eight are assumed */
  assert_near(dl_input_rate(&in), 8000 / 3.22976, 1e-12);
  in = (struct dl_input_pipeline){
      .stored_mpx = 0.001024, .stored_kb = 1, .image_px = 32, .workers = 2};
  assert_near(dl_input_rate(&in), 2000 / (0.4 + 0.0043008 + 0.0124 + 0.01024),
              1e-12);
}

/* Each thing that is not known widens the interval. */
static void doubts(void **state) {
  (void)state;
  struct dl_input_pipeline in = {
      .stored_mpx = 0.2, .image_px = 224, .workers = 8, .cached = true};
  double known = dl_input_doubt(&in);
  in.cached = false;
  double storage = dl_input_doubt(&in);
  in.workers = NAN;
  assert_true(known > 0 && storage > known && dl_input_doubt(&in) > storage);
}

static void together(void **state) {
  (void)state;
  assert_near(dl_input_together(3, 4), 5, 1e-15);
  assert_near(dl_input_together(7, 0), 7, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rates),
      cmocka_unit_test(doubts),
      cmocka_unit_test(together),
  };

  return cmocka_run_group_tests_name("input pipeline", tests, NULL, NULL);
}
