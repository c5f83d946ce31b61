/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regimes of a series by optimal partitioning: projection_private.h. */

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "estimate/projection/projection_private.h"

/* Differences below this share are no change of regime. */
static const double least_scatter = 0.02;

static const double bound = 5;     /* K */
static const double penalty = 1.9; /* beta / K^2 */

static const double same_level = 2; /* as far as this, in sigma */

/* Fewer points hold no two regimes. */
enum { LEAST_POINTS = 6 };

/* A last segment with fewer points is no part of a trend. */
enum { LEAST_TREND = 8 };

/* Logarithms of the series in at most DL_REGIMES_BLOCKS blocks of `size`
 * points; the first block takes what is left over. */
static void blocks(double *z, size_t *n_blocks, size_t *size, const double *x,
                   size_t n) {
  *size = (n + DL_REGIMES_BLOCKS - 1) / DL_REGIMES_BLOCKS;
  DL_FREED double *part = dl_calloc(2 * *size, sizeof *part);
  *n_blocks = n / *size;
  size_t first = n - (*n_blocks - 1) * *size;
  for (size_t b = 0; b < *n_blocks; b++) {
    size_t from = b ? first + (b - 1) * *size : 0;
    size_t length = b ? *size : first;
    memcpy(part, x + from, length * sizeof *part);
    z[b] = log(gsl_stats_median(part, 1, length));
  }
}

/* Standard deviation within regimes, from successive differences. */
static double scatter_of(const double *z, size_t n) {
  double step[DL_REGIMES_BLOCKS];
  for (size_t i = 1; i < n; i++)
    step[i - 1] = fabs(z[i] - z[i - 1]);
  double sigma = 1.4826 / sqrt(2) * gsl_stats_median(step, 1, n - 1);
  return fmax(sigma, least_scatter);
}

static void insert(double *sorted, size_t n, double x) {
  size_t i = n;
  for (; i > 0 && sorted[i - 1] > x; i--)
    sorted[i] = sorted[i - 1];
  sorted[i] = x;
}

static double cost_of(const double *sorted, size_t n, double sigma) {
  double m = gsl_stats_median_from_sorted_data(sorted, 1, n), cost = 0;
  for (size_t i = 0; i < n; i++) {
    double r = (sorted[i] - m) / sigma;
    cost += fmin(r * r, bound * bound);
  }
  return cost;
}

/* Sets before[i] to where the last segment of the best partition of the first i
 * points begins. */
static void partition(size_t *before, const double *z, size_t n, double sigma) {
  double best[DL_REGIMES_BLOCKS + 1], sorted[DL_REGIMES_BLOCKS];
  double beta = penalty * bound * bound;
  best[0] = -beta;
  for (size_t end = 1; end <= n; end++) {
    best[end] = INFINITY;
    for (size_t start = end; start-- > 0;) {
      insert(sorted, end - start - 1, z[start]);
      double cost = best[start] + cost_of(sorted, end - start, sigma) + beta;
      if (cost <= best[end]) { /* of equals the longer one */
        best[end] = cost;
        before[end] = start;
      }
    }
  }
}

/* Cost of a segment with a trend, by medians: the slope of points half of the
 * segment apart, and the level about it. */
static double trend_cost(const double *z, size_t n, double sigma) {
  double slope[DL_REGIMES_BLOCKS], rest[DL_REGIMES_BLOCKS];
  size_t half = n / 2;
  for (size_t i = 0; i + half < n; i++)
    slope[i] = (z[i + half] - z[i]) / (double)half;
  double b = gsl_stats_median(slope, 1, n - half);
  for (size_t i = 0; i < n; i++)
    rest[i] = z[i] - b * (double)i;
  gsl_sort(rest, 1, n);
  return cost_of(rest, n, sigma);
}

/* Joins the last segments where one trend explains them clearly better than
 * their steps do: a level that moves all the time has no regimes. Returns the
 * start of the last one. */
static size_t join_trend(const size_t *before, const double *z, size_t n,
                         double sigma) {
  double beta = penalty * bound * bound, steps = 0, sorted[DL_REGIMES_BLOCKS];
  size_t start = before[n];
  for (size_t end = n; end > 0; end = before[end]) {
    size_t from = before[end], m = end - from;
    memcpy(sorted, z + from, m * sizeof *z);
    gsl_sort(sorted, 1, m);
    steps += cost_of(sorted, m, sigma) + beta;
    bool clear = n - before[n] >= LEAST_TREND && end < n &&
                 trend_cost(z + from, n - from, sigma) + 1.5 * beta <= steps;
    start = clear ? from : start;
  }
  return start;
}

static double level_of(const double *z, size_t n) {
  double sorted[DL_REGIMES_BLOCKS];
  if (n == 0)
    return NAN;
  memcpy(sorted, z, n * sizeof *z);
  return gsl_stats_median(sorted, 1, n);
}

void dl_regimes_find(struct dl_regimes *r, const double *x, size_t n) {
  *r = (struct dl_regimes){.n = 1, .last_change = NAN};
  if (n < LEAST_POINTS)
    return;
  double z[DL_REGIMES_BLOCKS];
  size_t before[DL_REGIMES_BLOCKS + 1] = {0}, n_blocks, size;
  blocks(z, &n_blocks, &size, x, n);
  double sigma = scatter_of(z, n_blocks);
  partition(before, z, n_blocks, sigma);
  before[n_blocks] = join_trend(before, z, n_blocks, sigma);
  size_t last = before[n_blocks], from = last;
  double level = level_of(z + last, n_blocks - last);
  for (size_t end = last; end > 0; end = before[end]) {
    double earlier = level_of(z + before[end], end - before[end]);
    if (r->n++ == 1)
      r->last_change = exp(level - earlier);
    if (fabs(earlier - level) < same_level * sigma)
      from = before[end];
  }
  r->start = from ? n - (n_blocks - from) * size : 0;
}
