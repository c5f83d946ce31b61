/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON and CSV, reports against streams, writes that fail. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "config.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "output/render.h"
#include "tests/messages.h"

static const struct dl_column COLUMNS[] = {
    {.key = "name", .heading = "name"},
    {.key = "energy_j", .heading = "energy", .unit = "J", .style = DL_ENERGY},
    {.key = "runs", .heading = "runs"},
    {.key = "ok", .heading = "ok"},
    {.key = "tags", .heading = "tags"},
    {.key = NULL, .heading = "for people"},
};
#define N_COLUMNS (sizeof COLUMNS / sizeof *COLUMNS)
#define N_ROWS 4

static const struct dl_table_form TABLE = {"rows", COLUMNS, N_COLUMNS};

static const char *const TAGS[] = {"a", "b c", NULL};

static void fill_row(struct dl_value v[N_COLUMNS], size_t i) {
  static const char *const names[N_ROWS] = {"plain", "with, \"comma\"\n", "",
                                            NULL};
  static const double energies[N_ROWS] = {0.1, 1e-300, NAN, 123456789.25};
  v[0] = dl_string(names[i]);
  v[1] = dl_number(energies[i]);
  v[2] = dl_count(i * 1000000);
  v[3] = dl_bool(i % 2);
  v[4] = dl_strings(TAGS, i < 3 ? i : 3);
  v[5] = dl_string("not for programs");
}

static char *render(const struct dl_report *r, const char *format) {
  char *s = NULL;
  size_t len;
  struct dl_diag d = {0};
  FILE *f = open_memstream(&s, &len);
  assert_int_equal(dl_format_report(dl_format_find(format), r, f, NULL, &d),
                   DL_OK);
  fclose(f);
  dl_diag_free(&d);
  return s;
}

static char *report_of_rows(const char *format) {
  struct dl_value v[N_COLUMNS];
  struct dl_report *r = dl_report_new();
  struct dl_table *t =
      dl_report_table(r, "rows", NULL, COLUMNS, N_COLUMNS, true);
  for (size_t i = 0; i < N_ROWS; i++) {
    fill_row(v, i);
    dl_table_row(t, v, NULL);
  }
  dl_report_add(r, "warnings", NULL, NULL, DL_PLAIN, dl_strings(NULL, 0));
  char *s = render(r, format);
  dl_report_free(r);
  return s;
}

static char *stream_of_rows(const char *format, size_t n, size_t warnings) {
  const struct dl_format *format_ = dl_format_find(format);
  struct dl_value v[N_COLUMNS];
  struct dl_stream *stream;
  char *s = NULL;
  size_t len;
  struct dl_diag d = {0};
  FILE *f = open_memstream(&s, &len);
  assert_int_equal(dl_stream_begin(&stream, format_, f, &TABLE, &d), DL_OK);
  for (size_t i = 0; i < n; i++) {
    fill_row(v, i % N_ROWS);
    assert_int_equal(dl_stream_row(stream, v, NULL, &d), DL_OK);
  }
  for (size_t i = 0; i < warnings; i++)
    dl_warn(&d, "warning \"%zu\"", i);
  assert_int_equal(dl_stream_end(stream, &d), DL_OK);
  fclose(f);
  dl_diag_free(&d);
  return s;
}

/* Parses and frees a document. */
static json_t *parse(char *s) {
  json_error_t e;
  json_t *doc = json_loads(s, JSON_REJECT_DUPLICATES, &e);
  if (!doc)
    print_error("%s\n%s:%d\n", s, e.text, e.line);
  assert_non_null(doc);
  free(s);
  return doc;
}

static void formats_are_found(void **state) {
  (void)state;
  assert_non_null(dl_formats[10]);
  assert_null(dl_formats[11]);
  assert_null(dl_format_find("xml"));
  for (size_t i = 0; dl_formats[i]; i++) {
    const struct dl_format *f = dl_formats[i];
    assert_ptr_equal(dl_format_find(f->name), f);
    assert_non_null(f->summary);
  }
}

