/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points in time and durations as logs write them. Seconds since 1970 were
 * worked out with date(1): date -u -d '2022-12-05 09:55:42' +%s. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <time.h>

#include "base/timestamp.h"
#include "unit.h"

#define S(x) (INT64_C(x) * DL_SECOND)
#define MS(x) (INT64_C(x) * 1000000)

/* 2022-12-05 00:00:00 */
#define THE_DAY 1670198400

static bool parse(const char *s, struct dl_timestamp *t) {
  return dl_parse_timestamp(s, strlen(s), t);
}

static void assert_time(const char *s, int64_t ns, bool zoned, bool dated) {
  struct dl_timestamp t;

  if (!parse(s, &t))
    fail_msg("'%s' refused", s);
  if (t.ns != ns)
    fail_msg("'%s': %" PRId64 ", want %" PRId64, s, t.ns, ns);
  if (t.zoned != zoned || t.dated != dated)
    fail_msg("'%s': zoned %d, dated %d", s, t.zoned, t.dated);
}

static void assert_no_time(const char *s) {
  struct dl_timestamp t;

  if (parse(s, &t))
    fail_msg("'%s' taken for %" PRId64, s, t.ns);
}

static void reads_every_form_of_a_date(void **state) {
  static const char *const dates[] = {"2022-12-05", "2022/12/05", "20221205",
                                      "05-12-2022", "05.12.2022", "5.12.2022"};
  static const char *const between[] = {" ", "T", "  "};
  static const struct {
    const char *text;
    int64_t ns;
  } times[] = {
      {"00:00:00", S(0)},
      {"09:55:42", S(35742)},
      {"9:55:42", S(35742)},
      {"09:55:42.5", MS(35742500)},
      {"09:55:42,535", MS(35742535)},
      {"09:55:42.123456", S(35742) + 123456000},
      {"23:59:59.999999999", S(86400) - 1},
      {"23:59:60", S(86400)}, /* a leap second */
  };
  char text[80];

  (void)state;
  for (size_t i = 0; i < COUNT(dates); i++)
    for (size_t j = 0; j < COUNT(between); j++)
      for (size_t k = 0; k < COUNT(times); k++) {
        snprintf(text, sizeof text, "%s%s%s", dates[i], between[j],
                 times[k].text);
        assert_time(text, S(THE_DAY) + times[k].ns, false, true);
        snprintf(text, sizeof text, " \t%s%s%s\t ", dates[i], between[j],
                 times[k].text);
        assert_time(text, S(THE_DAY) + times[k].ns, false, true);
      }
}

static void reads_times_of_day(void **state) {
  (void)state;
  assert_time("09:55:42", S(35742), false, false);
  assert_time("9:55:42.25", MS(35742250), false, false);
  assert_time("00:00:00", 0, false, false);
  assert_time(" 23:59:59.999999999 ", S(86400) - 1, false, false);
  assert_no_time("24:00:00");
  assert_no_time("009:55:42");
  assert_no_time("09:55");
  assert_no_time("09:55:42 Z");
}

static void reads_halves_of_the_day(void **state) {
  (void)state;
  assert_time("12:59:50 PM", S(46790), false, false);
  assert_time("1:00:00 PM", S(46800), false, false);
  assert_time("12:00:00 AM", 0, false, false);
  assert_time("11:59:59.5 pm", MS(86399500), false, false);
  assert_time("2022-12-05 09:55:42 AM", S(THE_DAY) + S(35742), false, true);
  assert_no_time("13:00:00 PM");
  assert_no_time("0:10:00 AM");
  assert_no_time("10:10:00 PMX");
}

