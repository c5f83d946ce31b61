/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities for people: prefixes, times, percents, intervals. */

#include "output/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/constants.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/timestamp.h"
#include "output/report_tree.h"
#include "output/screen.h"

#define DIGITS 3
#define ROUNDS_UP                                                              \
  0.9995 /* 999.5 would be shown as 1000: take the next multiple */
#define MOST_DECADES 1e4
#define MOST_SHOWN 1e6   /* of a multiple: from there on, and */
#define LEAST_SHOWN 1e-4 /* of a multiple: below, a number has an exponent */

/* Multiples of a unit, up to one without a name. */
static const struct dl_multiple ENERGIES[] = {
    {1e-3, "mJ"}, {1, "J"},     {1e3, "kJ"},  {1e6, "MJ"},
    {1e9, "GJ"},  {1e12, "TJ"}, {1e15, "PJ"}, {0, NULL}};
static const struct dl_multiple MASSES[] = {
    {1e-3, "mg"}, {1, "g"},     {1e3, "kg"}, {1e6, "t"},
    {1e9, "kt"},  {1e12, "Mt"}, {0, NULL}};
static const struct dl_multiple POWERS[] = {
    {1e-3, "mW"}, {1, "W"}, {1e3, "kW"}, {1e6, "MW"}, {1e9, "GW"}, {0, NULL}};
static const size_t BASE = 1; /* of these: the unit itself */

/* The multiples of each style; NULL for most. */
static const struct dl_multiple *const SCALES[] = {
    [DL_ENERGY] = ENERGIES,
    [DL_MASS] = MASSES,
    [DL_WATTS] = POWERS,
    [DL_CODE] = NULL, /* the last style: others are NULL too */
};
static const struct dl_multiple KWH[] = {{DL_J_PER_KWH, "kWh"},
                                         {1e3 * DL_J_PER_KWH, "MWh"},
                                         {1e6 * DL_J_PER_KWH, "GWh"},
                                         {1e9 * DL_J_PER_KWH, "TWh"},
                                         {0, NULL}};
#define LEAST_KWH 1e-3 /* below, kWh have too many zeros: J are shown */
#define LEAST_KILO 10  /* of W: 4880 W reads better beside 700 W */

