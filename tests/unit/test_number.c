/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers: what is read, what is refused, and back. */

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

#include "base/number.h"
#include "base/timestamp.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The same double, also for zeros. */
static void assert_same(double a, double b, const char *text) {
  if (memcmp(&a, &b, sizeof a) != 0)
    fail_msg("%s: %.17g is not %.17g", text, a, b);
}

static void test_parse_values(void **state) {
  static const struct {
    const char *text;
    double value;
  } cases[] = {
      {"0", 0.0},
      {"-0", -0.0},
      {"0e999", 0.0},
      {"1", 1},
      {"+1.5", 1.5},
      {"-1.5", -1.5},
      {"1e5", 1e5},
      {"1E+05", 1e5},
      {".5", .5},
      {"5.", 5},
      {"-.5e-3", -.5e-3},
      {" \t42\t ", 42},
      {"007", 7},
      {"1234567", 1234567},
      {"12345678", 12345678},
      {"1234567.8", 1234567.8},
      {"123456789", 123456789},
      {"1234.567890", 1234.56789},
      {"12345678.1234567", 12345678.1234567},
      {"1234567890123456", 1234567890123456},
      {"0.00000000000001", 1e-14},
      {"9007199254740991", 9007199254740991},
      {"9007199254740993", 9007199254740992},
      {"9007199254740993.0000000000000000000001", 9007199254740994},
      {"8.5e22", 8.5e22},
      {"1e22", 1e22},
      {"1e23", 1e23},
      {"123456789012345678901234567890", 123456789012345678901234567890.0},
      {"0.1000000000000000055511151231257827", 0.1},
      {"1.7976931348623157e308", 1.7976931348623157e308},
      {"1.7976931348623158e308", 1.7976931348623157e308},
      {"2.2250738585072011e-308", 2.2250738585072011e-308},
      {"4.9406564584124654e-324", 0x1p-1074},
      {"2e-324", 0.0},
      {"1e-999", 0.0},
      {"1e-99999999999999999999", 0.0},
      {"0.0000000000000000000000000000000000000001e40", 1},
      {"6.02214076e23", 6.02214076e23},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    double v = -1;

    assert_int_equal(dl_parse_number(cases[i].text, strlen(cases[i].text), &v),
                     DL_NUMBER_OK);
    assert_same(v, cases[i].value, cases[i].text);
    assert_true(dl_parse_double(cases[i].text, &v));
  }
}

static void test_parse_refused(void **state) {
  static const struct {
    const char *text;
    enum dl_number kind;
  } cases[] = {
      {"", DL_NUMBER_EMPTY},
      {" \t", DL_NUMBER_EMPTY},
      {"abc", DL_NUMBER_INVALID},
      {"1,5", DL_NUMBER_INVALID},
      {"1 2", DL_NUMBER_INVALID},
      {"0x10", DL_NUMBER_INVALID},
      {"1e", DL_NUMBER_INVALID},
      {"1e+", DL_NUMBER_INVALID},
      {"e5", DL_NUMBER_INVALID},
      {".", DL_NUMBER_INVALID},
      {"+", DL_NUMBER_INVALID},
      {"-", DL_NUMBER_INVALID},
      {"-.", DL_NUMBER_INVALID},
      {"+-1", DL_NUMBER_INVALID},
      {"--1", DL_NUMBER_INVALID},
      {"- 1", DL_NUMBER_INVALID},
      {"1.2.3", DL_NUMBER_INVALID},
      {"1..2", DL_NUMBER_INVALID},
      {"12345678.1.1", DL_NUMBER_INVALID},
      {"1e5.0", DL_NUMBER_INVALID},
      {"1f", DL_NUMBER_INVALID},
      {"1_000", DL_NUMBER_INVALID},
      {"1'000", DL_NUMBER_INVALID},
      {"12:45", DL_NUMBER_INVALID},
      {"1/2", DL_NUMBER_INVALID},
      {"NA", DL_NUMBER_INVALID},
      {"nan(1)", DL_NUMBER_INVALID},
      {"\xD9\xA3", DL_NUMBER_INVALID},
      {"123456\xB0", DL_NUMBER_INVALID},
      {"nan", DL_NUMBER_NOT_FINITE},
      {"NaN", DL_NUMBER_NOT_FINITE},
      {"-nan", DL_NUMBER_NOT_FINITE},
      {"inf", DL_NUMBER_NOT_FINITE},
      {"-Inf", DL_NUMBER_NOT_FINITE},
      {"Infinity", DL_NUMBER_NOT_FINITE},
      {"1e999", DL_NUMBER_NOT_FINITE},
      {"-1e309", DL_NUMBER_NOT_FINITE},
      {"1e99999999999999999999", DL_NUMBER_NOT_FINITE},
  };

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    double v = 1;

    assert_int_equal(dl_parse_number(cases[i].text, strlen(cases[i].text), &v),
                     cases[i].kind);
    assert_true(isnan(v));
    assert_false(dl_parse_double(cases[i].text, &v));
  }
}

