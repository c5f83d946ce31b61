/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/timestamp.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/constants.h"
#include "base/number.h"
#include "base/text.h"

#define DAY_S 86400

/* Whole years of which 64 bits hold the nanoseconds, and what they hold. */
enum { YEAR_MIN = 1678, YEAR_MAX = 2261 };
#define NS_MAX 9.2e18

/* Of the C locale, without a call. */
static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* The text that has not been read yet. */
struct scan {
  const char *s, *end;
};

static struct scan trimmed(const char *s, size_t len) {
  struct scan p = {s, s + len};
  while (p.s < p.end && (*p.s == ' ' || *p.s == '\t'))
    p.s++;
  while (p.end > p.s && (p.end[-1] == ' ' || p.end[-1] == '\t'))
    p.end--;
  return p;
}

static bool take(struct scan *p, char c) {
  if (p->s < p->end && *p->s == c) {
    p->s++;
    return true;
  }
  return false;
}

/* Takes numbers of as many digits each as `widths` says ("422"), with a
 * separator between them unless that is 0. A further digit must not follow.
 * Inline: a tenth of the time of a log is that of its dates. */
static inline __attribute__((always_inline)) bool
numbers(struct scan *p, const char *widths, char separator, int *out) {
  const char *s = p->s, *end = p->end;
  for (size_t i = 0; widths[i] != '\0'; i++) {
    if (i > 0 && separator != '\0' && (s == end || *s++ != separator))
      return false;
    int x = 0, n = widths[i] - '0';
    if (end - s < n)
      return false;
    for (; n > 0; n--, s++) {
      if (!is_digit(*s))
        return false;
      x = x * 10 + (*s - '0');
    }
    out[i] = x;
  }
  if (s < end && is_digit(*s))
    return false;
  p->s = s;
  return true;
}

/* Behind a "." or ",": as many digits as there are, of which nine count. */
static bool fraction(struct scan *p, int64_t *ns) {
  int64_t unit = DL_SECOND, x = 0;
  if (p->s == p->end || !is_digit(*p->s))
    return false;
  for (; p->s < p->end && is_digit(*p->s); p->s++)
    if (unit > 1) {
      unit /= 10;
      x += unit * (*p->s - '0');
    }
  *ns += x;
  return true;
}

/* Days from 1970-01-01 in the proleptic Gregorian calendar. The year begins in
 * March here, so that the leap day is its last one; 400 years have 146097
 * days. */
static int64_t days_of(int year, int month, int day) {
  int y = month <= 2 ? year - 1 : year;
  int m = (month + 9) % 12; /* March is 0 */
  int64_t leap_days = y / 4 - y / 100 + y / 400;
  return (int64_t)365 * y + leap_days + (153 * m + 2) / 5 + day - 1 - 719468;
}

static bool is_date(int year, int month, int day) {
  static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < YEAR_MIN || year > YEAR_MAX || month < 1 || month > 12 || day < 1)
    return false;
  bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return day <= length[month - 1] + (month == 2 && leap);
}

/* Y-m-d, Y/m/d, Ymd or d-m-Y. */
static bool date(struct scan *p, int64_t *days) {
  int part[3]; /* year, month, day */
  char separator = p->end - p->s > 4 && p->s[4] == '/' ? '/' : '-';
  if (!numbers(p, "422", separator, part) && !numbers(p, "422", 0, part)) {
    if (!numbers(p, "224", '-', part))
      return false;
    int day = part[0];
    part[0] = part[2];
    part[2] = day;
  }
  if (!is_date(part[0], part[1], part[2]))
    return false;
  *days = days_of(part[0], part[1], part[2]);
  return true;
}

/* H:MM:SS[.fff] */
static bool time_of_day(struct scan *p, int64_t *ns) {
  int part[3]; /* hour, minute, second */
  if (!(numbers(p, "222", ':', part) || numbers(p, "122", ':', part)) ||
      part[0] > 23 || part[1] > 59 || part[2] > 60)
    return false;
  *ns = (part[0] * INT64_C(3600) + part[1] * 60 + part[2]) * DL_SECOND;
  return !(take(p, '.') || take(p, ',')) || fraction(p, ns);
}

