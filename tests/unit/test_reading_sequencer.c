/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Readings in order of time, whatever the clock did. The logs are of an
 * importer of this test's own: "TIME,GPU,WATTS", a line each. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/number.h"
#include "base/text.h"
#include "logs/readings/reading_sequencer.h"
#include "unit.h"
#include "tests/messages.h"

static bool plain_line(struct dl_log *log, char *s) {
  char *field[3];
  struct dl_reading r = {.util = NAN, .energy_j = NAN};
  size_t n;

  n = dl_cell_split(s, ',', field, 3);
  if (n != 3 || !dl_log_time(log, field[0], strlen(field[0]), &r.ns) ||
      !dl_parse_double(field[2], &r.power_w))
    return dl_log_bad(log, "not a reading");
  r.meter = dl_log_meter(log, DL_METER_GPU, field[1], NULL);
  dl_log_reading(log, &r);
  return true;
}

static const struct dl_importer plain = {.name = "plain", .line = plain_line};

/* A log being fed. */
struct feeding {
  struct dl_log *log;
  struct dl_sequencer feed;
  struct dl_log_options o;
  struct dl_diag d;
};

static void open_feed(struct feeding *f, const char *text) {
  *f = (struct feeding){.o.from = &plain};
  assert_ok(dl_log_open(&f->log, put_file("log", text), &f->o, &f->d), &f->d);
  f->feed = (struct dl_sequencer){.log = f->log};
}

static void close_feed(struct feeding *f) {
  dl_sequencer_free(&f->feed);
  dl_log_free(f->log);
  dl_diag_free(&f->d);
}

static const struct dl_reading *next(struct feeding *f, size_t *line) {
  const struct dl_reading *r;

  assert_ok(dl_sequencer_next(&f->feed, &r, &f->d), &f->d);
  *line = r ? r->line : 0;
  return r;
}

/* Seconds since the first reading and watts, "0:100 1:101", of which the
 * second GPU's have a "'"; then "| warning" for each. */
static void assert_feed(const char *text, const char *expected) {
  struct feeding f;
  struct dl_text out = {0};
  size_t line;
  int64_t first = 0, before = INT64_MIN;

  open_feed(&f, text);
  for (const struct dl_reading *r; (r = next(&f, &line));) {
    if (before == INT64_MIN)
      first = r->ns;
    if (r->ns < before)
      fail_msg("time goes back at line %zu of\n%s", line, text);
    before = r->ns;
    dl_text_printf(&out, "%s%.10g:%g%s", out.len > 0 ? " " : "",
                   (double)(r->ns - first) * 1e-9, r->power_w,
                   r->meter > 0 ? "'" : "");
  }
  assert_null(next(&f, &line));
  for (size_t i = 0; i < f.d.n_warnings; i++)
    dl_text_printf(&out, "| %s", f.d.warnings[i] + strlen(temp_path("log")));
  if (strcmp(dl_text_str(&out), expected) != 0)
    fail_msg("got\n%s\nfor\n%s", dl_text_str(&out), expected);
  close_feed(&f);
  dl_text_free(&out);
}

static void hands_on_in_order(void **state) {
  (void)state;
  assert_feed("2022-12-05 09:00:00,0,100\n"
              "2022-12-05 09:00:01,0,101\n"
              "2022-12-05 09:00:02.5,0,102\n",
              "0:100 1:101 2.5:102");
  assert_feed("2022-12-05 09:00:00,0,100\n", "0:100");
  /* a gap of a day is a gap */
  assert_feed("2022-12-05 09:00:00,0,100\n"
              "2022-12-06 09:00:00,0,101\n",
              "0:100 86400:101");
}

static void puts_late_readings_in_their_place(void **state) {
  (void)state;
  assert_feed("2022-12-05 09:00:00,0,100\n"
              "2022-12-05 09:00:02,0,102\n"
              "2022-12-05 09:00:01,0,101\n"
              "2022-12-05 09:00:03,0,103\n",
              "0:100 1:101 2:102 3:103");
  assert_feed("2022-12-05 09:00:01,0,100\n"
              "2022-12-05 09:00:00,0,101\n",
              "0:101 1:100");
  assert_feed("2022-12-05 09:00:00.0,0,1\n"
              "2022-12-05 09:00:00.2,1,2\n"
              "2022-12-05 09:00:01.0,0,3\n"
              "2022-12-05 09:00:02.0,0,4\n"
              "2022-12-05 09:00:01.2,1,5\n",
              "0:1 0.2:2' 1:3 1.2:5' 2:4");
}