/* Only len bytes are looked at; a sanitizer sees it if not. */
static void test_parse_length(void **state) {
  static const char digits[] = "1234567890.1234567890";

  (void)state;
  for (size_t n = 1; n < sizeof digits; n++) {
    char *exact = malloc(n), text[sizeof digits];
    double v;

    assert_non_null(exact);
    memcpy(exact, digits, n);
    memcpy(text, digits, n);
    text[n] = '\0';
    assert_int_equal(dl_parse_number(exact, n, &v), DL_NUMBER_OK);
    assert_same(v, strtod(text, NULL), text);
    free(exact);
  }
}

/* More digits than anything keeps. 2^-1074 + 2^-1075 lies between two
 * doubles: a digit far behind decides. */
static void test_parse_long(void **state) {
  static char text[200000];
  double v;
  size_t n;

  (void)state;
  memset(text, '0', sizeof text);
  memcpy(text, "0.", 2);
  memcpy(text + sizeof text - 8, "1e199991", 8);
  assert_int_equal(dl_parse_number(text, sizeof text, &v), DL_NUMBER_OK);
  assert_same(v, 1, "many zeros");

  n = (size_t)snprintf(text, sizeof text, "%.1100f", 0x1.8p-1074);
  assert_int_equal(dl_parse_number(text, n, &v), DL_NUMBER_OK);
  assert_same(v, strtod(text, NULL), "half-way");
  memset(text + n, '0', 10000);
  text[n + 10000] = '1';
  text[n + 10001] = '\0';
  assert_int_equal(dl_parse_number(text, n + 10001, &v), DL_NUMBER_OK);
  assert_same(v, strtod(text, NULL), "above half-way");
}

/* A generator of its own, so that a failure can be repeated. */
static uint64_t next_random(uint64_t *x) {
  *x ^= *x << 13;
  *x ^= *x >> 7;
  *x ^= *x << 17;
  return *x;
}

/* What is written reads back as the same double. */
static void test_round_trip(void **state) {
  uint64_t seed = 88172645463325252u;

  (void)state;
  for (int i = 0; i < 200000; i++) {
    uint64_t bits = next_random(&seed);
    char buf[DL_NUMBER_SIZE];
    double x, v;

    memcpy(&x, &bits, sizeof x);
    if (!isfinite(x))
      continue;
    assert_true(dl_parse_double(dl_format_short(buf, x), &v));
    assert_same(v, x, buf);
  }
}

/* The reading agrees with strtod() on short decimals. */
static void test_parse_random(void **state) {
  uint64_t seed = 1181783497276652981u;

  (void)state;
  for (int i = 0; i < 200000; i++) {
    uint64_t bits = next_random(&seed);
    double x = (double)(bits >> 20) / (double)(1u << (bits & 31)), v;
    char text[64];

    snprintf(text, sizeof text, "%s%.*f", bits & 1 ? "-" : "",
             (int)(bits >> 8 & 7), x);
    assert_true(dl_parse_double(text, &v));
    assert_same(v, strtod(text, NULL), text);
  }
}

static void test_count(void **state) {
  static const char *const bad[] = {"",
                                    "-1",
                                    "+1",
                                    "1.0",
                                    "1e3",
                                    " 1",
                                    "1 ",
                                    "x",
                                    "18446744073709551616",
                                    "99999999999999999999999"};
  char most[32];
  size_t n;

  (void)state;
  assert_true(dl_parse_count("0", &n) && n == 0);
  assert_true(dl_parse_count("0012", &n) && n == 12);
  snprintf(most, sizeof most, "%zu", SIZE_MAX);
  assert_true(dl_parse_count(most, &n) && n == SIZE_MAX);
  for (size_t i = 0; i < COUNT(bad); i++)
    assert_false(dl_parse_count(bad[i], &n));
}

