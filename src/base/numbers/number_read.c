/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text to numbers, the same under every locale.
 *
 * Most numbers have at most 15 digits and no exponent. Their digits w and the
 * power of ten of their decimals are then doubles, and one division gives the
 * correctly rounded result (W. D. Clinger, How to read floating point numbers
 * accurately, PLDI 1990), in a third of the time of strtod(), which reads the
 * others. */

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

/* Of a decimal number of n bytes. Without its point, as "WeQ", it means the
 * same under every locale. */
static double read_by_strtod(const char *s, size_t n) {
  enum { EXPONENT = 24, MOST = 1000000000 };
  DL_FREED char *text = dl_malloc(n + EXPONENT);
  memcpy(text, s, n);
  text[n] = '\0';
  char *point = strchr(text, '.'), *e = strpbrk(text, "eE");
  char *stop = e ? e : text + n;
  long power = e ? strtol(e + 1, NULL, 10) : 0;
  power = power > MOST ? MOST : power < -MOST ? -MOST : power;
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
