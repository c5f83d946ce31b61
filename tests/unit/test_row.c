/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a plan that cannot be used, and what the user gives wrongly. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "run/plan_private.h"
#include "table.h"
#include "tests/messages.h"

/* Each table has one row; `name` is required. */
static void faults(void **state) {
  static const struct {
    const char *text, *name;
    int kind;
    const char *complaint;
  } cases[] = {
      {"batch_size\nabc\n", "batch_size", DL_FAULT_INVALID,
       MSG_column_invalid_number("batch_size", "abc")},
      {"batch_size\n3x\n", "batch_size", DL_FAULT_INVALID,
       MSG_column_invalid_number("batch_size", "3x")},
      {"batch_size\n\"1,5\"\n", "batch_size", DL_FAULT_INVALID,
       MSG_column_invalid_number("batch_size", "1,5")},
      {"batch_size\nnan\n", "batch_size", DL_FAULT_NOT_FINITE,
       MSG_column_not_a_finite("batch_size", "nan")},
      {"batch_size\n-inf\n", "batch_size", DL_FAULT_NOT_FINITE,
       MSG_column_not_a_finite("batch_size", "-inf")},
      {"batch_size\n1e999\n", "batch_size", DL_FAULT_NOT_FINITE,
       MSG_column_not_a_finite("batch_size", "1e999")},
      {"batch_size\n0\n", "batch_size", DL_FAULT_RANGE,
       MSG_is_not_between("column 'batch_size'", "0", "1", "1e+09")},
      {"gpu_util\n1.01\n", "gpu_util", DL_FAULT_RANGE,
       MSG_is_not_between("column 'gpu_util'", "1.01", "0", "1")},
      {"energy_j\n-1\n", "energy_j", DL_FAULT_RANGE,
       MSG_is_not_between("column 'energy_j'", "-1", "0", "1e+300")},
      {"batch_size,x\n,1\n", "batch_size", DL_FAULT_ABSENT,
       MSG_column_no_value("batch_size")},
      {"energy_j,epochs,arch\n,3,resnet50\n", "epoch_energy_j", DL_FAULT_ABSENT,
       MSG_column_no_value("epoch_energy_j")},
      {"arch,x\nresnt50,1\n", "macs_g", DL_FAULT_ABSENT,
       MSG_unknown_nearest("arch", "resnt50", "")},
      {"arch,x\n,1\n", "macs_g", DL_FAULT_ABSENT,
       MSG_column_no_value("macs_g")},
      {"gpu,arch\nnone such,resnet50\n", "peak_tflops", DL_FAULT_ABSENT,
       MSG_unknown_nearest("gpu", "none such", "")},
      {"arch,x\nresnet50,1\n", "arch.depth", DL_FAULT_ABSENT,
       "the descriptor of 'resnet50' has no value for 'arch.depth'; give it "
       "with --set arch.depth=VALUE"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct table t = open_table(cases[i].text);
    quantity(&t, cases[i].name, true);
    load(&t);
    row(&t, 0);
    if ((int)t.row->fault.kind != cases[i].kind)
      fail_msg("%s: fault %d", cases[i].text, (int)t.row->fault.kind);
    /* As a skipped row, and as an error. */
    assert_ok(dl_plan_complain(t.f, t.row, "f.csv", 7, &t.d), &t.d);
    assert_int_equal(t.d.n_skipped, 1);
    assert_memory_equal(t.d.warnings[0], "f.csv:7: ", 9);
    if (!strstr(t.d.warnings[0] + 9, cases[i].complaint))
      fail_msg("\"%s\" instead of \"%s\"", t.d.warnings[0], cases[i].complaint);
    assert_int_equal(dl_plan_complain(t.f, t.row, "f.csv", 0, &t.d), DL_EINPUT);
    assert_error_has(&t.d, DL_EINPUT, cases[i].complaint);
    close_table(&t);
  }
}

/* An alias is looked up before the message is made. */
static void complains_of_what_is_meant(void **state) {
  struct table t = open_table("arch\nmine\n");

  (void)state;
  assert_ok(dl_plan_alias(t.f, "mine=resnet50", &t.d), &t.d);
  quantity(&t, "arch.depth", true);
  load(&t);
  row(&t, 0);
  assert_int_equal(t.row->fault.kind, DL_FAULT_ABSENT);
  dl_plan_complain(t.f, t.row, "f.csv", 0, &t.d);
  assert_error_has(&t.d, DL_EINPUT, "the descriptor of 'resnet50' has no ");
  close_table(&t);
}

/* What no one uses as a number may be any text. */
static void texts_are_no_faults(void **state) {
  struct table t = open_table("note,arch,x\nabc,12,nan\n");
  struct dl_row_ref note = quantity(&t, "note", true),
                    arch = quantity(&t, "arch", true);

  (void)state;
  load(&t);
  row(&t, 0);
  assert_int_equal(t.row->fault.kind, DL_FAULT_NONE);
  assert_string_equal(text_of(&t, note), "abc");
  assert_true(isnan(number(&t, note)));
  assert_string_equal(text_of(&t, arch), "12");
  close_table(&t);
  /* In a formula it is to be a number. */
  t = open_table("note\nabc\n");
  define(&t, "x=note*2");
  quantity(&t, "x", false);
  load(&t);
  row(&t, 0);
  assert_int_equal(t.row->fault.kind, DL_FAULT_INVALID);
  assert_string_equal(t.row->fault.cell, "abc");
  close_table(&t);
  /* Compared as text it is none. */
  t = open_table("note\nabc\n");
  define(&t, "x=note=='abc'");
  struct dl_row_ref x = quantity(&t, "x", true);
  load(&t);
  row(&t, 0);
  assert_int_equal(t.row->fault.kind, DL_FAULT_NONE);
  assert_true(number(&t, x) == 1);
  close_table(&t);
}

static void first_fault_counts(void **state) {
  struct table t = open_table("a,b\nx,y\n");

  (void)state;
  define(&t, "sum=b+a");
  quantity(&t, "sum", true);
  load(&t);
  row(&t, 0);
  assert_int_equal(t.row->fault.kind, DL_FAULT_INVALID);
  assert_string_equal(dl_plan_step_name(t.f, t.row->fault.step), "b");
  close_table(&t);
}

static void refuses_overrides(void **state) {
  static const struct {
    const char *assignment;
    enum dl_status status;
    const char *error;
  } cases[] = {
      {"batch_size", DL_EUSAGE, MSG_expected_name_value("batch_size")},
      {"=3", DL_EUSAGE, MSG_expected_name_value("=3")},
      {"batch_size=x", DL_EUSAGE, MSG_invalid_number("batch_size", "x")},
      {"batch_size=0", DL_EINPUT,
       MSG_is_not_between("batch_size", "0", "1", "1e+09")},
      {"gpu.tdp=3", DL_EUSAGE,
       MSG_has_no_field_nearest("gpu", "tdp", " (did you mean 'tdp_w'")},
      {"gpu.=3", DL_EUSAGE, MSG_has_no_field_nearest("gpu", "", "")},
      {"gpu.tdp_w=x", DL_EUSAGE, MSG_invalid_number_3("gpu", "tdp_w", "x")},
      {"arch.macs_g=-1", DL_EINPUT,
       MSG_is_not_between_2("arch", "macs_g", "-1", "1e-06", "1e+09")},
  };
  struct table t = open_table(NULL);

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    assert_int_equal(dl_plan_override(t.f, cases[i].assignment, &t.d),
                     cases[i].status);
    assert_error_has(&t.d, cases[i].status, cases[i].error);
  }
  close_table(&t);
}

