/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers to text and back.
 *
 * Reading: the digits are gathered as an integer w and a power q, so that the
 * value is w * 10^q. Where w < 2^53 and |q| <= 22 both w and 10^|q| are
 * doubles and one multiplication or division gives the correctly rounded
 * result (W. D. Clinger, How to read floating point numbers accurately, PLDI
 * 1990). Short numbers take a shortcut there (read_short). Otherwise strtod()
 * gets the digits as "WeQ": without a decimal point the text means the same
 * under every locale.
 *
 * Writing: printf() puts the locale's decimal point, which is replaced; most
 * numbers for programs take a shorter way (shortest.c). */

#include "base/number.h"

#include <endian.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/shortest.h"

/* No double needs more than 767 digits to tell the two neighbours apart that
 * a decimal lies between; what follows is one digit that is not 0, or none. */
#define DIGITS_MAX 800

/* 19 digits fit a uint64_t. */
#define FAST_DIGITS 19
#define FAST_POWER 22
#define FAST_MANTISSA (UINT64_C(1) << 53)

/* Beyond this an exponent is out of range whatever the digits. */
#define EXPONENT_MAX 100000

/* A number taken apart: sign, (at most 19) first digits as w, scale. */
struct decimal {
  uint64_t w;
  const char *digits; /* the first digit that is not 0, or NULL */
  const char *end;    /* behind the digits and their point */
  size_t n_digits;    /* significant ones */
  int64_t power;      /* of 10, for all digits read as an integer */
  bool negative;
};

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Gathers a run of digits. Returns the end of the run. */
static const char *take_digits(struct decimal *x, const char *p,
                               const char *end) {
  while (p < end && is_digit(*p)) {
    if (x->n_digits != 0 || *p != '0') {
      if (x->n_digits == 0)
        x->digits = p;
      if (x->n_digits < FAST_DIGITS)
        x->w = x->w * 10 + (uint64_t)(*p - '0');
      x->n_digits++;
    }
    p++;
  }
  return p;
}

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
    if (!is_digit(*p))
      return false;
    if (e < INT64_MAX / 100)
      e = e * 10 + (*p - '0');
  }
  x->power += negative ? -e : e;
  return true;
}

/* Takes the text apart; false if it is no decimal number. */
static bool take_decimal(struct decimal *x, const char *p, const char *end) {
  const char *start;

  x->w = 0;
  x->digits = NULL;
  x->n_digits = 0;
  x->power = 0;
  x->negative = *p == '-';
  if (*p == '+' || *p == '-')
    p++;
  start = p;
  p = take_digits(x, p, end);
  if (p < end && *p == '.') {
    const char *point = p++;
    p = take_digits(x, p, end);
    x->power = -(p - point - 1);
    if (p - start == 1)
      return false;
  } else if (p == start) {
    return false;
  }
  x->end = p;
  return take_exponent(x, p, end);
}