static void keeps_ties_in_the_order_of_lines(void **state) {
  (void)state;
  assert_feed("2022-12-05 09:00:00,0,1\n"
              "2022-12-05 09:00:00,1,2\n"
              "2022-12-05 09:00:00,0,3\n"
              "2022-12-05 09:00:01,1,4\n"
              "2022-12-05 09:00:00,1,5\n"
              "2022-12-05 09:00:01,0,6\n",
              "0:1 0:2' 0:3 0:5' 1:4' 1:6");
}

/* Each reading is moved by up to 59 others, but less than the 64 that wait. */
static void sorts_what_is_nearly_in_order(void **state) {
  static char text[64000];
  size_t len = 0, line, n = 1200, i = 0;
  struct feeding f;

  (void)state;
  for (size_t from = 0; from < n; from += 60)
    for (size_t k = 0; k < 60; k++) {
      size_t at = from + k * 37 % 60; /* a permutation of the 60 */
      len += (size_t)snprintf(text + len, sizeof text - len, "%zu.%zu,0,%zu\n",
                              1670000000 + at / 10, at % 10, at);
    }
  open_feed(&f, text);
  for (const struct dl_reading *r; (r = next(&f, &line)); i++) {
    assert_int_equal(r->power_w, i);
    assert_int_equal(line,
                     i / 60 * 60 + i % 60 * 13 % 60 + 1); /* 37 * 13 = 1 */
  }
  assert_int_equal(i, n);
  assert_int_equal(f.d.n_warnings, 0);
  close_feed(&f);
}

/* Too late by more than the 64 readings that wait, but by less than a minute:
 * neither late nor the clock. */
static void leaves_out_what_is_too_late(void **state) {
  char text[8000];
  size_t len = 0, line, n = 0;
  struct feeding f;

  (void)state;
  for (int i = 0; i < 100; i++)
    len += (size_t)snprintf(text + len, sizeof text - len,
                            "2022-12-05 09:00:%02d.%d,0,100\n", i / 10, i % 10);
  snprintf(text + len, sizeof text - len,
           "2022-12-05 09:00:01.55,0,7\n"
           "2022-12-05 09:00:01.65,0,7\n"
           "2022-12-05 09:00:10,0,100\n");
  open_feed(&f, text);
  for (const struct dl_reading *r; (r = next(&f, &line)); n++)
    assert_int_equal(r->power_w, 100);
  assert_int_equal(n, 101);
  assert_int_equal(f.d.n_warnings, 1);
  assert_int_equal(f.d.n_skipped, 1);
  assert_string_equal(f.d.warnings[0] + strlen(temp_path("log")),
                      ":101: " MSG_reading_out_order_sort("2", "s"));
  close_feed(&f);
}

#define BACK_AN_HOUR MSG_clock_set_back_by

/* Summer time ends: 02:59:59 is followed by 02:00:00. */
static void carries_on_when_summer_ends(void **state) {
  (void)state;
  assert_feed("2022-10-30 02:59:58,0,1\n"
              "2022-10-30 02:59:59,0,2\n"
              "2022-10-30 02:00:00,0,3\n"
              "2022-10-30 02:00:01,0,4\n"
              "2022-10-30 02:59:59,0,5\n"
              "2022-10-30 03:00:00,0,6\n",
              "0:1 1:2 2:3 3:4 3601:5 3602:6| :3: " BACK_AN_HOUR);
  assert_feed("2022-10-30 02:59:45,0,1\n"
              "2022-10-30 02:00:15,0,2\n"
              "2022-10-30 02:00:45,0,3\n",
              "0:1 30:2 60:3| :2: " BACK_AN_HOUR);
  /* two boards, of which the second is the first to be set back */
  assert_feed("2022-10-30 02:59:59.1,0,1\n"
              "2022-10-30 02:59:59.2,1,2\n"
              "2022-10-30 02:00:00.1,0,3\n"
              "2022-10-30 02:00:00.2,1,4\n"
              "2022-10-30 02:00:01.1,0,5\n"
              "2022-10-30 02:00:01.2,1,6\n",
              "0:1 0.1:2' 1:3 1.1:4' 2:5 2.1:6'| :3: " BACK_AN_HOUR);
  /* times of day alone */
  assert_feed("02:59:58,0,1\n"
              "02:59:59,0,2\n"
              "02:00:00,0,3\n",
              "0:1 1:2 2:3| :3: " BACK_AN_HOUR);
}

