/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "output/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/number.h"
#include "output/report_tree.h"
#include "output/utf8.h"

#define DIGITS 3
#define ROUNDS_UP 0.9995 /* 999.5 shows as 1000: the next multiple is due */
#define MOST_DECADES 1e4

static const struct dl_multiple ENERGIES[] = {
    {1e-3, "mJ"}, {1, "J"},     {1e3, "kJ"},  {1e6, "MJ"},
    {1e9, "GJ"},  {1e12, "TJ"}, {1e15, "PJ"},
};
static const struct dl_multiple MASSES[] = {
    {1e-3, "mg"}, {1, "g"}, {1e3, "kg"}, {1e6, "t"}, {1e9, "kt"}, {1e12, "Mt"},
};
static const size_t BASE = 1; /* of both: the unit itself */

/* The multiples of the styles that have some. */
static const struct {
  const struct dl_multiple *s;
  size_t n;
} SCALES[] = {
    [DL_ENERGY] = {ENERGIES, sizeof ENERGIES / sizeof *ENERGIES},
    [DL_MASS] = {MASSES, sizeof MASSES / sizeof *MASSES},
    [DL_CODE] = {NULL, 0}, /* the last style: others are zero too */
};

struct dl_multiple dl_multiple_for(enum dl_style style, double x) {
  const struct dl_multiple *s = SCALES[style].s;
  size_t n = SCALES[style].n;
  if (!s)
    return (struct dl_multiple){1, NULL};
  if (x == 0 || !isfinite(x))
    return s[BASE];
  size_t i = 0;
  while (i + 1 < n && fabs(x) >= ROUNDS_UP * s[i + 1].factor)
    i++;
  return s[i];
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

bool dl_multiple_shared(enum dl_style style, double *x, size_t n,
                        struct dl_multiple *scale) {
  size_t used = 0;
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0 && isfinite(x[i]))
      x[used++] = fabs(x[i]);
  *scale = dl_multiple_for(style, 0);
  if (used == 0)
    return true;
  qsort(x, used, sizeof *x, by_value);
  if (x[used - 1] / x[0] > MOST_DECADES)
    return false;
  *scale = dl_multiple_for(style, x[used / 2]);
  return true;
}

void dl_show_unit(struct dl_text *t, const char *before, enum dl_style style,
                  const char *unit, const struct dl_multiple *scale) {
  if (style == DL_TIME)
    return;
  if (!unit && style == DL_PERCENT)
    unit = "%";
  if (scale->name) {
    bool same_base = unit && unit[0] == SCALES[style].s[BASE].name[0];
    dl_text_printf(t, "%s%s%s", before, scale->name, same_base ? unit + 1 : "");
  } else if (unit && unit[0]) {
    dl_text_printf(t, "%s%s", before, unit);
  }
}

/* %.*f with a point under every locale: what stands between the digits
 * before and the `decimals` behind is the locale's. */
static void show_fixed(struct dl_text *t, double x, int decimals) {
  char buf[DL_NUMBER_SIZE];
  int len = snprintf(buf, sizeof buf, "%.*f", decimals, x);
  size_t whole = strspn(buf, "-0123456789");
  dl_text_add_n(t, buf, whole);
  dl_text_add(t, ".");
  dl_text_add(t, buf + len - decimals);
}

static void show_digits(struct dl_text *t, double x, int digits) {
  char buf[DL_NUMBER_SIZE];
  dl_text_add(t, dl_format_digits(buf, x, digits));
}

/* Six decimals, unless they would be all zeros or a long row of digits. */
static void show_exact(struct dl_text *t, double x) {
  if (x != 0 && (fabs(x) < 5e-7 || fabs(x) >= 1e9))
    show_digits(t, x, 6);
  else
    show_fixed(t, x, 6);
}

static void show_percent(struct dl_text *t, double fraction) {
  double x = 100 * fraction;
  if (x != 0 && fabs(x) < 0.95)
    show_digits(t, x, 2);
  else if (fabs(x) >= 1e6)
    show_digits(t, x, DIGITS);
  else
    show_fixed(t, x, 1);
}

/* Two units, the second with two digits; total in the second one. */
static void show_pair(struct dl_text *t, double total, int per, const char *a,
                      const char *b) {
  int n = (int)round(total);
  dl_text_printf(t, "%d %s %02d %s", n / per, a, n % per, b);
}

