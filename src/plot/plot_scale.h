/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/plot: axes, their units and the tics of logarithmic ones. */

#ifndef DL_PLOT_PLOT_SCALE_H
#define DL_PLOT_PLOT_SCALE_H

#include "plot/gnuplot_script.h"

struct dl_axis_unit {
  double factor; /* of the SI unit: 1000 for kJ */
  const char *name;
};

/* The multiple of "J", "W" or "s" that suits numbers like x: kJ, MJ; W, kW; s,
 * min, h, days. Of anything else (also NULL) itself. */
struct dl_axis_unit dl_axis_unit(const char *si, double x);

/* The ends of an axis and what they are made from. */
struct dl_plot_span {
  double low, high;
};

/* An empty span, which dl_plot_span_take widens by numbers that are finite. */
#define DL_SPAN_NONE ((struct dl_plot_span){INFINITY, -INFINITY})
void dl_plot_span_take(struct dl_plot_span *p, double x);

/* Wider by a share of itself at both ends, on a logarithmic scale. */
struct dl_plot_span dl_plot_span_widen_log(struct dl_plot_span p, double share);

/* "set logscale", range and tics: labels at 1, or at 1, 2, 5, or closer, as
 * many as a short axis needs; minor tics without label between. Of an axis
 * ("x", "y") that goes from low > 0 to high > low. */
void dl_axis_log(struct dl_script *s, const char *axis, struct dl_plot_span p);

/* "set xrange" and the like. */
void dl_axis_range(struct dl_script *s, const char *axis,
                   struct dl_plot_span p);

#endif
