/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns without a value: the same ones are found whatever the block size, and
 * all rows are handed out afterwards. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "io/csv.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

struct empty_case {
  const char *text;
  const char *found; /* the names that are found; then the number of rows */
};

/* The text behind a line that another reader of the file has read. */
static FILE *file_of(const char *text) {
  FILE *f = tmpfile();
  assert_non_null(f);
  fputs("first line\n", f);
  fputs(text, f);
  rewind(f);
  while (fgetc(f) != '\n')
    ;
  return f;
}

static void read_case(struct dl_text *out, const char *text,
                      size_t block_size) {
  const struct dl_csv_block *block = NULL;
  struct dl_csv *csv;
  struct dl_diag d = {0};
  size_t rows = 0, counted;
  char hex[33];
  assert_int_equal(
      dl_csv_open_stream(&csv, file_of(text), "t.csv", ';', block_size, &d),
      DL_OK);
  enum dl_status status = dl_csv_drop_empty(csv, &d);
  for (size_t i = 0; i < dl_csv_n_cols(csv); i++) {
    const char *name = dl_csv_name(csv, i);
    long found = dl_csv_find(csv, name);
    assert_int_equal(found, dl_csv_is_empty(csv, name) ? -1 : (long)i);
    if (found >= 0)
      dl_text_add(out, name);
  }
  while (status == DL_OK && (status = dl_csv_next(csv, &block, &d)) == DL_OK &&
         block)
    rows += block->n_rows;
  dl_csv_digest(csv, hex, &counted);
  assert_int_equal(rows, counted);
  dl_text_printf(out, " %zu%s", rows, status == DL_OK ? "" : " failed");
  assert_int_equal(dl_csv_find(csv, "none"), -1);
  assert_false(dl_csv_is_empty(csv, "none"));
  dl_csv_free(csv);
  dl_diag_free(&d);
}

static void test_columns(void **state) {
  static const struct empty_case cases[] = {
      {"a;b;c\n", "abc 0"},
      {"a;b;c\n1;;3\n", "ac 1"},
      {"a;b;c\n1;;\n;;3\n", "ac 2"},
      {"a;b;c\n1;;\n1;;\n1;;\n1;;\n1;;\n1;2;\n", "ab 6"},
      {"a;b;c\n;;\n;;\n;;\n", " 3"},
      {"a;b;c\n1;; \n1;\"\";\n", "a 2"},
      {"a;b;c\n1;2;3\n;;\n", "abc 2"},
      {"a;b;c\n1;2\n;;\n1;;\n", "a 2"}, /* the short row is skipped */
  };
  struct dl_text out = {0};
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    for (size_t block = 0; block <= 40; block++) {
      dl_text_clear(&out);
      read_case(&out, cases[i].text, block);
      if (strcmp(dl_text_str(&out), cases[i].found) != 0)
        fail_msg("block %zu: got '%s' for '%s'", block, out.s, cases[i].found);
    }
  dl_text_free(&out);
}

/* A file that cannot be read to its end says nothing about its columns. */
static void test_broken(void **state) {
  struct dl_text out = {0};
  (void)state;
  read_case(&out,
            "a;b;c\n1;;\n1;;\n1;;\n                                      "
            "                                                            \n"
            "\"1;;\n",
            8);
  assert_string_equal(dl_text_str(&out), "abc 3 failed");
  dl_text_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_columns),
      cmocka_unit_test(test_broken),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
