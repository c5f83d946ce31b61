/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text for people, to the letter. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "output/render.h"
#include "output/units.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static char *render_on(struct dl_report *r, const struct dl_screen *screen) {
  char *s = NULL;
  size_t len;
  struct dl_diag d = {0};
  FILE *f = open_memstream(&s, &len);
  assert_int_equal(dl_format_report(dl_format_find("text"), r, f, screen, &d),
                   DL_OK);
  fclose(f);
  dl_diag_free(&d);
  dl_report_free(r);
  return s;
}

static char *render(struct dl_report *r, bool colour) {
  return render_on(r, &(struct dl_screen){.colour = colour});
}

static void assert_text(struct dl_report *r, const char *expected) {
  char *s = render(r, false);
  assert_string_equal(s, expected);
  free(s);
}

/* Units */

static void check_shown(enum dl_style style, const char *unit,
                        struct dl_value v, const char *expected) {
  struct dl_text t = {0};
  dl_show(&t, style, unit, &v, NULL);
  assert_string_equal(dl_text_str(&t), expected);
  dl_text_free(&t);
}

static const struct {
  enum dl_style style;
  const char *unit;
  double x;
  const char *shown;
} NUMBERS[] = {
    {DL_PLAIN, "W", 312.4, "312 W"},
    {DL_PLAIN, NULL, 0.012345, "0.0123"},
    {DL_PLAIN, NULL, 0, "0"},
    {DL_PLAIN, "W", NAN, "-"},
    {DL_EXACT, NULL, 0.95, "0.950000"},
    {DL_EXACT, NULL, -0.9876543, "-0.987654"},
    {DL_EXACT, NULL, 1e-9, "1.00000e-09"},
    {DL_PERCENT, NULL, 0.1138, "11.4 %"},
    {DL_PERCENT, NULL, 0.9, "90.0 %"},
    {DL_PERCENT, NULL, 0.00123, "0.12 %"},
    {DL_PERCENT, NULL, 0, "0.0 %"},
    {DL_PERCENT, "% of TDP", -1.5, "-150.0 % of TDP"},
    {DL_PERCENT, NULL, 1e7, "1.00e+09 %"},
    {DL_ENERGY, NULL, 0, "0 J"},
    {DL_ENERGY, "J", 0.0123, "12.3 mJ"},
    {DL_ENERGY, "J", 12.34, "12.3 J"},
    {DL_ENERGY, "J", 999.4, "999 J"},
    {DL_ENERGY, "J", 999.6, "1.00 kJ"},
    {DL_ENERGY, "J/epoch", -4.56e6, "-4.56 MJ/epoch"},
    {DL_ENERGY, "J", 1e19, "10000 PJ"},
    {DL_MASS, "g", 12.34, "12.3 g"},
    {DL_MASS, "g", 4560, "4.56 kg"},
    {DL_MASS, "g CO2e", 7.89e6, "7.89 t CO2e"},
    {DL_TIME, "s", 0, "0 s"},
    {DL_TIME, NULL, 0.0123, "12.3 ms"},
    {DL_TIME, NULL, 4.5e-5, "45.0 us"},
    {DL_TIME, NULL, 12.34, "12.3 s"},
    {DL_TIME, NULL, 59.94, "59.9 s"},
    {DL_TIME, NULL, 59.97, "1 min 00 s"},
    {DL_TIME, NULL, 245, "4 min 05 s"},
    {DL_TIME, NULL, 3599.4, "59 min 59 s"},
    {DL_TIME, NULL, 3599.6, "1 h 00 min"},
    {DL_TIME, NULL, 4980, "1 h 23 min"},
    {DL_TIME, NULL, 86369, "23 h 59 min"},
    {DL_TIME, NULL, 86371, "1 d 0 h"},
    {DL_TIME, NULL, 183600, "2 d 3 h"},
    {DL_TIME, NULL, 8.64e6, "100 d"},
    {DL_TIME, NULL, 8e7, "2.54 y"},
    {DL_TIME, NULL, -245, "-4 min 05 s"},
    {DL_CODE, NULL, 2024, "2024"},
    {DL_CODE, NULL, 0.1, "0.1"},
};

