/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Later headers in a CSV file. Each text is read with many block sizes: rows,
 * lines and messages must be the same. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "io/csv.h"
#include "tests/messages.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Names, rows as "LINE:CELL|CELL", warnings and the error. */
static void read_text(struct dl_text *out, const char *text,
                      size_t block_size) {
  const struct dl_csv_block *b;
  struct dl_csv *csv = NULL;
  struct dl_diag d = {0};
  FILE *f = fmemopen((void *)(uintptr_t)text, strlen(text), "rb");
  dl_text_clear(out);
  if (dl_csv_open_stream(&csv, f, "t.csv", 0, block_size, &d) == DL_OK) {
    for (size_t i = 0; i < dl_csv_n_cols(csv); i++)
      dl_text_printf(out, i == 0 ? "%s" : "|%s", dl_csv_name(csv, i));
    dl_text_add(out, "\n");
    while (dl_csv_next(csv, &b, &d) == DL_OK && b)
      for (size_t i = 0; i < b->n_rows * b->n_cols; i++) {
        if (i % b->n_cols == 0)
          dl_text_printf(out, "%zu:", b->line[i / b->n_cols]);
        dl_text_printf(out, "%s%s", b->cell[i],
                       (i + 1) % b->n_cols == 0 ? "\n" : "|");
      }
  }
  for (size_t i = 0; i < d.n_warnings; i++)
    dl_text_printf(out, "W %s\n", d.warnings[i]);
  if (d.error)
    dl_text_printf(out, "E %s\n", d.error);
  dl_csv_free(csv);
  dl_diag_free(&d);
}

static void check(const char *text, const char *expected) {
  struct dl_text out = {0};
  for (size_t block = 1; block <= 40; block++) {
    read_text(&out, text, block);
    if (strcmp(dl_text_str(&out), expected) != 0)
      fail_msg("block %zu: got\n%sfor\n%s", block, out.s, expected);
  }
  dl_text_free(&out);
}

/* A later header in any order of its columns, case and spacing; one that lacks
 * columns. Names of data are none. */
static void test_later_headers(void **state) {
  static const struct {
    const char *text, *expected;
  } cases[] = {
      {"a,b,c\n1,2,3\na,b,c\n4,5,6\n", "a|b|c\n2:1|2|3\n4:4|5|6\n"},
      {"a,b,c\n1,2,3\nc,a,b\n6,4,5\na,b,c\n7,8,9\n",
       "a|b|c\n2:1|2|3\n4:4|5|6\n6:7|8|9\n"},
      {"a,b x,c\n1,2,3\n\"C\",A, Bx\n6,4,5", "a|b x|c\n2:1|2|3\n4:4|5|6\n"},
      {"a,b,c\r\nc,a\r\n3,1\r\n1,2,3\r\n",
       "a|b|c\n3:1||3\nW t.csv:4: " MSG_expected_fields_found("2", "3") "\n"},
      {"a\n1\na\n2\n", "a\n2:1\n4:2\n"},
      {"a,b,c\nx,y,b\na,a,b\na,,b\nc,a,1\n",
       "a|b|c\n2:x|y|b\n3:a|a|b\n4:a||b\n5:c|a|1\n"},
      {"name,gpu,x\ngpu,node,1\ngpu,node,n/a\n",
       "name|gpu|x\n2:gpu|node|1\n3:gpu|node|n/a\n"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    check(cases[i].text, cases[i].expected);
}

/* New columns are refused, or come behind the others. */
static void test_new_columns(void **state) {
  static const char text[] = "a,b\n1,2\na,b,c\n3,4,5\nd,b,a\n6,7,8\nb,a\n9,0\n";
  struct dl_text out = {0};
  (void)state;
  check("a,b\na,b,c\n3,4,5\n",
        "a|b\nE t.csv:2: " MSG_a_later_header_with("c") "\n");
  for (size_t size = 1; size < sizeof text; size++) {
    const struct dl_csv_block *block;
    struct dl_csv *csv = NULL;
    struct dl_diag d = {0};
    assert_int_equal(dl_csv_open_stream(&csv,
                                        fmemopen((void *)(uintptr_t)text,
                                                 sizeof text - 1, "rb"),
                                        "t.csv", 0, size, &d),
                     DL_OK);
    dl_csv_let_grow(csv);
    dl_text_clear(&out);
    while (dl_csv_next(csv, &block, &d) == DL_OK && block)
      for (size_t i = 0; i < block->n_rows; i++) {
        assert_int_equal(block->n_cols, dl_csv_n_cols(csv));
        for (size_t j = 0; j < 4; j++) {
          const char *cell =
              j < block->n_cols ? block->cell[i * block->n_cols + j] : "";
          dl_text_printf(&out, j == 0 ? "%s" : "|%s", cell);
        }
        dl_text_add(&out, "\n");
      }
    assert_int_equal(d.n_warnings, 0);
    assert_int_equal(d.status, DL_OK);
    assert_string_equal(dl_text_str(&out), "1|2||\n3|4|5|\n8|7||6\n0|9||\n");
    assert_string_equal(dl_csv_name(csv, 3), "d");
    dl_csv_free(csv);
  }
  dl_text_free(&out);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_later_headers),
      cmocka_unit_test(test_new_columns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