/* The last word counts, and is checked as what it is for. */
static void overrides_replace(void **state) {
  struct table t = open_table(NULL);

  (void)state;
  set(&t, "gpu", "rtx-3090");
  override(&t, "gpu.tdp_w=300");
  override(&t, "gpu.year=2021");
  override(&t, "gpu.tdp_w=200");
  struct dl_row_ref tdp = quantity(&t, "gpu.tdp_w", true),
                    year = quantity(&t, "gpu.year", true);
  load(&t);
  row(&t, 0);
  assert_true(number(&t, tdp) == 200);
  assert_true(number(&t, year) == 2021);
  /* The catalogue's own entry is as it was. */
  const struct dl_descriptor *e;
  assert_ok(dl_catalog_get(t.catalog, DL_ACCELERATOR, "rtx-3090", &e, &t.d),
            &t.d);
  assert_true(DL_AS(accelerator, e)->tdp_w == 350);
  close_table(&t);
}

static void refuses_definitions(void **state) {
  static const char *const bad[] = {"x", "=x", "x==3", ""};
  struct table t = open_table("a\n1\n");
  char expected[64];
  struct dl_row_ref q;
  size_t i;

  (void)state;
  for (i = 0; i < COUNT(bad); i++) {
    snprintf(expected, sizeof expected, "'%s': expected NAME=FORMULA", bad[i]);
    assert_int_equal(dl_plan_define(t.f, bad[i], &t.d), DL_EUSAGE);
    assert_error(&t.d, DL_EUSAGE, expected);
  }
  for (i = 0; i < 2; i++) {
    snprintf(expected, sizeof expected, "'%s': expected NAME=ID", bad[i]);
    assert_int_equal(dl_plan_alias(t.f, bad[i], &t.d), DL_EUSAGE);
    assert_error(&t.d, DL_EUSAGE, expected);
  }
  assert_int_equal(dl_plan_alias(t.f, "x=", &t.d), DL_EUSAGE);
  assert_error(&t.d, DL_EUSAGE, MSG_expected_name_id("x="));
  assert_int_equal(dl_plan_define(t.f, "x=log(a", &t.d), DL_EUSAGE);
  assert_error(&t.d, DL_EUSAGE, MSG_formula_column("log(a", "6", MSG_expected));
  define(&t, "y=a+no_such");
  assert_int_equal(dl_plan_quantity(t.f, "y", false, &q, &t.d), DL_EUSAGE);
  assert_error_has(&t.d, DL_EUSAGE, MSG_no_column_nearest("no_such", ""));
  close_table(&t);
}