static void numbers_are_shown(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(NUMBERS); i++)
    check_shown(NUMBERS[i].style, NUMBERS[i].unit, dl_number(NUMBERS[i].x),
                NUMBERS[i].shown);
}

static void other_values_are_shown(void **state) {
  (void)state;
  const char *const list[] = {"a", "b"};
  check_shown(DL_PLAIN, "W", dl_string("text"), "text");
  check_shown(DL_PLAIN, NULL, dl_string(""), "-");
  check_shown(DL_PLAIN, NULL, dl_bool(true), "yes");
  check_shown(DL_PLAIN, NULL, dl_bool(false), "no");
  check_shown(DL_PLAIN, NULL, dl_strings(list, 2), "a, b");
  check_shown(DL_PLAIN, NULL, dl_strings(list, 0), "-");
  check_shown(DL_PLAIN, "rows", dl_count(1281167), "1281167 rows");
  check_shown(DL_ENERGY, "J", dl_count(12345), "12.3 kJ");
  check_shown(DL_PLAIN, NULL, dl_string("\033[31mred\n\x9B"),
              "\uFFFD[31mred\uFFFD\uFFFD");
}

static void locale_changes_nothing(void **state) {
  (void)state;
  if (!setlocale(LC_ALL, "de_DE.UTF-8"))
    skip();
  numbers_are_shown(state);
  setlocale(LC_ALL, "C");
}

static void ranges_share_a_unit(void **state) {
  (void)state;
  struct dl_text t = {0};
  struct dl_value low = dl_number(850);
  struct dl_value high = dl_number(4560);
  struct dl_value none = dl_number((double)NAN);
  dl_show(&t, DL_ENERGY, "J", &low, &high);
  dl_text_add(&t, "; ");
  dl_show(&t, DL_ENERGY, "J", &none, &high);
  dl_text_add(&t, "; ");
  dl_show(&t, DL_ENERGY, "J", &none, &none);
  assert_string_equal(dl_text_str(&t), "0.850 .. 4.56 kJ; - .. 4.56 kJ; -");
  dl_text_free(&t);
}

static void shared_scale(void **state) {
  (void)state;
  struct dl_multiple scale;
  double near[] = {2e6, NAN, 0, 900, 3e6};
  double far[] = {1, 2, 1e5};
  double none[] = {NAN, 0};
  assert_true(dl_multiple_shared(DL_ENERGY, near, COUNT(near), &scale));
  assert_string_equal(scale.name, "MJ");
  assert_false(dl_multiple_shared(DL_ENERGY, far, COUNT(far), &scale));
  /* 325 J would be 9.03e-05 kWh beside 1 kWh */
  double tiny[] = {325, 3e6, 3.2e6};
  assert_false(dl_multiple_shared(DL_KWH, tiny, COUNT(tiny), &scale));
  /* 2.25e6 J beside 600 J */
  scale = dl_multiple_for(DL_KWH, 1100);
  assert_true(dl_multiple_suits(&scale, 600, 2.2e5));
  scale = dl_multiple_for(DL_KWH, 600);
  assert_false(dl_multiple_suits(&scale, 600, 2.25e6));
  assert_true(dl_multiple_shared(DL_ENERGY, none, COUNT(none), &scale));
  assert_string_equal(scale.name, "J");
}

/* Reports */

static const struct dl_column ESTIMATES[] = {
    {.key = "method", .heading = "method"},
    {.key = "energy_j", .heading = "energy", .unit = "J", .style = DL_ENERGY},
    {.key = "low",
     .heading = "90 % interval",
     .unit = "J",
     .style = DL_ENERGY,
     .use = DL_RANGE},
    {.key = "high", .unit = "J", .style = DL_ENERGY},
    {.key = "hidden"},
    {.key = "power_w", .heading = "power", .unit = "W"},
    {.key = "s", .heading = "time", .unit = "s", .style = DL_TIME},
    {.key = "mape", .heading = "error", .style = DL_PERCENT},
};