static bool word(struct scan *p, const char *w) {
  size_t n = strlen(w);
  if ((size_t)(p->end - p->s) < n || memcmp(p->s, w, n) != 0)
    return false;
  p->s += n;
  return true;
}

/* Z, UTC, GMT, +01:00, +0100, +01, with or without a blank before, to the
 * end. */
static bool zone(struct scan *p, struct dl_timestamp *out) {
  int part[2] = {0};
  take(p, ' ');
  out->zoned = true;
  if (word(p, "Z") || word(p, "UTC") || word(p, "GMT"))
    return p->s == p->end;
  int sign = take(p, '+') ? 1 : take(p, '-') ? -1 : 0;
  if (sign == 0 ||
      !(numbers(p, "22", ':', part) || numbers(p, "22", 0, part) ||
        numbers(p, "2", 0, part)) ||
      part[0] > 15 || part[1] > 59)
    return false;
  out->zone_s = sign * (part[0] * 3600 + part[1] * 60);
  out->ns -= out->zone_s * DL_SECOND;
  return p->s == p->end;
}

/* Seconds since 1970, or thousandths, millionths, billionths of them. */
static bool since_1970(struct scan p, struct dl_timestamp *out) {
  static const struct {
    double from;
    int64_t ns;
  } steps[] = {{1e17, 1}, {1e14, 1000}, {1e11, 1000000}, {1e8, DL_SECOND}};
  uint64_t whole = 0;
  int64_t part = 0;
  size_t u = 0, len = (size_t)(p.end - p.s);
  double x;
  if (dl_parse_number(p.s, len, &x) != DL_NUMBER_OK || !(x >= DL_SINCE_1970_S))
    return false;
  while (x < steps[u].from)
    u++;
  int64_t unit = steps[u].ns;
  if (!(x * (double)unit < NS_MAX))
    return false;
  *out = (struct dl_timestamp){
      .ns = (int64_t)(x * (double)unit), .zoned = true, .dated = true};
  /* A double rounds to 256 ns: plain decimals are read digit by digit. */
  const char *from = p.s;
  for (; p.s < p.end && is_digit(*p.s); p.s++)
    whole = whole * 10 + (uint64_t)(*p.s - '0');
  bool fits = p.s - from <= 19;
  if (take(&p, '.'))
    fraction(&p, &part);
  if (fits && p.s == p.end)
    out->ns = (int64_t)whole * unit + part * unit / DL_SECOND;
  return true;
}

/* What most tables of jobs have: 2024-03-01T10:20:30 and no more. */
static bool plain_time(const char *s, struct dl_timestamp *out) {
  int part[7];
  for (size_t i = 0; i < 7; i++) {
    const char *at = s + (i == 0 ? 0 : 3 * i - 1);
    if (!is_digit(at[0]) || !is_digit(at[1]))
      return false;
    part[i] = (at[0] - '0') * 10 + (at[1] - '0');
  }
  int year = part[0] * 100 + part[1];
  if (s[4] != '-' || s[7] != '-' || (s[10] != 'T' && s[10] != ' ') ||
      s[13] != ':' || s[16] != ':' || !is_date(year, part[2], part[3]) ||
      part[4] > 23 || part[5] > 59 || part[6] > 60)
    return false;
  int64_t day = days_of(year, part[2], part[3]);
  int second = part[4] * 3600 + part[5] * 60 + part[6];
  *out = (struct dl_timestamp){.ns = (day * DAY_S + second) * DL_SECOND,
                               .dated = true};
  return true;
}

