/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers to text and back, the same under every locale.
 *
 * Reading: the digits are gathered as an integer w and a power q, so that the
 * value is w * 10^q. Where w <= 2^53 and |q| <= 22 both w and 10^|q| are
 * doubles, and one multiplication or division gives the correctly rounded
 * result (W. D. Clinger, How to read floating point numbers accurately, PLDI
 * 1990). Otherwise strtod() reads the digits as "WeQ": without a decimal point
 * the text means the same under every locale. strtod() alone would take three
 * times as long for a table of numbers.
 *
 * Writing: printf() writes the locale's decimal point, which is replaced by a
 * full stop. Most numbers of JSON and CSV are short decimals, which integer
 * arithmetic writes:
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

#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"

/* The sign of a decimal's difference from the midpoint of two doubles follows
 * from 767 digits and whether any later digit is not 0. */
#define DIGITS_MAX 800

/* So many digits fit a uint64_t. */
#define FAST_DIGITS 19
#define FAST_POWER 22
#define FAST_MANTISSA (UINT64_C(1) << 53)

/* Beyond this an exponent is out of range whatever the digits. */
#define EXPONENT_MAX 100000

/* A decimal number taken apart: +- w 10^power. */
struct decimal {
  const char *digits, *end; /* the digits, with their point if any */
  size_t n_digits;          /* without the point */
  uint64_t w;               /* the digits as an integer, if at most 19 */
  int64_t power;
  bool negative;
};

/* Reads what follows the digits; false if that is no exponent. */
static bool take_exponent(struct decimal *x, const char *p, const char *end) {
  int64_t e = 0;
  bool negative = false;
  if (p == end)
    return true;
  if (*p != 'e' && *p != 'E')
    return false;
  p++;
  if (p < end && (*p == '+' || *p == '-'))
    negative = *p++ == '-';
  if (p == end)
    return false;
  for (; p < end; p++) {
    if (!dl_is_digit(*p))
      return false;
    if (e < INT64_MAX / 100)
      e = e * 10 + (*p - '0');
  }
  x->power += negative ? -e : e;
  return true;
}

/* Takes [p, end), which is not empty, apart; false if it is no decimal
 * number. */
static bool take_decimal(struct decimal *x, const char *p, const char *end) {
  const char *point = NULL;
  uint64_t w = 0;
  x->negative = *p == '-';
  if (*p == '+' || *p == '-')
    p++;
  x->digits = p;
  for (; p < end; p++) {
    unsigned digit = (unsigned)(unsigned char)*p - '0';
    if (digit <= 9)
      w = w * 10 + digit; /* modulo 2^64: not used if there are too many */
    else if (*p == '.' && !point)
      point = p;
    else
      break;
  }
  x->end = p;
  x->w = w;
  x->n_digits = (size_t)(p - x->digits) - (point != NULL);
  x->power = point ? point + 1 - p : 0;
  return x->n_digits > 0 && take_exponent(x, p, end);
}

/* The magnitude of a decimal with many digits or a large exponent. */
static double read_by_strtod(const struct decimal *x) {
  char text[DIGITS_MAX + 32] = "0";
  size_t n = 1;
  bool more = false;
  int64_t power = x->power;
  for (const char *p = x->digits; p < x->end; p++) {
    if (*p == '.' || (n == 1 && *p == '0'))
      continue;
    if (n <= DIGITS_MAX) {
      text[n++] = *p;
    } else {
      more |= *p != '0';
      power++;
    }
  }
  if (more) {
    text[n++] = '1';
    power--;
  }
  if (power > EXPONENT_MAX)
    power = EXPONENT_MAX;
  if (power < -EXPONENT_MAX)
    power = -EXPONENT_MAX;
  snprintf(text + n, sizeof text - n, "e%d", (int)power);
  return strtod(text, NULL);
}

static double magnitude(const struct decimal *x) {
  static const double power_of_10[FAST_POWER + 1] = {
      1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  /* An excess precision would round twice. */
  if (FLT_EVAL_METHOD != 0 || x->n_digits > FAST_DIGITS ||
      x->w > FAST_MANTISSA || x->power > FAST_POWER || x->power < -FAST_POWER)
    return read_by_strtod(x);
  return x->power < 0 ? (double)x->w / power_of_10[-x->power]
                      : (double)x->w * power_of_10[x->power];
}

/* Whether s[0..len) is a word for something that is not finite. */
static bool is_not_finite(const char *s, size_t len) {
  static const char *const words[] = {"nan", "inf", "infinity"};
  if (len > 0 && (*s == '+' || *s == '-')) {
    s++;
    len--;
  }
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (len == strlen(words[i]) && dl_strncasecmp(s, words[i], len) == 0)
      return true;
  return false;
}

/* Most numbers are whole and have up to 15 digits, which a double holds. */
static bool read_whole(const char *s, size_t len, double *out) {
  uint64_t w = 0;
  if (len == 0 || len > DBL_DIG)
    return false;
  for (const char *end = s + len; s < end; s++) {
    if (!dl_is_digit(*s))
      return false;
    w = w * 10 + (uint64_t)(*s - '0');
  }
  *out = (double)w;
  return true;
}

enum dl_number dl_parse_number(const char *s, size_t len, double *out) {
  const char *end = s + len;
  struct decimal x;
  if (read_whole(s, len, out))
    return DL_NUMBER_OK;
  *out = NAN;
  while (s < end && dl_is_space(*s))
    s++;
  while (s < end && dl_is_space(end[-1]))
    end--;
  if (s == end)
    return DL_NUMBER_EMPTY;
  if (!take_decimal(&x, s, end))
    return is_not_finite(s, (size_t)(end - s)) ? DL_NUMBER_NOT_FINITE
                                               : DL_NUMBER_INVALID;
  double v = magnitude(&x);
  if (!isfinite(v))
    return DL_NUMBER_NOT_FINITE;
  *out = x.negative ? -v : v;
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
    if (!dl_is_digit(*s) || __builtin_mul_overflow(v, (size_t)10, &v) ||
        __builtin_add_overflow(v, (size_t)(*s - '0'), &v))
      return false;
  }
  *out = v;
  return true;
}

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

