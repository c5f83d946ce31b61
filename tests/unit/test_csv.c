/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The CSV reader and writer. Each text is read with many block sizes: rows,
 * lines and messages must be the same. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "io/csv.h"
#include "tests/messages.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define MIB ((size_t)1 << 20)

/* A text with its length, for those that have NUL bytes. */
#define TEXT(s) s, sizeof(s) - 1

#define BOM "\357\273\277"
#define BINARY "E t.csv: " MSG_not_a_csv_file "\n"

/* A text and what read_text() makes of it. */
struct text_case {
  const char *text;
  size_t len;
  const char *expected;
};

static FILE *memory_file(const char *text, size_t len) {
  return fmemopen((void *)(uintptr_t)text, len, "rb");
}

static void add_block(struct dl_text *out, const struct dl_csv_block *b) {
  for (size_t i = 0; i < b->n_rows; i++) {
    dl_text_printf(out, "%zu:", b->line[i]);
    for (size_t j = 0; j < b->n_cols; j++)
      dl_text_printf(out, j == 0 ? "%s" : "|%s", b->cell[i * b->n_cols + j]);
    dl_text_add(out, "\n");
  }
}

/* Reads a text and writes down all that comes of it: names, rows as
 * "LINE:CELL|CELL", then warnings and the error. */
static void read_text(struct dl_text *out, const char *text, size_t len,
                      char delimiter, size_t block_size) {
  const struct dl_csv_block *block;
  struct dl_csv *csv = NULL;
  struct dl_diag d = {0};
  size_t rows = 0, seen = 0;
  char hex[33];

  if (dl_csv_open_stream(&csv, memory_file(text, len), "t.csv", delimiter,
                         block_size, &d) == DL_OK) {
    for (size_t i = 0; i < dl_csv_n_cols(csv); i++)
      dl_text_printf(out, i == 0 ? "%s" : "|%s", dl_csv_name(csv, i));
    dl_text_add(out, "\n");
    while (dl_csv_next(csv, &block, &d) == DL_OK && block != NULL) {
      assert_true(block->n_rows > 0);
      assert_int_equal(block->n_cols, dl_csv_n_cols(csv));
      seen += block->n_rows;
      add_block(out, block);
    }
    assert_null(block);
    dl_csv_digest(csv, hex, &rows);
    assert_int_equal(rows, seen);
    if (d.status == DL_OK)
      assert_int_equal(dl_csv_next(csv, &block, &d), DL_OK);
    assert_null(block);
  }
  for (size_t i = 0; i < d.n_warnings; i++)
    dl_text_printf(out, "W %s\n", d.warnings[i]);
  if (d.error != NULL)
    dl_text_printf(out, "E %s\n", d.error);
  dl_csv_free(csv);
  dl_diag_free(&d);
}

/* Reads a text in every way; blocks from 1 to `blocks` bytes. */
static void check_all(const char *text, size_t len, const char *expected,
                      size_t blocks) {
  struct dl_text out = {0};

  for (size_t block = 1; block <= blocks; block++) {
    dl_text_clear(&out);
    read_text(&out, text, len, 0, block);
    if (strcmp(dl_text_str(&out), expected) != 0)
      fail_msg("block %zu: got\n%sfor\n%s", block, out.s, expected);
  }
  dl_text_clear(&out);
  read_text(&out, text, len, 0, 0);
  assert_string_equal(dl_text_str(&out), expected);
  dl_text_free(&out);
}

static void check_cases(const struct text_case *c, size_t n, size_t blocks) {
  for (size_t i = 0; i < n; i++)
    check_all(c[i].text, c[i].len, c[i].expected, blocks);
}

