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

/* The images above: a mosaic has four stored images, and 9 ns a pixel of the
 * input more; contrastive views have .6 ms of calls, and 40 ns a pixel. */
static void augmented(void **state) {
  (void)state;
  struct dl_input_pipeline in = {.stored_mpx = 0.2,
                                 .stored_kb = NAN,
                                 .image_px = 224,
                                 .workers = 1,
                                 .augmentation = DL_AUGMENT_MOSAIC};
  assert_near(dl_input_rate(&in),
              1000 / (0.4 + 4 * (0.84 + 1.488) + 19e-6 * 224 * 224), 1e-12);
  in.augmentation = DL_AUGMENT_CROP;
  assert_near(dl_input_rate(&in), 1000 / 3.22976, 1e-12);
  in.augmentation = DL_AUGMENT_RANDOM;
  assert_near(dl_input_rate(&in), 1000 / (3.42976 + 9e-6 * 224 * 224), 1e-12);
  in = (struct dl_input_pipeline){.stored_mpx = 0.001024,
                                  .stored_kb = 1,
                                  .image_px = 32,
                                  .workers = 2,
                                  .augmentation = DL_AUGMENT_CONTRASTIVE};
  assert_near(dl_input_rate(&in),
              2000 / (1 + 0.0043008 + 0.0124 + 50e-6 * 1024), 1e-12);
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

/* AlexNet at 227 pixels on ImageNet, images/s with synthetic and with real
 * input, on a DGX-1 of 40 cores and on instances of 32 virtual CPUs, which feed
 * all GPUs (TensorFlow's benchmarks of May 2017). Real speeds follow from
 * synthetic ones within 20 %, in the median within 6 %. */
static void published_pairs(void **state) {
  static const double pairs[][3] = {
      {40, 2987, 2890}, {40, 5658, 4448}, {40, 10509, 7105}, {32, 656, 639},
      {32, 1209, 1136}, {32, 2328, 2067}, {32, 4640, 4056},  {32, 684, 674},
      {32, 1244, 1227}, {32, 2479, 2201}};
  size_t within = 0;
  (void)state;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    const struct dl_input_pipeline in = {.stored_mpx = 0.2,
                                         .stored_kb = 115,
                                         .image_px = 227,
                                         .workers = pairs[i][0]};
    double s = dl_input_together(1 / pairs[i][1], 1 / dl_input_rate(&in));
    double error = fabs(1 / s / pairs[i][2] - 1);
    assert_true(error < 0.2);
    within += error < 0.06;
  }
  assert_true(within > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rates),           cmocka_unit_test(augmented),
      cmocka_unit_test(doubts),          cmocka_unit_test(together),
      cmocka_unit_test(published_pairs),
  };

  return cmocka_run_group_tests_name("input pipeline", tests, NULL, NULL);
}
