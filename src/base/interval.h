/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An uncertain figure: its value and the bounds of its interval, all in one
 * unit. The coverage is stated once for all figures of an estimate. */

#ifndef DL_BASE_INTERVAL_H
#define DL_BASE_INTERVAL_H

#include <math.h>

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
