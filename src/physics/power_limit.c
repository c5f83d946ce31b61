/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/power_limit.h"

#include <math.h>

/* By products: pow() would take most of a fit. */
double dl_capped_power(double wanted, double limit) {
  double x2 = (wanted / limit) * (wanted / limit), x4 = x2 * x2;
  return wanted / sqrt(sqrt(sqrt(1 + x4 * x4)));
}

double dl_clock_slowdown(double kappa, double lowest, double wanted,
                         double drawn) {
  double share =
      (fmax(drawn, 1.02 * lowest) - lowest) / fmax(wanted - lowest, 1e-9);
  double logarithm = log(fmin(fmax(share, 0.02), 1));
  return exp(kappa * logarithm * logarithm);
}