/* By date -u -d '2024-03-07 20:15:00' +%s, which is a Thursday. */
static void reads_dates_of_other_programs(void **state) {
  (void)state;
  assert_time("7.3.2024 20:15:00", S(1709842500), false, true);
  assert_time("07.03.2024 20:15:00.25", MS(1709842500250), false, true);
  assert_time("Thu Mar  7 20:15:00 2024", S(1709842500), false, true);
  assert_time("Thu Mar 07 20:15:00 UTC 2024", S(1709842500), true, true);
  assert_no_time("7.13.2024 20:15:00");
  assert_no_time("7.3.24 20:15:00");
  assert_no_time("30.2.2024 20:15:00");
  assert_no_time("Thu Mrz  7 20:15:00 2024");
  assert_no_time("Thu Mar  7 20:15:00 CET 2024");
  assert_no_time("Thu Mar 32 20:15:00 2024");
  assert_no_time("Thu Mar  7 20:15:00");
  assert_no_time("Thu Mar ");
}

static void reads_zones(void **state) {
  static const struct {
    const char *zone;
    int s; /* east of Greenwich */
  } zones[] = {
      {"Z", 0},           {"UTC", 0},        {"GMT", 0},
      {"+00:00", 0},      {"-00:00", 0},     {"+01:00", 3600},
      {"+0100", 3600},    {"+01", 3600},     {"-05:00", -18000},
      {"-0330", -12600},  {"+05:45", 20700}, {"+14:00", 50400},
      {"-12:00", -43200},
  };
  char text[80];
  struct dl_timestamp t;

  (void)state;
  for (size_t i = 0; i < COUNT(zones); i++)
    for (int blank = 0; blank < 2; blank++)
      for (int half = 0; half < 2; half++) {
        snprintf(text, sizeof text, "2022-12-05T09:55:42%s%s%s",
                 half ? ".5" : "", blank ? " " : "", zones[i].zone);
        assert_time(text,
                    S(THE_DAY) + S(35742) + (half ? MS(500) : 0) -
                        zones[i].s * DL_SECOND,
                    true, true);
        assert_true(parse(text, &t));
        assert_int_equal(t.zone_s, zones[i].s);
      }
  assert_no_time("2022-12-05T09:55:42z");
  assert_no_time("2022-12-05T09:55:42 CET");
  assert_no_time("2022-12-05T09:55:42+1:00");
  assert_no_time("2022-12-05T09:55:42+01:");
  assert_no_time("2022-12-05T09:55:42+010");
  assert_no_time("2022-12-05T09:55:42+01:60");
  assert_no_time("2022-12-05T09:55:42+99:00");
  assert_no_time("2022-12-05T09:55:42+01:00x");
  assert_no_time("2022-12-05T09:55:42 Z Z");
}

static void follows_the_calendar(void **state) {
  (void)state;
  assert_time("1970-01-01 00:00:00", 0, false, true);
  assert_time("1969-12-31 23:59:59.75", -MS(250), false, true);
  assert_time("2000-02-29 00:00:00", S(951782400), false, true);
  assert_time("2000-03-01 00:00:00", S(951868800), false, true);
  assert_time("2024-02-29 12:00:00", S(1709208000), false, true);
  assert_time("2023-03-01 00:00:00", S(1677628800), false, true);
  assert_time("2100-03-01 00:00:00", S(4107542400), false, true);
  assert_time("1900-03-01 00:00:00", S(-2203891200), false, true);
  assert_no_time("2023-02-29 00:00:00");
  assert_no_time("1900-02-29 00:00:00");
  assert_no_time("2100-02-29 00:00:00");
  assert_no_time("2024-02-30 00:00:00");
  assert_no_time("2024-04-31 00:00:00");
  assert_no_time("2024-06-31 00:00:00");
  assert_no_time("2024-13-01 00:00:00");
  assert_no_time("2024-00-01 00:00:00");
  assert_no_time("2024-01-00 00:00:00");
  assert_no_time("2024-01-32 00:00:00");
  assert_no_time("32-01-2024 00:00:00");
  assert_no_time("0000-01-01 00:00:00");
}

