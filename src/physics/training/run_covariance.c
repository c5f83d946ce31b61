/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the physics leaves over of runs, of a fit and of a calibration.
 *
 * Runs of one network on one GPU are off together, in time and in power, by
 * more than a machine differs as a whole: kernels that a library has for one
 * network and not for another. So a run says more of runs like it than of
 * other networks. The residuals of the logarithms are normal with the
 * covariance below, in time and in power; the energy of an epoch has both.
 *
 * The spreads are those that make the residuals of the GPUs left out of a fit
 * most likely (docs/estimation.md): found without any one GPU they differ by
 * less than a third. */

#include <math.h>

#include "physics/training/physical_private.h"

/* Standard deviations: of a network on a GPU, of what configurations near to
 * each other share, of a configuration. */
struct spread {
  double network, near, own;
};
static const struct spread of_time = {0.1, 0.08, 0.03};
static const struct spread of_power = {0.05, 0.06, 0.03};

/* Of a repeat, and of what repeats do not cure. */
#define REPEAT 0.02
#define FLOOR 0.005

static double share(const struct spread *s, double d2, bool same) {
  return s->network * s->network + s->near * s->near * exp(-d2 / 2) +
         (same ? s->own * s->own : 0);
}

static bool differ(const double *a, const double *b, size_t i) {
  return a[i] < b[i] || a[i] > b[i];
}

double dl_runs_covariance(const double *a, const double *b) {
  bool same;
  if (differ(a, b, DL_NEAR_GPU) || differ(a, b, DL_NEAR_ARCH))
    return 0;
  double d2 = dl_near_distance2(a, b, &same), sum = 0;
  size_t ta = (size_t)a[DL_NEAR_TARGET], tb = (size_t)b[DL_NEAR_TARGET];
  if (ta != DL_PT_POWER && tb != DL_PT_POWER)
    sum += share(&of_time, d2, same);
  if (ta != DL_PT_TIME && tb != DL_PT_TIME)
    sum += share(&of_power, d2, same);
  return sum;
}

double dl_runs_noise(double n) {
  return REPEAT * REPEAT / n + FLOOR * FLOOR;
}