static void show_short_time(struct dl_text *t, double s) {
  static const struct dl_multiple units[] = {
      {1e-6, "us"}, {1e-3, "ms"}, {1, "s"}};
  size_t i = 2;
  while (i > 0 && s != 0 && s < ROUNDS_UP * units[i].factor)
    i--;
  show_digits(t, s / units[i].factor, DIGITS);
  dl_text_printf(t, " %s", units[i].name);
}

static void show_time(struct dl_text *t, double s) {
  static const double minute = 60, hour = DL_S_PER_HOUR;
  static const double day = DL_S_PER_DAY, year = DL_S_PER_YEAR;
  if (s < 0)
    dl_text_add(t, "-");
  s = fabs(s);
  if (s < minute - 0.05)
    show_short_time(t, s);
  else if (s < hour - 0.5)
    show_pair(t, s, 60, "min", "s");
  else if (s < day - minute / 2)
    show_pair(t, s / minute, 60, "h", "min");
  else if (s < 100 * day - hour / 2)
    show_pair(t, s / hour, 24, "d", "h");
  else {
    bool days = s < year;
    show_digits(t, s / (days ? day : year), DIGITS);
    dl_text_add(t, days ? " d" : " y");
  }
}

static void show_number(struct dl_text *t, enum dl_style style, double x,
                        const struct dl_multiple *scale) {
  char buf[DL_NUMBER_SIZE];
  switch (style) {
  case DL_PLAIN:
  case DL_ENERGY:
  case DL_MASS:
    show_digits(t, x / scale->factor, DIGITS);
    return;
  case DL_EXACT:
    show_exact(t, x);
    return;
  case DL_PERCENT:
    show_percent(t, x);
    return;
  case DL_TIME:
    show_time(t, x);
    return;
  case DL_CODE:
    dl_text_add(t, dl_format_short(buf, x));
    return;
  }
}

static void show_strings(struct dl_text *t, const struct dl_value *v) {
  if (v->n_strings == 0)
    dl_text_add(t, "-");
  for (size_t i = 0; i < v->n_strings; i++) {
    dl_text_add(t, i > 0 ? ", " : "");
    dl_utf8_clean(t, v->strings[i] ? v->strings[i] : "-", false);
  }
}

/* Counts are whole: they are shown in full, unless the style has units. */
static void show_count(struct dl_text *t, enum dl_style style, size_t count,
                       const struct dl_multiple *scale) {
  if (style == DL_ENERGY || style == DL_MASS || style == DL_TIME)
    show_number(t, style, (double)count, scale);
  else
    dl_text_printf(t, "%zu", count);
}

void dl_show_value(struct dl_text *t, enum dl_style style,
                   const struct dl_value *v, const struct dl_multiple *scale) {
  if (dl_value_absent(v)) {
    dl_text_add(t, "-");
    return;
  }
  switch (v->type) {
  case DL_NUMBER:
    show_number(t, style, v->number, scale);
    return;
  case DL_COUNT:
    show_count(t, style, v->count, scale);
    return;
  case DL_BOOL:
    dl_text_add(t, v->count ? "yes" : "no");
    return;
  case DL_STRING:
    dl_utf8_clean(t, v->string[0] ? v->string : "-", false);
    return;
  case DL_STRINGS:
    show_strings(t, v);
    return;
  case DL_NULL:
    return;
  }
}

double dl_value_quantity(const struct dl_value *v) {
  if (v->type == DL_COUNT)
    return (double)v->count;
  return v->type == DL_NUMBER ? v->number : (double)NAN;
}

void dl_show_range(struct dl_text *t, enum dl_style style,
                   const struct dl_value *low, const struct dl_value *high,
                   const struct dl_multiple *scale) {
  dl_show_value(t, style, low, scale);
  if (!high || (dl_value_absent(low) && dl_value_absent(high)))
    return;
  dl_text_add(t, " .. ");
  dl_show_value(t, style, high, scale);
}

void dl_show(struct dl_text *t, enum dl_style style, const char *unit,
             const struct dl_value *low, const struct dl_value *high) {
  double size = fabs(dl_value_quantity(low));
  if (high)
    size = fmax(size, fabs(dl_value_quantity(high)));
  struct dl_multiple scale = dl_multiple_for(style, size);
  dl_show_range(t, style, low, high, &scale);
  if (isfinite(size))
    dl_show_unit(t, " ", style, unit, &scale);
}