/* 64 bits of nanoseconds reach from 1677-09-21 to 2262-04-11. */
static void refuses_what_64_bits_cannot_hold(void **state) {
  (void)state;
  assert_time("2261-12-31 23:59:59", S(9214646399), false, true);
  assert_time("1678-01-01 00:00:00", S(-9214560000), false, true);
  assert_no_time("0001-01-01 00:00:00");
  assert_no_time("1600-01-01 00:00:00");
  assert_no_time("2263-01-01 00:00:00");
  assert_no_time("9999-12-31 23:59:59");
}

static void refuses_what_is_no_time(void **state) {
  static const char *const texts[] = {
      "",
      " ",
      "now",
      "nan",
      "inf",
      "-",
      "2022-12-05",
      "20221205",
      "20221205T095542",
      "2022-12-05 9",
      "2022-12-05 24:00:00",
      "2022-12-05 09:60:00",
      "2022-12-05 09:55:61",
      "2022-12-05 09:55:42.",
      "2022-12-05 09:55:42.x",
      "2022-12-05 09:55:42 W",
      "2022-12-05 -9:55:42",
      "2022-12-05x09:55:42",
      "2022-12/05 09:55:42",
      "2022.12.05 09:55:42",
      "2022-1-5 09:55:42",
      "05/12/2022 09:55:42",
      "22-12-05 09:55:42",
      "-2022-12-05 09:55:42",
      "+2022-12-05 09:55:42",
      "12022-12-05 09:55:42",
      "2022-12-05 09:55:42\n",
      "99999999999999999999999999999999:00:00",
  };

  (void)state;
  for (size_t i = 0; i < COUNT(texts); i++)
    assert_no_time(texts[i]);
  assert_false(dl_parse_timestamp("09:55:42\0", 9, &(struct dl_timestamp){0}));
}

/* Digits behind the nanoseconds are dropped, however many there are. */
static void cuts_fractions_to_nanoseconds(void **state) {
  char text[400] = "2022-12-05 09:55:42.123456789";
  int64_t ns = S(THE_DAY) + S(35742) + 123456789;

  (void)state;
  assert_time(text, ns, false, true);
  for (size_t n = strlen(text); n + 1 < sizeof text; n++) {
    text[n] = '9';
    assert_time(text, ns, false, true);
  }
  assert_time("1670234142.12345678999", ns, true, true);
}

/* A text is a time or none, wherever it is cut off; nothing is read behind
 * its end. */
static void is_cut_off_anywhere(void **state) {
  static const struct {
    const char *text;
    const char *good; /* '1' where that many bytes are a time */
  } cases[] = {
      {"2022-12-05 09:55:42.535", "000000000000000000010111"},
      {"05-12-2022T9:05:07Z", "00000000000000000011"},
      {"20221205 09:55:42.5+01:00", "00000000000000000101001001"},
      {"2022/12/05 09:55:42 UTC", "000000000000000000011001"},
      {"9:55:42,5", "0000000101"},
  };
  struct dl_timestamp t;

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++)
    for (size_t n = 0; n <= strlen(cases[i].text); n++) {
      char *copy = malloc(n + 1); /* sanitizers guard its end */
      assert_non_null(copy);
      memcpy(copy, cases[i].text, n);
      copy[n] = '7';
      if (dl_parse_timestamp(copy, n, &t) != (cases[i].good[n] == '1'))
        fail_msg("%zu bytes of '%s'", n, cases[i].text);
      free(copy);
    }
}

static void reads_numbers_since_1970(void **state) {
  (void)state;
  assert_time("1670234142", S(1670234142), true, true);
  assert_time("1670234142.535", MS(1670234142535), true, true);
  assert_time("1670234142.000000001", S(1670234142) + 1, true, true);
  assert_time("1670234142.", S(1670234142), true, true);
  assert_time("1.670234142e9", S(1670234142), true, true);
  assert_time("631152000", S(631152000), true, true);   /* 1990 */
  assert_time("4102444800", S(4102444800), true, true); /* 2100 */
  /* thousandths, millionths, billionths, to the last digit */
  assert_time("1670234142535", MS(1670234142535), true, true);
  assert_time("1670234142535.5", MS(1670234142535) + 500000, true, true);
  assert_time("1670234142535123", INT64_C(1670234142535123000), true, true);
  assert_time("1670234142535123456", INT64_C(1670234142535123456), true, true);
  assert_time(" 1670234142 ", S(1670234142), true, true);
}

