/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/gpu_clock.h"

#include <math.h>

#define LEAST_VOLTAGE 0.8
#define VOLTAGE_SLOPE 1.0
#define MOST_OF_LIMIT 0.97 /* C, relative to the limit */
#define NEAR_LIMIT 0.995   /* P, relative to C, at most */
#define MOST_DEMAND 1.5    /* W, relative to C, at most */
#define HALVINGS 40

static double demand(double x) {
  double v = fmax(LEAST_VOLTAGE, 1 - VOLTAGE_SLOPE * (1 - x));
  return x * v * v;
}

/* The clock at which a share of the demand at the boost clock is drawn. */
static double clock_of(double share) {
  double low = 0, high = 1;
  for (int i = 0; i < HALVINGS; i++) {
    double x = (low + high) / 2;
    *(demand(x) < share ? &low : &high) = x;
  }
  return high;
}

void dl_gpu_clock_apply(struct dl_gpu_clock *l) {
  double most = MOST_OF_LIMIT * l->limit;
  double power = fmin(l->power, NEAR_LIMIT * most);
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