static void json_rows_read_back(void **state) {
  (void)state;
  json_t *doc = parse(report_of_rows("json"));
  json_t *rows = json_object_get(doc, "rows");
  assert_int_equal(json_array_size(rows), N_ROWS);
  for (size_t i = 0; i < N_ROWS; i++) {
    struct dl_value v[N_COLUMNS];
    json_t *row = json_array_get(rows, i);
    fill_row(v, i);
    assert_int_equal(json_object_size(row), N_COLUMNS - 1);
    json_t *name = json_object_get(row, "name");
    json_t *energy = json_object_get(row, "energy_j");
    if (v[0].type == DL_NULL)
      assert_true(json_is_null(name));
    else
      assert_string_equal(json_string_value(name), v[0].string);
    if (v[1].type == DL_NULL)
      assert_true(json_is_null(energy));
    else
      assert_true(json_number_value(energy) == v[1].number);
    assert_int_equal(json_integer_value(json_object_get(row, "runs")),
                     v[2].count);
    assert_int_equal(json_is_true(json_object_get(row, "ok")), v[3].count);
    assert_int_equal(json_array_size(json_object_get(row, "tags")),
                     v[4].n_strings);
  }
  json_decref(doc);
}

static void json_numbers_are_exact(void **state) {
  (void)state;
  const double numbers[] = {0.1,     1.0 / 3,      1e-300,  DBL_MAX,
                            DBL_MIN, DBL_TRUE_MIN, -2.5e-7, 9007199254740993.0,
                            1e22,    0.3 - 0.1};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct dl_report *r = dl_report_new();
    dl_report_add(r, "x", NULL, NULL, DL_PLAIN, dl_number(numbers[i]));
    json_t *doc = parse(render(r, "json"));
    json_t *x = json_object_get(doc, "x");
    assert_true(json_is_number(x) && json_number_value(x) == numbers[i]);
    json_decref(doc);
    dl_report_free(r);
  }
}

/* The whole text: it is what users see and diff. */
static void json_text(void **state) {
  (void)state;
  const char *const list[] = {"x", "y"};
  struct dl_report *r = dl_report_new();
  dl_report_add(r, "z", "z", "W", DL_PLAIN, dl_number(0.1));
  dl_report_add(r, "a", NULL, NULL, DL_PLAIN, dl_number((double)NAN));
  dl_report_add(r, NULL, "people", NULL, DL_PLAIN, dl_count(1));
  dl_report_say(r, "people");
  struct dl_report *g = dl_report_group(r, "g", NULL);
  dl_report_range(g, &(struct dl_column){"low", "l", NULL, DL_PLAIN, false},
                  "high", (struct dl_value[2]){dl_number(1), dl_bool(true)});
  dl_report_add(dl_report_item(g, "l", "t"), "s", NULL, NULL, DL_PLAIN,
                dl_strings(list, 2));
  dl_report_item(g, "l", "t");
  dl_report_list(r, "none");
  dl_report_group(r, "empty", NULL);
  dl_report_table(r, "t", NULL, COLUMNS, 1, false);
  char *s = render(r, "json");
  assert_string_equal(s, "{\n"
                         "  \"schema\": 1,\n"
                         "  \"dlest\": \"" PACKAGE_VERSION "\",\n"
                         "  \"z\": 0.1,\n"
                         "  \"a\": null,\n"
                         "  \"g\": {\n"
                         "    \"low\": 1,\n"
                         "    \"high\": true,\n"
                         "    \"l\": [\n"
                         "      {\n"
                         "        \"s\": [\"x\", \"y\"]\n"
                         "      },\n"
                         "      {}\n"
                         "    ]\n"
                         "  },\n"
                         "  \"none\": [],\n"
                         "  \"empty\": {},\n"
                         "  \"t\": []\n"
                         "}\n");
  free(s);
  dl_report_free(r);
}