/* Writes what is not finite; false if x is. */
static bool format_not_finite(char *buf, double x) {
  if (isfinite(x))
    return false;
  strcpy(buf, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
  return true;
}

static char *format_g(char *buf, double x, int digits) {
  if (!format_not_finite(buf, x)) {
    snprintf(buf, DL_NUMBER_SIZE, "%.*g", digits, x);
    put_point(buf);
  }
  return buf;
}

char *dl_format_exact(char buf[DL_NUMBER_SIZE], double x) {
  return format_g(buf, x, DBL_DECIMAL_DIG);
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

/* n digits as %.`precision`g has them; the first one stands for 10^exponent.
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
    memcpy(p, "0.0000", 6);
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

static const uint64_t power_of_5[MOST_POWER + 1] = {
    1,
    5,
    25,
    125,
    625,
    3125,
    15625,
    78125,
    390625,
    1953125,
    9765625,
    48828125,
    244140625,
    1220703125,
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125)};

/* |x| = m 2^e, a normal number. */
struct scaled {
  uint64_t m;
  int e;
};

static struct scaled take_apart(double size) {
  uint64_t bits;
  memcpy(&bits, &size, sizeof bits);
  uint64_t hidden = UINT64_C(1) << 52;
  return (struct scaled){(bits & (hidden - 1)) | hidden,
                         (int)(bits >> 52) - 1075};
}

/* The k with |x| 10^k of n digits, or one more: log10(2) = 1233 / 4096. */
static int first_power(const struct scaled *x, int n) {
  return n - 1 - ((x->e + 52) * 1233 >> 12);
}

/* The 17 leading digits of x, and what is behind them. */
struct leading {
  uint64_t digits;
  wide rest, unit; /* x 10^k = digits + rest 2^-s, unit = 5^k */
  int s, k;
};

/* False where the power is out of reach. */
static bool take_digits(const struct scaled *x, struct leading *v) {
  static const uint64_t low = UINT64_C(10000000000000000);
  v->k = first_power(x, DBL_DECIMAL_DIG);
  for (;;) {
    if (v->k < 0 || v->k > MOST_POWER)
      return false;
    v->unit = power_of_5[v->k];
    v->s = -(x->e + v->k);
    if (v->s < 0) {
      v->unit <<= -v->s;
      v->s = 0;
    }
    wide all = x->m * v->unit;
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

/* D of 17 digits less those that `scale` = 1, 10 or 100 drops; *exact is
 * whether it reads back as x. */
static uint64_t round_to(const struct leading *v, uint64_t scale, bool *exact) {
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
  struct scaled parts = take_apart(size);
  struct leading v;
  if (parts.m == UINT64_C(1) << 52 || !take_digits(&parts, &v))
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

/* D for k <= 0, where x is below 2^62: rounded to ones, tens, hundreds, ... */
static uint64_t round_whole(double x, int k) {
  uint64_t whole = (uint64_t)x, unit = 1;
  double fraction = x - (double)whole;
  for (; k < 0; k++)
    unit *= 10;
  uint64_t digits = whole / unit, rest = 2 * (whole % unit) + (fraction >= 0.5);
  bool more = fraction > 0 && fraction != 0.5; /* behind `rest` */
  bool up = rest > unit || (rest == unit && (more || digits % 2 == 1));
  return digits + up;
}

/* D for k > 0 where s > 0. */
static uint64_t round_part(const struct scaled *x, int k) {
  wide all = (wide)x->m * power_of_5[k];
  int s = -(x->e + k);
  wide whole = all >> s, rest = all - (whole << s), half = (wide)1 << (s - 1);
  return (uint64_t)(whole + (rest > half || (rest == half && (whole & 1))));
}

/* Writes x, from 1e-4 to 1e6, as dl_format_digits does. */
static bool format_rounded(char *buf, double x, int n) {
  enum { MOST = 9 };
  double size = fabs(x);
  if (n > MOST || !(size >= 1e-4 && size <= 1e6))
    return false;
  uint64_t low = 1, digits;
  for (int i = 1; i < n; i++)
    low *= 10;
  struct scaled v = take_apart(size);
  int k = first_power(&v, n);
  for (;;) {
    digits = k > 0 ? round_part(&v, k) : round_whole(size, k);
    if (digits >= 10 * low)
      k--;
    else if (digits < low)
      k++;
    else
      break;
  }
  char text[MOST];
  put_digits(text, digits, n);
  if (x < 0)
    *buf++ = '-';
  int whole = n - k; /* digits before the point */
  if (whole <= 0) {
    memcpy(buf, "0.0000", 6);
    memcpy(buf + 2 - whole, text, (size_t)n);
    buf[2 - whole + n] = '\0';
  } else if (k <= 0) {
    memcpy(buf, text, (size_t)n);
    memset(buf + n, '0', (size_t)-k);
    buf[whole] = '\0';
  } else {
    memcpy(buf, text, (size_t)whole);
    buf[whole] = '.';
    memcpy(buf + whole + 1, text + whole, (size_t)k);
    buf[n + 1] = '\0';
  }
  return true;
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

static bool format_rounded(char *buf, double x, int n) {
  (void)buf;
  (void)x;
  (void)n;
  return false;
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
  if (format_rounded(buf, x, digits))
    return buf;
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
