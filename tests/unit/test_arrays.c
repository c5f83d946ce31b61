/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Named arrays. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include <gsl/gsl_errno.h>

#include "math/numeric/named_arrays.h"

static void keeps_copies(void **state) {
  (void)state;
  struct dl_arrays as = {0};
  gsl_matrix *m = gsl_matrix_alloc(3, 4);
  for (size_t i = 0; i < 12; i++)
    m->data[i] = (double)i;
  /* Views with a stride and a row length of their own. */
  gsl_matrix_view part = gsl_matrix_submatrix(m, 1, 1, 2, 2);
  gsl_vector_view column = gsl_matrix_column(m, 3);
  dl_arrays_add_scalar(&as, "s", 0.1);
  dl_arrays_add_vector(&as, "v", &column.vector);
  dl_arrays_add_matrix(&as, "m", &part.matrix);
  gsl_matrix_set_zero(m);

  const struct dl_array *a = dl_arrays_find(&as, "s");
  assert_true(a && a->rows == 1 && a->cols == 1 && a->data[0] == 0.1);
  a = dl_arrays_find(&as, "v");
  assert_true(a && a->rows == 3 && a->cols == 1);
  assert_true(a->data[0] == 3 && a->data[1] == 7 && a->data[2] == 11);
  a = dl_arrays_find(&as, "m");
  assert_true(a && a->rows == 2 && a->cols == 2);
  assert_true(a->data[0] == 5 && a->data[1] == 6);
  assert_true(a->data[2] == 9 && a->data[3] == 10);
  assert_null(dl_arrays_find(&as, "x"));
  gsl_matrix_free(m);
  dl_arrays_free(&as);
  assert_null(as.a);
  assert_int_equal(as.n, 0);
}

static void cuts_long_names(void **state) {
  (void)state;
  struct dl_arrays as = {0};
  const char *name = "0123456789012345678901234567890123456789";
  dl_arrays_add_scalar(&as, name, 1);
  assert_string_equal(as.a[0].name, "0123456789012345678901234567890");
  dl_arrays_free(&as);
}

static void grows(void **state) {
  (void)state;
  struct dl_arrays as = {0};
  char name[16];
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, "a%d", i);
    dl_arrays_add_scalar(&as, name, i);
  }
  assert_int_equal(as.n, 100);
  assert_true(dl_arrays_find(&as, "a73")->data[0] == 73);
  dl_arrays_free(&as);
}

static void free_accepts_nothing(void **state) {
  (void)state;
  struct dl_arrays as = {0};
  dl_arrays_free(NULL);
  dl_arrays_free(&as);
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keeps_copies),
      cmocka_unit_test(cuts_long_names),
      cmocka_unit_test(grows),
      cmocka_unit_test(free_accepts_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