static void test_rows(void **state) {
  static const struct text_case cases[] = {
      {TEXT("a,b\n1,2\n3,4\n"), "a|b\n2:1|2\n3:3|4\n"},
      {TEXT("a,b\n1,2\n3,4"), "a|b\n2:1|2\n3:3|4\n"},
      {TEXT("a\tb\n1\t2\n"), "a|b\n2:1|2\n"},
      {TEXT("a;b\n1,5;x,y\n-0,25e3;1,2,3\n"),
       "a|b\n2:1.5|x,y\n3:-0.25e3|1,2,3\n"},
      {TEXT("a,b\r\n1,2\r\n\r\n3,4\r\n"), "a|b\n2:1|2\n4:3|4\n"},
      {TEXT("a,b\r1,2\r\r3,4\r"), "a|b\n2:1|2\n4:3|4\n"},
      {TEXT("\n\na,b\n\n \t\n1,2\n\n\n3,4\n\n"), "a|b\n6:1|2\n9:3|4\n"},
      {TEXT("a,b\r\n1,2\r \n3,4\r\n\t\r\n5,6"), "a|b\n2:1|2\n4:3|4\n6:5|6\n"},
      {TEXT("a,b\r \r\n1,2"), "a|b\n3:1|2\n"},
      {TEXT("a,b\n1,2\r3,4\n5,6\r\n7,8\r"),
       "a|b\n2:1|2\n3:3|4\n4:5|6\n5:7|8\n"},
      {TEXT(BOM "a,b\n1,2\n"), "a|b\n2:1|2\n"},
      {TEXT(BOM "\"a\",b\n1,2\n"), "a|b\n2:1|2\n"},
      {TEXT("a,b\n"), "a|b\n"},
      {TEXT("a,b"), "a|b\n"},
      {TEXT("a,b\r\n\r\n"), "a|b\n"},
      {TEXT("a\n1\n\n\"\"\n2\n"), "a\n2:1\n4:\n5:2\n"},
      {TEXT(" a , b \n 1 ,\t2 x \n ,\n"), "a|b\n2:1|2 x\n3:|\n"},
      {TEXT("a,b\n1,\n,2\n,\n"), "a|b\n2:1|\n3:|2\n4:|\n"},
      {TEXT("a,b\n0123456789abcde,0123456789abcdef\n"
            "0123456789abcdefg,0\n"),
       "a|b\n2:0123456789abcde|0123456789abcdef\n3:0123456789abcdefg|0\n"},
  };

  (void)state;
  check_cases(cases, COUNT(cases), 40);
}

static void test_quotes(void **state) {
  static const struct text_case cases[] = {
      {TEXT("a,b\n\"1\",\"2,3\"\n4,\" 5 \"\n"), "a|b\n2:1|2,3\n3:4| 5 \n"},
      {TEXT("a,b\n1,2\n\"x\ny\",3\n4,5\n"), "a|b\n2:1|2\n3:x\ny|3\n5:4|5\n"},
      {TEXT("a,b\r\n1,\"x\r\n\r\ny\"\r\n\r\n4,5\r\n"),
       "a|b\n2:1|x\r\n\r\ny\n6:4|5\n"},
      {TEXT("a,b\r1,\"x\ry\r\"\r4,5\r"), "a|b\n2:1|x\ry\r\n5:4|5\n"},
      {TEXT("a,b\n\"\"\"q\"\"\",\"\"\n1,\"2\"  \n"), "a|b\n2:\"q\"|\n3:1|2\n"},
      {TEXT("\"a\nb\",\"c\"\n1,2\n\"3\",4"), "a\nb|c\n3:1|2\n4:3|4\n"},
      {TEXT("a,b\n1,2\n3,4\n5,6\"\n7,8\n"),
       "a|b\n2:1|2\n3:3|4\n4:5|6\"\n5:7|8\n"},
      {TEXT("a,b\n1,2\n\"x\n\",3,4\n5,6\n\"y\nz\",7\n"),
       "a|b\n2:1|2\n5:5|6\n6:y\nz|7\nW t.csv:3: expected 2 fields, found 3\n"},
      {TEXT("a,b\n1,\"long enough to be copied over\"\n"
            "2,\"and to cross edges, with\n lines\"\n3,\"last\""),
       "a|b\n2:1|long enough to be copied over\n"
       "3:2|and to cross edges, with\n lines\n5:3|last\n"},
      {TEXT("a,\"b\n1,2\n"), "E t.csv:1: " MSG_quote_not_closed "\n"},
  };

  (void)state;
  check_cases(cases, COUNT(cases), 60);
}

static void test_bad_rows(void **state) {
  static const struct text_case cases[] = {
      {TEXT("a,b\n1\n1,2\n\n1,2,3\n4,5\n"),
       "a|b\n3:1|2\n6:4|5\nW t.csv:2: expected 2 fields, found 1\n"
       "W t.csv:5: expected 2 fields, found 3\n"},
      {TEXT("a,b\r\n1\r\n2\r\n3,4\r\n5"),
       "a|b\n4:3|4\nW t.csv:2: expected 2 fields, found 1\n"
       "W t.csv:3: expected 2 fields, found 1\n"
       "W t.csv:5: expected 2 fields, found 1\n"},
      {TEXT("a,b\n1,2\n3,\0004\n5,6\n\000\n7,8\n\"9\000\",1\n2,3"),
       "a|b\n2:1|2\n4:5|6\n6:7|8\n8:2|3\nW t.csv:3: NUL byte\n"
       "W t.csv:5: NUL byte\nW t.csv:7: NUL byte\n"},
  };

  (void)state;
  check_cases(cases, COUNT(cases), 60);
}

