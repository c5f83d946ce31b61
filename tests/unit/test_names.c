/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edit distances and suggestions. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/nearest_names.h"

static void test_distance(void **state) {
  static const struct {
    const char *a, *b;
    size_t distance;
  } cases[] = {
      {"", "", 0},        {"", "abc", 3},           {"abc", "", 3},
      {"abc", "abc", 0},  {"abc", "abd", 1},        {"abc", "ab", 1},
      {"abc", "xabc", 1}, {"abcd", "abdc", 1},      {"ab", "ba", 1},
      {"ca", "abc", 3},   {"kitten", "sitting", 3}, {"epohcs", "epochs", 1},
      {"a", "A", 1},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(dl_edit_distance(cases[i].a, cases[i].b),
                     cases[i].distance);
    assert_int_equal(dl_edit_distance(cases[i].b, cases[i].a),
                     cases[i].distance);
  }
}

static void check_nearest(const char *wanted, size_t most,
                          const char *expected) {
  static const char *const names[] = {"epochs", "batch_size", "gpu_power_w",
                                      "gpu_count", "duration_s"};
  struct dl_text text = {0};

  dl_nearest_names(wanted, names, sizeof names / sizeof *names, most, &text);
  assert_false(text.failed);
  assert_string_equal(dl_text_str(&text), expected);
  dl_text_free(&text);
}

static void test_nearest(void **state) {
  (void)state;
  check_nearest("epocsh", 1, "'epochs'");
  check_nearest("GPU_POWER_W", 1, "'gpu_power_w'");
  check_nearest("gpu", 2, "'gpu_power_w', 'gpu_count'");
  check_nearest("gpu_cuont", 1, "'gpu_count'");
  check_nearest("epochs", 0, "");
  check_nearest("duration", 1, "'duration_s'");
}

static void check_close(const char *wanted, const char *expected) {
  static const char *const names[] = {"bloom", "resnet50", "resnet101",
                                      "vit_base_patch16_224"};
  struct dl_text text = {0};

  dl_close_names(wanted, names, sizeof names / sizeof *names, 3, &text);
  assert_string_equal(dl_text_str(&text), expected);
  dl_text_free(&text);
}

static void test_close(void **state) {
  (void)state;
  check_close("yolov8n", "");
  check_close("bloon", "'bloom'");
  check_close("blown", "");
  check_close("resnt50", "'resnet50'");
  check_close("resnet", "'resnet50', 'resnet101'");
  check_close("vit_bse_patch16_242", "'vit_base_patch16_224'");
  check_close("x", "");
}

static void test_few_names(void **state) {
  static const char *const one[] = {"only"};
  struct dl_text text = {0};

  (void)state;
  dl_nearest_names("x", NULL, 0, 3, &text);
  assert_string_equal(dl_text_str(&text), "");
  dl_text_add(&text, "near: ");
  dl_nearest_names("", one, 1, 3, &text);
  assert_string_equal(dl_text_str(&text), "near: 'only'");
  dl_text_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_distance),
      cmocka_unit_test(test_nearest),
      cmocka_unit_test(test_close),
      cmocka_unit_test(test_few_names),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
