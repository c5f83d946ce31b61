/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of runs read for fitting. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "model/training/training_columns.h"
#include "model/training/training_table.h"
#include "table.h"
#include "tests/messages.h"

/* Reads a table; formulas and groups separated by commas. */
static enum dl_status read_table(struct dl_training *tr, struct table *t,
                                 const char *formulas, const char *groups,
                                 const char *must) {
  struct dl_strlist list = {0};

  *tr = (struct dl_training){0};
  dl_strlist_split(&tr->formula, formulas, ',');
  if (*groups)
    dl_strlist_split(&list, groups, ',');
  enum dl_status status =
      dl_training_read(tr, t->csv, t->f, &list, must, &t->d);
  dl_strlist_free(&list);
  return status;
}

static double at(const struct dl_training *tr, size_t i, const char *formula) {
  long j = dl_training_column(tr, formula);

  assert_true(j >= 0);
  return gsl_matrix_get(tr->x, i, (size_t)j);
}

static const char *label(const struct dl_training *tr, const char *column,
                         size_t i) {
  const struct dl_labels *l = dl_training_labels(tr, column);

  assert_non_null(l);
  return l->names.s[l->id[i]];
}

static void evaluates(void **state) {
  struct table t = open_table("a,b,boundary,energy_j,epochs\n"
                              "1,2,gpu,10,5\n\n3,4,gpu,20,4\n-5,8,gpu,1,2\n");
  struct dl_training tr;

  (void)state;
  assert_ok(read_table(&tr, &t, "a*b, epoch_energy_j, a", "", NULL), &t.d);
  assert_int_equal(tr.n, 3);
  assert_int_equal(tr.rows, 3);
  assert_true(at(&tr, 0, "a*b") == 2 && at(&tr, 1, "a*b") == 12);
  assert_true(at(&tr, 0, "epoch_energy_j") == 2);
  assert_true(at(&tr, 1, "epoch_energy_j") == 5);
  assert_true(at(&tr, 2, "a") == -5);
  assert_int_equal(dl_training_column(&tr, "b"), -1);
  assert_int_equal(tr.line[0], 2);
  assert_int_equal(tr.line[1], 4);
  assert_int_equal(tr.line[2], 5);
  assert_string_equal(tr.boundary, "gpu");
  assert_string_equal(tr.source, dl_csv_path(t.csv));
  assert_int_equal(strspn(tr.digest, "0123456789abcdef"), 32);
  /* Ranges of a, b and epoch_energy_j. */
  for (size_t i = 0; i < tr.n_ranges; i++) {
    const struct dl_range *r = &tr.range[i];
    if (strcmp(r->name, "a") == 0)
      assert_true(r->low == -5 && r->high == 3);
    else if (strcmp(r->name, "b") == 0)
      assert_true(r->low == 2 && r->high == 8);
    else if (strcmp(r->name, "epoch_energy_j") == 0)
      assert_true(r->low == 0.5 && r->high == 5);
    else
      fail_msg("a range of '%s'", r->name);
  }
  assert_int_equal(tr.n_ranges, 3);
  dl_training_free(&tr);
  close_table(&t);
}

