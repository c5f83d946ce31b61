/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The typed run and its table of columns. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "run/run.h"
#include "unit.h"

static void test_columns(void **state) {
  (void)state;
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    assert_ptr_equal(dl_run_member_find(c->name), c);
    assert_int_equal(c->id, i);
    assert_true(c->is_text || c->low < c->high);
    assert_true(*c->summary);
    assert_true((c->role == DL_ROLE_ASSUMED) == (i >= DL_N_RUN_COLUMNS));
    assert_true(!dl_run_column_find(c->name) == (i >= DL_N_RUN_COLUMNS));
    if (i > 0)
      assert_true(dl_run_offsets[i - 1] < dl_run_offsets[i]);
  }
  assert_null(dl_run_column_find("batch"));
  assert_null(dl_run_column_find(""));
}

static void test_members(void **state) {
  struct dl_run r = dl_run_unknown;

  (void)state;
  for (size_t i = 0; i < DL_N_RUN_MEMBERS; i++) {
    enum dl_run_id id = (enum dl_run_id)i;
    assert_false(dl_run_has(&r, id));
    if (dl_run_columns[i].is_text)
      assert_null(dl_run_text(&r, id));
    else
      assert_true(isnan(dl_run_number(&r, id)));
  }
  dl_run_set_number(&r, DL_RUN_batch_size, 64);
  assert_float_equal(r.batch_size, 64, 0);
  assert_true(dl_run_has(&r, DL_RUN_batch_size));
  assert_false(dl_run_has(&r, DL_RUN_image_px));
  dl_run_set_number(&r, DL_RUN_batch_size, INFINITY);
  assert_true(isnan(r.batch_size));
  assert_false(dl_run_has(&r, DL_RUN_batch_size));

  char name[] = "vgg16";
  dl_run_copy_text(&r, DL_RUN_arch, name);
  dl_run_lend_text(&r, DL_RUN_gpu, name);
  name[0] = 'V';
  assert_string_equal(r.arch, "vgg16");
  assert_ptr_equal(r.gpu, name);
  dl_run_copy_text(&r, DL_RUN_arch, "resnet50");
  assert_string_equal(dl_run_text(&r, DL_RUN_arch), "resnet50");
  dl_run_copy_text(&r, DL_RUN_arch, "");
  assert_null(r.arch);
  assert_false(dl_run_has(&r, DL_RUN_arch));
  dl_run_clear(&r);
  assert_null(r.gpu);
}

static void test_fill(void **state) {
  struct dl_run r = dl_run_unknown, from = dl_run_unknown;

  (void)state;
  dl_run_set_number(&r, DL_RUN_epochs, 2);
  dl_run_set_number(&from, DL_RUN_epochs, 3);
  dl_run_set_number(&from, DL_RUN_duration_s, 60);
  dl_run_copy_text(&from, DL_RUN_gpu, "a100");
  dl_run_copy_text(&from, DL_RUN_host, "node1");
  dl_run_copy_text(&r, DL_RUN_host, "node2");
  dl_run_fill(&r, &from);
  assert_float_equal(r.epochs, 2, 0);
  assert_float_equal(r.duration_s, 60, 0);
  assert_string_equal(r.gpu, "a100");
  assert_string_equal(r.host, "node2");
  assert_null(from.gpu);
  dl_run_clear(&from);
  dl_run_clear(&r);
}

static void test_parse(void **state) {
  static const struct {
    const char *text;
    enum dl_fault_kind fault;
    double x;
  } cases[] = {
      {"64", DL_FAULT_NONE, 64},
      {"6e1", DL_FAULT_NONE, 60},
      {"abc", DL_FAULT_INVALID, NAN},
      {"nan", DL_FAULT_NOT_FINITE, NAN},
      {"1e400", DL_FAULT_NOT_FINITE, NAN},
      {"-4", DL_FAULT_RANGE, -4},
      {"2e9", DL_FAULT_RANGE, 2e9},
  };
  const struct dl_run_column *c = &dl_run_columns[DL_RUN_batch_size];

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    double x;
    assert_int_equal(dl_run_column_parse(c, cases[i].text, &x), cases[i].fault);
    if (isnan(cases[i].x))
      assert_true(isnan(x));
    else
      assert_float_equal(x, cases[i].x, 0);
  }
  double x;
  assert_int_equal(dl_run_column_parse(NULL, "-1e300", &x), DL_FAULT_NONE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_members),
      cmocka_unit_test(test_fill),
      cmocka_unit_test(test_parse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