bool dl_parse_timestamp(const char *s, size_t len, struct dl_timestamp *out) {
  struct scan start = trimmed(s, len), p = start;
  int64_t days, ns;
  if (len == 19 && plain_time(s, out))
    return true;
  *out = (struct dl_timestamp){0};
  if (!date(&p, &days)) {
    p = start;
    return time_of_day(&p, &out->ns) ? p.s == p.end : since_1970(start, out);
  }
  if (!take(&p, 'T') && !take(&p, ' '))
    return false;
  while (take(&p, ' '))
    ;
  if (!time_of_day(&p, &ns))
    return false;
  out->dated = true;
  out->ns = days * DAY_S * DL_SECOND + ns;
  return p.s == p.end || zone(&p, out);
}

bool dl_parse_start(const char *s, struct dl_timestamp *out) {
  size_t len = strlen(s);
  struct scan p = trimmed(s, len);
  int64_t days;
  int part[2] = {0}; /* hour, minute */
  if (dl_parse_timestamp(s, len, out))
    return out->dated;
  if (!date(&p, &days))
    return false;
  if (p.s < p.end &&
      ((!take(&p, 'T') && !take(&p, ' ')) ||
       !(numbers(&p, "22", ':', part) || numbers(&p, "12", ':', part)) ||
       part[0] > 23 || part[1] > 59))
    return false;
  *out = (struct dl_timestamp){.dated = true};
  out->ns = (days * DAY_S + part[0] * 3600 + part[1] * 60) * DL_SECOND;
  return p.s == p.end || zone(&p, out);
}

