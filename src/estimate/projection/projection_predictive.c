/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interval of what R further epochs take: quantiles of a mixture over the
 * drift and over the number of stalls to come.
 *
 *   Drift. The slope b of the logarithm per epoch is zero with the probability
 *   1 - pi, else normal about zero with one of three standard deviations c_k,
 *   all alike. Measured is b' with the standard error s' of n epochs, so that
 *   the weight of each is its prior times the density of Student's
 *   distribution with n - 2 degrees of freedom at b', scaled by
 *   h_k = hypot(s', c_k); with less than three epochs it is its prior. With r_k
 * = 1 / (1 + (s'/c_k)^2) the slope is about r_k b' with the standard deviation
 * s' sqrt(r_k). It goes on to the end with
 *   the probability g, which moves the mean of the rest by x = (R + n) / 2
 *   slopes, and else ends with the measured epochs, by n / 2. A level moves by
 * a line, f(x) = log(1 + x), with the tangent of this at x = -1/2 below it.
 *
 *   Stalls. Their rate has a gamma prior with the shape a and b epochs. After k
 *   stalls in N epochs their number K in the rest is negative binomial, with
 *   a + k and (b + N) / (b + N + R). Each exceeds an epoch by a log-normal
 *   share with the deviation w; its median is log-normal itself, with the
 *   median M and the deviation u before any was seen, and with the precision
 *   1/u^2 + k/w^2 afterwards. Large counts are taken several at once.
 *
 *   The logarithm of the mean of the rest, relative to epochs without stalls,
 *   is about f + log(1 + K x / R), x the mean excess of a stall, in units of
 *   sqrt(log(1 + v) + variances of drift and stalls) with Student's
 *   distribution with four degrees of freedom, v as in projection_level.c. */

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#include "estimate/projection/projection_private.h"

/* c_k. */
static const double drift_scale[DL_DRIFTS] = {0, 0.001, 0.003, 0.01};

/* pi of logs with the power within epochs, and of tables of whole epochs. */
static const double drifting = 0.03, drifting_whole = 0.9;

static const double goes_on = 0.9; /* g */

/* a and b of logs and of tables, M, w, u. */
static const double stall_shape = 0.2, stall_shape_whole = 0.4;
static const double stall_epochs = 20, stall_epochs_whole = 8;
static const double stall_median = 0.6, stall_within = 0.58, stall_between = 1;

static const double least_se = 1e-9; /* of a slope; epochs all equal have 0 */

/* Parts of a mixture. */
enum { WEIGHT, PLACE, WIDTH, N_MEMBERS };
enum { AT_ONCE = 2 * DL_DRIFTS, MOST_PARTS = 128 * AT_ONCE };

static double square(double x) {
  return x * x;
}

void dl_level_weigh_drift(struct dl_level *l, double within) {
  double n = (double)l->n, se = fmax(l->drift_se, least_se), sum = 0;
  l->parts_known = !isnan(within);
  double own = n > 1 ? within / sqrt(n * (n * n - 1) / 12) : NAN;
  l->drift_own = l->parts_known ? fmin(se, own) : se;
  double share = l->parts_known ? drifting : drifting_whole;
  for (size_t k = 0; k < DL_DRIFTS; k++) {
    double h = hypot(se, drift_scale[k]);
    l->drift_weight[k] = k ? share / (DL_DRIFTS - 1) : 1 - share;
    if (!isnan(l->drift))
      l->drift_weight[k] *= gsl_ran_tdist_pdf(l->drift / h, n - 2) / h;
    sum += l->drift_weight[k];
  }
  for (size_t k = 0; k < DL_DRIFTS; k++)
    l->drift_weight[k] /= sum;
}

/* Student's distribution function for four degrees of freedom. */
static double student(double t) {
  double s = t / sqrt(4 + t * t);
  return 0.5 + 0.75 * (s - s * s * s / 3);
}

static double below(double part[][N_MEMBERS], size_t n, double y) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += part[i][WEIGHT] * student((y - part[i][PLACE]) / part[i][WIDTH]);
  return sum;
}

/* Bisects; the weights add up to less than 1 where a tail is left out. */
static double quantile(double part[][N_MEMBERS], size_t n, double share) {
  double low = -50, high = 50, sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += part[i][WEIGHT];
  for (int i = 0; i < 60; i++) {
    double mid = (low + high) / 2;
    if (below(part, n, mid) < share * sum)
      low = mid;
    else
      high = mid;
  }
  return (low + high) / 2;
}

/* Logarithm of a level that a line has moved by x, with a finite end. */
static double moved(double x) {
  return x > -0.5 ? log1p(x) : log(0.5) + 2 * (x + 0.5);
}

/* Sets the parts of one number of stalls: each drift, going on or not. Returns
 * how many they are. */
static size_t set_drifts(double part[][N_MEMBERS], const struct dl_level *l,
                         double rest, double weight, double place, double v) {
  double n = (double)l->n;
  size_t used = 0;
  for (size_t k = 0; k < DL_DRIFTS; k++)
    for (size_t on = 0; on < 2; on++) {
      double share = weight * l->drift_weight[k] * (on ? goes_on : 1 - goes_on);
      double reach = on ? (rest + n) / 2 : n / 2;
      double shrunk = k ? 1 / (1 + square(l->drift_se / drift_scale[k])) : 0;
      double x = shrunk * l->drift * reach, sd = sqrt(shrunk) * l->drift_own;
      if (isnan(l->drift)) { /* nothing is known but the prior */
        x = 0;
        sd = drift_scale[k];
      }
      double scale = sd * reach / (1 + fmax(x, -0.5));
      if (share == 0)
        continue;
      part[used][WEIGHT] = share;
      part[used][PLACE] = place + moved(x);
      part[used++][WIDTH] = sqrt(v + square(scale));
    }
  return used;
}

/* Parts for `rest` further epochs, relative to the level's mean. */
static size_t predict(double part[][N_MEMBERS], const struct dl_level *l,
                      double rest) {
  double v = log1p(dl_level_variance(l, rest));
  double shape = l->stalls + (l->parts_known ? stall_shape : stall_shape_whole);
  double epochs = (double)l->n_epochs +
                  (l->parts_known ? stall_epochs : stall_epochs_whole);
  double before = 1 / square(stall_between), seen = 1 / square(stall_within);
  double precision = before + l->stalls * seen;
  double median =
      (before * log(stall_median) + seen * l->stall_log) / precision;
  double size = exp(median + square(stall_within) / 2), done = 0;
  size_t used = 0;
  for (unsigned low = 0, high; done < 1 - 1e-4 && used + AT_ONCE <= MOST_PARTS;
       low = high + 1) {
    high = low + low / 6;
    double to =
        gsl_cdf_negative_binomial_P(high, epochs / (epochs + rest), shape);
    double count = (low + high) / 2.0, more = count * size / fmax(rest, 1);
    double spread = 1 / precision;
    spread += count > 0 ? expm1(square(stall_within)) / count : 0;
    used +=
        set_drifts(part + used, l, rest, to - done, log(l->core) + log1p(more),
                   v + spread * square(more / (1 + more)));
    done = to;
  }
  return used;
}

struct dl_spread dl_level_rest(const struct dl_level *l, double rest,
                               double coverage) {
  double part[MOST_PARTS][N_MEMBERS], value = rest * l->mean;
  if (!(rest > 0))
    return (struct dl_spread){0, 0, 0};
  size_t n = predict(part, l, rest);
  double low = fmin(exp(quantile(part, n, (1 - coverage) / 2)), 1);
  double high = fmax(exp(quantile(part, n, (1 + coverage) / 2)), 1);
  low = fmin(low, l->recent);
  high = fmax(high, l->recent);
  return (struct dl_spread){value, value * (1 - low), value * (high - 1)};
}
