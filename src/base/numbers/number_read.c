/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text to numbers, the same under every locale.
 *
 * The digits are gathered as an integer w and a power q, so that the
 * value is w * 10^q. Where w <= 2^53 and |q| <= 22 both w and 10^|q| are
 * doubles, and one multiplication or division gives the correctly rounded
 * result (W. D. Clinger, How to read floating point numbers accurately, PLDI
 * 1990). Otherwise strtod() reads the digits as "WeQ": without a decimal point
 * the text means the same under every locale. strtod() alone would take three
 * times as long for a table of numbers. */

#include "base/number.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    if (!isdigit((unsigned char)*p))
      return false;
    if (e < INT64_MAX / 100)
      e = e * 10 + (*p - '0');
  }
  x->power += negative ? -e : e;
  return true;
}

/* Takes digits with at most one point, up to where they end. */
static const char *take_digits(struct decimal *x, const char *p,
                               const char *end) {
  const char *point = NULL;
  uint64_t w = 0;
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
  return p;
}

/* Takes [p, end), which is not empty, apart; false if it is no decimal
 * number. */
static bool take_decimal(struct decimal *x, const char *p, const char *end) {
  x->negative = *p == '-';
  p = take_digits(x, p + (*p == '+' || *p == '-'), end);
  return x->n_digits > 0 && take_exponent(x, p, end);
}

/* "e-17"; printf() would take as long as strtod(). */
static void put_exponent(char *to, int power) {
  div_t d = {abs(power), 0};
  *to++ = 'e';
  *to++ = power < 0 ? '-' : '+';
  to += 6; /* EXPONENT_MAX has six digits */
  *to = '\0';
  for (int i = 0; i < 6; i++) {
    d = div(d.quot, 10);
    *--to = (char)('0' + d.rem);
  }
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
  put_exponent(text + n, (int)power);
  return strtod(text, NULL);
}

static const double power_of_10[FAST_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double magnitude(const struct decimal *x) {
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
    if (len == strlen(words[i]) && strncasecmp(s, words[i], len) == 0)
      return true;
  return false;
}

const char *dl_take_decimal(const char *s, const char *end, double *x) {
  struct decimal d;
  const char *behind = take_digits(&d, s, end);
  if (d.n_digits == 0 || d.n_digits > DBL_DIG || *s == '.' || behind[-1] == '.')
    return NULL;
  *x = d.power < 0 ? (double)d.w / power_of_10[-d.power] : (double)d.w;
  return behind;
}

enum dl_number dl_parse_number(const char *s, size_t len, double *out) {
  const char *end = s + len;
  struct decimal x;
  if (len > 0 && dl_take_decimal(s, end, out) == end)
    return DL_NUMBER_OK;
  *out = NAN;
  while (s < end && isspace((unsigned char)*s))
    s++;
  while (s < end && isspace((unsigned char)end[-1]))
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
    if (!isdigit((unsigned char)*s) ||
        __builtin_mul_overflow(v, (size_t)10, &v) ||
        __builtin_add_overflow(v, (size_t)(*s - '0'), &v))
      return false;
  }
  *out = v;
  return true;
}
