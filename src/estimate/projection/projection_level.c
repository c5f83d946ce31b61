/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The level of a regime and what it says of further epochs.
 *
 *   Level. The excess over c = median + 4 sigma (stalls), sigma from the median
 *   absolute deviation, is averaged with a prior of kappa epochs that exceed
 *   the level by delta on average (of unit information: Kass, Wasserman, JASA
 *   90 (1995) 928), for n values x_i:
 *     c1 = mean min(x_i, c)
 *     m = c1 + (sum max(x_i - c, 0) + kappa delta' c1) / (n + kappa),
 *     delta' = delta min(s / s1, 1)
 *   s the scatter below, s1 what clocks resolve of an epoch: epochs that are
 *   equal in all digits were not measured.
 *
 *   Rest. R m for R further epochs. Without stalls and drift their mean has the
 *   relative predictive variance
 *     v = s^2 (1/n + 1/R) + (tau^2 + h q^2 K/(K + n)) R/(R + n) + (c / R)^2
 *   s the scatter of single epochs, drawn towards s0 with one degree of
 *   freedom, c the standard error of the number of epochs where they were
 *   detected in the power. A level that moves for good does so with q, the
 *   disturbance of this machine, which matters less once K epochs have shown
 *   it. q is the scatter without stalls, with h = 0.3; where the power within
 *   epochs is known, h = 1 and q is what their parts add up to:
 *     q^2 = B/(B - 1) sum_b w_b^2 v_b
 *   w_b the share of part b of B in the energy, v_b the variance over the
 *   epochs of its energy relative to its mean, less the variance for the whole
 *   epoch. Stalls and drift are added in projection_predictive.c. */

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "estimate/projection/projection_private.h"

/* From 36 measured trainings of 12 data sets and 249 traces (docs/lab/step.md).
 */
static const double kappa = 1, delta = 0.031;
static const double prior_scatter = 0.025; /* s0, of nu0 = 1 */
static const double least_move = 0.008;    /* tau */
static const double memory = 10;           /* K */
static const double lasting_whole = 0.3;   /* h of tables of whole epochs */
static const double alone_spread = 0.15;
static const double first_spread = 0.5; /* of its logarithm */

static const double stall_bound = 4;      /* in scatters */
static const double least_stall = 1.1;    /* of the median */
static const double least_scatter = 0.01; /* repeats of one epoch differ so */
static const double measured_scatter = 1e-5; /* what clocks resolve */

/* Epochs that have a slope, and that can prove a drift. */
enum { LEAST_DRIFT = 3, LEAST_PROOF = 5 };

static double square(double x) {
  return x * x;
}

/* Slope of the logarithms, within bounds around the median, by time; and its
 * standard error, for neighbours that resemble each other. */
static void find_drift(struct dl_level *l, const double *x, double low,
                       double high) {
  double n = (double)l->n, mid = (n - 1) / 2, sxx = n * (n * n - 1) / 12;
  double sum = 0, sxy = 0, syy = 0;
  for (size_t i = 0; i < l->n; i++) {
    double y = log(fmin(fmax(x[i], low), high));
    sum += y;
    sxy += ((double)i - mid) * y;
  }
  double slope = sxy / sxx, cross = 0, before = 0;
  for (size_t i = 0; i < l->n; i++) {
    double y = log(fmin(fmax(x[i], low), high));
    double residual = y - sum / n - slope * ((double)i - mid);
    syy += square(residual);
    cross += i ? residual * before : 0;
    before = residual;
  }
  double rho = syy > 0 ? cross / syy * n / (n + 10) : 0;
  l->correlation = fmin(fmax(rho, 0), 0.8);
  double inflation = (1 + l->correlation) / (1 - l->correlation);
  l->drift = slope;
  l->drift_se = sqrt(inflation * syy / (n - 2) / sxx);
}

/* Returns the level of the last two by the mean if both are far from the others
 * on one side; else 1. */
static double recent_level(const struct dl_level *l, const double *x,
                           double low, double high) {
  if (l->n < 4)
    return 1;
  double a = x[l->n - 2], b = x[l->n - 1];
  bool off = (a > high && b > high) || (a < low && b < low);
  return off ? (a + b) / 2 / l->mean : 1;
}

void dl_level_find(struct dl_level *l, const double *x, size_t n, bool stalls,
                   double *work) {
  *l = (struct dl_level){.n = n, .drift = NAN, .drift_se = NAN, .recent = 1};
  for (size_t i = 0; i < n; i++)
    work[i] = x[i];
  double median = gsl_stats_median(work, 1, n);
  for (size_t i = 0; i < n; i++)
    work[i] = fabs(x[i] - median);
  double sigma = 1.4826 * gsl_stats_median(work, 1, n);
  sigma = fmax(sigma, least_scatter * median);
  double low = median - stall_bound * sigma,
         high = median + stall_bound * sigma;
  double sum = 0, over = 0, far = 0, squares = 0, quiet = 0, ordinary = 0;
  double stall = fmax(high, least_stall * median);
  for (size_t i = 0; i < n; i++) {
    sum += fmin(x[i], high);
    over += fmax(x[i] - high, 0);
    far += x[i] > high || x[i] < low;
    squares += square(x[i] / median - 1);
    if (x[i] > stall) {
      l->stalls++;
      l->stall_log += log(x[i] / median - 1);
    } else
      ordinary += fmin(x[i], high);
  }
  double count = (double)n, core = sum / count;
  ordinary /= count - l->stalls;
  for (size_t i = 0; i < n; i++)
    if (x[i] <= stall)
      quiet += square(fmin(fmax(x[i], low), high) / ordinary - 1);
  l->disturbance = sqrt((square(prior_scatter) + quiet) / count);
  l->outliers = far / count;
  l->quiet = n > 1 ? sqrt(quiet / (count - 1)) : NAN;
  l->scatter = n > 1 ? sqrt(squares / (count - 1)) : NAN;
  double steady = n > 1 ? fmin(l->scatter / measured_scatter, 1) : 1;
  double allowed = stalls ? kappa * delta * core * steady : 0;
  l->mean = core + (over + allowed) / (count + (stalls ? kappa : 0));
  l->core = ordinary / l->mean;
  if (n >= LEAST_DRIFT)
    find_drift(l, x, fmax(low, median / 4), high);
  l->recent = recent_level(l, x, low, high);
}

double dl_level_within(const double *block_j, size_t n) {
  const size_t parts = DL_EPOCH_BLOCKS;
  double mean[DL_EPOCH_BLOCKS] = {0}, whole = 0, sum = 0;
  for (size_t i = 0; i < n * parts; i++) {
    mean[i % parts] += block_j[i] / (double)n;
    whole += block_j[i] / (double)n;
  }
  for (size_t i = 0; i < n; i++) {
    double share[DL_EPOCH_BLOCKS], level = 0;
    for (size_t b = 0; b < parts; b++) {
      share[b] = mean[b] > 0 ? block_j[i * parts + b] / mean[b] : 1;
      level += share[b] / (double)parts;
    }
    for (size_t b = 0; b < parts; b++)
      sum += square(mean[b] / whole * (share[b] - level));
  }
  double freedom = (double)(n - 1) * (double)(parts - 1) / (double)parts;
  return whole > 0 ? sqrt(sum / freedom) : 0;
}

bool dl_level_drifts(const struct dl_level *l, double rest) {
  double reach = fabs(l->drift) * fmax((double)l->n, (rest + (double)l->n) / 2);
  if (l->n < LEAST_PROOF || !(reach > 0.03))
    return false;
  double t = gsl_cdf_tdist_Pinv(0.995, (double)l->n - 2);
  return fabs(l->drift) > t * l->drift_se;
}

double dl_level_variance(const struct dl_level *l, double rest) {
  double n = (double)l->n;
  double known = l->n > 1 ? (n - 1) * square(l->quiet) : 0;
  double s2 = (square(prior_scatter) + known) / n;
  double lasting = l->parts_known ? 1 : lasting_whole;
  double moved = lasting * square(l->disturbance) * memory / (memory + n);
  double v = s2 * (1 / n + 1 / fmax(rest, 1)) +
             (square(least_move) + moved) * rest / (rest + n) +
             square(l->miscount / fmax(rest, 1));
  if (l->first_only)
    v += expm1(square(first_spread));
  else if (l->n == 1) /* one epoch does not show how much epochs differ */
    v += square(alone_spread);
  return v;
}
