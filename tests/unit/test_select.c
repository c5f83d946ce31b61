/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fields of descriptors, and choosing and ordering by them. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/text.h"
#include "catalog/descriptor_kinds.h"
#include "run/formula/descriptor_filter.h"
#include "unit.h"
#include "tests/messages.h"

static struct dl_diag d;

static int finish(void **state) {
  (void)state;
  dl_diag_free(&d);
  return 0;
}

/* Boards: NaN and NULL are unknown. */
static const struct board {
  const char *id, *vendor;
  double tdp_w, memory_gb, year, idle_w;
} boards[] = {
    {"b", "nvidia", 300, 48, 2020, 20},  {"a", "amd", 300, 64, NAN, NAN},
    {"c", "NVIDIA", 70, 16, 2018, 10},   {"d", NULL, NAN, 80, 2022, NAN},
    {"e", "intel", 600, 128, 2023, NAN}, {"f", "nvidia", 400, 40, 2020, 50},
};

static void fill(const struct dl_descriptor *list[COUNT(boards)]) {
  static struct dl_accelerator e[COUNT(boards)];
  for (size_t i = 0; i < COUNT(boards); i++) {
    const struct board *b = &boards[i];
    dl_descriptor_init(&e[i].head, DL_ACCELERATOR);
    list[i] = &e[i].head;
    e[i].head.id = e[i].head.name = b->id;
    e[i].vendor = b->vendor;
    e[i].tdp_w = b->tdp_w;
    e[i].memory_gb = b->memory_gb;
    e[i].year = b->year;
    e[i].idle_w = b->idle_w;
  }
}

/* Identifiers one after the other. */
static const char *ids(const struct dl_descriptor *const *e, size_t n) {
  static char text[COUNT(boards) + 1];
  for (size_t i = 0; i < n; i++)
    text[i] = e[i]->id[0];
  text[n] = '\0';
  return text;
}

static void keeps_what_is_true(void **state) {
  static const struct {
    const char *where, *kept;
  } cases[] = {
      {"memory_gb>=40 && year>=2020", "bdef"},
      {"vendor == 'nvidia'", "bf"},
      {"vendor != 'nvidia'", "ace"},
      {"vendor = 'nvidia'", "bf"},
      {"vendor ~ 'NVID'", "bcf"},
      {"vendor !~ 'nvid'", "ae"},
      {"!(vendor == 'nvidia')", "ace"},
      {"idle_w<20", "c"},
      {"idle_w>=20", "bf"},
      {"!(idle_w<20)", "bf"},
      {"idle_w<20 || memory_gb>100", "ce"},
      {"coalesce(idle_w, -1)<0", "ade"},
      {"id=='a' || id=='d'", "ad"},
      {"tdp_w/memory_gb<5", "ace"},
      {"year-2020", "cde"},
      {"1", "bacdef"},
      {"0", ""},
      {"0/0", ""},
      {"peak_fp32_tflops>0", ""},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct dl_descriptor *e[COUNT(boards)];
    size_t n = COUNT(boards);
    fill(e);
    assert_ok(dl_filter(e, &n, DL_ACCELERATOR, cases[i].where, &d), &d);
    if (strcmp(ids(e, n), cases[i].kept) != 0)
      fail_msg("%s keeps %s", cases[i].where, ids(e, n));
  }
}

