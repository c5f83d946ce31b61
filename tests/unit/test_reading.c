/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings that no meter gives. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "logs/readings/power_meter.h"
#include "unit.h"

static void assert_fault(enum dl_meter_kind kind, double power_w, double util,
                         double energy_j, const char *expected) {
  const struct dl_reading r = {
      .power_w = power_w, .util = util, .energy_j = energy_j};
  char text[DL_FAULT_SIZE];

  assert_int_equal(dl_reading_fault(text, kind, &r), *expected != '\0');
  assert_string_equal(text, expected);
}

static void refuses_impossible_values(void **state) {
  const double max = 1.7976931348623157e308;

  (void)state;
  assert_fault(DL_METER_GPU, NAN, NAN, NAN, "");
  assert_fault(DL_METER_GPU, 0, 0, 0, "");
  assert_fault(DL_METER_GPU, 1500, 1, 1e12, "");
  assert_fault(DL_METER_CPU, NAN, 64, NAN, ""); /* of a process */
  assert_fault(DL_METER_NODE, 2e7, NAN, NAN, "");
  assert_fault(DL_METER_GPU, -0.5, NAN, NAN, "power of -0.5 W");
  assert_fault(DL_METER_GPU, 4294967, NAN, NAN, "power of 4.29497e+06 W");
  assert_fault(DL_METER_NODE, max, NAN, NAN, "power of 1.79769e+308 W");
  assert_fault(DL_METER_GPU, INFINITY, NAN, NAN, "power of inf W");
  assert_fault(DL_METER_GPU, 1, 1.01, NAN, "utilisation of 101 %");
  assert_fault(DL_METER_CPU, NAN, -0.01, NAN, "utilisation of -1 %");
  assert_fault(DL_METER_RAM, NAN, NAN, -1, "energy of -1 J");
  assert_fault(DL_METER_NODE, NAN, NAN, max, "energy of 1.79769e+308 J");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(refuses_impossible_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