/* The value of a decimal that the fast way cannot do exactly. */
static double decimal_value(const struct decimal *x) {
  char text[DIGITS_MAX + 32];
  size_t n = 0, seen = 0;
  bool rest = false;
  int64_t power;

  for (const char *p = x->digits; p < x->end; p++) {
    if (*p == '.')
      continue;
    if (seen++ < DIGITS_MAX)
      text[n++] = *p;
    else if (*p != '0')
      rest = true;
  }
  power = x->power + (int64_t)(seen - n);
  if (rest) {
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

static const double power_of_10[FAST_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool fast_value(const struct decimal *x, double *out) {
  /* An excess precision would round twice. */
  if (FLT_EVAL_METHOD != 0 || x->n_digits > FAST_DIGITS ||
      x->w > FAST_MANTISSA || x->power > FAST_POWER || x->power < -FAST_POWER)
    return false;
  if (x->power < 0)
    *out = (double)x->w / power_of_10[-x->power];
  else
    *out = (double)x->w * power_of_10[x->power];
  return true;
}

/* The digits of a short number as bytes of two words, first character in the
 * lowest byte of `first`, the last one in the highest byte of `last`; zeros in
 * front. Anything but a digit is a byte above 9, a point is POINT. */
struct bytes16 {
  uint64_t first, last;
};

#define EACH_BYTE(x) (UINT64_C(0x0101010101010101) * (x))
#define POINT ((uint64_t)('.' ^ '0'))

static inline uint64_t load_le(const char *s, size_t n) {
  uint64_t x = 0;

  memcpy(&x, s, n);
  return le64toh(x);
}

/* Takes s[0..n), 1 <= n <= 16, by loads that overlap. */
static inline struct bytes16 load_bytes(const char *s, size_t n) {
  struct bytes16 b = {0, 0};

  if (n >= 8) {
    b.last = load_le(s + n - 8, 8) ^ EACH_BYTE('0');
    if (n > 8)
      b.first = (load_le(s, 8) ^ EACH_BYTE('0')) << (8 * (16 - n));
    return b;
  }
  if (n >= 4) {
    b.last = load_le(s + n - 4, 4) << 32;
    b.last |= (load_le(s, 4) << (8 * (8 - n))) & UINT32_MAX;
  } else {
    for (size_t i = 0; i < n; i++)
      b.last = b.last >> 8 | (uint64_t)(unsigned char)s[i] << 56;
  }
  b.last ^= EACH_BYTE('0') << (8 * (8 - n));
  return b;
}

/* Takes the first point out of a word, which moves what is before it. Returns
 * the number of bytes behind it, or -1 without a point. */
static inline int drop_point(uint64_t *x) {
  uint64_t y = *x ^ EACH_BYTE(POINT);
  uint64_t found = (y - EACH_BYTE(1)) & ~y & EACH_BYTE(0x80);
  int at;

  if (found == 0)
    return -1;
  at = __builtin_ctzll(found) / 8;
  *x = (*x & (UINT64_MAX << (8 * at) << 8)) | (*x & ~(UINT64_MAX << (8 * at)))
                                                  << 8;
  return 7 - at;
}

/* Eight bytes of 0..9 as a number: pairs, then all. */
static inline uint64_t eight_digits(uint64_t x) {
  const uint64_t mask = UINT64_C(0x000000FF000000FF);

  x = x * 10 + (x >> 8);
  return ((x & mask) * (100 + (UINT64_C(1000000) << 32)) +
          (x >> 16 & mask) * (1 + (UINT64_C(10000) << 32))) >>
         32;
}

/* Reads what most cells of a table have, at most 16 characters of digits and
 * perhaps a point, without a branch per character. False on anything else. */
static inline bool read_short(const char *s, size_t n, double *out) {
  bool negative = n > 0 && s[0] == '-';
  struct bytes16 b;
  int decimals;
  uint64_t w;

  s += negative;
  n -= negative;
  if (FLT_EVAL_METHOD != 0 || n == 0 || n > 16)
    return false;
  b = load_bytes(s, n);
  decimals = drop_point(&b.last);
  if (decimals >= 0) {
    b.last |= b.first >> 56;
    b.first <<= 8;
    if (n == 1)
      return false;
  } else if (n > 8) {
    decimals = drop_point(&b.first);
    if (decimals >= 0)
      decimals += 8;
  }
  if (((b.first | b.last | (b.first + EACH_BYTE(0x76)) |
        (b.last + EACH_BYTE(0x76))) &
       EACH_BYTE(0x80)) != 0)
    return false;
  w = eight_digits(b.first) * 100000000 + eight_digits(b.last);
  if (w > FAST_MANTISSA)
    return false;
  *out = (double)w;
  if (decimals > 0)
    *out /= power_of_10[decimals];
  if (negative)
    *out = -*out;
  return true;
}

/* Is s[0..len) a word for something that is not finite? */
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

/* Reads any number. */
static enum dl_number read_any(const char *s, const char *end, double *out) {
  struct decimal x;
  double v;

  *out = NAN;
  while (s < end && is_blank(*s))
    s++;
  while (s < end && is_blank(end[-1]))
    end--;
  if (s == end)
    return DL_NUMBER_EMPTY;
  if (!take_decimal(&x, s, end))
    return is_not_finite(s, (size_t)(end - s)) ? DL_NUMBER_NOT_FINITE
                                               : DL_NUMBER_INVALID;
  if (x.n_digits == 0)
    v = 0;
  else if (!fast_value(&x, &v))
    v = decimal_value(&x);
  if (!isfinite(v))
    return DL_NUMBER_NOT_FINITE;
  *out = x.negative ? -v : v;
  return DL_NUMBER_OK;
}

enum dl_number dl_parse_number(const char *s, size_t len, double *out) {
  if (read_short(s, len, out))
    return DL_NUMBER_OK;
  return read_any(s, s + len, out);
}

bool dl_parse_double(const char *s, double *out) {
  return dl_parse_number(s, strlen(s), out) == DL_NUMBER_OK;
}

bool dl_parse_count(const char *s, size_t *out) {
  size_t v = 0;

  if (*s == '\0')
    return false;
  for (; *s != '\0'; s++) {
    if (!is_digit(*s) || __builtin_mul_overflow(v, (size_t)10, &v) ||
        __builtin_add_overflow(v, (size_t)(*s - '0'), &v))
      return false;
  }
  *out = v;
  return true;
}

/* Seconds in a unit of time, 0 if there is none of that name. */
static double unit_seconds(const char *name, size_t len) {
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};

  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strlen(units[i].name) == len && memcmp(name, units[i].name, len) == 0)
      return units[i].seconds;
  return 0;
}

bool dl_parse_duration(const char *s, double unit_s, double *seconds) {
  size_t len = strlen(s), n;
  double v;

  while (len > 0 && is_blank(s[len - 1]))
    len--;
  n = len;
  while (n > 0 && s[n - 1] >= 'a' && s[n - 1] <= 'z')
    n--;
  if (n < len)
    unit_s = unit_seconds(s + n, len - n);
  if (unit_s == 0 || dl_parse_number(s, n, &v) != DL_NUMBER_OK)
    return false;
  v *= unit_s;
  if (!isfinite(v) || v < 0)
    return false;
  *seconds = v;
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

char *dl_format_short(char buf[DL_NUMBER_SIZE], double x) {
  double back;

  if (dl_format_shortest(buf, x))
    return buf;
  for (int digits = DBL_DIG; digits < DBL_DECIMAL_DIG; digits++) {
    format_g(buf, x, digits);
    if (dl_parse_double(buf, &back) && back == x)
      return buf;
  }
  return format_g(buf, x, DBL_DECIMAL_DIG);
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