static void test_duration(void **state) {
  static const struct {
    const char *text;
    double seconds;
  } cases[] = {{"90s", 90},
               {"90m", 5400},
               {"3600s", 3600},
               {"2h", 7200},
               {"1.5d", 129600},
               {"3min", 180},
               {"1e3 s ", 1e3},
               {"1.5e+2s", 150},
               {"5.s", 5},
               {"250ms", 0.25},
               {"1h30m", 5400},
               {"1 h 30 m", 5400},
               {"1h30m15.5s", 5415.5},
               {"2 days", 172800},
               {"2 Days 4 hours", 187200},
               {"1w", 604800},
               {"1d12h", 129600},
               {"45 minutes", 2700},
               {"1 hr", 3600},
               {"1:30:00", 5400},
               {"0:00:01.25", 1.25},
               {"2-01:00:00", 176400},
               {"1 day, 2:00:00", 93600}};
  static const char *const bad[] = {
      "",     " ",    "s",      "1x",      "1us",     "-1s",   "+1s",
      "inf",  "1e",   "1e308d", "nans",    "1 2",     "90",    "0",
      "1h30", "1:30", "30m1h",  "1h1h",    "1.5h30m", "1:2:3", "1h,30m",
      "h1",   ":::",  "1..5h",  "1:60:00", "1e3"};
  double s;

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    if (!dl_parse_duration(cases[i].text, &s))
      fail_msg("'%s' refused", cases[i].text);
    assert_same(s, cases[i].seconds, cases[i].text);
  }
  for (size_t i = 0; i < COUNT(bad); i++)
    if (dl_parse_duration(bad[i], &s))
      fail_msg("'%s' taken for %g s", bad[i], s);
}

static void test_format(void **state) {
  char buf[DL_NUMBER_SIZE];

  (void)state;
  assert_string_equal(dl_format_short(buf, NAN), "nan");
  assert_string_equal(dl_format_short(buf, -INFINITY), "-inf");
  assert_string_equal(dl_format_short(buf, 0.1), "0.1");
  assert_string_equal(dl_format_short(buf, 0.1 + 0.2), "0.30000000000000004");
  assert_string_equal(dl_format_short(buf, -1e300), "-1e+300");
  assert_string_equal(dl_format_short(buf, -0.0), "-0");
  assert_string_equal(dl_format_short(buf, 5e-324), "4.94065645841247e-324");
  assert_string_equal(dl_format_short(buf, INFINITY), "inf");
}

/* The first of %.15g, %.16g, %.17g that reads back. */
static void is_shortest_of_printf(double x) {
  char buf[DL_NUMBER_SIZE], want[64];
  int digits = 15;
  do
    snprintf(want, sizeof want, "%.*g", digits, x);
  while (digits++ < 17 && strtod(want, NULL) != x);
  assert_string_equal(dl_format_short(buf, x), want);
  memset(buf, '?', sizeof buf);
  size_t n = dl_put_short(buf, x);
  assert_int_equal(n, strlen(want));
  assert_memory_equal(buf, want, n);
}

static void shortest_is_of_printf(void **state) {
  uint64_t seed = 2463534242u;
  (void)state;
  for (int i = 0; i < 60000; i++) {
    uint64_t bits = next_random(&seed);
    double ratio =
        (double)(bits % 2000000000000) / (double)(1 + bits % 3600001);
    is_shortest_of_printf(i % 2 ? ratio : -ratio);
    is_shortest_of_printf(ldexp((double)(bits >> 11), i % 112 - 100));
    is_shortest_of_printf((double)(bits % 100000) / pow(10, i % 12));
  }
  for (int power = -14; power <= 18; power++) {
    is_shortest_of_printf(pow(10, power));
    is_shortest_of_printf(nextafter(pow(10, power), 0));
    is_shortest_of_printf(nextafter(pow(10, power), INFINITY));
  }
  for (int power = -40; power <= 60; power++)
    is_shortest_of_printf(ldexp(1, power));
}

