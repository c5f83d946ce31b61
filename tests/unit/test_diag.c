/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Diagnostics. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>

#include "unit.h"
#include "tests/messages.h"

static void keeps_first_error(void **state) {
  struct dl_diag d = {0};

  (void)state;
  assert_int_equal(d.status, DL_OK);
  assert_null(d.error);
  assert_int_equal(dl_fail(&d, DL_EINPUT, "first %d", 1), DL_EINPUT);
  assert_int_equal(dl_fail(&d, DL_EUSAGE, "second"), DL_EUSAGE);
  assert_error(&d, DL_EINPUT, "first 1");
  assert_int_equal(d.status, DL_OK);
  assert_null(d.error);
}

static void says_where(void **state) {
  struct dl_diag d = {0};

  (void)state;
  assert_int_equal(dl_fail_at(&d, DL_EINPUT, "a.csv", 17, "no '%s'", "x"),
                   DL_EINPUT);
  assert_error(&d, DL_EINPUT, "a.csv:17: no 'x'");
  dl_fail_at(&d, DL_EUSAGE, "a.csv", 0, "whole file");
  assert_error(&d, DL_EUSAGE, "a.csv: whole file");
  dl_fail_errno(&d, "/no/such", "cannot open", ENOENT);
  assert_error(&d, DL_EFAILED,
               "/no/such: " MSG_cannot_open("No such file or directory"));
}

/* Text from a user is no format. */
static void percent_signs_are_text(void **state) {
  struct dl_diag d = {0};

  (void)state;
  dl_fail_at(&d, DL_EINPUT, "100%s%n.csv", 3, "%s", "50%d");
  assert_error(&d, DL_EINPUT, "100%s%n.csv:3: 50%d");
}

static void cuts_long_messages(void **state) {
  struct dl_diag d = {0};
  char *text = malloc(10001);

  (void)state;
  memset(text, 'x', 10000);
  text[10000] = '\0';
  dl_fail(&d, DL_EINPUT, "%s", text);
  assert_int_equal(d.status, DL_EINPUT);
  assert_true(strlen(d.error) >= 1000 && strlen(d.error) < 10000);
  assert_int_equal(strspn(d.error, "x"), strlen(d.error));
  dl_diag_free(&d);
  free(text);
}

static void lists_each_warning_once(void **state) {
  struct dl_diag d = {0};

  (void)state;
  dl_warn(&d, "odd %s", "thing");
  dl_warn_at(&d, "a.csv", 4, "odd");
  dl_warn(&d, "odd %s", "thing");
  dl_warn_at(&d, "a.csv", 5, "odd");
  assert_int_equal(d.status, DL_OK);
  assert_int_equal(d.n_warnings, 3);
  assert_string_equal(d.warnings[0], "odd thing");
  assert_string_equal(d.warnings[1], "a.csv:4: odd");
  assert_string_equal(d.warnings[2], "a.csv:5: odd");
  assert_int_equal(d.n_more, 0);
  assert_int_equal(d.n_skipped, 0);
  dl_diag_free(&d);
  assert_int_equal(d.n_warnings, 0);
  assert_null(d.warnings);
}

static void bounds_the_list(void **state) {
  struct dl_diag d = {0};

  (void)state;
  for (size_t i = 1; i <= 1000; i++)
    dl_skip_at(&d, "a.csv", i, "bad row");
  assert_int_equal(d.n_skipped, 1000);
  assert_true(d.n_warnings > 0 && d.n_warnings < 1000);
  assert_int_equal(d.n_warnings + d.n_more, 1000);
  assert_string_equal(d.warnings[0], "a.csv:1: bad row");
  dl_diag_free(&d);
}

static void count_calls(void *ctx, const char *text) {
  assert_string_equal(text, *(size_t *)ctx == 0 ? "one" : "f:2: two");
  ++*(size_t *)ctx;
}

static void prints_warnings(void **state) {
  struct dl_diag d = {0};
  size_t calls = 0;

  (void)state;
  d.on_warning = count_calls;
  d.ctx = &calls;
  dl_warn(&d, "one");
  dl_warn(&d, "one");
  dl_skip_at(&d, "f", 2, "two");
  dl_fail(&d, DL_EINPUT, "an error is no warning");
  assert_int_equal(calls, 2);
  assert_int_equal(d.n_skipped, 1);
  dl_diag_free(&d);
}

static void keep_share(void *ctx, double share) {
  *(double *)ctx = share;
}

/* Shares of parts of parts are shares of the whole. */
static void progress(void **state) {
  (void)state;
  double share = -1;
  struct dl_progress p = {keep_share, &share, {0, 1}};
  struct dl_progress_span whole = dl_progress_enter(&p, 1, 2);
  dl_progress_step(&p, 0.5);
  assert_true(share == 0.75);
  struct dl_progress_span half = dl_progress_enter(&p, 3, 4);
  dl_progress_step(&p, 0);
  assert_true(share == 0.875);
  dl_progress_step(&p, 1);
  assert_true(share == 1);
  dl_progress_leave(&p, half);
  dl_progress_step(&p, 0);
  assert_true(share == 0.5);
  dl_progress_leave(&p, whole);
  dl_progress_step(&p, 0.25);
  assert_true(share == 0.25);
  dl_progress_leave(NULL, dl_progress_enter(NULL, 0, 1));
  dl_progress_step(NULL, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_first_error),
      cmocka_unit_test(says_where),
      cmocka_unit_test(percent_signs_are_text),
      cmocka_unit_test(cuts_long_messages),
      cmocka_unit_test(lists_each_warning_once),
      cmocka_unit_test(bounds_the_list),
      cmocka_unit_test(prints_warnings),
      cmocka_unit_test(progress),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
