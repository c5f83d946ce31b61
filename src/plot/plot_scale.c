/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes: units and tics. */

#include "plot/plot_scale.h"

#include <math.h>
#include <string.h>

/* A unit, and the value from which on it is used. */
struct unit_from {
  double from;
  struct dl_axis_unit unit;
};

static const struct unit_from joules[] = {
    {0, {1e-3, "mJ"}},     {1, {1, "J"}},           {1e3, {1e3, "kJ"}},
    {1e6, {3.6e6, "kWh"}}, {3.6e9, {3.6e9, "MWh"}}, {3.6e12, {3.6e12, "GWh"}}};
static const struct unit_from watts[] = {
    {0, {1e-3, "mW"}}, {1, {1, "W"}}, {1e4, {1e3, "kW"}}, {1e7, {1e6, "MW"}}};
static const struct unit_from seconds[] = {
    {0, {1e-6, "us"}},  {1e-3, {1e-3, "ms"}}, {1, {1, "s"}},
    {300, {60, "min"}}, {10800, {3600, "h"}}, {7 * 86400.0, {86400, "d"}}};

/* The last unit of the list that is used for |x|. */
static struct dl_axis_unit last_below(const struct unit_from *u, size_t n,
                                      double x) {
  size_t i = 0;
  while (i + 1 < n && fabs(x) >= u[i + 1].from)
    i++;
  return u[i].unit;
}

struct dl_axis_unit dl_axis_unit(const char *si, double x) {
  if (si && isfinite(x) && strcmp(si, "J") == 0)
    return last_below(joules, sizeof joules / sizeof *joules, x);
  if (si && isfinite(x) && strcmp(si, "W") == 0)
    return last_below(watts, sizeof watts / sizeof *watts, x);
  if (si && isfinite(x) && strcmp(si, "s") == 0)
    return last_below(seconds, sizeof seconds / sizeof *seconds, x);
  return (struct dl_axis_unit){1, si};
}

void dl_plot_span_take(struct dl_plot_span *p, double x) {
  if (!isfinite(x))
    return;
  p->low = fmin(p->low, x);
  p->high = fmax(p->high, x);
}

struct dl_plot_span dl_plot_span_widen_log(struct dl_plot_span p,
                                           double share) {
  double by = pow(p.high / p.low, share);
  if (by < 1.05)
    by = 1.05;
  return (struct dl_plot_span){p.low / by, p.high * by};
}

void dl_axis_range(struct dl_script *s, const char *axis,
                   struct dl_plot_span p) {
  double pad = 0.05 * fabs(p.low);
  if (!(p.high - p.low > 1e-9 * pad)) /* gnuplot refuses an empty range */
    p = pad > 0 ? (struct dl_plot_span){p.low - pad, p.low + pad}
                : (struct dl_plot_span){0, 1};
  dl_text_printf(s->t, "set %srange [", axis);
  dl_script_number(s, p.low);
  dl_text_add(s->t, ":");
  dl_script_number(s, p.high);
  dl_text_add(s->t, "]\n");
}

/* Whether m x 10^k has a label on an axis of so many decades. */
static bool is_labelled(int m, double decades) {
  if (m == 10)
    return true;
  if (decades > 2.5)
    return false;
  if (m == 20 || m == 50)
    return true;
  return decades < 1 && (m == 30 || m == 70 || (m == 15 && decades < 0.7));
}

static void add_tic(struct dl_script *s, bool *any, int m, int k, bool label) {
  double x = m * pow(10, k - 1);
  dl_text_add(s->t, *any ? ", " : "");
  *any = true;
  if (label)
    dl_text_printf(s->t, "'%g' %.9g", x, x);
  else
    dl_text_printf(s->t, "'' %.9g 1", x);
}

void dl_axis_log(struct dl_script *s, const char *axis, struct dl_plot_span p) {
  double decades = log10(p.high / p.low);
  dl_text_printf(s->t, "set logscale %s\n", axis);
  dl_axis_range(s, axis, p);
  if (decades < 0.3) /* gnuplot's own tics suffice */
    return;
  bool any = false;
  dl_text_printf(s->t, "set %stics (", axis);
  for (int k = (int)floor(log10(p.low)); k <= (int)floor(log10(p.high)); k++)
    for (int m = 10; m < 100; m += 5) {
      double x = m * pow(10, k - 1);
      bool label = is_labelled(m, decades);
      bool minor = m % 10 == 0 && decades < 8;
      if (x >= p.low && x <= p.high && (label || minor))
        add_tic(s, &any, m, k, label);
    }
  dl_text_add(s->t, ")\n");
}