/* Samples so far apart that the step alone does not look like an hour. */
static void carries_on_slow_samples_when_summer_ends(void **state) {
  (void)state;
  assert_feed("2022-10-30 02:50:00,0,1\n"
              "2022-10-30 02:55:00,0,2\n"
              "2022-10-30 02:00:00,0,3\n"
              "2022-10-30 02:05:00,0,4\n",
              "0:1 300:2 600:3 900:4| :3: " MSG_clock_set_back_by_carried(
                  "55 min 00 s", "5 min 00 s"));
}

/* A clock that has a zone does not know of summer. */
static void zones_know_no_summer(void **state) {
  (void)state;
  assert_feed("2022-10-30T02:59:58Z,0,1\n"
              "2022-10-30T02:59:59Z,0,2\n"
              "2022-10-30T02:00:00Z,0,3\n",
              "0:1 1:2 2:3| :3: " MSG_clock_set_back_by_carried("59 min 59 s",
                                                                "1.00 s"));
  assert_feed("2022-10-30T02:59:59+02:00,0,1\n"
              "2022-10-30T02:00:00+01:00,0,2\n",
              "0:1 1:2");
}

static void carries_on_when_set_back(void **state) {
  (void)state;
  assert_feed("2022-12-05 09:10:00,0,1\n"
              "2022-12-05 09:10:02,0,2\n"
              "2022-12-05 09:05:00,0,3\n"
              "2022-12-05 09:05:02,0,4\n",
              "0:1 2:2 4:3 6:4| :3: " MSG_clock_set_back_by_carried(
                  "5 min 02 s", "2.00 s"));
  /* one log behind the other, in the wrong order */
  assert_feed("2022-12-05 12:00:00,0,1\n"
              "2022-12-05 12:00:01,0,2\n"
              "2022-12-05 12:00:02,0,3\n"
              "2022-12-04 09:00:00,0,4\n"
              "2022-12-04 09:00:01,0,5\n"
              "2022-12-04 09:00:02,0,6\n",
              "0:1 1:2 2:3 3:4 4:5 5:6| :4: " MSG_clock_set_back_by_carried(
                  "1 d 3 h", "1.00 s"));
}

static void carries_on_twice(void **state) {
  (void)state;
  assert_feed("2022-10-30 02:59:59,0,1\n"
              "2022-10-30 02:00:00,0,2\n"
              "2022-10-30 02:00:01,0,3\n"
              "2022-10-30 01:00:00,0,4\n"
              "2022-10-30 01:00:01,0,5\n",
              "0:1 1:2 2:3 3:4 4:5| :2: " BACK_AN_HOUR
              "| :4: " MSG_clock_set_back_by_carried("1 h 00 min", "1.00 s"));
}

#define AHEAD MSG_clock_set_ahead_by

/* Summer time begins: 01:59:59 is followed by 03:00:00. */
static void sets_back_when_summer_begins(void **state) {
  (void)state;
  assert_feed("2022-03-27 01:59:58,0,1\n" /* a Sunday: Europe */
              "2022-03-27 01:59:59,0,2\n"
              "2022-03-27 03:00:00,0,3\n"
              "2022-03-27 03:00:01,0,4\n",
              "0:1 1:2 2:3 3:4| :3: " AHEAD);
  assert_feed("2024-03-10 01:59:58,0,1\n" /* America, in a leap year */
              "2024-03-10 01:59:59,0,2\n"
              "2024-03-10 03:00:00,0,3\n",
              "0:1 1:2 2:3| :3: " AHEAD);
  assert_feed("2023-10-01 01:59:58,0,1\n" /* Australia */
              "2023-10-01 01:59:59,1,2\n"
              "2023-10-01 03:00:00,0,3\n"
              "2023-10-01 03:00:01,1,4\n",
              "0:1 1:2' 2:3 3:4'| :3: " AHEAD);
}

