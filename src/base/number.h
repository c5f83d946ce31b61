/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers to text and back, whatever the locale is. */

#ifndef DL_BASE_NUMBER_H
#define DL_BASE_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns x, or `otherwise` if x is unknown (NaN). */
static inline double dl_or(double x, double otherwise) {
  return isnan(x) ? otherwise : x;
}

/* Room for any number that the formatters below write. */
#define DL_NUMBER_SIZE 48

enum dl_number {
  DL_NUMBER_OK,
  DL_NUMBER_EMPTY,     /* blank: an unknown value */
  DL_NUMBER_INVALID,   /* not a number */
  DL_NUMBER_NOT_FINITE /* NaN or an infinity, or out of a double's range */
};

/* Reads a decimal number that fills s[0..len) but for blanks around it.
 * *out is NaN unless DL_NUMBER_OK. Correctly rounded. */
enum dl_number dl_parse_number(const char *s, size_t len, double *out);

/* Reads a plain number that s begins with: at most 15 digits, which a double
 * holds exactly, with or without decimals. Returns its end; NULL, with *x
 * unchanged, for another text. It is four times as fast as dl_parse_number. */
const char *dl_take_decimal(const char *s, const char *end, double *x);

/* Calls dl_parse_number for a whole NUL-terminated string; returns false unless
 * the result is DL_NUMBER_OK. */
bool dl_parse_double(const char *s, double *out);

/* Reads a non-negative whole number without sign or decimals. */
bool dl_parse_count(const char *s, size_t *out);

/* Writes the shortest of %.15g, %.16g, %.17g that reads back as x. Returns buf.
 */
char *dl_format_short(char buf[DL_NUMBER_SIZE], double x);

/* Writes this text without a NUL behind it. Returns the number of bytes. */
size_t dl_put_short(char buf[DL_NUMBER_SIZE], double x);

/* Writes x with `digits` significant digits for people: 0.0123, 1.23, 123,
 * 1230, or 1.23e+07 outside 1e-4 .. 1e6; "-" for NaN. Returns buf. */
char *dl_format_digits(char buf[DL_NUMBER_SIZE], double x, int digits);

/* Puts commas between groups of three digits, for people: 41,200. A whole
 * number of up to four digits and any other text stay as they are. Returns buf.
 */
char *dl_group_digits(char buf[DL_NUMBER_SIZE]);

struct dl_span {
  double low, high;
};

/* The ascending order of doubles, for qsort(). */
int dl_order_numbers(const void *a, const void *b);

/* --- An uncertain figure: its value and the bounds of its interval, all in one
 * unit. The coverage is stated once for all figures of an estimate. */

/* x is NaN where the figure is unknown; low and high are NaN where there is no
 * interval. */
struct dl_interval {
  double x, low, high;
};

#define DL_NO_INTERVAL                                                         \
  ((struct dl_interval){(double)NAN, (double)NAN, (double)NAN})

static inline struct dl_interval dl_interval_scale(struct dl_interval i,
                                                   double by) {
  return (struct dl_interval){i.x * by, i.low * by, i.high * by};
}

#endif
