/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SPEC PTDaemon, which reads power analysers for SPECpower and MLPerf Power
 * (spl.txt, cut from the daemon's log by MLPerf's server.py).
 *
 * Alternating names and values, one line per sample, no header:
 *   Time,12-23-2020 10:21:51.496,Watts,23.43,Volts,228.37,Amps,0.2,PF,0.5,
 *   Mark,LABEL
 * An analyser with several channels adds Ch1,Watts,...,Ch2,Watts,...; several
 * analysers add Analyzer1,Time,...,Watts,...,Analyzer2,...: the first Watts is
 * then their sum, and the first Volts, Amps and PF are -1, like all values that
 * were not measured. The power is that at the wall, kind NODE. A reversed clamp
 * reads negative and lowers the sum, which cannot be detected.
 *
 * Dates are month-day-year (MLPerf's checker reads %m-%d-%Y), with some locales
 * of Windows day-month-year. A number above 12 decides for the lines from there
 * on; by default the month comes first. */

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "logs/log.h"

enum { FIELDS = 512 };

/* Rewrites "dd-dd-dddd ...", also with slashes, so that the year is first.
 * *day_first states whether days precede months in this log so far. */
static const char *with_year_first(bool *day_first, const char *s, char *buf,
                                   size_t size) {
  static const char form[] = "00-00-0000";
  size_t len = strlen(s);
  if (len < sizeof form - 1 || len >= size)
    return s;
  for (size_t i = 0; form[i] != '\0'; i++)
    if (form[i] == '0' ? !isdigit((unsigned char)s[i])
                       : (s[i] != '-' && s[i] != '/'))
      return s;
  int first = atoi(s), second = atoi(s + 3);
  if (first > 12 && second <= 12)
    *day_first = true;
  else if (second > 12 && first <= 12)
    *day_first = false;
  const char *day = *day_first ? s : s + 3;
  const char *month = *day_first ? s + 3 : s;
  snprintf(buf, size, "%.4s-%.2s-%.2s%s", s + 6, month, day, s + 10);
  return buf;
}

/* The value of the first `name`, or NULL. */
static const char *value_of(char *const *field, size_t n, const char *name) {
  for (size_t i = 0; i + 1 < n; i++)
    if (strcasecmp(field[i], name) == 0)
      return field[i + 1];
  return NULL;
}

static bool line(struct dl_log *log, char *s) {
  struct dl_reading r = dl_reading_at(0, 0);
  char *field[FIELDS], buf[64];
  size_t n = dl_cell_split(s, ',', field, FIELDS);
  n = n < FIELDS ? n : FIELDS;
  if (n < 2 || dl_word_among("Time", field[0], strlen(field[0])) < 0)
    return dl_log_bad(log, "expected 'Time', found '%.40s'", field[0]);
  const char *time = with_year_first(log->state, field[1], buf, sizeof buf);
  if (!dl_log_time(log, time, strlen(time), &r.ns))
    return dl_log_bad(log, "column 'Time': invalid time '%.40s'", field[1]);
  const char *watts = value_of(field, n, "Watts");
  if (!watts)
    return dl_log_bad(log, "no column 'Watts'");
  if (!dl_cell_value(watts, strlen(watts), DL_POWER, 1, &r.power_w))
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
  bool day_first = false;
  struct dl_timestamp t;
  char field[48], buf[64];
  const char *s = head->text + strspn(head->text, " \t\r\n");
  if (strncasecmp(s, time, sizeof time - 1) != 0)
    return false;
  s += sizeof time - 1;
  size_t n = strcspn(s, ",\r\n");
  if (n >= sizeof field || strncasecmp(s + n, watts, sizeof watts - 1) != 0)
    return false;
  memcpy(field, s, n);
  field[n] = '\0';
  const char *date = with_year_first(&day_first, field, buf, sizeof buf);
  return dl_parse_timestamp(date, strlen(date), &t);
}

const struct dl_importer dl_import_ptdaemon = {
    .name = "ptdaemon",
    .summary = "SPEC PTDaemon's power log (MLPerf's spl.txt)",
    .role = DL_LOG_COMPANION,
    .state_size = sizeof(bool),
    .probe = probe,
    .line = line,
};
