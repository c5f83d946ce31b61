/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers to text and back, whatever the locale is. */

#include "base/number.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

/* Text to numbers, whatever the locale is.
 *
 * Most numbers have at most 15 digits and no exponent. Their digits w and the
 * power of ten of their decimals are then doubles, and one division gives the
 * correctly rounded result (W. D. Clinger, How to read floating point numbers
 * accurately, PLDI 1990), in a third of the time of strtod(), which reads the
 * others. */

static const double power_of_10[DBL_DIG + 1] = {
    1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};

const char *dl_take_decimal(const char *s, const char *end, double *x) {
  const char *point = NULL, *p = s;
  uint64_t w = 0;
  for (; p < end; p++) {
    unsigned digit = (unsigned)(unsigned char)*p - '0';
    if (digit <= 9)
      w = w * 10 + digit; /* modulo 2^64: not used if there are too many */
    else if (*p == '.' && !point)
      point = p;
    else
      break;
  }
  size_t n_digits = (size_t)(p - s) - (point != NULL);
  if (n_digits == 0 || n_digits > DBL_DIG || *s == '.' || p[-1] == '.')
    return NULL;
  *x = point ? (double)w / power_of_10[p - point - 1] : (double)w;
  return p;
}

static const char *skip_digits(const char *p, const char *end) {
  while (p < end && isdigit((unsigned char)*p))
    p++;
  return p;
}

/* Whether [p, end), which is not empty, is a decimal number: strtod() also
 * takes hexadecimal ones and words. */
static bool is_decimal(const char *p, const char *end) {
  const char *from = p += *p == '+' || *p == '-';
  bool point = (p = skip_digits(p, end)) < end && *p == '.';
  p = skip_digits(p + point, end);
  if (p - from == point)
    return false;
  if (p < end && (*p == 'e' || *p == 'E')) {
    p++;
    from = p += p < end && (*p == '+' || *p == '-');
    p = skip_digits(p, end);
    if (p == from)
      return false;
  }
  return p == end;
}

/* Reads a decimal number of n bytes. It is handed to strtod() without its
 * point, as "WeQ", because the character of the point depends on the locale. */
static double read_by_strtod(const char *s, size_t n) {
  enum { EXPONENT = 24, MOST = 1000000000 };
  DL_FREED char *text = dl_malloc(n + EXPONENT);
  memcpy(text, s, n);
  text[n] = '\0';
  char *point = strchr(text, '.'), *e = strpbrk(text, "eE");
  char *stop = e ? e : text + n;
  long power = e ? strtol(e + 1, NULL, 10) : 0;
  if (power > MOST)
    power = MOST;
  else if (power < -MOST)
    power = -MOST;
  if (point) {
    power -= stop - point - 1;
    memmove(point, point + 1, (size_t)(stop - point - 1));
    stop--;
  }
  snprintf(stop, EXPONENT, "e%ld", power);
  return strtod(text, NULL);
}

enum dl_number dl_parse_number(const char *s, size_t len, double *out) {
  const char *end = s + len;
  bool negative = len > 0 && *s == '-';
  if (len > 0 && dl_take_decimal(s + negative, end, out) == end) {
    *out = negative ? -*out : *out;
    return DL_NUMBER_OK;
  }
  *out = NAN;
  while (s < end && isspace((unsigned char)*s))
    s++;
  while (s < end && isspace((unsigned char)end[-1]))
    end--;
  if (s == end)
    return DL_NUMBER_EMPTY;
  if (!is_decimal(s, end)) {
    s += *s == '+' || *s == '-';
    return dl_word_among("nan|inf|infinity", s, (size_t)(end - s)) >= 0
               ? DL_NUMBER_NOT_FINITE
               : DL_NUMBER_INVALID;
  }
  double x = read_by_strtod(s, (size_t)(end - s));
  if (!isfinite(x))
    return DL_NUMBER_NOT_FINITE;
  *out = x;
  return DL_NUMBER_OK;
}

bool dl_parse_double(const char *s, double *out) {
  return dl_parse_number(s, strlen(s), out) == DL_NUMBER_OK;
}

bool dl_parse_count(const char *s, size_t *out) {
  size_t v = 0;

  if (*s == '\0')
    return false;
  for (; *s != '\0'; s++) {
    if (!isdigit((unsigned char)*s) ||
        __builtin_mul_overflow(v, (size_t)10, &v) ||
        __builtin_add_overflow(v, (size_t)(*s - '0'), &v))
      return false;
  }
  *out = v;
  return true;
}