static void add_estimate(struct dl_table *t, const char *method, double e,
                         double low, double high, double w, double s,
                         const char *mark) {
  const struct dl_value v[] = {
      dl_string(method), dl_number(e), dl_number(low), dl_number(high),
      dl_count(1),       dl_number(w), dl_number(s),   dl_number(w / 2000)};
  dl_table_row(t, v, mark);
}

static struct dl_report *estimates(void) {
  struct dl_report *r = dl_report_new();
  struct dl_table *t = dl_report_table(r, "estimates", "Estimates", ESTIMATES,
                                       COUNT(ESTIMATES), true);
  add_estimate(t, "step-energy", 38.2e6, 35.9e6, 40.6e6, 312.4, 122400, "*");
  add_estimate(t, "größe", 8.93e6, 940e3, 21e6, 98.1, 4980, NULL);
  add_estimate(t, "flops", 101.5e6, (double)NAN, (double)NAN, (double)NAN,
               (double)NAN, NULL);
  return r;
}

/* A narrow terminal: the column that says the same in all rows goes first, then
 * texts are broken, then the spare column and the others from the right. */
static void narrow_table(void **state) {
  (void)state;
  static const struct dl_column columns[] = {
      {.key = "a", .heading = "name"},
      {.key = "b", .heading = "text"},
      {.key = "c", .heading = "same", .unit = "W"},
      {.key = "d", .heading = "spare", .use = DL_SPARE},
      {.key = "e", .heading = "last"}};
  static const struct {
    size_t width;
    const char *expected;
  } cases[] = {{41, "name  text                    spare  last\n"
                    "x     one two three four          1     3\n"
                    "      five\n"
                    "y     six                         2     4\n"
                    "not shown: same (7.00 W in all rows)\n"},
               {30, "name  text                last\n"
                    "x     one two three four     3\n"
                    "      five\n"
                    "y     six                    4\n"
                    "not shown: same (7.00 W in all\n"
                    "rows), spare\n"},
               {0, "name  text                     same  spare  last\n"
                   "                                  W\n"
                   "x     one two three four five  7.00      1     3\n"
                   "y     six                      7.00      2     4\n"}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct dl_report *r = dl_report_new();
    struct dl_table *t =
        dl_report_table(r, "t", NULL, columns, COUNT(columns), true);
    dl_table_row(t,
                 (struct dl_value[]){dl_string("x"),
                                     dl_string("one two three four five"),
                                     dl_number(7), dl_count(1), dl_count(3)},
                 NULL);
    dl_table_row(t,
                 (struct dl_value[]){dl_string("y"), dl_string("six"),
                                     dl_number(7), dl_count(2), dl_count(4)},
                 NULL);
    char *s = render_on(r, &(struct dl_screen){.width = cases[i].width});
    assert_string_equal(s, cases[i].expected);
    free(s);
  }
}

static void table_text(void **state) {
  (void)state;
  assert_text(
      estimates(),
      "Estimates\n"
      "    method       energy  90 % interval  power        time  error\n"
      "                     MJ             MJ      W                  %\n"
      "  * step-energy   38.2    35.9 .. 40.6  312      1 d 10 h   15.6\n"
      "    größe          8.93  0.940 .. 21.0   98.1  1 h 23 min    4.9\n"
      "    flops        102         -            -             -    -\n");
}

static void table_in_colour(void **state) {
  (void)state;
  struct dl_report *r = dl_report_new();
  struct dl_table *t = dl_report_table(r, "t", "T", ESTIMATES, 2, true);
  const struct dl_value v[] = {dl_string("a"), dl_number(1.5e3)};
  dl_table_row(t, v, NULL);
  char *s = render(r, true);
  assert_string_equal(s, "\033[1mT\033[0m\n"
                         "  method  energy\n"
                         "              \033[2mkJ\033[0m\n"
                         "  a         1.50\n");
  free(s);
}

static void far_energies_have_own_units(void **state) {
  (void)state;
  struct dl_report *r = dl_report_new();
  struct dl_table *t = dl_report_table(r, "t", NULL, ESTIMATES, 4, true);
  add_estimate(t, "a", 1.5, 0.9, 2, 0, 0, NULL);
  add_estimate(t, "b", 2.25e9, 900e6, (double)NAN, 0, 0, NULL);
  add_estimate(t, "c", (double)NAN, (double)NAN, (double)NAN, 0, 0, NULL);
  assert_text(r, "method   energy    90 % interval\n"
                 "a        1.50 J  0.900 .. 2.00 J\n"
                 "b       2.25 GJ    900 .. - MJ\n"
                 "c             -      -\n");
}

