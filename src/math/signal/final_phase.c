/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The phase that an unfinished training is in, when only a few of its cycles
 * have been seen.
 *
 * Where it is known that cycles go on, they need not stand out against
 * chance: it is enough to ask which period fits best. The phase starts where
 * the level of the signals changes: at the greatest change of their medians
 * over a period of the phase before, moved to the end of the deepest dip
 * nearby. Its period is between once and `most_longer` times that before, as
 * training all of a network takes about three times its forward pass; of
 * those the one is taken whose correlation, as a mean over one to four times
 * it weighted by the pairs, is highest. */

#include <gsl/gsl_math.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/signal/cycle_parameters.h"
#include "math/signal/cycles_private.h"

enum { BINS = 64, MAX_CYCLES = 12, TIMES = 4 };

static double median(const double *x, size_t n, double *work) {
  memcpy(work, x, n * sizeof *x);
  return gsl_stats_median(work, 1, n);
}

/* Median and 1.4826 MAD; work holds 2 n. */
static void spread(const double *x, size_t n, double *work, double *mid,
                   double *mad) {
  *mid = median(x, n, work);
  for (size_t i = 0; i < n; i++)
    work[n + i] = fabs(x[i] - *mid);
  *mad = 1.4826 * median(work + n, n, work);
}

/* How far the medians over `width` bins before and after i differ, in
 * spreads. */
static double change(const struct dl_signal_grid *g, size_t i, size_t width,
                     double *work) {
  double sum = 0;
  for (size_t c = 0; c < g->n_channels; c++) {
    const double *x = g->x[c];
    double a, b, wide, wider;
    spread(x + i - width, width, work, &a, &wide);
    spread(x + i, width, work, &b, &wider);
    double scale = 0.5 * (wide + wider) + 0.01 * (fabs(a) + fabs(b));
    if (scale > 0)
      sum += fmin(10, fabs(a - b) / scale);
  }
  return sum;
}

/* The bin in low ... high - 1 where the next phase starts; *size is the change
 * of level there, in spreads. */
static size_t switch_at(const struct dl_signal_grid *g, size_t low, size_t high,
                        size_t width, double *work, double *size) {
  size_t best = low, step = GSL_MAX(1, width / BINS);
  *size = -1;
  for (size_t i = low; i < high; i += step) {
    double s = change(g, i, width, work);
    if (s > *size) {
      *size = s;
      best = i;
    }
  }
  size_t first = best - width / 2, last = GSL_MIN(g->n, best + width / 2);
  const double *x = g->x[0];
  double usual = median(x + first, last - first, work);
  size_t lowest = first;
  for (size_t i = first; i < last; i++)
    if (x[i] < x[lowest])
      lowest = i;
  while (lowest + 1 < g->n && x[lowest] < tuned.late_dip * usual)
    lowest++;
  return lowest;
}

/* Values of a channel, compressed; work holds 2 n. */
static void compress(double *x, size_t n, double *work) {
  double mid, mad;
  spread(x, n, work, &mid, &mad);
  if (!(mad > 0))
    mad = gsl_stats_sd(x, 1, n);
  for (size_t i = 0; i < n; i++)
    x[i] = mad > 0 ? asinh((x[i] - mid) / mad) : 0;
}

/* Correlation of z (n values) at a lag, less the mean over the lag around
 * each; work holds 2 n + 1. */
static double one_lag(const double *z, size_t n, size_t lag, double *work) {
  double *sum = work + n, a = 0, b = 0, ab = 0;
  size_t length = GSL_MIN(lag, n / 2), half = length / 2;
  sum[0] = 0;
  for (size_t i = 0; i < n; i++)
    sum[i + 1] = sum[i] + z[i];
  for (size_t i = 0; i < n; i++) {
    size_t from = i > half ? i - half : 0;
    size_t to = GSL_MIN(n, i + length - half);
    work[i] = z[i] - (sum[to] - sum[from]) / (double)(to - from);
  }
  for (size_t i = 0; i + lag < n; i++) {
    ab += work[i] * work[i + lag];
    a += work[i] * work[i];
    b += work[i + lag] * work[i + lag];
  }
  return a > 0 && b > 0 ? ab / sqrt(a * b) : 0;
}

/* Mean correlation at one to four times a period, of n values. */
static double comb(const double *r, size_t n, size_t period) {
  double sum = 0, weights = 0;
  double least = fmax(0.8 * (double)period, 6);
  for (size_t k = 1; k <= TIMES; k++) {
    size_t lag = k * period;
    if ((double)lag > (double)n - least)
      break;
    double top = 0, weight = (double)(n - lag);
    for (size_t j = lag - k / 2; j <= lag + k / 2 && j + 6 < n; j++)
      top = fmax(top, r[j]);
    sum += weight * top;
    weights += weight;
  }
  return weights > 0 ? sum / weights : 0;
}

