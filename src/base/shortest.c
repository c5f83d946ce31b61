/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Short decimals in integer arithmetic.
 *
 *   x = m 2^e,  m < 2^53;   x 10^k = V 2^-s  with  V = m 5^k,  s = -(e + k)
 *
 * V fits 128 bits for 0 <= k <= 30. The n leading digits of x are V 2^-s
 * rounded to the nearest integer D (half to even, as printf does) for the k
 * that gives n digits. D reads back as x if it is closer than half a unit in
 * the last place of x, which is 5^k / 2 on the scale of V:
 *
 *   2 |V - D 2^s| < 5^k
 *
 * Powers of two, whose lower neighbour is closer, are left to the caller.
 *
 * Trying printf() with 15, 16 and 17 digits takes four times the processor
 * time for a sweep (21 us instead of 6 us per row). */

#include "base/shortest.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 wide;

enum { MOST_POWER = 30 };

/* |x| = m 2^e, to be scaled by 10^k. */
struct scaled {
  uint64_t m;
  int e, k;
};

static wide power_of_5(int k) {
  static const uint64_t small[] = {
      1,         5,          25,         125,        625,     3125,
      15625,     78125,      390625,     1953125,    9765625, 48828125,
      244140625, 1220703125, 6103515625, 30517578125};
  return k < 16 ? small[k] : (wide)small[15] * small[k - 15];
}

/* D for x->k; *exact is whether it reads back as x. */
static uint64_t round_at(const struct scaled *x, bool *exact) {
  wide unit = power_of_5(x->k), v = x->m * unit;
  int s = -(x->e + x->k);
  *exact = true;
  if (s <= 0)
    return (uint64_t)(v << -s);
  wide whole = v >> s, rest = v - (whole << s), half = (wide)1 << (s - 1);
  bool up = rest > half || (rest == half && (whole & 1));
  wide off = up ? (half << 1) - rest : rest;
  *exact = 2 * off < unit;
  return (uint64_t)(whole + up);
}

/* D with n digits, x->k set accordingly: the largest k, since fewer digits
 * may be rounded up to a power of ten. False where the power is out of
 * reach. */
static bool take_digits(struct scaled *x, int n, uint64_t *digits,
                        bool *exact) {
  static const uint64_t least[] = {UINT64_C(100000000000000),
                                   UINT64_C(1000000000000000),
                                   UINT64_C(10000000000000000)};
  uint64_t low = least[n - DBL_DIG];
  for (;;) {
    if (x->k < 0 || x->k > MOST_POWER)
      return false;
    *digits = round_at(x, exact);
    if (*digits >= 10 * low)
      x->k--;
    else if (*digits < low)
      x->k++;
    else
      break;
  }
  /* A power of ten: k is right unless the value was rounded up to it. */
  struct scaled more = {x->m, x->e, x->k + 1};
  if (*digits > low || more.k > MOST_POWER)
    return true;
  bool more_exact;
  uint64_t more_digits = round_at(&more, &more_exact);
  if (more_digits >= 10 * low)
    return true;
  x->k = more.k;
  *digits = more_digits;
  *exact = more_exact;
  return true;
}

static void put_digits(char *to, uint64_t digits, int n) {
  for (int i = n - 1; i >= 0; i--, digits /= 10)
    to[i] = (char)('0' + digits % 10);
}

/* Whole numbers below 1e15 have no exponent at %.15g. */
static void put_whole(char *to, uint64_t x, bool negative) {
  int n = 1;
  for (uint64_t rest = x / 10; rest > 0; rest /= 10)
    n++;
  *to = '-';
  to += negative;
  put_digits(to, x, n);
  to[n] = '\0';
}

/* n digits as %.Ng has them; the first one stands for 10^exponent. */
static void lay_out(char *p, const char *digits, int n, int exponent,
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
    p[2] = '\0';
  } else if (exponent < 0) {
    memcpy(p, "0.0000", 6);
    p += 1 - exponent;
    memcpy(p, digits, (size_t)n);
    p[n] = '\0';
  } else {
    int whole = exponent + 1 < n ? exponent + 1 : n;
    memcpy(p, digits, (size_t)whole);
    memset(p + whole, '0', (size_t)(exponent + 1 - whole));
    p += exponent + 1;
    if (whole < n)
      *p++ = '.';
    memcpy(p, digits + whole, (size_t)(n - whole));
    p[n - whole] = '\0';
  }
}

bool dl_format_shortest(char buf[DL_NUMBER_SIZE], double x) {
  double size = fabs(x);
  if (x == 0) {
    strcpy(buf, signbit(x) ? "-0" : "0");
    return true;
  }
  if (size < 1e15 && size == (double)(uint64_t)size) {
    put_whole(buf, (uint64_t)size, x < 0);
    return true;
  }
  if (!(size >= 1e-12 && size < 1e16))
    return false;
  uint64_t bits;
  memcpy(&bits, &size, sizeof bits);
  struct scaled v = {.m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1)
                                                                   << 52,
                     .e = (int)(bits >> 52) - 1075};
  if (v.m == UINT64_C(1) << 52)
    return false;
  /* log10(2) = 1233 / 4096; take_digits finds the one. */
  v.k = DBL_DIG - ((v.e + 52) * 1233 >> 12);
  v.k = v.k < 0 ? 0 : v.k;
  for (int n = DBL_DIG; n <= DBL_DECIMAL_DIG; n++) {
    uint64_t digits;
    bool exact;
    char text[DBL_DECIMAL_DIG];
    if (!take_digits(&v, n, &digits, &exact))
      return false;
    if (exact || n == DBL_DECIMAL_DIG) {
      put_digits(text, digits, n);
      *buf = '-';
      lay_out(buf + (x < 0), text, n, n - 1 - v.k, n);
      return true;
    }
    v.k += 1;
  }
  return false;
}

#else

bool dl_format_shortest(char buf[DL_NUMBER_SIZE], double x) {
  (void)buf;
  (void)x;
  return false;
}

#endif
