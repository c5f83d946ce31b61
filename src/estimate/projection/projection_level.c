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
 *   Rest. R m for R further epochs, with the relative predictive variance
 *     v = s^2 (1/n + 1/R) + (tau^2 + q^2 K/(K + n)) R/(R + n)
 *         + (c / R)^2 + (b (R + n) / 2)^2
 *   s the scatter of single epochs, drawn towards s0 with one degree of
 *   freedom, b the drift per epoch where it is significant, c the standard
 *   error of the number of epochs where they were detected in the power. What a
 *   level moves for good goes with q, the disturbance of this machine, and
 *   matters less once K epochs have shown it. q is the scatter without stalls;
 *   where the power within epochs is known, it is what their parts add up to:
 *     q^2 = B/(B - 1) sum_b w_b^2 v_b
 *   w_b the share of part b of B in the energy, v_b the variance over the
 *   epochs of its energy relative to its mean, less the same of the whole
 *   epoch. The interval is R m exp(-t g(v)) to R m exp(t g(v + w)), with g(v) =
 *   sqrt(log(1 + v)), the deviation of the logarithm of a log-normal mean, t of
 *   Student's distribution with four degrees of freedom,
 *     w = (u / N / (1 + k))^2:
 *   disturbances that did not occur in all N epochs so far may be as frequent
 *   as 1 / N, and raise the energy of epochs, never lower it; k epochs far from
 *   the others, which did occur, show in s what this machine does. Without any
 *   further stall the rest takes c1 per epoch: the lower bound is no lower than
 *   R c1 exp(-t g(v)), with s of the epochs without stalls. b^2 is the
 * posterior mean square of the drift: none, or normal about 0 (spike and slab).
 */

#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "estimate/projection/projection_private.h"

/* From 36 measured trainings of 12 data sets and 249 traces (docs/lab/step.md).
 */
static const double kappa = 1, delta = 0.031;
static const double prior_scatter = 0.025; /* s0, of nu0 = 1 */
static const double least_move = 0.008;    /* tau */
static const double unseen = 0.33;         /* u; in tables of whole epochs: */
static const double unseen_whole = 0.63, most_unseen = 0.055;
static const double memory = 10;        /* K */
static const double first_spread = 0.5; /* of its logarithm */

static const double stall_bound = 4;      /* in scatters */
static const double least_scatter = 0.01; /* repeats of one epoch differ so */
static const double measured_scatter = 1e-5; /* what clocks resolve */

enum { LEAST_DRIFT = 8 }; /* epochs that can show a drift */

static double square(double x) {
  return x * x;
}

/* Prior of the drift: a share of trainings have one (few of the 249 traces,
 * which have parts), normal with this standard deviation per epoch. */
static const double drifting_share = 0.01, drifting_share_whole = 0.3;
static const double drifting_sd = 0.003;

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

static double ratio_of_normals(double x, double sd, double other_sd) {
  return other_sd / sd * exp((square(x / other_sd) - square(x / sd)) / 2);
}

void dl_level_weigh_drift(struct dl_level *l, double within) {
  double n = (double)l->n, b = l->drift, se = fmax(l->drift_se, 1e-9);
  l->parts_known = !isnan(within);
  l->drift_chance = l->drift_rms = l->drift_low = l->drift_high = 0;
  if (isnan(b))
    return;
  double own =
      fmin(se, isnan(within) ? se : within / sqrt(n * (n * n - 1) / 12));
  double share = l->parts_known ? drifting_share : drifting_share_whole;
  double odds =
      share / (1 - share) * ratio_of_normals(b, hypot(se, drifting_sd), se);
  l->drift_chance = 1 / (1 + 1 / odds);
  double shrunk = 1 / (1 + square(se / drifting_sd));
  l->drift_rms =
      sqrt(l->drift_chance * (square(shrunk * b) + shrunk * square(own)));
  l->drift_low = b - 1.645 * own;
  l->drift_high = b + 1.645 * own;
}

/* Both of the last two far from the others on the same side. */
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
  double sum = 0, over = 0, far = 0, squares = 0, quiet = 0;
  for (size_t i = 0; i < n; i++) {
    sum += fmin(x[i], high);
    over += fmax(x[i] - high, 0);
    far += x[i] > high || x[i] < low;
    squares += square(x[i] / median - 1);
  }
  double count = (double)n, core = sum / count;
  for (size_t i = 0; i < n; i++)
    quiet += square(fmin(fmax(x[i], low), high) / core - 1);
  l->disturbance = sqrt((square(prior_scatter) + quiet) / count);
  l->outliers = far / count;
  l->quiet = n > 1 ? sqrt(quiet / (count - 1)) : NAN;
  l->scatter = n > 1 ? sqrt(squares / (count - 1)) : NAN;
  double steady = n > 1 ? fmin(l->scatter / measured_scatter, 1) : 1;
  double allowed = stalls ? kappa * delta * core * steady : 0;
  l->mean = core + (over + allowed) / (count + (stalls ? kappa : 0));
  l->core = core / l->mean;
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
  /* By more than 3 standard errors, and by what matters. */
  double reach = fabs(l->drift) * fmax((double)l->n, (rest + (double)l->n) / 2);
  return l->n >= LEAST_DRIFT && fabs(l->drift) > 3 * l->drift_se &&
         reach > 0.03;
}

/* Relative predictive variance of the mean of `rest` further epochs, of which
 * single ones scatter so. */
static double variance(const struct dl_level *l, double rest, double scatter) {
  double n = (double)l->n;
  double known = l->n > 1 ? (n - 1) * square(scatter) : 0;
  double s2 = (square(prior_scatter) + known) / n;
  double moved = square(l->disturbance) * memory / (memory + n);
  double v = s2 * (1 / n + 1 / fmax(rest, 1)) +
             (square(least_move) + moved) * rest / (rest + n) +
             square(l->miscount / fmax(rest, 1));
  v += square(l->drift_rms * (rest + n) / 2);
  if (l->first_only)
    v += expm1(square(first_spread));
  return v;
}

/* Quantile, for p >= 1/2, of Student's t with four degrees of freedom (Shaw,
 * J. Computational Finance 9 (2006) 37). */
static double students_t(double p) {
  double root = sqrt(4 * p * (1 - p));
  return 2 * sqrt(fmax(cos(acos(fmin(root, 1)) / 3) / root - 1, 0));
}

/* Standard deviation of the energy of stalls that were not met yet. */
static double unseen_stalls(const struct dl_level *l) {
  double n = (double)l->n_epochs, most = fmin(unseen_whole / n, most_unseen);
  return l->parts_known ? unseen / n : fmax(unseen / n, most);
}

struct dl_spread dl_level_rest(const struct dl_level *l, double rest,
                               double coverage) {
  double t = students_t((1 + coverage) / 2);
  double v = variance(l, rest, l->scatter);
  double without = variance(l, rest, l->quiet);
  double stalls = l->outliers * (double)l->n;
  double more = square(unseen_stalls(l) / (1 + stalls));
  double low = exp(-t * sqrt(log1p(v))), high = exp(t * sqrt(log1p(v + more)));
  low = fmax(low, l->core * exp(-t * sqrt(log1p(without))));
  low = fmin(low, l->recent);
  high = fmax(high, l->recent);
  double value = rest * l->mean;
  return (struct dl_spread){value, value * (1 - low), value * (high - 1)};
}