static void test_refused(void **state) {
  static const struct text_case cases[] = {
      {TEXT(""), "E t.csv: " MSG_empty_file "\n"},
      {TEXT("\n \r\n"), "E t.csv: " MSG_no_header "\n"},
      {TEXT(BOM), "E t.csv: " MSG_no_header "\n"},
      {TEXT("a,b,a\n1,2,3\n"), "E t.csv:1: " MSG_duplicate_column("a") "\n"},
      {TEXT("\n\nx,y,z,\"y\"\n"), "E t.csv:3: " MSG_duplicate_column("y") "\n"},
      {TEXT("a,,c\n"), "E t.csv:1: " MSG_column_has_no_name("2") "\n"},
      {TEXT("a,\"\"\n"), "E t.csv:1: " MSG_column_has_no_name("2") "\n"},
      {TEXT("a,b,\n1,2,3\n"), "E t.csv:1: " MSG_column_has_no_name("3") "\n"},
      {TEXT("a\0,b\n"), BINARY},
      {TEXT("\177ELF\2\1\1\0\0\0\n"), BINARY},
      {TEXT("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), BINARY},
      {TEXT("\377\376a\0,\0b\0\n\0"), "E t.csv: " MSG_utf_16_text_pass "\n"},
      {TEXT("\x1f\x8b\b\0\0\0"),
       "E t.csv: " MSG_compressed_pass_through("zcat") "\n"},
      {TEXT("a|b\n1|2\n"), "E t.csv:1: " MSG_columns_are_separated("'|'") "\n"},
  };

  (void)state;
  check_cases(cases, COUNT(cases), 20);
}

/* The rows before an error are handed out or not, but the error is told. */
static void check_open_quote(const char *text, const char *expected) {
  for (size_t block = 1; block < 40; block++) {
    struct dl_text out = {0};

    read_text(&out, text, strlen(text), 0, block);
    assert_string_equal(strstr(out.s, "E "), expected);
    dl_text_free(&out);
  }
}

static void test_open_quote(void **state) {
  static const char line3[] = "E t.csv:3: " MSG_quote_not_closed "\n";

  (void)state;
  check_open_quote("a,b\n1,2\n\"x\n,y\n", line3);
  check_open_quote("a,b\r\n\"1\r\n2\",\"3\r\n4", line3);
  check_open_quote("a,b\n1,2\n3,\"", line3);
}

/* A header that is longer than the blocks it is read in. */
static void test_long_header(void **state) {
  struct dl_text text = {0}, expected = {0};

  (void)state;
  for (int i = 0; i < 200; i++) {
    dl_text_printf(&text, i == 0 ? "c%d" : ",c%d", i);
    dl_text_printf(&expected, i == 0 ? "c%d" : "|c%d", i);
  }
  dl_text_add(&text, "\r\n1,2\r\n");
  dl_text_add(&expected, "\nW t.csv:2: expected 200 fields, found 2\n");
  check_all(text.s, text.len, expected.s, 80);
  dl_text_free(&text);
  dl_text_free(&expected);
}

static void test_delimiters(void **state) {
  struct dl_text out = {0};

  (void)state;
  read_text(&out, TEXT("a;b,c\n1,5;2\n"), ';', 0);
  read_text(&out, TEXT("a\tb\n 1 2\t\n\r\t3\n"), '\t', 0);
  assert_string_equal(dl_text_str(&out), "a|b,c\n2:1,5|2\na|b\n2:1 2|\n4:|3\n");
  dl_text_free(&out);
}

static void add_many(struct dl_text *text, char c, size_t n) {
  char *s = malloc(n);

  assert_non_null(s);
  memset(s, c, n);
  dl_text_add_n(text, s, n);
  free(s);
}

/* A row with a cell of `n` bytes between others, with quotes or without. The
 * rows before an error may be handed out or not. */
static void check_long_row(size_t n, const char *quote, const char *error) {
  struct dl_text text = {0}, want = {0}, got = {0};

  dl_text_printf(&text, "a,b\n1,2\n\n%s", quote);
  add_many(&text, 'x', n);
  dl_text_printf(&text, "%s,2\n3,4\n", quote);
  dl_text_add(&want, "a|b\n2:1|2\n4:");
  add_many(&want, 'x', n);
  dl_text_add(&want, "|2\n5:3|4\n");
  read_text(&got, text.s, text.len, 0, 0);
  assert_true(error != NULL ? strstr(got.s, error) != NULL
                            : strcmp(got.s, want.s) == 0);
  dl_text_free(&text);
  dl_text_free(&want);
  dl_text_free(&got);
}

static void test_long_rows(void **state) {
  static const char plain[] = "E t.csv:4: " MSG_row_longer_than_mib("16") "\n";
  static const char quoted[] =
      "E t.csv:4: " MSG_row_longer_than_mib_or("16") "\n";

  (void)state;
  check_long_row(MIB, "", NULL);
  check_long_row(MIB, "\"", NULL);
  check_long_row(16 * MIB - 10, "", NULL);
  check_long_row(16 * MIB - 10, "\"", NULL);
  check_long_row(16 * MIB, "", plain);
  check_long_row(20 * MIB, "", plain);
  check_long_row(40 * MIB, "", plain);
  check_long_row(16 * MIB, "\"", quoted);
  check_long_row(40 * MIB, "\"", quoted);
}

static void test_long_lines(void **state) {
  struct dl_text text = {0}, out = {0};

  (void)state;
  dl_text_add(&text, "a,b\n");
  add_many(&text, ',', MIB); /* one row, too many fields */
  dl_text_add(&text, "\n3,4\n");
  read_text(&out, text.s, text.len, 0, 0);
  dl_text_clear(&text);
  add_many(&text, 'a', 17 * MIB);
  read_text(&out, text.s, text.len, 0, 0);
  assert_string_equal(out.s, "a|b\n3:3|4\n"
                             "W t.csv:2: expected 2 fields, found 1048577\n"
                             "E t.csv:1: row longer than 16 MiB\n");
  dl_text_free(&text);
  dl_text_free(&out);
}

/* Several blocks of the real size: the text and its rows must agree. */
static void test_large(void **state) {
  (void)state;
  for (int quoted = 0; quoted < 2; quoted++) {
    struct dl_text text = {0}, want = {0}, got = {0};

    dl_text_add(&text, "a,b\n");
    dl_text_add(&want, "a|b\n");
    for (size_t i = 0; i < 700000; i++) {
      dl_text_printf(&text, "%zu,%zu.5\n", i, i % 977);
      dl_text_printf(&want, "%zu:%zu|%zu.5\n", i + 2, i, i % 977);
    }
    dl_text_add(&text, quoted ? "7,\"quoted\n\"\n" : "");
    dl_text_add(&want, quoted ? "700002:7|quoted\n\n" : "");
    read_text(&got, text.s, text.len, 0, 0);
    assert_true(got.len == want.len && strcmp(got.s, want.s) == 0);
    dl_text_free(&text);
    dl_text_free(&want);
    dl_text_free(&got);
  }
}

/* The digest is that of `printf 'a,b\n1,2\n' | xxhsum -H2` (xxhash 0.8.1). */
static void test_digest(void **state) {
  const struct dl_csv_block *block;
  struct dl_csv *csv;
  struct dl_diag d = {0};
  char hex[33];
  size_t rows;

  (void)state;
  dl_csv_open_stream(&csv, memory_file(TEXT("a,b\n1,2\n")), "t.csv", 0, 0, &d);
  assert_non_null(csv);
  dl_csv_digest(csv, hex, &rows);
  assert_int_equal(rows, 0);
  assert_int_equal(dl_csv_next(csv, &block, &d), DL_OK);
  dl_csv_digest(csv, hex, &rows);
  assert_string_equal(hex, "16d51c327d7d2547a793f8d7bbc4457a");
  assert_int_equal(rows, 1);
  assert_int_equal(dl_csv_find(csv, "b"), 1);
  assert_int_equal(dl_csv_find(csv, "c"), -1);
  assert_string_equal(dl_csv_path(csv), "t.csv");
  dl_csv_free(csv);
  dl_csv_free(NULL);
  dl_diag_free(&d);
}

static void test_paths(void **state) {
  struct dl_csv *csv;
  struct dl_diag d = {0};

  (void)state;
  assert_int_not_equal(dl_csv_open(&csv, "/tmp", 0, &d), DL_OK);
  assert_null(csv);
  assert_non_null(strstr(d.error, "/tmp: "));
  dl_diag_free(&d);
  assert_int_equal(dl_csv_open(&csv, "/nonexistent/x.csv", 0, &d), DL_EFAILED);
  assert_non_null(strstr(d.error, "/nonexistent/x.csv: cannot open"));
  dl_diag_free(&d);
}

/* Standard input that is a pipe, written in pieces. */
static void test_stdin(void **state) {
  const struct dl_csv_block *block;
  struct dl_text out = {0};
  struct dl_csv *csv;
  struct dl_diag d = {0};
  int ends[2], old;

  (void)state;
#ifdef __EMSCRIPTEN__
  skip(); /* its pipes cannot stand for the descriptors of Node.js */
#endif
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(write(ends[1], "a,b\n1,2\n3\n4,", 12), 12);
  assert_int_equal(write(ends[1], "5\n", 2), 2);
  close(ends[1]);
  old = dup(STDIN_FILENO);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  assert_int_equal(dl_csv_open(&csv, "-", 0, &d), DL_OK);
  assert_string_equal(dl_csv_path(csv), "<stdin>");
  while (dl_csv_next(csv, &block, &d) == DL_OK && block != NULL)
    add_block(&out, block);
  assert_string_equal(dl_text_str(&out), "2:1|2\n4:4|5\n");
  assert_int_equal(d.n_skipped, 1);
  assert_string_equal(d.warnings[0],
                      "<stdin>:3: " MSG_expected_fields_found("2", "1"));
  dl_csv_free(csv);
  dl_diag_free(&d);
  dl_text_free(&out);
  dup2(old, STDIN_FILENO);
  close(old);
  clearerr(stdin);
}

static ssize_t failing_read(void *cookie, char *buf, size_t size) {
  size_t *left = cookie;

  if (*left == 0) {
    errno = EIO;
    return -1;
  }
  size = size < *left ? size : *left;
  memset(buf, '\n', size);
  memcpy(buf, "a\n1\n", size < 4 ? size : 4);
  *left -= size;
  return (ssize_t)size;
}

/* A file that cannot be read to its end is an error, not a shorter file. */
static void test_read_error(void **state) {
  static const size_t sizes[] = {0, 4, 1000};
  const cookie_io_functions_t io = {.read = failing_read};

  (void)state;
  for (size_t i = 0; i < COUNT(sizes); i++) {
    const struct dl_csv_block *block;
    size_t left = sizes[i];
    struct dl_csv *csv;
    struct dl_diag d = {0};

    if (dl_csv_open_stream(&csv, fopencookie(&left, "r", io), "t.csv", 0, 8,
                           &d) == DL_OK)
      while (dl_csv_next(csv, &block, &d) == DL_OK && block != NULL)
        ;
    assert_int_equal(d.status, DL_EFAILED);
    DL_TEXT(expected);
    dl_text_printf(&expected, "t.csv: " MSG_cannot_read("%s"), strerror(EIO));
    assert_string_equal(d.error, expected.s);
    dl_csv_free(csv);
    dl_diag_free(&d);
  }
}

/* What is written reads back. */
static void test_write(void **state) {
  static const struct {
    const char *cell, *written;
  } cases[] = {
      {"", ""},           {"plain", "plain"},       {"1.5", "1.5"},
      {"a b", "a b"},     {" a", "\" a\""},         {"a\t", "\"a\t\""},
      {"a,b", "\"a,b\""}, {"a\"b", "\"a\"\"b\""},   {"a\nb", "\"a\nb\""},
      {"a\r", "\"a\r\""}, {"\xC3\xA9", "\xC3\xA9"},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    char *text = NULL;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    struct dl_text out = {0}, expected = {0};

    dl_csv_write_cell(f, cases[i].cell);
    fflush(f);
    assert_string_equal(text, cases[i].written);
    rewind(f);
    fputs("x,y\n", f);
    dl_csv_write_cell(f, cases[i].cell);
    fputs(",2\n", f);
    fclose(f);
    dl_text_printf(&expected, "x|y\n2:%s|2\n", cases[i].cell);
    read_text(&out, text, len, 0, 0);
    assert_string_equal(out.s, expected.s);
    free(text);
    dl_text_free(&out);
    dl_text_free(&expected);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),       cmocka_unit_test(test_quotes),
      cmocka_unit_test(test_bad_rows),   cmocka_unit_test(test_refused),

      cmocka_unit_test(test_open_quote), cmocka_unit_test(test_long_header),
      cmocka_unit_test(test_delimiters), cmocka_unit_test(test_long_rows),
      cmocka_unit_test(test_long_lines), cmocka_unit_test(test_large),
      cmocka_unit_test(test_digest),     cmocka_unit_test(test_paths),
      cmocka_unit_test(test_stdin),      cmocka_unit_test(test_read_error),
      cmocka_unit_test(test_write),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