static void an_hour_is_a_gap_otherwise(void **state) {
  static const char *const days[] = {
      "2022-03-23", /* a Wednesday */
      "2022-01-30", /* a Sunday in winter */
      "2022-06-26", /* in summer */
      "2022-12-04",
  };
  char text[200];

  (void)state;
  for (size_t i = 0; i < COUNT(days); i++) {
    snprintf(text, sizeof text,
             "%s 01:59:58,0,1\n%s 01:59:59,0,2\n%s 03:00:00,0,3\n", days[i],
             days[i], days[i]);
    assert_feed(text, "0:1 1:2 3602:3");
  }
  /* a Sunday in March, but at noon; in the night, but with a zone; by two
   * hours; one sample an hour */
  assert_feed("2022-03-27 11:59:58,0,1\n"
              "2022-03-27 11:59:59,0,2\n"
              "2022-03-27 13:00:00,0,3\n",
              "0:1 1:2 3602:3");
  assert_feed("2022-03-27T01:59:58Z,0,1\n"
              "2022-03-27T01:59:59Z,0,2\n"
              "2022-03-27T03:00:00Z,0,3\n",
              "0:1 1:2 3602:3");
  assert_feed("2022-03-27 01:59:58,0,1\n"
              "2022-03-27 01:59:59,0,2\n"
              "2022-03-27 04:00:00,0,3\n",
              "0:1 1:2 7202:3");
  assert_feed("2022-03-27 00:00:00,0,1\n"
              "2022-03-27 01:00:00,0,2\n"
              "2022-03-27 02:00:00,0,3\n"
              "2022-03-27 03:00:00,0,4\n",
              "0:1 3600:2 7200:3 10800:4");
}

static void goes_over_midnight(void **state) {
  (void)state;
  assert_feed("23:59:58,0,1\n"
              "23:59:59,0,2\n"
              "0:00:00,0,3\n"
              "0:00:01,0,4\n",
              "0:1 1:2 2:3 3:4");
  assert_feed("18:00:00,0,1\n"
              "00:00:00,0,2\n"
              "06:00:00,0,3\n"
              "12:00:00,0,4\n"
              "18:00:00,0,5\n"
              "00:00:00,0,6\n"
              "06:00:00,0,7\n",
              "0:1 21600:2 43200:3 64800:4 86400:5 108000:6 129600:7");
  /* a late reading of the day before */
  assert_feed("23:59:59.5,0,1\n"
              "00:00:00.5,0,2\n"
              "23:59:59.9,1,3\n"
              "00:00:00.9,1,4\n"
              "00:00:01.5,0,5\n",
              "0:1 0.4:3' 1:2 1.4:4' 2:5");
}

/* The line where the log is refused. */
static void assert_disorder(const char *text, size_t expected) {
  struct feeding f;
  const struct dl_reading *r;
  enum dl_status status;
  char message[200];

  open_feed(&f, text);
  do
    status = dl_sequencer_next(&f.feed, &r, &f.d);
  while (status == DL_OK && r);
  assert_int_equal(status, DL_EINPUT);
  snprintf(message, sizeof message, ":%zu: " MSG_log_not_in_order, expected);
  assert_string_equal(f.d.error + strlen(temp_path("log")), message);
  close_feed(&f);
}

static void refuses_what_is_not_in_order(void **state) {
  (void)state;
  /* into the hole before line 3 */
  assert_disorder("2022-12-05 09:00:00,0,1\n"
                  "2022-12-05 09:00:01,0,2\n"
                  "2022-12-05 09:10:00,0,3\n"
                  "2022-12-05 09:05:00,0,4\n",
                  4);
  /* a second device behind the first one */
  assert_disorder("2022-12-05 09:00:00,0,1\n"
                  "2022-12-05 09:01:30,0,2\n"
                  "2022-12-05 09:00:00,1,3\n",
                  3);
  /* the third time that times go back by more than a minute */
  assert_disorder("2022-12-05 09:40:00,0,1\n"
                  "2022-12-05 09:30:00,0,2\n"
                  "2022-12-05 09:20:00,0,3\n"
                  "2022-12-05 09:10:00,0,4\n",
                  4);
}

static void an_empty_log_has_no_readings(void **state) {
  struct feeding f;
  size_t line;

  (void)state;
  open_feed(&f, "\n\n");
  assert_null(next(&f, &line));
  assert_null(next(&f, &line));
  close_feed(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hands_on_in_order),
      cmocka_unit_test(puts_late_readings_in_their_place),
      cmocka_unit_test(keeps_ties_in_the_order_of_lines),
      cmocka_unit_test(sorts_what_is_nearly_in_order),
      cmocka_unit_test(leaves_out_what_is_too_late),
      cmocka_unit_test(carries_on_when_summer_ends),
      cmocka_unit_test(carries_on_slow_samples_when_summer_ends),
      cmocka_unit_test(zones_know_no_summer),
      cmocka_unit_test(carries_on_when_set_back),
      cmocka_unit_test(carries_on_twice),
      cmocka_unit_test(sets_back_when_summer_begins),
      cmocka_unit_test(an_hour_is_a_gap_otherwise),
      cmocka_unit_test(goes_over_midnight),
      cmocka_unit_test(refuses_what_is_not_in_order),
      cmocka_unit_test(an_empty_log_has_no_readings),
  };
  return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
