/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantities for people: prefixes, times, percents, intervals. */

#ifndef DL_OUTPUT_UNITS_H
#define DL_OUTPUT_UNITS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "output/report.h"

/* A multiple of the unit of a style; {1, NULL} if the style has none. */
struct dl_multiple {
  double factor;    /* of the unit: 1000 for kJ */
  const char *name; /* "kJ"; NULL in styles without multiples */
};

/* The multiple in which x has one to three digits before the point. */
struct dl_multiple dl_multiple_for(enum dl_style style, double x);

/* Whether numbers from low to high are readable in one multiple: they span four
 * decades at most, and none is below 1e-4 or from 1e6 of it on. */
bool dl_multiple_suits(const struct dl_multiple *scale, double low,
                       double high);

/* The multiple of the median of n values. False if it does not suit them: then
 * each should be shown with its own. Sorts x. */
bool dl_multiple_shared(enum dl_style style, double *x, size_t n,
                        struct dl_multiple *scale);

/* Appends the unit of a number of this style in this multiple, with `before`
 * in front: "MJ/epoch" for 1e6 and "J/epoch". Appends nothing without a unit.
 */
void dl_show_unit(struct dl_text *t, const char *before, enum dl_style style,
                  const char *unit, const struct dl_multiple *scale);

/* A number or a count; NaN for anything else. */
double dl_value_quantity(const struct dl_value *v);

/* Appends "low .. high", or low alone if high is NULL, without a unit; "-" if
 * absent. Control characters and bytes that are not UTF-8 become U+FFFD. */
void dl_show_range(struct dl_text *t, enum dl_style style,
                   const struct dl_value *low, const struct dl_value *high,
                   const struct dl_multiple *scale);

/* Appends a number without its unit, with 2 or 3 digits; a duration of two is
 * rounded: "25 min", "7 h 40 min". */
void dl_show_digits(struct dl_text *t, enum dl_style style, double x,
                    const struct dl_multiple *scale, int digits);

/* A value, or a range unless high is NULL, with its unit in the multiple that
 * suits: "12.3 MJ", "1.23 .. 4.56 kJ", "4 min 05 s", "-". */
void dl_show(struct dl_text *t, enum dl_style style, const char *unit,
             const struct dl_value *low, const struct dl_value *high);

/* Appends "6.40 to 23.9 kWh", or "6.40 kWh" if both are that, in the multiple
 * of the unit that suits `as`. */
void dl_show_interval(struct dl_text *t, enum dl_style style, const char *unit,
                      double as, double low, double high);

/* Appends an estimate x[0] with its unit: with two digits where its interval,
 * x[1] to x[2], is wide, otherwise with three. NaN: no interval. */
void dl_show_estimate(struct dl_text *t, enum dl_style style, const char *unit,
                      const double x[3]);

/* "GPU and memory" for gpu+ram, "GPUs and memory" with several; a boundary
 * without words is its own. */
const char *dl_boundary_words(const char *boundary, bool several);

#endif
