/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures: units and tics of axes, places of labels, quoting. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plot/plot_scale.h"
#include "plot/plot_labels.h"

static void test_units(void **state) {
  (void)state;
  const struct {
    const char *si, *name;
    double x, factor;
  } cases[] = {
      {"J", "kJ", 4500, 1e3},    {"J", "J", 999, 1},
      {"J", "kWh", 1e6, 3.6e6},  {"W", "W", 9999, 1},
      {"W", "kW", 12000, 1e3},   {"s", "s", 299, 1},
      {"s", "min", 300, 60},     {"s", "h", 10800, 3600},
      {"s", "d", 864000, 86400}, {"%", "%", 1e9, 1},
      {"J", "kJ", 999e3, 1e3},   {"J", "MWh", 7.2e9, 3.6e9},
      {"W", "kW", 1e4, 1e3},     {"J", "mJ", 0.5, 1e-3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct dl_axis_unit u = dl_axis_unit(cases[i].si, cases[i].x);
    assert_string_equal(u.name, cases[i].name);
    assert_true(u.factor == cases[i].factor);
  }
  assert_null(dl_axis_unit(NULL, 5).name);
}

static const char *axis_of(struct dl_text *t, double low, double high) {
  struct dl_script s = {.t = t, .as = DL_PICTURE_SVG};
  dl_text_clear(t);
  dl_axis_log(&s, "x", (struct dl_span){low, high});
  return dl_text_str(t);
}

static void test_tics(void **state) {
  (void)state;
  struct dl_text t = {0};
  /* two decades: 1, 2, 5; the others without a label */
  const char *script = axis_of(&t, 1, 100);
  assert_non_null(strstr(script, "'1' 1,"));
  assert_non_null(strstr(script, "'2' 2,"));
  assert_non_null(strstr(script, "'' 3 1,"));
  assert_non_null(strstr(script, "'50' 50,"));
  assert_non_null(strstr(script, "'100' 100)"));
  /* five decades: powers of ten */
  script = axis_of(&t, 0.01, 1000);
  assert_non_null(strstr(script, "'0.1' 0.1,"));
  assert_non_null(strstr(script, "'' 0.2 1,"));
  assert_null(strstr(script, "'0.2'"));
  /* none outside */
  script = axis_of(&t, 3, 40);
  assert_null(strstr(script, "'2' 2,"));
  assert_null(strstr(script, "'50'"));
  /* a factor of less than two: as gnuplot would */
  assert_null(strstr(axis_of(&t, 10, 15), "tics"));
  dl_text_free(&t);
}

static void test_labels(void **state) {
  (void)state;
  const struct dl_label_area area = {100, 50, 10, 2};
  /* Two at one place: right, then where the first is not. */
  struct dl_label two[] = {{.x = 50, .y = 25, .width = 30},
                           {.x = 50, .y = 25, .width = 30}};
  const double at[][2] = {{50, 25}};
  dl_labels_place(two, 2, at, 1, 0, &area);
  assert_true(two[0].placed && two[1].placed);
  assert_int_equal(two[0].dx, 1);
  assert_int_equal(two[0].dy, 0);
  assert_true(two[1].dx != 1 || two[1].dy != 0);
  /* At the right edge there is room on the left only. */
  struct dl_label edge = {.x = 95, .y = 25, .width = 60};
  dl_labels_place(&edge, 1, at, 0, 0, &area);
  assert_true(edge.placed);
  assert_int_equal(edge.dx, -1);
  /* Another point is in the way on the right. */
  struct dl_label beside = {.x = 20, .y = 25, .width = 30};
  const double other[][2] = {{20, 25}, {30, 25}};
  dl_labels_place(&beside, 1, other, 2, 0, &area);
  assert_true(beside.placed && !(beside.dx == 1 && beside.dy == 0));
  /* Wider than all there is. */
  struct dl_label wide = {.x = 50, .y = 25, .width = 200};
  dl_labels_place(&wide, 1, at, 0, 0, &area);
  assert_false(wide.placed);
}

static void test_quote(void **state) {
  (void)state;
  struct dl_text t = {0};
  struct dl_script s = {.t = &t};
  dl_script_quote(&s, "it's\n50 %");
  assert_string_equal(dl_text_str(&t), "'it\u2019s\xEF\xBF\xBD"
                                       "50 %'");
  dl_text_clear(&t);
  char *const names[] = {"50 %", "b"};
  dl_script_names(&s, names, NULL, 2);
  assert_string_equal(dl_text_str(&t), "set ytics ('50 %%' 2, 'b' 1)\n");
  dl_text_clear(&t);
  const double row[] = {0.1, NAN, INFINITY};
  dl_script_row(&s, 3, row);
  assert_string_equal(dl_text_str(&t), "0.1 NaN NaN\n");
  dl_text_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_units),
      cmocka_unit_test(test_tics),
      cmocka_unit_test(test_labels),
      cmocka_unit_test(test_quote),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
