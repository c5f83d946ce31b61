/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SPEC PTDaemon, which reads power analysers for SPECpower and MLPerf Power
 * (spl.txt, cut from the daemon's log by MLPerf's server.py).
 *
 * Names and values in turn, one line a sample, no header:
 *   Time,12-23-2020 10:21:51.496,Watts,23.43,Volts,228.37,Amps,0.2,PF,0.5,
 *   Mark,LABEL
 * An analyser of several channels adds Ch1,Watts,...,Ch2,Watts,...; several
 * analysers add Analyzer1,Time,...,Watts,...,Analyzer2,...: the first Watts is
 * then their sum, and the first Volts, Amps and PF are -1, as is everything
 * that was not measured. All of it is the power at the wall, kind NODE. A
 * reversed clamp reads below 0 and lowers the sum, which cannot be told.
 *
 * Dates are month-day-year (MLPerf's checker reads %m-%d-%Y); with another
 * locale of Windows day-month-year. A number over 12 tells, for the lines
 * from there on; without one it is the month that comes first. */

#include <math.h>
#include <string.h>

#include "base/ascii.h"
#include "logs/log.h"

enum { FIELDS = 512 };

struct ptd {
  bool day_first;
};

/* Whether s begins with "dd-dd-dddd", or with slashes. */
static bool is_numeric_date(const char *s) {
  static const char form[] = "00-00-0000";
  for (size_t i = 0; form[i] != '\0'; i++)
    if (form[i] == '0' ? !dl_is_digit(s[i]) : (s[i] != '-' && s[i] != '/'))
      return false;
  return true;
}

static int two_digits(const char *s) {
  return (s[0] - '0') * 10 + (s[1] - '0');
}

/* Rewrites a date of ours to one with the year first. */
static const char *with_year_first(struct ptd *p, const char *s, char *buf,
                                   size_t size) {
  size_t len = strlen(s);
  if (!is_numeric_date(s) || len >= size)
    return s;
  int first = two_digits(s), second = two_digits(s + 3);
  if (first > 12 && second <= 12)
    p->day_first = true;
  else if (second > 12 && first <= 12)
    p->day_first = false;
  memcpy(buf, s + 6, 4);
  buf[4] = buf[7] = '-';
  memcpy(buf + 5, p->day_first ? s + 3 : s, 2);
  memcpy(buf + 8, p->day_first ? s : s + 3, 2);
  memcpy(buf + 10, s + 10, len - 10 + 1);
  return buf;
}

/* The value of the first `name`, or NULL. */
static const char *value_of(char *const *field, size_t n, const char *name) {
  for (size_t i = 0; i + 1 < n; i++)
    if (dl_strcasecmp(field[i], name) == 0)
      return field[i + 1];
  return NULL;
}

static bool line(struct dl_log *log, char *s, size_t len) {
  struct ptd *p = log->state;
  struct dl_reading r = {.util = NAN, .energy_j = NAN};
  char *field[FIELDS], buf[64];
  size_t n;
  (void)len;
  dl_cell_split(s, ',', field, FIELDS, &n);
  if (n > FIELDS)
    n = FIELDS;
  if (n < 2 || dl_strcasecmp(field[0], "Time") != 0)
    return dl_log_bad(log, "expected 'Time', found '%.40s'", field[0]);
  const char *time = with_year_first(p, field[1], buf, sizeof buf);
  if (!dl_log_time(log, time, strlen(time), &r.ns))
    return dl_log_bad(log, "column 'Time': invalid time '%.40s'", field[1]);
  const char *watts = value_of(field, n, "Watts");
  if (!watts)
    return dl_log_bad(log, "no column 'Watts'");
  if (!dl_cell_number(watts, strlen(watts), &r.power_w))
    return dl_log_bad(log, "column 'Watts': invalid number '%.40s'", watts);
  if (r.power_w == -1)
    r.power_w = NAN;
  if (r.power_w < 0)
    return dl_log_bad(log, "column 'Watts': negative power '%.40s'", watts);
  r.meter = dl_log_meter(log, DL_METER_NODE, NULL, NULL);
  dl_log_reading(log, &r);
  return true;
}

static bool probe(const struct dl_head *head) {
  static const char time[] = "Time,", watts[] = ",Watts,";
  struct ptd p = {0};
  struct dl_timestamp t;
  char field[48], buf[64];
  const char *s = head->text + strspn(head->text, " \t\r\n");
  if (dl_strncasecmp(s, time, sizeof time - 1) != 0)
    return false;
  s += sizeof time - 1;
  size_t n = strcspn(s, ",\r\n");
  if (n >= sizeof field || dl_strncasecmp(s + n, watts, sizeof watts - 1) != 0)
    return false;
  memcpy(field, s, n);
  field[n] = '\0';
  const char *date = with_year_first(&p, field, buf, sizeof buf);
  return dl_parse_timestamp(date, strlen(date), &t);
}

const struct dl_importer dl_import_ptdaemon = {
    .name = "ptdaemon",
    .summary = "SPEC PTDaemon's power log (MLPerf's spl.txt)",
    .role = DL_LOG_COMPANION,
    .state_size = sizeof(struct ptd),
    .probe = probe,
    .line = line,
};