static void refuses_numbers_far_from_now(void **state) {
  static const char *const texts[] = {
      "0", "1", "99999999", "-1670234142", "-1", "1670234142x", "1e300",
      "1670234142 W", "123456.78", "2022", "0x639dd", "99999999999999999999999",
      "1e400", "1670234142,5",
      /* seconds of 1973, 1989 and 2101; counts of ns since a machine began */
      "100000000", "631151999", "4133980800", "86400000000000",
      "123456789012345"};

  (void)state;
  for (size_t i = 0; i < COUNT(texts); i++)
    assert_no_time(texts[i]);
}

/* Whatever the number of digits, a time lies within 64 bits or is none. */
static void numbers_never_overflow(void **state) {
  struct dl_timestamp t;
  char text[40] = "";

  (void)state;
  for (size_t n = 0; n < 30; n++) {
    text[n] = '9';
    if (parse(text, &t))
      assert_true(t.ns >= S(99999999));
    text[n + 1] = '.';
    text[n + 2] = '5';
    if (parse(text, &t))
      assert_true(t.ns >= S(99999999));
    text[n + 1] = text[n + 2] = '\0';
  }
}

static void assert_format(int64_t ns, bool zoned, const char *want) {
  char buf[DL_TIMESTAMP_SIZE];

  assert_ptr_equal(dl_format_timestamp(buf, ns, zoned), buf);
  assert_string_equal(buf, want);
}

static void formats(void **state) {
  (void)state;
  assert_format(0, false, "1970-01-01T00:00:00");
  assert_format(0, true, "1970-01-01T00:00:00Z");
  assert_format(-1, true, "1969-12-31T23:59:59.999999999Z");
  assert_format(-S(1), false, "1969-12-31T23:59:59");
  assert_format(-S(86400), false, "1969-12-31T00:00:00");
  assert_format(MS(1670234142535), false, "2022-12-05T09:55:42.535");
  assert_format(MS(1670234142500), false, "2022-12-05T09:55:42.500");
  assert_format(S(1670234142) + 1000, false, "2022-12-05T09:55:42.000001");
  assert_format(S(1670234142) + 1, true, "2022-12-05T09:55:42.000000001Z");
  assert_format(S(951782400), false, "2000-02-29T00:00:00");
  assert_format(INT64_MAX, true, "2262-04-11T23:47:16.854775807Z");
  assert_format(INT64_MIN, true, "1677-09-21T00:12:43.145224192Z");
}

/* What is written is read back, over all of the time there is. */
static void round_trip(void **state) {
  char buf[DL_TIMESTAMP_SIZE];
  uint64_t x = 1;
  static const int64_t unit[] = {1, 1000, 1000000, DL_SECOND};

  (void)state;
  for (int i = 0; i < 200000; i++) {
    struct dl_timestamp t;
    x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    int64_t u = unit[i % 4];
    int64_t ns = (int64_t)(x >> 1) % S(9214646399) / u * u * (i % 2 ? 1 : -1);
    bool zoned = i % 3 == 0;
    dl_format_timestamp(buf, ns, zoned);
    if (!parse(buf, &t) || t.ns != ns || t.zoned != zoned || !t.dated)
      fail_msg("%s from %" PRId64, buf, ns);
  }
}

