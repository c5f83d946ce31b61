/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/plot: axes, their units and the tics of logarithmic ones. */

#ifndef DL_PLOT_PLOT_SCALE_H
#define DL_PLOT_PLOT_SCALE_H

#include "base/number.h"
#include "plot/gnuplot_script.h"

/* A unit of an axis. */
struct dl_axis_unit {
  double factor; /* of the SI unit: 1000 for kJ */
  const char *name;
  double from; /* smallest number, in the SI unit, for which it is used */
};

/* The multiple of "J", "W" or "s" that suits numbers like x: J, kJ, from 1 MJ
 * on kWh; W, kW; s, min, h, days. Any other unit (or NULL) is returned as it
 * is.
 */
struct dl_axis_unit dl_axis_unit(const char *si, double x);

/* An empty range; dl_plot_span_take extends it by x unless x is not finite. */
#define DL_SPAN_NONE ((struct dl_span){INFINITY, -INFINITY})
void dl_plot_span_take(struct dl_span *p, double x);

/* Widened at both ends by a share of its logarithmic width. */
struct dl_span dl_plot_span_widen_log(struct dl_span p, double share);

/* "set logscale", range and tics of an axis ("x", "y") from low > 0 to high >
 * low: labels at 1, at 1, 2, 5, or closer on a short axis, with unlabelled
 * minor tics between them. */
void dl_axis_log(struct dl_script *s, const char *axis, struct dl_span p);

/* "set xrange" and the like. */
void dl_axis_range(struct dl_script *s, const char *axis, struct dl_span p);

#endif