/* The period of the bins from `from` on, or 0; the phase before has `before`.
 * *score is its correlation. */
static void late_period(const struct dl_signal_grid *g, size_t from,
                        double before, double *period, double *score) {
  size_t stride = GSL_MAX(1, (size_t)(before / BINS));
  double first = before / (double)stride;
  size_t n = (g->n - from) / stride;
  n = GSL_MIN(n, (size_t)(MAX_CYCLES * tuned.late_longest * first));
  size_t start = g->n - n * stride;
  size_t low = (size_t)fmax(DL_LAG_MIN, floor(tuned.late_shortest * first));
  size_t high =
      (size_t)fmin(tuned.late_longest * first, (double)n / tuned.late_cycles);
  *period = *score = 0;
  if (n < 8 || low > high)
    return;
  DL_FREED double *z = dl_calloc(5 * n + 5, sizeof *z);
  double *r = z + n, *square = r + n, *work = square + n;
  for (size_t c = 0; c < g->n_channels; c++) {
    for (size_t i = 0; i < n; i++)
      z[i] = gsl_stats_mean(g->x[c] + start + i * stride, 1, stride);
    compress(z, n, work);
    for (size_t lag = 3; lag + 6 < n && lag <= TIMES * high + 2; lag++) {
      double one = fmax(0, one_lag(z, n, lag, work));
      r[lag] += one;
      square[lag] += one * one;
    }
  }
  for (size_t lag = 3; lag < n; lag++)
    r[lag] = r[lag] > 0 ? square[lag] / r[lag] : 0;
  for (size_t p = low; p <= high; p++) {
    double s = comb(r, n, p);
    double factor =
        (double)p > 1.5 * *period / (double)stride ? tuned.late_longer : 1;
    if (s > tuned.late_score && s > *score * (*score > 0 ? factor : 1)) {
      *score = s;
      *period = (double)(p * stride);
    }
  }
}

/* Finds where the phase after `c` may start. False: no room. */
static bool range(const struct dl_signal_grid *g,
                  const struct dl_cycle_chain *c, double n_first, size_t width,
                  size_t *low, size_t *high) {
  double from = c->at[0] + tuned.late_before * c->period;
  double to =
      (double)g->n - tuned.late_cycles * tuned.late_shortest * c->period;
  if (n_first > 0) {
    from = fmax(from, c->at[0] + (n_first - tuned.late_planned) * c->period);
    to = fmin(to, c->at[0] + (n_first + tuned.late_planned) * c->period);
  }
  *low = (size_t)fmax(from, (double)width);
  *high = to > 0 ? (size_t)to : 0;
  *high = GSL_MIN(*high, g->n > width ? g->n - width : 0);
  return *low < *high;
}

/* Whether the chains already reach the phase at the end. */
static bool reaches_end(const struct dl_cycle_chain *chain, size_t n,
                        double end) {
  const struct dl_cycle_chain *last = &chain[n - 1];
  return n > 1 && last->period > tuned.late_shortest * chain[0].period &&
         end - last->at[last->n] < 1.6 * last->period;
}

void dl_find_final_phase(const struct dl_signal_grid *g, double n_first,
                         struct dl_cycle_chain *chain, size_t *n_chains,
                         bool *added) {
  struct dl_cycle_chain *first = &chain[0], late = {0};
  size_t width = (size_t)GSL_MAX(8, lround(first->period)), low, high;
  *added = false;
  if (reaches_end(chain, *n_chains, (double)g->n) ||
      !range(g, first, n_first, width, &low, &high))
    return;
  double *work = dl_calloc(2 * g->n, sizeof *work), size, period, score;
  size_t at = switch_at(g, low, high, width, work, &size);
  free(work);
  if (size < tuned.late_change)
    return;
  size_t skip = GSL_MIN(3, g->n - at);
  late_period(g, at + skip, first->period, &period, &score);
  if (!(period > 0))
    return;
  size_t n = (size_t)floor(((double)(g->n - at)) / period + 0.05);
  late.at = dl_calloc(n + 1, sizeof *late.at);
  for (size_t i = 0; i <= n; i++)
    late.at[i] = fmin((double)g->n, (double)at + (double)i * period);
  late.n = n;
  late.period = period;
  late.match = late.r = score;
  while (first->n > 1 && first->at[first->n] > (double)at + 0.3 * first->period)
    first->n--;
  for (size_t i = 1; i < *n_chains; i++)
    free(chain[i].at);
  chain[1] = late;
  *n_chains = 2;
  *added = true;
}
