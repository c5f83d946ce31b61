/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A board at its power limit: what it draws, and how much slower it is. */

#ifndef DL_PHYSICS_POWER_LIMIT_H
#define DL_PHYSICS_POWER_LIMIT_H

#include <math.h>

/* Power at which clocks are lowest, as a share of the static power. */
#define DL_LOWEST_CLOCK_SHARE 0.6

/* Power (W) drawn where `wanted` is demanded and `limit` the most:
 * (wanted^-8 + limit^-8)^(-1/8), a smooth minimum. By
 * products: pow() would take most of a fit. */
static inline double dl_capped_power(double wanted, double limit) {
  double x2 = (wanted / limit) * (wanted / limit), x4 = x2 * x2;
  return wanted / sqrt(sqrt(sqrt(1 + x4 * x4)));
}

/* Factor by which the time on the GPU grows as clocks fall to keep the limit:
 * exp(kappa ln(r)^2) with r the share of the demanded power above `lowest` that
 * is drawn, within [0.02, 1]. All in W but kappa. */
static inline double dl_clock_slowdown(double kappa, double lowest,
                                       double wanted, double drawn) {
  double share =
      (fmax(drawn, 1.02 * lowest) - lowest) / fmax(wanted - lowest, 1e-9);
  double logarithm = log(fmin(fmax(share, 0.02), 1));
  return exp(kappa * logarithm * logarithm);
}

#endif
