/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes: units and tics. */

#include "plot/plot_scale.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

static const struct dl_axis_unit joules[] = {
    {1e-3, "mJ", 0},     {1, "J", 1},           {1e3, "kJ", 1e3},
    {3.6e6, "kWh", 1e6}, {3.6e9, "MWh", 3.6e9}, {3.6e12, "GWh", 3.6e12}};
static const struct dl_axis_unit watts[] = {
    {1e-3, "mW", 0}, {1, "W", 1}, {1e3, "kW", 1e4}, {1e6, "MW", 1e7}};
static const struct dl_axis_unit seconds[] = {
    {1e-6, "us", 0},  {1e-3, "ms", 1e-3}, {1, "s", 1},
    {60, "min", 300}, {3600, "h", 10800}, {86400, "d", 7 * 86400.0}};

/* The last unit of the list that is used for |x|. */
static struct dl_axis_unit last_below(const struct dl_axis_unit *u, size_t n,
                                      double x) {
  size_t i = 0;
  while (i + 1 < n && fabs(x) >= u[i + 1].from)
    i++;
  return u[i];
}

struct dl_axis_unit dl_axis_unit(const char *si, double x) {
  switch (si && isfinite(x) && strlen(si) == 1 ? *si : '\0') {
  case 'J':
    return last_below(joules, DL_LENGTH(joules), x);
  case 'W':
    return last_below(watts, DL_LENGTH(watts), x);
  case 's':
    return last_below(seconds, DL_LENGTH(seconds), x);
  default:
    return (struct dl_axis_unit){.factor = 1, .name = si};
  }
}

void dl_plot_span_take(struct dl_span *p, double x) {
  if (!isfinite(x))
    return;
  p->low = fmin(p->low, x);
  p->high = fmax(p->high, x);
}

struct dl_span dl_plot_span_widen_log(struct dl_span p, double share) {
  double by = pow(p.high / p.low, share);
  if (by < 1.05)
    by = 1.05;
  return (struct dl_span){p.low / by, p.high * by};
}

void dl_axis_range(struct dl_script *s, const char *axis, struct dl_span p) {
  double pad = 0.05 * fabs(p.low);
  if (!(p.high - p.low > 1e-9 * pad)) /* gnuplot refuses an empty range */
    p = pad > 0 ? (struct dl_span){p.low - pad, p.low + pad}
                : (struct dl_span){0, 1};
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

void dl_axis_log(struct dl_script *s, const char *axis, struct dl_span p) {
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