static void skips_rows(void **state) {
  struct table t = open_table("a,b\n1,2\nx,2\n3,\n4,0\n5,9,9\n0,3\n7,8\n");
  struct dl_training tr;
  static const char *const warnings[] = {
      ":6: " MSG_expected_fields_found("2", "3"),
      ":3: " MSG_column_invalid_number("a", "x"),
      ":4: " MSG_column_no_value("b"),
      ":5: " MSG_is_not_a_finite("log(a*b)"),
      ":7: " MSG_is_not_a_finite("log(a*b)"),
  };

  (void)state;
  assert_ok(read_table(&tr, &t, "log(a*b),a", "", NULL), &t.d);
  assert_int_equal(tr.n, 2);
  assert_int_equal(tr.line[0], 2);
  assert_int_equal(tr.line[1], 8);
  assert_near(at(&tr, 0, "log(a*b)"), 0.693147180559945, 1e-14);
  assert_near(at(&tr, 1, "log(a*b)"), 4.02535169073515, 1e-14);
  assert_int_equal(t.d.n_skipped, 5);
  assert_int_equal(t.d.n_warnings, COUNT(warnings));
  for (size_t i = 0; i < COUNT(warnings); i++) {
    bool found = false;
    for (size_t k = 0; k < t.d.n_warnings; k++)
      found |= strstr(t.d.warnings[k], warnings[i]) != NULL;
    if (!found)
      fail_msg("no warning \"%s\"", warnings[i]);
  }
  /* Skipped rows do not widen the ranges: a in {1, 7}. */
  for (size_t i = 0; i < tr.n_ranges; i++)
    if (strcmp(tr.range[i].name, "a") == 0)
      assert_true(tr.range[i].low == 1 && tr.range[i].high == 7);
  dl_training_free(&tr);
  close_table(&t);
}

static void nothing_usable(void **state) {
  struct table t = open_table("a\nx\n\n");
  struct dl_training tr;

  (void)state;
  assert_ok(read_table(&tr, &t, "a", "", NULL), &t.d);
  assert_int_equal(tr.n, 0);
  assert_null(tr.x);
  assert_int_equal(t.d.n_skipped, 1);
  dl_training_free(&tr);
  close_table(&t);
}

static void labels_rows(void **state) {
  struct table t = open_table("x,arch,gpu,config,site\n"
                              "1,ResNet-50,rtx 3090,c1,here\n"
                              "2,tv_resnet50,NVIDIA RTX 3090,c2,there\n"
                              "3,own net,own card,c1,\n");
  struct dl_training tr;

  (void)state;
  assert_ok(read_table(&tr, &t, "x", "config,arch,gpu,absent", "site"), &t.d);
  assert_int_equal(tr.n_labels, 4);
  assert_null(dl_training_labels(&tr, "absent"));
  assert_string_equal(label(&tr, "arch", 0), "resnet50");
  assert_string_equal(label(&tr, "arch", 1), "resnet50");
  assert_string_equal(label(&tr, "arch", 2), "own net");
  assert_string_equal(label(&tr, "gpu", 0), "rtx-3090");
  assert_string_equal(label(&tr, "gpu", 1), "rtx-3090");
  assert_string_equal(label(&tr, "gpu", 2), "own card");
  assert_string_equal(label(&tr, "config", 0), "c1");
  assert_string_equal(label(&tr, "config", 1), "c2");
  assert_int_equal(dl_training_labels(&tr, "config")->names.n, 2);
  assert_string_equal(label(&tr, "site", 1), "there");
  assert_string_equal(label(&tr, "site", 2), "");
  dl_training_free(&tr);
  close_table(&t);
}

/* Settings make a key; splits that differ by an image share it, other batch
 * sizes, spellings of a name and measured values do not enter. */
static void makes_keys(void **state) {
  struct table t = open_table("arch,gpu,batch_size,train_samples,energy_j\n"
                              "ResNet-50,rtx 3090,32,23807,5\n"
                              "resnet50,rtx-3090,32,23806,6\n"
                              "resnet50,rtx-3090,64,23807,5\n"
                              "own,,32,,5\n");
  struct dl_training tr;

  (void)state;
  assert_ok(read_table(&tr, &t, "energy_j", "config", NULL), &t.d);
  const struct dl_labels *l = dl_training_labels(&tr, "config");
  assert_non_null(l);
  assert_int_equal(l->names.n, 3);
  assert_int_equal(l->id[0], l->id[1]);
  assert_int_equal(l->id[2], 1);
  assert_int_equal(l->id[3], 2);
  /* The input size comes from the architecture. */
  assert_memory_equal(label(&tr, "config", 0), "resnet50|rtx-3090|32|224|", 25);
  assert_memory_equal(label(&tr, "config", 2), "resnet50|rtx-3090|64|224|", 25);
  assert_string_equal(label(&tr, "config", 3), "own||32||");
  dl_training_free(&tr);
  close_table(&t);
}