static void refuses_unknown_names(void **state) {
  struct table t = open_table("arch,batch_size\nresnet50,1\n");
  struct dl_row_ref q;

  (void)state;
  assert_int_equal(dl_plan_quantity(t.f, "bacth_size", true, &q, &t.d),
                   DL_EUSAGE);
  assert_error_has(&t.d, DL_EUSAGE,
                   "runs.csv: " MSG_no_column_nearest(
                       "bacth_size", " (did you mean 'batch_size'"));
  assert_int_equal(dl_plan_quantity(t.f, "gpu.tdp_w", true, &q, &t.d),
                   DL_EUSAGE);
  assert_error_has(&t.d, DL_EUSAGE, MSG_no_column("gpu.tdp_w"));
  close_table(&t);
  t = open_table(NULL);
  assert_int_equal(dl_plan_quantity(t.f, "ram_gb", true, &q, &t.d), DL_EUSAGE);
  assert_error(&t.d, DL_EUSAGE, MSG_has_no_value_give_with("ram_gb", "ram_gb"));
  close_table(&t);
}

/* A setting is a text too; as a number it is one or unknown. */
static void settings_are_texts_and_numbers(void **state) {
  struct table t = open_table(NULL);

  (void)state;
  set(&t, "gpu", "rtx-3090");
  set(&t, "batch_size", "16");
  override(&t, "phase=training");
  struct dl_row_ref gpu = quantity(&t, "gpu", true),
                    batch = quantity(&t, "batch_size", true);
  struct dl_row_ref phase = quantity(&t, "phase", true);
  load(&t);
  row(&t, 0);
  assert_string_equal(text_of(&t, gpu), "rtx-3090");
  assert_true(isnan(number(&t, gpu)));
  assert_true(number(&t, batch) == 16);
  assert_string_equal(text_of(&t, phase), "training");
  assert_true(isnan(number(&t, phase)));
  close_table(&t);
}

/* Whether a quantity follows from another, at some distance; `given`: also by
 * rules that build on what the user gave alone. */
static bool follows(size_t of, size_t from, size_t depth) {
  const struct derivation *g =
      of < DL_N_RUN_MEMBERS ? &dl_derivations[of] : NULL;
  bool found = false;
  for (size_t i = 0; g && !g->of_given && i < g->n_inputs && !found; i++)
    found = g->input[i] == from ||
            (depth > 0 && follows(g->input[i], from, depth - 1));
  return found;
}

/* A quantity follows from itself by one other alone, which then builds on what
 * the user gave. */
static void derivations_end(void **state) {
  (void)state;
  for (size_t id = 0; id < DL_N_RUN_MEMBERS; id++) {
    const struct derivation *g = &dl_derivations[id];
    assert_true(!g->compute || g->n_inputs > 0 || g->word != 0);
    assert_true(g->n_needed <= g->n_inputs);
    assert_true(!g->usual == (g->n_by == 0));
    for (size_t i = 0; i < g->n_inputs; i++)
      if (!g->of_given && follows(g->input[i], id, 4) &&
          !follows(g->input[i], id, 0))
        fail_msg("'%s' follows from itself", dl_run_columns[id].name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivations_end),
      cmocka_unit_test(faults),
      cmocka_unit_test(complains_of_what_is_meant),
      cmocka_unit_test(texts_are_no_faults),
      cmocka_unit_test(first_fault_counts),
      cmocka_unit_test(refuses_overrides),
      cmocka_unit_test(overrides_replace),
      cmocka_unit_test(refuses_definitions),
      cmocka_unit_test(refuses_unknown_names),
      cmocka_unit_test(settings_are_texts_and_numbers),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