/* By printf: rounded to `digits`, or to tens and more. */
static void print_digits(char *buf, size_t size, double x, int digits) {
  char e[64];
  snprintf(e, sizeof e, "%.*e", digits - 1, x);
  int exponent = atoi(strchr(e, 'e') + 1);
  bool tens = exponent >= digits - 1;
  snprintf(buf, size, "%.*f", tens ? 0 : digits - 1 - exponent,
           tens ? strtod(e, NULL) : x);
}

static void rounds_as_printf(void **state) {
  (void)state;
  srand48(1);
  for (int i = 0; i < 100000; i++) {
    char buf[DL_NUMBER_SIZE], want[64];
    double x = pow(10, 10 * drand48() - 4) * (i % 2 ? 1 : -1);
    int digits = i % 10 + 1;
    if (i % 3 == 0) /* ties */
      x = i % 4 == 0 ? round(x / 5) * 5 : round(8 * x) / 8;
    if (fabs(x) < 1e-4 || fabs(x) > 1e6)
      continue;
    print_digits(want, sizeof want, x, digits);
    assert_string_equal(dl_format_digits(buf, x, digits), want);
  }
}

static void test_format_digits(void **state) {
  static const struct {
    double x;
    int digits;
    const char *text;
  } cases[] = {
      {0.01234, 3, "0.0123"},
      {1.234, 3, "1.23"},
      {123.4, 3, "123"},
      {1234, 3, "1230"},
      {1.234e7, 3, "1.23e+07"},
      {0, 3, "0"},
      {-0.0, 3, "0"},
      {-1234.5, 2, "-1200"},
      {0.5, 3, "0.500"},
      {9.996, 3, "10.0"},
      {999.6, 3, "1000"},
      {999999.9, 3, "1000000"},
      {1e6, 3, "1000000"},
      {1.1e6, 3, "1.10e+06"},
      {0.0001, 3, "0.000100"},
      {0.00009, 2, "9.0e-05"},
      {7, 1, "7"},
      {7, 0, "7"},
      {0.1, 99, "0.10000000000000001"},
      {-INFINITY, 3, "-inf"},
      {123456, 6, "123456"},
      {65.25, 4, "65.25"},
  };
  char buf[DL_NUMBER_SIZE];

  (void)state;
  assert_string_equal(dl_format_digits(buf, NAN, 3), "-");
  for (size_t i = 0; i < COUNT(cases); i++)
    assert_string_equal(dl_format_digits(buf, cases[i].x, cases[i].digits),
                        cases[i].text);
}

/* A decimal comma in the locale changes nothing. */
static void test_locale(void **state) {
  /* Some C libraries take any name and have decimal points alone. */
  if ((setlocale(LC_ALL, "de_DE.UTF-8") == NULL &&
       setlocale(LC_ALL, "fr_FR.UTF-8") == NULL) ||
      localeconv()->decimal_point[0] != ',') {
    print_message("no locale with a decimal comma is installed\n");
    skip();
  }
  test_parse_values(state);
  test_parse_refused(state);
  test_round_trip(state);
  test_format(state);
  test_format_digits(state);
}

static int back_to_c(void **state) {
  (void)state;
  return setlocale(LC_ALL, "C") == NULL;
}

static void groups_digits(void **state) {
  static const char *const cases[][2] = {{"", ""},
                                         {"8192", "8192"},
                                         {"41200", "41,200"},
                                         {"361000", "361,000"},
                                         {"1234567", "1,234,567"},
                                         {"-41200", "-41200"},
                                         {"12345.6", "12345.6"},
                                         {"1.7e+07", "1.7e+07"}};
  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    char buf[DL_NUMBER_SIZE];
    strcpy(buf, cases[i][0]);
    assert_string_equal(dl_group_digits(buf), cases[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parse_values),
      cmocka_unit_test(test_parse_refused),
      cmocka_unit_test(test_parse_length),
      cmocka_unit_test(test_parse_long),
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_parse_random),
      cmocka_unit_test(test_count),
      cmocka_unit_test(test_duration),
      cmocka_unit_test(test_format),
      cmocka_unit_test(test_format_digits),
      cmocka_unit_test(groups_digits),
      cmocka_unit_test(shortest_is_of_printf),
      cmocka_unit_test(rounds_as_printf),
      cmocka_unit_test_teardown(test_locale, back_to_c),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