static void columns_of_strings_and_nothing(void **state) {
  (void)state;
  const struct dl_column columns[] = {
      {.key = "a", .heading = "a"},
      {.key = "b", .heading = "empty column"},
      {.key = "c", .heading = "year", .style = DL_CODE},
      {.key = "d", .heading = "value"},
      {.key = "e", .heading = "ok"},
  };
  struct dl_report *r = dl_report_new();
  struct dl_table *t =
      dl_report_table(r, "t", NULL, columns, COUNT(columns), true);
  for (size_t i = 0; i < 3; i++) {
    static const double x[] = {1.25, 1234, 1.5e9};
    const struct dl_value v[] = {dl_string(i == 1 ? NULL : "long name"),
                                 dl_string(NULL), dl_count(2020 + i),
                                 dl_number(x[i]), dl_bool(i)};
    dl_table_row(t, v, NULL);
  }
  assert_text(r, "a          empty column  year        value  ok\n"
                 "long name  -             2020     1.25      no\n"
                 "-          -             2021  1230         yes\n"
                 "long name  -             2022     1.50e+09  yes\n");
}

static void tables_without_rows_or_columns(void **state) {
  (void)state;
  struct dl_report *r = dl_report_new();
  dl_report_table(r, "t", "Runs", ESTIMATES, 2, true);
  const struct dl_column hidden = {.key = "h"};
  dl_report_table(r, "h", "Hidden", &hidden, 1, false);
  dl_report_add(r, "n", "runs", NULL, DL_PLAIN, dl_count(0));
  assert_text(r, "Runs\n  (none)\n\nruns  0\n");
}

static void parts_of_a_report(void **state) {
  (void)state;
  struct dl_report *r = dl_report_new();
  dl_report_add(r, "a", "architecture", NULL, DL_PLAIN, dl_string("resnet50"));
  dl_report_add(r, "x", NULL, NULL, DL_PLAIN, dl_string("not shown"));
  dl_report_group(r, "hidden", NULL);
  dl_report_add(r, "p", "größe", "W", DL_PLAIN, dl_number(312.4));
  dl_report_add(r, "n", "absent", "W", DL_PLAIN, dl_number((double)NAN));
  dl_report_say(r, "One line.");
  dl_report_say(r, "Another.");
  struct dl_report *g = dl_report_group(r, "g", "Group");
  dl_report_range(g,
                  &(struct dl_column){"l", "interval", "J", DL_ENERGY, false},
                  "h", (struct dl_value[2]){dl_number(1.5e3), dl_number(2e3)});
  struct dl_report *i = dl_report_item(g, "i", "Item 1");
  dl_report_add(i, "v", "v", NULL, DL_PLAIN, dl_count(1));
  i = dl_report_item(g, "i", "Item 2");
  dl_report_add(i, "v", "v", NULL, DL_PLAIN, dl_count(2));
  i = dl_report_group(r, "plain", "");
  dl_report_add(i, "v", "without title", NULL, DL_PLAIN, dl_bool(true));
  assert_text(r, "architecture  resnet50\n"
                 "größe         312 W\n"
                 "absent        -\n"
                 "\n"
                 "One line.\n"
                 "Another.\n"
                 "\n"
                 "Group\n"
                 "  interval  1.50 .. 2.00 kJ\n"
                 "\n"
                 "  Item 1\n"
                 "    v  1\n"
                 "\n"
                 "  Item 2\n"
                 "    v  2\n"
                 "\n"
                 "without title  yes\n");
}

/* Streams */

