/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Edit distances and suggestions. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/names/nearest_names.h"

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
  assert_string_equal(dl_text_str(&text), expected);
  dl_text_free(&text);
}

static void test_nearest(void **state) {
  (void)state;
  check_nearest("epocsh", 1, "'epochs'");
  check_nearest("GPU_POWER_W", 1, "'gpu_power_w'");
  check_nearest("gpu", 2, "'gpu_count', 'gpu_power_w'");
  check_nearest("gpu_cuont", 1, "'gpu_count'");
  check_nearest("epochs", 0, "");
  check_nearest("duration", 1, "'duration_s'");
}

/* In quarters of an edit, by the costs that the header states. */
static void test_typed(void **state) {
  static const struct {
    const char *typed, *name;
    size_t cost;
  } cases[] = {
      {"h100", "H100", 0},
      {"h1000", "h100", 2},     /* a digit too often */
      {"h1000", "t1000", 4},    /* another letter */
      {"h1000", "h200", 2 + 6}, /* and another digit */
      {"a10O", "a100", 2},      /* they look alike */
      {"batchsize", "batch-size", 1},
      {"batch_size", "batch-size", 1},
      {"predikt", "predict", 4},
      {"h1oo", "h100", 2 + 2},
      {"rtx4091", "rtx4090", 6},
      {"epcohs", "epochs", 4},
      {"4090", "rtx-4090", 4},   /* holds it */
      {"resnet", "resnet50", 3}, /* begins with it */
      {"ab", "crab", 8},         /* too short to be held */
      {"", "abc", 12},
  };

  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (dl_name_distance(cases[i].typed, cases[i].name) != cases[i].cost)
      fail_msg("'%s' and '%s': %zu", cases[i].typed, cases[i].name,
               dl_name_distance(cases[i].typed, cases[i].name));
}

static void check_meant(const char *typed, bool strict, const char *expected) {
  static const struct dl_name_candidate names[] = {
      {"bloom", NULL, 0},
      {"resnet50", NULL, 1},
      {"resnet-50", NULL, 1},
      {"resnet101", NULL, 2},
      {"a100-sxm4", NULL, 3},
      {"a100", NULL, 3},
      {"nvidiaa100", "a100", 3},
      {"a10", NULL, 4},
      {"vit_base_patch16_224", NULL, 5}};
  struct dl_text text = {0};

  dl_suggest(typed, names, sizeof names / sizeof *names, 3, strict, &text);
  assert_string_equal(dl_text_str(&text), expected);
  dl_text_free(&text);
}

static void test_suggestions(void **state) {
  (void)state;
  check_meant("yolov8n", true, "");
  check_meant("bloon", true, " (did you mean 'bloom'?)");
  check_meant("blown", true, "");
  check_meant("resnt50", true, " (did you mean 'resnet50'?)");
  check_meant("resnet", true, " (did you mean 'resnet50' or 'resnet101'?)");
  check_meant("vit_bse_patch16_224", true,
              " (did you mean 'vit_base_patch16_224'?)");
  check_meant("a10O", false, " (did you mean 'a100' or 'a10'?)");
  check_meant("xyz", false, "");
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
      cmocka_unit_test(test_distance),  cmocka_unit_test(test_nearest),
      cmocka_unit_test(test_typed),     cmocka_unit_test(test_suggestions),
      cmocka_unit_test(test_few_names),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