static void orders(void **state) {
  static const struct {
    const char *keys, *order;
  } cases[] = {
      {"tdp_w", "cbafed"},
      {"-tdp_w", "efbacd"},
      {"id", "abcdef"},
      {"-id", "fedcba"},
      {"year", "cbfdea"},
      {"-year", "edbfca"},
      {"tdp_w,id", "cabfed"},
      {"-year,-memory_gb", "edbfca"},
      {"-year, tdp_w", "edbfca"},
      {"vendor", "aecbfd"},
      {"-vendor", "bfcead"},
      {"idle_w", "cbfade"},
      {"peak_fp32_tflops", "bacdef"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct dl_descriptor *e[COUNT(boards)];
    fill(e);
    assert_ok(dl_sort(e, COUNT(e), DL_ACCELERATOR, cases[i].keys, &d), &d);
    if (strcmp(ids(e, COUNT(e)), cases[i].order) != 0)
      fail_msg("%s gives %s", cases[i].keys, ids(e, COUNT(e)));
  }
  assert_ok(dl_sort(NULL, 0, DL_ACCELERATOR, "id", &d), &d);
}

static void refuses(void **state) {
  static const struct {
    const char *where, *sort, *error;
  } cases[] = {
      {"tdp>3", NULL,
       MSG_have_no_nearest("--where", "gpus", "tdp", " (did you mean 'tdp_w'")},
      {"grid=='es'", NULL, MSG_have_no_nearest("--where", "gpus", "grid", "")},
      {"vendor>3", NULL, MSG_where_is_a_text("vendor", "vendor")},
      {"year=='2020'", NULL, MSG_where_is_a_number("year")},
      {"tdp_w>", NULL,
       MSG_formula_column("tdp_w>", "7", "") MSG_ends_where_a_value},
      {NULL, "", MSG_have_no_nearest("--sort", "gpus", "", "")},
      {NULL, "tdp_w,,id", MSG_have_no_nearest("--sort", "gpus", "", "")},
      {NULL, "--tdp_w",
       MSG_have_no_nearest("--sort", "gpus", "-tdp_w",
                           " (did you mean 'tdp_w'")},
      {NULL, "tpd_w",
       MSG_have_no_nearest("--sort", "gpus", "tpd_w",
                           " (did you mean 'tdp_w'")},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct dl_descriptor *e[COUNT(boards)];
    size_t n = COUNT(boards);
    fill(e);
    assert_int_equal(cases[i].where
                         ? dl_filter(e, &n, DL_ACCELERATOR, cases[i].where, &d)
                         : dl_sort(e, n, DL_ACCELERATOR, cases[i].sort, &d),
                     DL_EUSAGE);
    assert_error_has(&d, DL_EUSAGE, cases[i].error);
    assert_string_equal(ids(e, n), "bacdef");
  }
}

/* A name of any length is cut in the message. */
static void cuts_long_names(void **state) {
  const struct dl_field *f;
  char name[500];

  (void)state;
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  assert_int_equal(dl_field_get(DL_GRID, "--sort", name, &f, &d), DL_EUSAGE);
  assert_true(strlen(d.error) < 200);
  dl_diag_free(&d);
}

static void has_the_attributes_of_a_kind(void **state) {
  static const struct {
    enum dl_kind kind;
    const char *texts;
  } cases[] = {
      {DL_ACCELERATOR, "id name vendor family form memory_type availability "},
      {DL_ARCHITECTURE, "id name family "},
      {DL_DATASET, "id name family "},
      {DL_GRID, "id name "},
      {DL_SITE, "id name vendor grid place "},
      {DL_NODE, "id name vendor cpu gpu site "},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct dl_kind_info *k = &dl_kinds[cases[i].kind];
    struct dl_text texts = {0};
    for (size_t j = 0; j < k->n_fields; j++)
      if (k->fields[j].is_text)
        dl_text_printf(&texts, "%s ", k->fields[j].name);
    assert_string_equal(dl_text_str(&texts), cases[i].texts);
    dl_text_free(&texts);
  }
}

static void names_what_a_formula_uses(void **state) {
  struct dl_strlist names = {0};

  (void)state;
  assert_ok(dl_formula_names("tdp_w>3 && vendor=='x' || tdp_w<1", &names, &d),
            &d);
  assert_int_equal(names.n, 2);
  assert_string_equal(names.s[0], "tdp_w");
  assert_string_equal(names.s[1], "vendor");
  dl_strlist_free(&names);
}

#define TEST(f) cmocka_unit_test_teardown(f, finish)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(keeps_what_is_true),
      TEST(orders),
      TEST(refuses),
      TEST(cuts_long_names),
      TEST(has_the_attributes_of_a_kind),
      TEST(names_what_a_formula_uses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