struct dl_multiple dl_multiple_for(enum dl_style style, double x) {
  const struct dl_multiple *s = SCALES[style];
  size_t i = 0;
  double kilo = style == DL_WATTS ? LEAST_KILO : 1;
  if (style == DL_KWH) {
    if (fabs(x) < ROUNDS_UP * LEAST_KWH * DL_J_PER_KWH && x != 0)
      return dl_multiple_for(DL_ENERGY, x);
    s = KWH;
  } else if (!s) {
    return (struct dl_multiple){1, NULL};
  }
  if (x == 0 || !isfinite(x))
    return s[style == DL_KWH ? 0 : BASE];
  while (s[i + 1].name &&
         fabs(x) >= ROUNDS_UP * (i + 1 > BASE ? kilo : 1) * s[i + 1].factor)
    i++;
  return s[i];
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

bool dl_multiple_suits(const struct dl_multiple *scale, double low,
                       double high) {
  return high <= MOST_DECADES * low &&
         (!scale->name || low == 0 ||
          (fabs(low) >= LEAST_SHOWN * scale->factor &&
           fabs(high) < MOST_SHOWN * scale->factor));
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
  *scale = dl_multiple_for(style, x[used / 2]);
  return dl_multiple_suits(scale, x[0], x[used - 1]);
}

void dl_show_unit(struct dl_text *t, const char *before, enum dl_style style,
                  const char *unit, const struct dl_multiple *scale) {
  if (style == DL_TIME)
    return;
  if (!unit && style == DL_PERCENT)
    unit = "%";
  if (scale->name) {
    enum dl_style of = style == DL_KWH ? DL_ENERGY : style;
    bool same_base = unit && unit[0] == SCALES[of][BASE].name[0];
    dl_text_printf(t, "%s%s%s", before, scale->name, same_base ? unit + 1 : "");
  } else if (unit && unit[0]) {
    dl_text_printf(t, "%s%s", before, unit);
  }
}

/* A duration to about two digits: "25 min", "7 h 40 min", "1 d 13 h". */
static void show_rounded_time(struct dl_text *t, double x) {
  /* Times below the first number are multiples of the second, and so on. */
  static const double steps[][2] = {{100, 1},
                                    {600, 10},
                                    {DL_S_PER_HOUR, 60},
                                    {10 * DL_S_PER_HOUR, 600},
                                    {10 * DL_S_PER_DAY, DL_S_PER_HOUR},
                                    {100 * DL_S_PER_DAY, DL_S_PER_DAY}};
  char buf[DL_NUMBER_SIZE];
  double step = 0;
  for (size_t i = 0; i < DL_LENGTH(steps) && step == 0; i++)
    step = x < steps[i][0] ? steps[i][1] : 0;
  dl_format_duration(buf, step > 0 && x >= 60 ? step * round(x / step) : x);
  if (x >= 1 && x < 60 - 0.5)
    strcat(dl_format_digits(buf, x, 2), " s");
  if (x >= 1e-3 && x < 1)
    strcat(dl_format_digits(buf, 1e3 * x, 2), " ms");
  char *zeros = strstr(buf, " 00 ");
  if (!zeros)
    zeros = strstr(buf, " 0 h");
  if (zeros)
    *zeros = '\0';
  dl_text_add(t, buf);
}

static void show_number(struct dl_text *t, enum dl_style style, double x,
                        const struct dl_multiple *scale, int digits) {
  char buf[DL_NUMBER_SIZE];
  int decimals = -1;
  switch (style) {
  case DL_PLAIN:
  case DL_ENERGY:
  case DL_KWH:
  case DL_MASS:
  case DL_WATTS:
    x /= scale->factor;
    break;
  case DL_EXACT: /* unless the decimals were zeros or a long row of digits */
    decimals = x != 0 && (fabs(x) < 5e-7 || fabs(x) >= 1e9) ? -1 : 6;
    digits = 6;
    break;
  case DL_PERCENT:
    x *= 100;
    decimals = (x != 0 && fabs(x) < 0.95) || fabs(x) >= 1e6 ? -1 : 1;
    digits = fabs(x) < 0.95 ? 2 : digits;
    break;
  case DL_TIME:
    if (digits < DIGITS) {
      show_rounded_time(t, x);
      return;
    }
    dl_text_add(t, dl_format_duration(buf, x));
    return;
  case DL_CODE:
    dl_text_add(t, dl_format_short(buf, x));
    return;
  }
  if (decimals < 0) {
    dl_text_add(t, dl_format_digits(buf, x, digits));
    return;
  }
  /* Prints the decimal point of the C locale, whatever the locale is. */
  int len = snprintf(buf, sizeof buf, "%.*f", decimals, x);
  dl_text_add_n(t, buf, strspn(buf, "-0123456789"));
  dl_text_printf(t, ".%s", buf + len - decimals);
}

/* A value without its unit. Counts are whole: they are shown in full unless
 * the style has multiples. */
static void show_value(struct dl_text *t, enum dl_style style,
                       const struct dl_value *v,
                       const struct dl_multiple *scale, int digits) {
  bool scaled = style == DL_KWH || style == DL_TIME || SCALES[style];
  size_t before = t->len;
  switch (dl_value_absent(v) ? DL_NULL : v->type) {
  case DL_NUMBER:
    show_number(t, style, v->number, scale, digits);
    break;
  case DL_COUNT:
    if (scaled || v->count < 1000000)
      show_number(t, scaled ? style : DL_CODE, (double)v->count, scale, digits);
    else
      dl_text_printf(t, "%zu", v->count);
    break;
  case DL_BOOL:
    dl_text_add(t, v->count ? "yes" : "no");
    break;
  case DL_STRING:
    dl_utf8_clean(t, v->string, false);
    break;
  case DL_STRINGS:
    for (size_t i = 0; i < v->n_strings; i++) {
      dl_text_add(t, i > 0 ? ", " : "");
      dl_utf8_clean(t, dl_text_or(v->strings[i], "-"), false);
    }
    break;
  case DL_NULL:
    break;
  }
  if (t->len == before)
    dl_text_add(t, "-");
}

double dl_value_quantity(const struct dl_value *v) {
  if (v->type == DL_COUNT)
    return (double)v->count;
  return v->type == DL_NUMBER ? v->number : (double)NAN;
}

void dl_show_range(struct dl_text *t, enum dl_style style,
                   const struct dl_value *low, const struct dl_value *high,
                   const struct dl_multiple *scale) {
  show_value(t, style, low, scale, DIGITS);
  if (!high || (dl_value_absent(low) && dl_value_absent(high)))
    return;
  dl_text_add(t, " .. ");
  show_value(t, style, high, scale, DIGITS);
}

void dl_show_digits(struct dl_text *t, enum dl_style style, double x,
                    const struct dl_multiple *scale, int digits) {
  const struct dl_value v = dl_number(x);
  show_value(t, style, &v, scale, digits);
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

/* Digits of an estimate: two where its interval is wide. */
static int digits_of(double low, double high) {
  return high > 1.5 * low ? 2 : 3;
}

/* Appends a number without its unit: 12,300. */
static void show_grouped(struct dl_text *t, enum dl_style style, double x,
                         const struct dl_multiple *scale, int digits) {
  char number[DL_NUMBER_SIZE];
  DL_TEXT(shown);
  dl_show_digits(&shown, style, x, scale, digits);
  if (shown.len >= sizeof number) {
    dl_text_add(t, dl_text_str(&shown));
    return;
  }
  strcpy(number, dl_text_str(&shown));
  dl_text_add(t, dl_group_digits(number));
}

void dl_show_interval(struct dl_text *t, enum dl_style style, const char *unit,
                      double as, double low, double high) {
  const int digits = digits_of(low, high);
  struct dl_multiple scale = dl_multiple_for(style, as);
  DL_TEXT(from);
  DL_TEXT(to);
  if (scale.name && low > 0 && !dl_multiple_suits(&scale, low, high)) {
    const struct dl_multiple least = dl_multiple_for(style, low);
    show_grouped(t, style, low, &least, digits);
    dl_show_unit(t, " ", style, unit, &least);
    dl_text_add(t, " to ");
    scale = dl_multiple_for(style, high);
    show_grouped(t, style, high, &scale, digits);
    dl_show_unit(t, " ", style, unit, &scale);
    return;
  }
  show_grouped(&from, style, low, &scale, digits);
  show_grouped(&to, style, high, &scale, digits);
  if (strcmp(dl_text_str(&from), dl_text_str(&to)) != 0)
    dl_text_printf(t, "%s to ", dl_text_str(&from));
  dl_text_add(t, dl_text_str(&to));
  dl_show_unit(t, " ", style, unit, &scale);
}

void dl_show_estimate(struct dl_text *t, enum dl_style style, const char *unit,
                      const double x[3]) {
  const struct dl_multiple scale = dl_multiple_for(style, x[0]);
  const bool interval = !isnan(x[1]) && !isnan(x[2]);
  show_grouped(t, style, x[0], &scale, interval ? digits_of(x[1], x[2]) : 3);
  if (!isnan(x[0]))
    dl_show_unit(t, " ", style, unit, &scale);
}

const char *dl_boundary_words(const char *boundary, bool several) {
  static const struct dl_named_text all[2][9] = {
      {{"gpu", "GPU alone"},
       {"cpu", "CPU alone"},
       {"gpu+ram", "GPU and memory"},
       {"gpu+cpu", "GPU and CPU"},
       {"gpu+cpu+ram", "GPU, CPU and memory"},
       {"cpu+ram", "CPU and memory"},
       {"node-dc", "whole node, behind its power supplies"},
       {"node", "whole node"},
       {"facility", "node and cooling"}},
      {{"gpu", "GPUs alone"},
       {"cpu", "CPUs alone"},
       {"gpu+ram", "GPUs and memory"},
       {"gpu+cpu", "GPUs and CPUs"},
       {"gpu+cpu+ram", "GPUs, CPUs and memory"},
       {"cpu+ram", "CPUs and memory"},
       {"node-dc", "whole nodes, behind their power supplies"},
       {"node", "whole nodes"},
       {"facility", "nodes and cooling"}}};
  return dl_text_of_name(all[several], DL_LENGTH(all[several]), boundary,
                         boundary);
}