/* Numbers to text, whatever the locale is.
 *
 * printf() writes the locale's decimal point, which is replaced by a full stop.
 * Most numbers of JSON and CSV are short decimals, which integer arithmetic
 * writes:
 *
 *   x = m 2^e,  m < 2^53;   x 10^k = V 2^-s  with  V = m 5^k,  s = -(e + k)
 *
 * V fits 128 bits for 0 <= k <= 27. For the k that gives 17 digits before the
 * point, the n leading digits of x are V 2^-s / 10^(17 - n) rounded to the
 * nearest integer D (half to even, as printf does). D reads back as x if it is
 * closer than half a unit in the last place of x, which is 5^k / 2 on the scale
 * of V:
 *
 *   2 |V - D 10^(17 - n) 2^s| < 5^k
 *
 * Powers of two, whose lower neighbour is closer, are left to printf().
 * printf() with 15, 16 and 17 digits takes four times the processor time for a
 * sweep (21 us instead of 6 us per row). */

/* Puts a point where printf() put the decimal point of the locale, which may
 * have several bytes. */
static void put_point(char *s) {
  char *p = s + strspn(s, "+-0123456789e");
  size_t n = strcspn(p, "+-0123456789e");

  if (n == 0)
    return;
  *p = '.';
  memmove(p + 1, p + n, strlen(p + n) + 1);
}

/* Writes NaN or an infinity; returns false if x is finite. */
static bool format_not_finite(char *buf, double x) {
  if (isfinite(x))
    return false;
  const char *infinity = x < 0 ? "-inf" : "inf";
  strcpy(buf, isnan(x) ? "nan" : infinity);
  return true;
}

static char *format_g(char *buf, double x, int digits) {
  if (!format_not_finite(buf, x)) {
    snprintf(buf, DL_NUMBER_SIZE, "%.*g", digits, x);
    put_point(buf);
  }
  return buf;
}

static void put_digits(char *to, uint64_t digits, int n) {
  for (; n > 1; n -= 2, digits /= 100) {
    unsigned two = (unsigned)(digits % 100);
    to[n - 1] = (char)('0' + two % 10);
    to[n - 2] = (char)('0' + two / 10);
  }
  if (n > 0)
    to[0] = (char)('0' + digits % 10);
}

/* Writes n digits as %.`precision`g does; the first one stands for 10^exponent.
 * Returns the end, without a NUL. */
static char *lay_out(char *p, const char *digits, int n, int exponent,
                     int precision) {
  while (n > 1 && digits[n - 1] == '0')
    n--;
  if (exponent < -4 || exponent >= precision) {
    *p++ = digits[0];
    if (n > 1)
      *p++ = '.';
    memcpy(p, digits + 1, (size_t)n - 1);
    p += n - 1;
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    put_digits(p, (uint64_t)(exponent < 0 ? -exponent : exponent), 2);
    return p + 2;
  }
  if (exponent < 0) {
    memset(p, '0', 6);
    p[1] = '.';
    p += 1 - exponent;
    memcpy(p, digits, (size_t)n);
    return p + n;
  }
  int whole = exponent + 1 < n ? exponent + 1 : n;
  memcpy(p, digits, (size_t)whole);
  memset(p + whole, '0', (size_t)(exponent + 1 - whole));
  p += exponent + 1;
  if (whole < n)
    *p++ = '.';
  memcpy(p, digits + whole, (size_t)(n - whole));
  return p + (n - whole);
}

/* Writes a whole number below 10^15, which has no exponent. */
static char *lay_out_whole(char *to, uint64_t x) {
  int n = 1;
  for (uint64_t power = 10; n < DBL_DIG && x >= power; power *= 10)
    n++;
  put_digits(to, x, n);
  return to + n;
}

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 wide;

/* The highest power of 5 below 2^64 is 5^27. */
enum { MOST_POWER = 27 };

#define FOUR(x) (x), (x)*5, (x)*25, (x)*125
static const uint64_t power_of_5[MOST_POWER + 1] = {
    FOUR(UINT64_C(1)),
    FOUR(UINT64_C(625)),
    FOUR(UINT64_C(390625)),
    FOUR(UINT64_C(244140625)),
    FOUR(UINT64_C(152587890625)),
    FOUR(UINT64_C(95367431640625)),
    FOUR(UINT64_C(59604644775390625))};

/* The 17 leading digits of |x|, and the rest behind them. */
struct leading_digits {
  uint64_t m; /* |x| = m 2^e, a normal number */
  int e;
  uint64_t digits;
  wide rest, unit; /* x 10^k = digits + rest 2^-s, unit = 5^k */
  int s, k;
};

static void take_apart(double size, struct leading_digits *v) {
  uint64_t bits;
  memcpy(&bits, &size, sizeof bits);
  uint64_t hidden = UINT64_C(1) << 52;
  v->m = (bits & (hidden - 1)) | hidden;
  v->e = (int)(bits >> 52) - 1075;
}

/* Computes the digits of m 2^e. Returns false where the power is out of reach.
 */