static void groups_may_be_missing(void **state) {
  struct table t = open_table("x\n1\n");
  struct dl_training tr;

  (void)state;
  assert_ok(read_table(&tr, &t, "x", "config,arch,gpu", NULL), &t.d);
  assert_int_equal(tr.n_labels, 0);
  dl_training_free(&tr);
  close_table(&t);
  t = open_table("x\n1\n");
  assert_int_equal(read_table(&tr, &t, "x", "", "site"), DL_EUSAGE);
  assert_error_has(&t.d, DL_EUSAGE, MSG_no_column("site"));
  dl_training_free(&tr);
  close_table(&t);
}

static void boundaries_may_differ(void **state) {
  static const struct {
    const char *text, *boundary;
  } cases[] = {
      {"x,boundary\n1,gpu+ram\n2,gpu+ram\n", "gpu+ram"},
      {"x,boundary\n1,gpu\n2,node\n3,gpu\n", ""},
      {"x,boundary\n1,gpu\n2,\n", ""},
      {"x,boundary\n1,\n2,gpu\n", ""},
      {"x\n1\n", ""},
      {"x,boundary\n,node\n2,gpu\n", "gpu"}, /* the first row is skipped */
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct table t = open_table(cases[i].text);
    struct dl_training tr;
    assert_ok(read_table(&tr, &t, "x", "", NULL), &t.d);
    assert_string_equal(tr.boundary, cases[i].boundary);
    dl_training_free(&tr);
    close_table(&t);
  }
}

static void refuses_formulas(void **state) {
  static const struct {
    const char *formula, *error;
  } cases[] = {{"log(x", MSG_formula_column("log(x", "6", MSG_expected)},
               {"x+y", MSG_no_column_nearest("y", " (did you mean 'x'?)")}};

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct table t = open_table("x\n1\n");
    struct dl_training tr;
    assert_int_equal(read_table(&tr, &t, cases[i].formula, "", NULL),
                     DL_EUSAGE);
    assert_error_has(&t.d, DL_EUSAGE, cases[i].error);
    dl_training_free(&tr);
    close_table(&t);
  }
}

/* Long enough for several blocks and threads: order, sums, ranges. */
static void reads_long_tables(void **state) {
  enum { ROWS = 30000 };
  struct dl_text text = {0};
  struct dl_training tr;

  (void)state;
  dl_text_add(&text, "i,g\n");
  for (int i = 0; i < ROWS; i++)
    dl_text_printf(&text, "%d,g%d\n", i, i % 7);
  struct table t = open_table(text.s);
  dl_text_free(&text);
  assert_ok(read_table(&tr, &t, "2*i", "", "g"), &t.d);
  assert_int_equal(tr.n, ROWS);
  assert_int_equal(tr.rows, ROWS);
  for (size_t i = 0; i < ROWS; i++) {
    assert_true(gsl_matrix_get(tr.x, i, 0) == 2 * (double)i);
    assert_int_equal(tr.line[i], i + 2);
    assert_int_equal(dl_training_labels(&tr, "g")->id[i], i % 7);
  }
  assert_int_equal(tr.n_ranges, 1);
  assert_true(tr.range[0].low == 0 && tr.range[0].high == ROWS - 1);
  dl_training_free(&tr);
  close_table(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(evaluates),
      cmocka_unit_test(skips_rows),
      cmocka_unit_test(nothing_usable),
      cmocka_unit_test(labels_rows),
      cmocka_unit_test(makes_keys),
      cmocka_unit_test(groups_may_be_missing),
      cmocka_unit_test(boundaries_may_differ),
      cmocka_unit_test(refuses_formulas),
      cmocka_unit_test(reads_long_tables),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