static void json_of_bad_text(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\x98\x80",
       "na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\x98\x80"},
      {"latin \xE9 1", "latin \uFFFD 1"},
      {"cut \xE2\x82", "cut \uFFFD\uFFFD"},
      {"\xC0\xAF", "\uFFFD\uFFFD"},                     /* overlong */
      {"\xE0\x80\xAF", "\uFFFD\uFFFD\uFFFD"},           /* overlong */
      {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD"},           /* surrogate */
      {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"}, /* > U+10FFFF */
      {"\xFF\x80", "\uFFFD\uFFFD"},
      {"tab\tquote\"back\\slash\nbell\a\x7F/",
       "tab\tquote\"back\\slash\nbell\a\x7F/"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct dl_report *r = dl_report_new();
    dl_report_add(r, "s", NULL, NULL, DL_PLAIN, dl_string(cases[i][0]));
    json_t *doc = parse(render(r, "json"));
    assert_string_equal(json_string_value(json_object_get(doc, "s")),
                        cases[i][1]);
    json_decref(doc);
    dl_report_free(r);
  }
}

static void json_stream_is_the_report(void **state) {
  (void)state;
  char *report = report_of_rows("json");
  char *stream = stream_of_rows("json", N_ROWS, 0);
  assert_string_equal(report, stream);
  free(report);
  free(stream);
}

static void json_stream_ends_with_warnings(void **state) {
  (void)state;
  json_t *doc = parse(stream_of_rows("json", 0, 2));
  json_t *warnings = json_object_get(doc, "warnings");
  assert_int_equal(json_integer_value(json_object_get(doc, "schema")), 1);
  assert_int_equal(json_array_size(json_object_get(doc, "rows")), 0);
  assert_int_equal(json_array_size(warnings), 2);
  assert_string_equal(json_string_value(json_array_get(warnings, 1)),
                      "warning \"1\"");
  json_decref(doc);
}

static void json_says_how_many_warnings_are_left_out(void **state) {
  (void)state;
  json_t *doc = parse(stream_of_rows("json", 1, 5000));
  json_t *warnings = json_object_get(doc, "warnings");
  size_t n = json_array_size(warnings);
  size_t more;
  assert_true(n > 1 && n < 5000);
  const char *last = json_string_value(json_array_get(warnings, n - 1));
  assert_int_equal(sscanf(last, "%zu more warnings", &more), 1);
  assert_int_equal(n - 1 + more, 5000);
  json_decref(doc);
}

static const char *const CSV_ROWS =
    "name,energy_j,runs,ok,tags\n"
    "plain,0.1,0,false,\n"
    "\"with, \"\"comma\"\"\n\",1e-300,1000000,true,a\n"
    ",,2000000,false,a;b c\n"
    ",123456789.25,3000000,true,a;b c;\n";

static void csv_text(void **state) {
  (void)state;
  char *report = report_of_rows("csv");
  char *stream = stream_of_rows("csv", N_ROWS, 1);
  assert_string_equal(report, CSV_ROWS);
  assert_string_equal(stream, CSV_ROWS);
  free(report);
  free(stream);
}

static void csv_of_one_column(void **state) {
  (void)state;
  struct dl_report *r = dl_report_new();
  struct dl_table *t = dl_report_table(r, "t", NULL, COLUMNS, 1, true);
  dl_table_row(t, (struct dl_value[]){dl_string(NULL)}, NULL);
  dl_table_row(t, (struct dl_value[]){dl_string("x")}, "*");
  char *s = render(r, "csv");
  assert_string_equal(s, "name\n\"\"\nx\n");
  free(s);
  dl_report_free(r);
}

static void csv_without_a_table(void **state) {
  (void)state;
  struct dl_report *r = dl_report_new();
  struct dl_diag d = {0};
  assert_int_equal(dl_format_report(dl_format_find("csv"), r, stdout, NULL, &d),
                   DL_EUSAGE);
  assert_string_equal(d.error, MSG_there_is_no_table);
  dl_diag_free(&d);

  dl_report_add(r, "a", NULL, NULL, DL_PLAIN, dl_count(1));
  dl_report_add(r, NULL, "people", NULL, DL_PLAIN, dl_count(1));
  dl_report_add(r, "b", NULL, NULL, DL_PLAIN, dl_string("x,y"));
  char *s = render(r, "csv");
  assert_string_equal(s, "a,b\n1,\"x,y\"\n");
  free(s);
  dl_report_free(r);
}

/* Numbers keep their point where the locale has a comma. */
static void locale_changes_nothing(void **state) {
  (void)state;
  if (!setlocale(LC_ALL, "de_DE.UTF-8"))
    skip();
  char *json = report_of_rows("json");
  char *csv = report_of_rows("csv");
  setlocale(LC_ALL, "C");
  char *plain = report_of_rows("json");
  assert_string_equal(json, plain);
  assert_string_equal(csv, CSV_ROWS);
  free(json);
  free(csv);
  free(plain);
}

/* Whether a format writes any table, row by row. Of the others
 * tests/cli/output/exports.bats holds the same. */
static bool takes_rows(const struct dl_format *format) {
  return !format->sums_up && strcmp(format->name, "boamps") != 0 &&
         strcmp(format->name, "prometheus") != 0;
}

static void full_disk_is_noticed(void **state) {
  (void)state;
  for (size_t i = 0; dl_formats[i]; i++) {
    const struct dl_format *format = dl_formats[i];
    struct dl_stream *stream;
    struct dl_diag d = {0};
    if (!takes_rows(format))
      continue;
    struct dl_report *r = dl_report_new();
    FILE *f = fopen("/dev/full", "w");
    if (!f)
      skip();
    dl_report_add(r, "a", "a", NULL, DL_PLAIN, dl_count(1));
    assert_int_equal(dl_format_report(format, r, f, NULL, &d), DL_EFAILED);
    assert_string_equal(
        d.error, "<output>: " MSG_cannot_write("No space left on device"));
    fclose(f);
    dl_report_free(r);
    dl_diag_free(&d);

    f = fopen("/dev/full", "w");
    assert_non_null(f);
    dl_stream_begin(&stream, format, f, &TABLE, &d);
    assert_int_equal(dl_stream_end(stream, &d), DL_EFAILED);
    assert_string_equal(
        d.error, "<output>: " MSG_cannot_write("No space left on device"));
    fclose(f);
    dl_diag_free(&d);
  }
}

static void rows_notice_a_full_disk(void **state) {
  (void)state;
  for (size_t i = 0; dl_formats[i]; i++) {
    const struct dl_format *format = dl_formats[i];
    struct dl_value v[N_COLUMNS];
    struct dl_stream *stream;
    struct dl_diag d = {0};
    enum dl_status status = DL_OK;
    if (!takes_rows(format))
      continue;
    FILE *f = fopen("/dev/full", "w");
    if (!f)
      skip();
    dl_stream_begin(&stream, format, f, &TABLE, &d);
    fill_row(v, 0);
    for (size_t k = 0; status == DL_OK && k < 10000; k++)
      status = dl_stream_row(stream, v, NULL, &d);
    assert_int_equal(status, DL_EFAILED);
    dl_stream_end(stream, &d);
    assert_non_null(strstr(d.error, MSG_cannot_write("")));
    fclose(f);
    dl_diag_free(&d);
  }
}

static void no_stream_can_be_ended(void **state) {
  (void)state;
  struct dl_diag d = {0};
  assert_int_equal(dl_stream_end(NULL, &d), DL_OK);
  dl_diag_free(&d);
}

static void colour_is_for_terminals(void **state) {
  (void)state;
  char *s = NULL;
  size_t len;
  FILE *f = open_memstream(&s, &len);
  setenv("TERM", "xterm", 1);
  unsetenv("NO_COLOR");
  assert_false(dl_screen_of(f).colour);
  fclose(f);
  free(s);
  f = fopen("/dev/ptmx", "r+");
  if (!f)
    skip();
  assert_true(dl_screen_of(f).colour);
  setenv("NO_COLOR", "1", 1);
  assert_false(dl_screen_of(f).colour);
  setenv("NO_COLOR", "", 1);
  assert_true(dl_screen_of(f).colour);
  setenv("TERM", "dumb", 1);
  assert_false(dl_screen_of(f).colour);
  fclose(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formats_are_found),
      cmocka_unit_test(json_rows_read_back),
      cmocka_unit_test(json_numbers_are_exact),
      cmocka_unit_test(json_text),
      cmocka_unit_test(json_of_bad_text),
      cmocka_unit_test(json_stream_is_the_report),
      cmocka_unit_test(json_stream_ends_with_warnings),
      cmocka_unit_test(json_says_how_many_warnings_are_left_out),
      cmocka_unit_test(csv_text),
      cmocka_unit_test(csv_of_one_column),
      cmocka_unit_test(csv_without_a_table),
      cmocka_unit_test(locale_changes_nothing),
      cmocka_unit_test(full_disk_is_noticed),
      cmocka_unit_test(rows_notice_a_full_disk),
      cmocka_unit_test(no_stream_can_be_ended),
      cmocka_unit_test(colour_is_for_terminals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
