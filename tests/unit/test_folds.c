/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folds for cross-validation. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "math/cross_validation/folds.h"
#include "tests/messages.h"

/* scikit-learn's KFold(4) on 10 rows: sizes 3, 3, 2, 2, in row order. */
static void consecutive(void **state) {
  (void)state;
  static const size_t want[10] = {0, 0, 0, 1, 1, 1, 2, 2, 3, 3};
  struct dl_diag d = {0};
  struct dl_folds f;
  assert_int_equal(dl_folds_make(&f, DL_KFOLD, 10, 4, 0, &d), DL_OK);
  assert_int_equal(f.n, 10);
  assert_int_equal(f.k, 4);
  assert_null(f.name);
  assert_memory_equal(f.of_row, want, sizeof want);
  dl_folds_free(&f);
  dl_diag_free(&d);
}

static void count_sizes(const struct dl_folds *f, size_t *size) {
  memset(size, 0, f->k * sizeof *size);
  for (size_t i = 0; i < f->n; i++) {
    assert_true(f->of_row[i] < f->k);
    size[f->of_row[i]]++;
  }
}

static void shuffled(void **state) {
  (void)state;
  struct dl_diag d = {0};
  struct dl_folds a, b, c, plain;
  size_t size[5];
  assert_int_equal(dl_folds_make(&a, DL_KFOLD_SHUFFLED, 857, 5, 1, &d), DL_OK);
  assert_int_equal(dl_folds_make(&b, DL_KFOLD_SHUFFLED, 857, 5, 1, &d), DL_OK);
  assert_int_equal(dl_folds_make(&c, DL_KFOLD_SHUFFLED, 857, 5, 2, &d), DL_OK);
  assert_int_equal(dl_folds_make(&plain, DL_KFOLD, 857, 5, 0, &d), DL_OK);
  count_sizes(&a, size);
  assert_true(size[0] == 172 && size[1] == 172);
  assert_true(size[2] == 171 && size[3] == 171 && size[4] == 171);
  size_t bytes = 857 * sizeof *a.of_row;
  assert_memory_equal(a.of_row, b.of_row, bytes);
  assert_memory_not_equal(a.of_row, c.of_row, bytes);
  assert_memory_not_equal(a.of_row, plain.of_row, bytes);
  /* A shuffle spreads the rows of each fold over the whole. */
  size_t early = 0;
  for (size_t i = 0; i < 172; i++)
    early += a.of_row[i] == 0;
  assert_in_range(early, 15, 60);
  dl_folds_free(&a);
  dl_folds_free(&b);
  dl_folds_free(&c);
  dl_folds_free(&plain);
  dl_diag_free(&d);
}

static void groups(void **state) {
  (void)state;
  static const char *const labels[4] = {"a", "m", "of no row", "z"};
  static const size_t group[6] = {3, 0, 3, 1, 0, 3};
  static const size_t want[6] = {0, 1, 0, 2, 1, 0};
  struct dl_diag d = {0};
  struct dl_folds f;
  assert_int_equal(dl_folds_by_group(&f, group, 6, labels, 4, &d), DL_OK);
  assert_int_equal(f.k, 3);
  assert_memory_equal(f.of_row, want, sizeof want);
  assert_string_equal(f.name[0], "z");
  assert_string_equal(f.name[1], "a");
  assert_string_equal(f.name[2], "m");
  dl_folds_free(&f);
  assert_null(f.of_row);
  dl_folds_free(&f);
  dl_folds_free(NULL);
  dl_diag_free(&d);
}

/* More than 200 folds are held out in 50 sets, each fold in one of them. */
static void in_sets(void **state) {
  (void)state;
  static const size_t folds[2] = {200, 201}, sets[2] = {200, 50};
  for (size_t c = 0; c < 2; c++) {
    struct dl_diag d = {0};
    struct dl_folds f;
    size_t *of_row;
    assert_int_equal(dl_folds_make(&f, DL_KFOLD, 603, folds[c], 0, &d), DL_OK);
    struct dl_folds s = dl_folds_in_sets(&f, &of_row);
    assert_non_null(of_row);
    assert_int_equal(s.k, sets[c]);
    assert_int_equal(s.n, 603);
    for (size_t i = 0; i < 603; i++)
      assert_int_equal(s.of_row[i], f.of_row[i] % sets[c]);
    free(of_row);
    dl_folds_free(&f);
    dl_diag_free(&d);
  }
}

static void refused(enum dl_scheme scheme, size_t n, size_t k,
                    const char *why) {
  static const char *const label[1] = {"a"};
  static const size_t same[3] = {0};
  struct dl_diag d = {0};
  struct dl_folds f;
  assert_int_equal(scheme == DL_GROUP
                       ? dl_folds_by_group(&f, same, n, label, 1, &d)
                       : dl_folds_make(&f, scheme, n, k, 0, &d),
                   DL_EINPUT);
  assert_non_null(strstr(d.error, why));
  assert_null(f.of_row);
  dl_diag_free(&d);
}

static void errors(void **state) {
  (void)state;
  refused(DL_KFOLD, 10, 1, "at least 2 folds");
  refused(DL_KFOLD, 10, 0, "at least 2 folds");
  refused(DL_KFOLD, 4, 5, MSG_cannot_make_folds_rows("5", "4"));
  refused(DL_KFOLD_SHUFFLED, 4, 5, MSG_cannot_make_folds_rows("5", "4"));
  refused(DL_GROUP, 3, 0, "at least 2 groups, found 1");
  refused(DL_GROUP, 0, 0, "at least 2 groups, found 0");
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(consecutive), cmocka_unit_test(shuffled),
      cmocka_unit_test(groups),      cmocka_unit_test(in_sets),
      cmocka_unit_test(errors),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