static char *stream(size_t n, double last) {
  const struct dl_format *format = dl_format_find("text");
  const struct dl_table_form table = {"rows", ESTIMATES, 2};
  struct dl_stream *st;
  char *s = NULL;
  size_t len;
  struct dl_diag d = {0};
  FILE *f = open_memstream(&s, &len);
  assert_int_equal(dl_stream_begin(&st, format, f, &table, &d), DL_OK);
  for (size_t i = 0; i < n; i++) {
    const struct dl_value v[] = {dl_string("name"),
                                 dl_number(i + 1 < n ? 1.5e3 : last)};
    assert_int_equal(dl_stream_row(st, v, NULL, &d), DL_OK);
  }
  assert_int_equal(dl_stream_end(st, &d), DL_OK);
  fclose(f);
  dl_diag_free(&d);
  return s;
}

static void short_stream_is_the_report(void **state) {
  (void)state;
  char *s = stream(2, 20e3);
  assert_string_equal(s, "method  energy\n"
                         "            kJ\n"
                         "name      1.50\n"
                         "name     20.0\n");
  free(s);
  s = stream(0, 0);
  assert_string_equal(s, "(none)\n");
  free(s);
}

/* Rows behind the first thousand keep its unit and its widths. */
static void long_stream_goes_on(void **state) {
  (void)state;
  char *s = stream(1500, 123e6);
  size_t lines = 0;
  for (const char *p = s; *p; p++)
    lines += *p == '\n';
  assert_int_equal(lines, 2 + 1500);
  assert_string_equal(s + strlen(s) -
                          strlen("name      1.50\nname    123000\n"),
                      "name      1.50\nname    123000\n");
  free(s);
}

/* A code point as UTF-8. */
static size_t encode(unsigned c, char to[4]) {
  if (c < 0x800) {
    to[0] = (char)(0xC0 | c >> 6);
    to[1] = (char)(0x80 | (c & 0x3F));
    return 2;
  }
  const size_t n = c < 0x10000 ? 3 : 4;
  to[0] = (char)((n == 3 ? 0xE0 : 0xF0) | c >> 6 * (n - 1));
  for (size_t i = 1; i < n; i++)
    to[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3F));
  return n;
}

/* The C library's table may be of another Unicode, which changes the width of
 * some hundred characters at most. */
static void widths_are_those_of_wcwidth(void **state) {
  (void)state;
  size_t checked = 0, other = 0;
  char text[4];
  if (!setlocale(LC_CTYPE, "C.UTF-8"))
    skip();
  for (unsigned c = 0x300; c < 0x110000; c++) {
    const int width = c - 0xD800 < 0x800 ? -1 : wcwidth((wchar_t)c);
    if (width < 0)
      continue;
    checked++;
    other += dl_utf8_width(text, encode(c, text)) != (size_t)width;
  }
  setlocale(LC_CTYPE, "C");
#ifndef __GLIBC__
  other = 0; /* musl gives unassigned and neutral characters other widths */
#endif
  assert_true(checked > 200000);
  assert_in_range(other, 0, 400);
  /* of any version: Han, Hangul, Thai with a mark, an emoji, an accent */
  assert_int_equal(dl_utf8_width("\xE6\xBC\xA2\xE5\xAD\x97", 6), 4);
  assert_int_equal(dl_utf8_width("\xED\x95\x9C", 3), 2);
  assert_int_equal(dl_utf8_width("\xE0\xB8\x81\xE0\xB8\xB4", 6), 1);
  assert_int_equal(dl_utf8_width("\xF0\x9F\x9A\x80", 4), 2);
  assert_int_equal(dl_utf8_width("e\xCC\x81", 3), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_shown),
      cmocka_unit_test(other_values_are_shown),
      cmocka_unit_test(locale_changes_nothing),
      cmocka_unit_test(ranges_share_a_unit),
      cmocka_unit_test(shared_scale),
      cmocka_unit_test(narrow_table),
      cmocka_unit_test(table_text),
      cmocka_unit_test(table_in_colour),
      cmocka_unit_test(far_energies_have_own_units),
      cmocka_unit_test(columns_of_strings_and_nothing),
      cmocka_unit_test(tables_without_rows_or_columns),
      cmocka_unit_test(parts_of_a_report),
      cmocka_unit_test(short_stream_is_the_report),
      cmocka_unit_test(long_stream_goes_on),
      cmocka_unit_test(widths_are_those_of_wcwidth),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