int dl_order_times(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* One to `most` digits. */
static bool take_number(struct scan *p, int most, int *x) {
  const char *from = p->s;
  for (*x = 0; p->s < p->end && is_digit(*p->s); p->s++)
    if (p->s - from < most)
      *x = *x * 10 + (*p->s - '0');
  return p->s > from && p->s - from <= most;
}

bool dl_parse_elapsed(const char *s, size_t len, double *seconds) {
  struct scan p = trimmed(s, len);
  int first, days = 0, part[2];
  int64_t ns = 0;
  if (!take_number(&p, 6, &first))
    return false;
  bool with_days = take(&p, '-') || word(&p, " days, ") || word(&p, " day, ");
  if (with_days) {
    days = first;
    if (!take_number(&p, 2, &first))
      return false;
  }
  if (!take(&p, ':'))
    return false;
  bool hours = numbers(&p, "22", ':', part);
  if (hours ? part[0] > 59 || part[1] > 60
            : with_days || !numbers(&p, "2", 0, part) || part[0] > 60)
    return false;
  if ((take(&p, '.') && !fraction(&p, &ns)) || p.s != p.end)
    return false;
  double whole = hours ? first * 3600.0 + part[0] * 60.0 + part[1]
                       : first * 60.0 + part[0];
  *seconds = days * (double)DAY_S + whole + (double)ns * 1e-9;
  return true;
}

/* Units of time, the longest first. */
static const struct unit {
  const char *names; /* separated by '|' */
  double seconds;
} units[] = {
    {"w|week|weeks", 7.0 * DAY_S},    {"d|day|days", DAY_S},
    {"h|hr|hrs|hour|hours", 3600},    {"m|min|mins|minute|minutes", 60},
    {"s|sec|secs|second|seconds", 1}, {"ms", 1e-3}};
enum { UNITS = sizeof units / sizeof *units };

/* Bytes of the decimal number that s begins with; no sign. */
static size_t number_length(const char *s) {
  size_t n = strspn(s, "0123456789.");
  size_t sign = n > 0 && (s[n] == 'e' || s[n] == 'E')
                    ? (s[n + 1] == '+' || s[n + 1] == '-' ? 2 : 1)
                    : 0;
  return sign > 0 && is_digit(s[n + sign])
             ? n + sign + strspn(s + n + sign, "0123456789")
             : n;
}

bool dl_parse_duration(const char *s, double *seconds) {
  const char *colon = strchr(s, ':');
  double sum = 0, x;
  size_t next = 0; /* the longest unit that may follow */
  if (colon)       /* MM:SS could also be hours and minutes */
    return strchr(colon + 1, ':') && dl_parse_elapsed(s, strlen(s), seconds);
  for (s += strspn(s, " "); *s; next++) {
    size_t n = number_length(s);
    if (dl_parse_number(s, n, &x) != DL_NUMBER_OK)
      return false;
    s += n + strspn(s + n, " ");
    for (n = 0; isalpha((unsigned char)s[n]);)
      n++;
    size_t unit = 0;
    while (unit < UNITS && dl_word_among(units[unit].names, s, n) < 0)
      unit++;
    s += n + strspn(s + n, " ");
    /* Of several parts the last alone may have a fraction. */
    if (unit == UNITS || unit < next || (*s && x != floor(x)))
      return false;
    sum += x * units[unit].seconds;
    next = unit;
  }
  *seconds = sum;
  return next > 0 && isfinite(sum);
}

/* Writes x >= 0 in that many digits, and `behind`; returns the end. */
static char *put(char *to, int64_t x, int digits, char behind) {
  for (int i = digits; i-- > 0; x /= 10)
    to[i] = (char)('0' + x % 10);
  to[digits] = behind;
  return to + digits + 1;
}

char *dl_format_timestamp(char buf[DL_TIMESTAMP_SIZE], int64_t ns, bool zoned) {
  time_t seconds = ns / DL_SECOND - (ns % DL_SECOND < 0);
  int64_t rest = ns % DL_SECOND + (ns % DL_SECOND < 0 ? DL_SECOND : 0);
  struct tm utc;
  gmtime_r(&seconds, &utc);
  char *to = buf + strftime(buf, DL_TIMESTAMP_SIZE, "%Y-%m-%dT%H:%M:%S.", &utc);
  if (rest % 1000 != 0)
    to = put(to, rest, 9, 'Z');
  else if (rest % 1000000 != 0)
    to = put(to, rest / 1000, 6, 'Z');
  else if (rest != 0)
    to = put(to, rest / 1000000, 3, 'Z');
  to[-1] = 'Z';
  to[zoned ? 0 : -1] = '\0';
  return buf;
}

/* In one unit, with three significant digits. */
static char *format_in(char *buf, double s, double unit_s, const char *unit) {
  char x[DL_NUMBER_SIZE];
  snprintf(buf, DL_NUMBER_SIZE, "%s %s", dl_format_digits(x, s / unit_s, 3),
           unit);
  return buf;
}

char *dl_format_duration(char buf[DL_NUMBER_SIZE], double s) {
  static const struct {
    double s;
    const char *name;
  } below_minute[] = {{1e-6, "us"}, {1e-3, "ms"}, {1, "s"}};
  static const struct {
    double below, second_s; /* the time, and the second unit in s */
    int per;                /* second units in a first one */
    const char *first, *second;
  } pairs[] = {
      {DL_S_PER_HOUR - 0.5, 1, 60, "min", "s"},
      {DL_S_PER_DAY - 30, 60, 60, "h", "min"},
      {100 * DL_S_PER_DAY - DL_S_PER_HOUR / 2, DL_S_PER_HOUR, 24, "d", "h"}};
  /* 999.5 would be written as 1000: the next unit. */
  const double rounds_up = 0.9995;
  double x = fabs(s);
  if (x < 60 - 0.05) {
    size_t k = 2;
    while (k > 0 && x != 0 && x < rounds_up * below_minute[k].s)
      k--;
    return format_in(buf, s, below_minute[k].s, below_minute[k].name);
  }
  for (size_t i = 0; i < DL_LENGTH(pairs); i++)
    if (x < pairs[i].below) {
      long n = lround(x / pairs[i].second_s), per = pairs[i].per;
      snprintf(buf, DL_NUMBER_SIZE, "%s%ld %s %02ld %s", s < 0 ? "-" : "",
               n / per, pairs[i].first, n % per, pairs[i].second);
      return buf;
    }
  return x < DL_S_PER_YEAR ? format_in(buf, s, DL_S_PER_DAY, "d")
                           : format_in(buf, s, DL_S_PER_YEAR, "y");
}
