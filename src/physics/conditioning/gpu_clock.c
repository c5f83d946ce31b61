/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/conditioning/gpu_clock.h"

#include <math.h>

#define LEAST_VOLTAGE 0.8
#define MOST_OF_LIMIT 0.97 /* C, relative to the limit */
#define NEAR_LIMIT 0.995   /* P, relative to C, at most */
#define MOST_DEMAND 1.5    /* W, relative to C, at most */

static double demand(double x) {
  double v = fmax(LEAST_VOLTAGE, x);
  return x * v * v;
}

/* The clock at which a share of the demand at the boost clock is drawn. */
static double clock_of(double share) {
  double x = cbrt(fmin(share, 1));
  return x < LEAST_VOLTAGE ? share / (LEAST_VOLTAGE * LEAST_VOLTAGE) : x;
}

void dl_gpu_clock_apply(struct dl_gpu_clock *l) {
  double most = MOST_OF_LIMIT * l->limit;
  double power = fmin(l->power, NEAR_LIMIT * most);
  /* The inverse of power_limit.c. */
  double wanted = pow(pow(power, -8) - pow(most, -8), -1.0 / 8);
  double beyond = fmin(wanted, MOST_DEMAND * most) - l->lowest;
  l->time = l->at_power = 1;
  if (!(power > l->lowest) || !(beyond > 0))
    return;
  double y = clock_of((power - l->lowest) / beyond);
  if (!(l->x < y))
    return;
  double lower = demand(l->x) / demand(y);
  l->time = 1 - l->bound + l->bound * y / l->x;
  l->at_power = (l->lowest + (l->power - l->lowest) * lower) / l->power;
}
