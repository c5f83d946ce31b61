/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The power limit of a board and its derivatives. */

#include "physics/power_limit.h"

#include <math.h>

/* Bounds of the power above the lowest: what is drawn as a share of the lowest,
 * what is demanded in W, and the share of the demand that is met. */
#define LEAST_DRAWN 0.02
#define LEAST_WANTED 1e-9
#define LEAST_SHARE 0.02

/* (wanted / limit)^8 by products: pow() would take most of a fit. */
static double eighth_power(const struct dl_power_limit *l) {
  double x = l->wanted / l->limit, x2 = x * x, x4 = x2 * x2;
  return x4 * x4;
}

static double share_of(const struct dl_power_limit *l) {
  return (fmax(l->power, (1 + LEAST_DRAWN) * l->lowest) - l->lowest) /
         fmax(l->wanted - l->lowest, LEAST_WANTED);
}

void dl_power_limit_apply(struct dl_power_limit *l) {
  l->power = l->wanted / sqrt(sqrt(sqrt(1 + eighth_power(l))));
  double logarithm = log(fmin(fmax(share_of(l), LEAST_SHARE), 1));
  l->slow = exp(l->kappa * logarithm * logarithm);
}

void dl_power_limit_gradient(const struct dl_power_limit *l, double slow_weight,
                             double power_weight, struct dl_power_limit *by) {
  double u = eighth_power(l), share = share_of(l);
  double above = fmax(l->wanted - l->lowest, LEAST_WANTED);
  double logarithm = log(fmin(fmax(share, LEAST_SHARE), 1));
  *by = (struct dl_power_limit){.kappa = slow_weight * l->slow * l->kappa *
                                         logarithm * logarithm};
  if (share > LEAST_SHARE && share < 1) {
    double by_share = slow_weight * l->slow * 2 * l->kappa * logarithm / share;
    if (l->wanted - l->lowest > LEAST_WANTED) {
      by->wanted -= by_share * share / above * l->wanted;
      by->lowest += by_share * share / above * l->lowest;
    }
    if (l->power > (1 + LEAST_DRAWN) * l->lowest) {
      power_weight += by_share / above;
      by->lowest -= by_share / above * l->lowest;
    } else {
      by->lowest += by_share * LEAST_DRAWN * l->lowest / above;
    }
  }
  by->wanted += power_weight * l->power / (1 + u);
  by->limit = power_weight * l->power * u / (1 + u);
}
