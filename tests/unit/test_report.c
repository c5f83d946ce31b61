/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of a report: order, copies, ownership. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "output/report_tree.h"

static void values_know_absence(void **state) {
  (void)state;
  const struct dl_value absent[] = {
      dl_number((double)NAN),
      dl_number((double)INFINITY),
      dl_number(-(double)INFINITY),
      dl_string(NULL),
      {.type = DL_NUMBER, .number = (double)NAN},
      {.type = DL_STRING},
  };
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
    assert_true(dl_value_absent(&absent[i]));
  const struct dl_value present[] = {
      dl_number(0),  dl_count(0),         dl_bool(false),
      dl_string(""), dl_strings(NULL, 0),
  };
  for (size_t i = 0; i < sizeof present / sizeof *present; i++)
    assert_false(dl_value_absent(&present[i]));
}

static void values_are_copied(void **state) {
  (void)state;
  char text[] = "before";
  char part[] = "part";
  char mark[] = "*";
  const char *parts[] = {part, NULL};
  const struct dl_column column = {.key = "k", .heading = "h"};
  struct dl_report *r = dl_report_new();
  struct dl_table *t = dl_report_table(r, "t", NULL, &column, 1, true);

  dl_report_add(r, "s", "s", NULL, DL_PLAIN, dl_string(text));
  dl_report_add(r, "l", "l", NULL, DL_PLAIN, dl_strings(parts, 2));
  dl_table_row(t, (struct dl_value[]){dl_string(text)}, mark);
  strcpy(text, "after");
  strcpy(part, "x");
  mark[0] = '!';
  parts[0] = NULL;

  assert_string_equal(r->nodes[1].value.string, "before");
  assert_string_equal(r->nodes[2].value.strings[0], "part");
  assert_null(r->nodes[2].value.strings[1]);
  assert_string_equal(t->values[0].string, "before");
  assert_string_equal(t->marks[0], "*");
  dl_report_free(r);
}

static void items_of_a_key_are_one_list(void **state) {
  (void)state;
  struct dl_report *r = dl_report_new();
  dl_report_list(r, "a");
  assert_non_null(dl_report_item(r, "b", "1"));
  assert_non_null(dl_report_item(r, "a", "2"));
  assert_non_null(dl_report_item(r, "b", NULL));
  assert_int_equal(r->n_nodes, 2);
  assert_int_equal(r->nodes[0].n_reports, 1);
  assert_int_equal(r->nodes[1].n_reports, 2);
  assert_string_equal(r->nodes[0].reports[0]->title, "2");
  assert_ptr_equal(r->nodes[1].reports[1]->root, r);
  dl_report_free(r);
}

static void first_main_table_is_main(void **state) {
  (void)state;
  const struct dl_column column = {.key = "k"};
  struct dl_report *r = dl_report_new();
  struct dl_report *g = dl_report_group(r, "g", NULL);
  dl_report_table(r, "other", NULL, &column, 1, false);
  assert_null(r->main);
  struct dl_table *t = dl_report_table(g, "main", NULL, &column, 1, true);
  dl_report_table(r, "late", NULL, &column, 1, true);
  assert_ptr_equal(r->main, t);
  dl_report_free(r);
}

static void many_rows_and_nodes(void **state) {
  (void)state;
  const struct dl_column columns[] = {{.key = "i"}, {.key = "s"}};
  struct dl_report *r = dl_report_new();
  struct dl_table *t = dl_report_table(r, "t", NULL, columns, 2, true);
  for (size_t i = 0; i < 5000; i++) {
    char s[32];
    snprintf(s, sizeof s, "row %zu", i);
    dl_table_row(t, (struct dl_value[]){dl_count(i), dl_string(s)}, NULL);
    dl_report_say(r, "%s", s);
  }
  assert_int_equal(t->n_rows, 5000);
  assert_int_equal(t->values[2 * 4999].count, 4999);
  assert_string_equal(t->values[2 * 4999 + 1].string, "row 4999");
  assert_int_equal(r->n_nodes, 5001);
  dl_report_free(r);
}

/* What a caller gets when memory is out is accepted by all functions. */
static void null_is_a_failed_report(void **state) {
  (void)state;
  dl_report_add(NULL, "k", NULL, NULL, DL_PLAIN, dl_count(1));
  dl_report_range(NULL, &(struct dl_column){.key = "a", .heading = "l"}, "b",
                  (struct dl_value[2]){dl_count(1), dl_count(2)});
  dl_report_say(NULL, "text");
  dl_report_list(NULL, "k");
  assert_null(dl_report_group(NULL, "k", NULL));
  assert_null(dl_report_item(NULL, "k", NULL));
  assert_null(dl_report_table(NULL, "k", NULL, NULL, 0, true));
  dl_table_row(NULL, NULL, NULL);
  dl_report_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_know_absence),
      cmocka_unit_test(values_are_copied),
      cmocka_unit_test(items_of_a_key_are_one_list),
      cmocka_unit_test(first_main_table_is_main),
      cmocka_unit_test(many_rows_and_nodes),
      cmocka_unit_test(null_is_a_failed_report),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