static void reads_elapsed(void **state) {
  static const struct {
    const char *text;
    double s;
  } cases[] = {
      {"00:00:00", 0},
      {"1:02:03", 3723},
      {"01:02:03.5", 3723.5},
      {"00:01", 1},
      {"02:03", 123},
      {"02:03.25", 123.25},
      {"90:00", 5400},
      {"123:45:06", 445506},
      {"1-00:00:00", 86400},
      {"10-23:59:59", 950399},
      {"1 day, 2:03:04.5", 93784.5},
      {"2 days, 0:00:01", 172801},
      {" 00:00:05 ", 5},
      {"365-00:00:00.125", 31536000.125},
  };
  double s;

  (void)state;
  for (size_t i = 0; i < COUNT(cases); i++) {
    if (!dl_parse_elapsed(cases[i].text, strlen(cases[i].text), &s))
      fail_msg("'%s' refused", cases[i].text);
    if (s != cases[i].s)
      fail_msg("'%s': %.17g", cases[i].text, s);
  }
}

static void refuses_what_is_no_elapsed(void **state) {
  static const char *const texts[] = {"",
                                      " ",
                                      "5",
                                      "5.5",
                                      "1:2",
                                      "1:2:3",
                                      "1:60:00",
                                      "1:00:61",
                                      "-1:00",
                                      "1-",
                                      "1-5",
                                      "1-02:03",
                                      "1 day",
                                      "1 day, ",
                                      "1 day,0:00:01",
                                      "1 dog, 0:00:01",
                                      "1:00:00.",
                                      "1:00:00x",
                                      "1:00:00:00",
                                      "a:00",
                                      "1:00 W",
                                      "9999999:00",
                                      "1:00:00.5.5",
                                      "1 day, 2:03"};
  double s;

  (void)state;
  for (size_t i = 0; i < COUNT(texts); i++)
    if (dl_parse_elapsed(texts[i], strlen(texts[i]), &s))
      fail_msg("'%s' taken for %g s", texts[i], s);
}

/* As `date -u -d "2022-12-05 09:55" +%s` prints them. */
static void reads_starts(void **state) {
  static const struct {
    const char *text;
    int64_t s;
  } starts[] = {{"2022-12-05", 1670198400},
                {" 2022/12/05 ", 1670198400},
                {"20221205", 1670198400},
                {"05-12-2022 09:55", 1670234100},
                {"2022-12-05T9:55", 1670234100},
                {"2022-12-05 09:55+01:00", 1670230500},
                {"2022-12-05 09:55:42", 1670234142},
                {"1670234142", 1670234142}};
  static const char *const none[] = {"",
                                     "09:55",
                                     "09:55:42",
                                     "2022-13-05",
                                     "2022-12-05T",
                                     "2022-12-05 24:00",
                                     "2022-12-05 09:5",
                                     "2022-12-05 09",
                                     "2022-12-05x",
                                     "5.12.2022",
                                     "soon"};
  struct dl_timestamp t;
  (void)state;
  for (size_t i = 0; i < COUNT(starts); i++)
    if (!dl_parse_start(starts[i].text, &t) || t.ns != starts[i].s * DL_SECOND)
      fail_msg("'%s'", starts[i].text);
  for (size_t i = 0; i < COUNT(none); i++)
    if (dl_parse_start(none[i], &t))
      fail_msg("'%s' taken for a start", none[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reads_every_form_of_a_date),
      cmocka_unit_test(reads_times_of_day),
      cmocka_unit_test(reads_halves_of_the_day),
      cmocka_unit_test(reads_dates_of_other_programs),
      cmocka_unit_test(reads_zones),
      cmocka_unit_test(follows_the_calendar),
      cmocka_unit_test(refuses_what_64_bits_cannot_hold),
      cmocka_unit_test(refuses_what_is_no_time),
      cmocka_unit_test(cuts_fractions_to_nanoseconds),
      cmocka_unit_test(is_cut_off_anywhere),
      cmocka_unit_test(reads_numbers_since_1970),
      cmocka_unit_test(refuses_numbers_far_from_now),
      cmocka_unit_test(numbers_never_overflow),
      cmocka_unit_test(formats),
      cmocka_unit_test(round_trip),
      cmocka_unit_test(reads_starts),
      cmocka_unit_test(reads_elapsed),
      cmocka_unit_test(refuses_what_is_no_elapsed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
