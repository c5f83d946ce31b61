/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/timestamp.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/constants.h"
#include "base/number.h"

#define DAY_S 86400

/* The whole years that 64 bits of nanoseconds cover, and the largest time. */
enum { YEAR_MIN = 1678, YEAR_MAX = 2261 };
#define NS_MAX 9.2e18

/* Numbers of seconds since 1970 are of the years 1990 to 2100. */
#define FIRST_S 631152000.0
#define LAST_S 4133980800.0

/* Tests for a digit of the C locale without a call. */
static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* The text that has not been read yet. */
struct time_text {
  const char *s, *end;
};

static struct time_text trimmed(const char *s, size_t len) {
  struct time_text p = {s, s + len};
  while (p.s < p.end && (*p.s == ' ' || *p.s == '\t'))
    p.s++;
  while (p.end > p.s && (p.end[-1] == ' ' || p.end[-1] == '\t'))
    p.end--;
  return p;
}

static bool take(struct time_text *p, char c) {
  if (p->s < p->end && *p->s == c) {
    p->s++;
    return true;
  }
  return false;
}

/* Takes numbers of as many digits each as `widths` says ("422"), with a
 * separator between them unless that is 0. A further digit must not follow. It
 * is inline because dates take a tenth of the time to read a log. */
static inline __attribute__((always_inline)) bool
numbers(struct time_text *p, const char *widths, char separator, int *out) {
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

/* Takes the digits behind a "." or ",", of which nine count. */
static bool fraction(struct time_text *p, int64_t *ns) {
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

/* Counts days from 1970-01-01 in the proleptic Gregorian calendar. The year
 * begins in March here, so that the leap day is its last one; 400 years have
 * 146097 days. */
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

/* Takes one to `most` digits. */
static bool take_number(struct time_text *p, int most, int *x) {
  const char *from = p->s;
  for (*x = 0; p->s < p->end && is_digit(*p->s); p->s++)
    if (p->s - from < most)
      *x = *x * 10 + (*p->s - '0');
  return p->s > from && p->s - from <= most;
}

static bool set_date(int year, int month, int day, int64_t *days) {
  if (!is_date(year, month, day))
    return false;
  *days = days_of(year, month, day);
  return true;
}

/* Takes d.m.Y, of days and months with one or two digits. */
static bool dotted_date(struct time_text *p, int64_t *days) {
  int day, month, year;
  return take_number(p, 2, &day) && take(p, '.') && take_number(p, 2, &month) &&
         take(p, '.') && numbers(p, "4", 0, &year) &&
         set_date(year, month, day, days);
}

/* Takes Y-m-d, Y/m/d, Ymd, d-m-Y or d.m.Y. */
static bool date(struct time_text *p, int64_t *days) {
  int part[3]; /* year, month, day */
  size_t len = (size_t)(p->end - p->s);
  if (len > 3 && (p->s[1] == '.' || p->s[2] == '.'))
    return dotted_date(p, days);
  char separator = len > 4 && p->s[4] == '/' ? '/' : '-';
  if (!numbers(p, "422", separator, part) && !numbers(p, "422", 0, part)) {
    if (!numbers(p, "224", '-', part))
      return false;
    int day = part[0];
    part[0] = part[2];
    part[2] = day;
  }
  return set_date(part[0], part[1], part[2], days);
}

static bool word(struct time_text *p, const char *w) {
  size_t n = strlen(w);
  if ((size_t)(p->end - p->s) < n || memcmp(p->s, w, n) != 0)
    return false;
  p->s += n;
  return true;
}

/* Takes H:MM:SS[.fff], of 12 hours with AM or PM behind. */
static bool time_of_day(struct time_text *p, int64_t *ns) {
  int part[3]; /* hour, minute, second */
  if (!(numbers(p, "222", ':', part) || numbers(p, "122", ':', part)) ||
      part[0] > 23 || part[1] > 59 || part[2] > 60)
    return false;
  *ns = (part[0] * INT64_C(3600) + part[1] * 60 + part[2]) * DL_SECOND;
  if ((take(p, '.') || take(p, ',')) && !fraction(p, ns))
    return false;
  bool am = word(p, " AM") || word(p, " am");
  if (!am && !word(p, " PM") && !word(p, " pm"))
    return true;
  int hour = part[0] % 12 + (am ? 0 : 12);
  *ns += INT64_C(3600) * (hour - part[0]) * DL_SECOND;
  return part[0] >= 1 && part[0] <= 12;
}

/* Takes Z, UTC, GMT, +01:00, +0100 or +01, with or without a blank before, to
 * the end. */
static bool zone(struct time_text *p, struct dl_timestamp *out) {
  int part[2] = {0};
  take(p, ' ');
  out->zoned = true;
  if (word(p, "Z") || word(p, "UTC") || word(p, "GMT"))
    return p->s == p->end;
  int sign = p->s < p->end && *p->s == '-' ? -1 : 1;
  if (!(take(p, '+') || take(p, '-')) ||
      !(numbers(p, "22", ':', part) || numbers(p, "22", 0, part) ||
        numbers(p, "2", 0, part)) ||
      part[0] > 15 || part[1] > 59)
    return false;
  out->zone_s = sign * (part[0] * 3600 + part[1] * 60);
  out->ns -= out->zone_s * DL_SECOND;
  return p->s == p->end;
}

/* Reads seconds since 1970; from 1e11 on each further factor of 1000 means
 * thousandths, millionths or billionths of them. Other numbers are clocks that
 * began at another time, such as the start of the machine. */
static bool since_1970(struct time_text p, struct dl_timestamp *out) {
  uint64_t whole = 0;
  int64_t part = 0, unit = DL_SECOND;
  double x;
  if (dl_parse_number(p.s, (size_t)(p.end - p.s), &x) != DL_NUMBER_OK ||
      !(x >= DL_SINCE_1970_S))
    return false;
  for (double from = 1e11; unit > 1 && x >= from; from *= 1000)
    unit /= 1000;
  double since_s = x * ((double)unit / (double)DL_SECOND);
  if (!(since_s >= FIRST_S && since_s < LAST_S))
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

/* Reads 2024-03-01T10:20:30, the form that most tables of jobs have. */
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

/* Takes "Tue Mar  5 10:20:30 2024", as ctime(3) writes it, or with UTC before
 * the year, as date(1) does. */
static bool ctime_text(struct time_text p, struct dl_timestamp *out) {
  static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
  int day, year, month = 0;
  int64_t days, ns;
  if (p.end - p.s < 8 || p.s[3] != ' ' || p.s[7] != ' ')
    return false;
  while (month < 12 && memcmp(p.s + 4, months + 3 * month, 3) != 0)
    month++;
  p.s += 8;
  take(&p, ' ');
  if (!take_number(&p, 2, &day) || !take(&p, ' ') || !time_of_day(&p, &ns))
    return false;
  out->zoned = word(&p, " UTC") || word(&p, " GMT");
  if (!take(&p, ' ') || !numbers(&p, "4", 0, &year) || p.s != p.end ||
      !set_date(year, month + 1, day, &days))
    return false;
  out->dated = true;
  out->ns = days * DAY_S * DL_SECOND + ns;
  return true;
}

bool dl_parse_timestamp(const char *s, size_t len, struct dl_timestamp *out) {
  struct time_text start = trimmed(s, len), p = start;
  int64_t days, ns;
  if (len == 19 && plain_time(s, out))
    return true;
  *out = (struct dl_timestamp){0};
  if (p.s < p.end && isalpha((unsigned char)*p.s))
    return ctime_text(p, out);
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
  struct time_text p = trimmed(s, len);
  int64_t days;
  int part[2] = {0}; /* hour, minute */
  if (dl_parse_timestamp(s, len, out))
    return out->dated;
  if (strchr(s, '.') || !date(&p, &days)) /* no d.m.Y alone */
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

int64_t dl_time_after(int64_t ns, double seconds) {
  double after = fmin(seconds * (double)DL_SECOND, NS_MAX);
  return (double)ns + after >= NS_MAX ? (int64_t)NS_MAX : ns + llround(after);
}

int dl_order_times(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

bool dl_parse_elapsed(const char *s, size_t len, double *seconds) {
  struct time_text p = trimmed(s, len);
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

/* Units of time in seconds, the longest first, and their names. */
enum { UNITS = 6, UNIT_NAMES = 5 };
static const double unit_s[UNITS] = {7.0 * DAY_S, DAY_S, 3600, 60, 1, 1e-3};
static const char *const unit_names[UNITS][UNIT_NAMES] = {
    {"w", "week", "weeks"},
    {"d", "day", "days"},
    {"h", "hr", "hrs", "hour", "hours"},
    {"m", "min", "mins", "minute", "minutes"},
    {"s", "sec", "secs", "second", "seconds"},
    {"ms"}};

/* The unit with a name of n bytes, in any case; UNITS if there is none. */
static size_t find_unit(const char *name, size_t n) {
  for (size_t u = 0; u < UNITS; u++)
    for (size_t i = 0; i < UNIT_NAMES && unit_names[u][i]; i++)
      if (strlen(unit_names[u][i]) == n &&
          strncasecmp(unit_names[u][i], name, n) == 0)
        return u;
  return UNITS;
}

/* Bytes of the decimal number without sign that s begins with. */
static size_t number_length(const char *s) {
  size_t n = strspn(s, "0123456789.");
  if (n == 0 || (s[n] != 'e' && s[n] != 'E'))
    return n;
  size_t digits = n + 1 + (s[n + 1] == '+' || s[n + 1] == '-');
  return is_digit(s[digits]) ? digits + strspn(s + digits, "0123456789") : n;
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
    size_t unit = find_unit(s, n);
    s += n + strspn(s + n, " ");
    /* Only the last of several parts may have a fraction. */
    if (unit == UNITS || unit < next || (*s && x != floor(x)))
      return false;
    sum += x * unit_s[unit];
    next = unit;
  }
  *seconds = sum;
  return next > 0 && isfinite(sum);
}

/* Writes x >= 0 in that many digits, and `behind`. Returns the end. */
static char *put(char *to, int64_t x, int digits, char behind) {
  for (int i = digits; i-- > 0; x /= 10)
    to[i] = (char)('0' + x % 10);
  to[digits] = behind;
  return to + digits + 1;
}

/* Writes a date and a 'T': the inverse of days_of, for years from 0. gmtime_r
 * is not used, since its seconds end in 2038 where time_t has 32 bits. */
static char *put_date(char *to, int64_t days) {
  days += 719468; /* counted from 0000-03-01: a leap day ends its year */
  int64_t year400 = days / 146097, day = days % 146097;
  int64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
  day -= 365 * year + year / 4 - year / 100;
  int64_t month = (5 * day + 2) / 153; /* from March on */
  day -= (153 * month + 2) / 5 - 1;
  month += month < 10 ? 3 : -9;
  to = put(to, 400 * year400 + year + (month <= 2), 4, '-');
  to = put(to, month, 2, '-');
  return put(to, day, 2, 'T');
}

char *dl_format_timestamp(char buf[DL_TIMESTAMP_SIZE], int64_t ns, bool zoned) {
  int64_t seconds = ns / DL_SECOND - (ns % DL_SECOND < 0);
  int64_t rest = ns % DL_SECOND + (ns % DL_SECOND < 0 ? DL_SECOND : 0);
  int64_t days = seconds / DAY_S - (seconds % DAY_S < 0);
  int64_t second = seconds - days * DAY_S;
  char *to = put_date(buf, days);
  to = put(to, second / 3600, 2, ':');
  to = put(to, second / 60 % 60, 2, ':');
  to = put(to, second % 60, 2, '.');
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

/* Writes a time in one unit, with three significant digits. */
static char *format_in(char *buf, double s, double unit_in_s,
                       const char *unit) {
  char x[DL_NUMBER_SIZE];
  snprintf(buf, DL_NUMBER_SIZE, "%s %s", dl_format_digits(x, s / unit_in_s, 3),
           unit);
  return buf;
}

/* Writes a time in two units: `per` second ones, of `second_s` seconds each,
 * make a first one. Minutes and seconds have two digits, as on a clock, hours
 * beside days as many as they need. */
static char *format_pair(char *buf, double s, const char *first, long per,
                         double second_s, const char *second) {
  long n = lround(fabs(s) / second_s);
  snprintf(buf, DL_NUMBER_SIZE, "%s%ld %s %0*ld %s", s < 0 ? "-" : "", n / per,
           first, per == 60 ? 2 : 1, n % per, second);
  return buf;
}

char *dl_format_duration(char buf[DL_NUMBER_SIZE], double s) {
  /* 999.5 would be written as 1000, and so goes into the next unit. */
  const double rounds_up = 0.9995;
  double x = fabs(s);
  if (x == 0 || (x >= rounds_up && x < 60 - 0.05))
    return format_in(buf, s, 1, "s");
  if (x < rounds_up * 1e-3)
    return format_in(buf, s, 1e-6, "us");
  if (x < 60 - 0.05)
    return format_in(buf, s, 1e-3, "ms");
  if (x < DL_S_PER_HOUR - 0.5)
    return format_pair(buf, s, "min", 60, 1, "s");
  if (x < DL_S_PER_DAY - 30)
    return format_pair(buf, s, "h", 60, 60, "min");
  if (x < 100 * DL_S_PER_DAY - DL_S_PER_HOUR / 2)
    return format_pair(buf, s, "d", 24, DL_S_PER_HOUR, "h");
  if (x < DL_S_PER_YEAR)
    return format_in(buf, s, DL_S_PER_DAY, "d");
  return format_in(buf, s, DL_S_PER_YEAR, "y");
}

void dl_document_date(char date[32], const char *format) {
  const char *epoch = getenv("SOURCE_DATE_EPOCH");
  size_t seconds;
  time_t now = epoch && dl_parse_count(epoch, &seconds) && seconds < 1u << 31
                   ? (time_t)seconds
                   : time(NULL);
  struct tm tm;
  date[0] = '\0';
  if (gmtime_r(&now, &tm))
    strftime(date, 32, format, &tm);
}