static bool take_digits(struct leading_digits *v) {
  static const uint64_t low = UINT64_C(10000000000000000);
  /* |x| 10^k has 17 digits or one more: log10(2) = 1233 / 4096. */
  v->k = DBL_DECIMAL_DIG - 1 - ((v->e + 52) * 1233 >> 12);
  for (;;) {
    if (v->k < 0 || v->k > MOST_POWER)
      return false;
    v->unit = power_of_5[v->k];
    v->s = -(v->e + v->k);
    if (v->s < 0) {
      v->unit <<= -v->s;
      v->s = 0;
    }
    wide all = v->m * v->unit;
    v->digits = (uint64_t)(all >> v->s);
    v->rest = all - ((wide)v->digits << v->s);
    if (v->digits >= 10 * low)
      v->k--;
    else if (v->digits < low)
      v->k++;
    else
      return true;
  }
}

/* Computes D of 17, 16 or 15 digits for `scale` = 1, 10 or 100; *exact is
 * whether it reads back as x. */
static uint64_t round_to(const struct leading_digits *v, uint64_t scale,
                         bool *exact) {
  uint64_t digits = v->digits / scale;
  wide rest = ((wide)(v->digits - digits * scale) << v->s) + v->rest;
  wide all = (wide)scale << v->s, other = all - rest;
  bool up = rest > other || (rest == other && (digits & 1));
  *exact = 2 * (up ? other : rest) < v->unit;
  return digits + up;
}

/* Writes 0 and |x| between 1e-11 and 1e16 as dl_format_short does, but for
 * powers of two that are no whole numbers. Returns the end; NULL for others. */
static char *put_shortest(char *to, double x) {
  double size = fabs(x);
  *to = '-';
  to += signbit(x) != 0;
  if (size < 1e15 && size == (double)(uint64_t)size)
    return lay_out_whole(to, (uint64_t)size);
  if (!(size >= 1e-11 && size < 1e16))
    return NULL;
  struct leading_digits v;
  take_apart(size, &v);
  if (v.m == UINT64_C(1) << 52 || !take_digits(&v))
    return NULL;
  int n = DBL_DIG, exponent = DBL_DECIMAL_DIG - 1 - v.k;
  for (uint64_t scale = 100;; scale /= 10, n++) {
    char text[DBL_DECIMAL_DIG + 1];
    bool exact;
    uint64_t digits = round_to(&v, scale, &exact);
    if (!exact && n < DBL_DECIMAL_DIG)
      continue;
    put_digits(text, digits, n + 1); /* one more where it was rounded up to a
                                        power of ten */
    bool more = text[0] != '0';
    return lay_out(to, text + !more, n, exponent + more, n);
  }
}

#else

static char *put_shortest(char *to, double x) {
  double size = fabs(x);
  *to = '-';
  to += signbit(x) != 0;
  return size < 1e15 && size == (double)(uint64_t)size
             ? lay_out_whole(to, (uint64_t)size)
             : NULL;
}

#endif

size_t dl_put_short(char buf[DL_NUMBER_SIZE], double x) {
  double back;
  const char *end = put_shortest(buf, x);
  if (end)
    return (size_t)(end - buf);
  for (int digits = DBL_DIG; digits < DBL_DECIMAL_DIG; digits++) {
    format_g(buf, x, digits);
    if (dl_parse_double(buf, &back) && back == x)
      return strlen(buf);
  }
  return strlen(format_g(buf, x, DBL_DECIMAL_DIG));
}

char *dl_format_short(char buf[DL_NUMBER_SIZE], double x) {
  buf[dl_put_short(buf, x)] = '\0';
  return buf;
}

char *dl_format_digits(char buf[DL_NUMBER_SIZE], double x, int digits) {
  char e[DL_NUMBER_SIZE];
  int exponent;

  if (digits < 1)
    digits = 1;
  if (digits > DBL_DECIMAL_DIG)
    digits = DBL_DECIMAL_DIG;
  if (format_not_finite(buf, x)) {
    if (isnan(x))
      strcpy(buf, "-");
    return buf;
  }
  if (x == 0)
    return strcpy(buf, "0");
  snprintf(e, sizeof e, "%.*e", digits - 1, x);
  put_point(e);
  if (fabs(x) < 1e-4 || fabs(x) > 1e6)
    return strcpy(buf, e);
  exponent = atoi(strchr(e, 'e') + 1);
  if (exponent >= digits - 1) {
    /* Rounded to tens or more; "%e" has done the rounding. */
    dl_parse_double(e, &x);
    digits = exponent + 1;
  }
  snprintf(buf, DL_NUMBER_SIZE, "%.*f", digits - 1 - exponent, x);
  put_point(buf);
  return buf;
}

char *dl_group_digits(char buf[DL_NUMBER_SIZE]) {
  size_t n = strlen(buf);
  if (n < 5 || strspn(buf, "0123456789") < n)
    return buf;
  for (size_t at = n; at > 3; n++) {
    at -= 3;
    memmove(buf + at + 1, buf + at, n - at + 1);
    buf[at] = ',';
  }
  return buf;
}

int dl_order_numbers(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}
