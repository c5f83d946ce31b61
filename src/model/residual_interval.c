/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prediction intervals from residuals of held-out groups. */

#include "model/residual_interval.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"

/* To twelve digits, as a model file has them: 17 take four times as long to
 * read. */
static double rounded(double x) {
  char text[DL_NUMBER_SIZE];
  double y = x;
  dl_parse_double(dl_format_digits(text, x, 12), &y);
  return y;
}

void dl_residual_quantiles(struct dl_group_residuals *g, double *x,
                           double *spread, size_t n) {
  const size_t most = sizeof g->value / sizeof *g->value;
  if (spread)
    gsl_sort2(x, 1, spread, 1, n);
  else
    gsl_sort(x, 1, n);
  g->n = n;
  g->n_values = n < most ? n : most;
  g->by_run = spread;
  for (size_t i = 0; i < g->n_values; i++) {
    size_t k = n <= most ? i : (size_t)((double)(i * (n - 1)) / 20.0 + 0.5);
    g->value[i] = rounded(x[k]);
    /* Four digits, as a model file has them. */
    g->spread[i] = spread ? round(spread[k] * 1e4) / 1e4 : 1;
  }
}

bool dl_residuals_by_run(const struct dl_residuals *r) {
  return r->n > 0 && r->g[0].by_run;
}

double dl_residuals_spread(const struct dl_residuals *r) {
  double sum = 0;
  for (size_t i = 0; i < r->n; i++)
    for (size_t j = 0; r->g[i].by_run && j < r->g[i].n_values; j++)
      sum += log(r->g[i].spread[j]) / (double)r->g[i].n_values;
  return r->n > 0 ? exp(sum / (double)r->n) : 1;
}

/* Residual j of a group, in multiples of its run's spread. */
static double scaled(const struct dl_group_residuals *g, size_t j) {
  return g->by_run ? g->value[j] / g->spread[j] : g->value[j];
}

void dl_add_group_residuals(struct dl_residuals *r, const char *name, double *x,
                            double *spread, size_t n) {
  r->g = dl_reallocarray(r->g, r->n + 1, sizeof *r->g);
  struct dl_group_residuals *to = &r->g[r->n++];
  *to = (struct dl_group_residuals){.name = dl_strdup(name)};
  dl_residual_quantiles(to, x, spread, n);
}

/* Groups from which on quantiles count, and from which they count alone:
 * quantiles for 90 % have one and two groups beyond either end there. */
#define FEWEST 19.0
#define MOST 39.0

/* All residuals, and behind them their weights: each group weighs 1 in total.
 */
static double *gather(const struct dl_residuals *r, size_t *n) {
  *n = 0;
  for (size_t i = 0; i < r->n; i++)
    *n += r->g[i].n_values;
  double *all = dl_calloc(2 * *n, sizeof *all), *x = all, *w = all + *n;
  for (size_t i = 0; i < r->n; i++)
    for (size_t j = 0; j < r->g[i].n_values; j++) {
      *x++ = scaled(&r->g[i], j);
      *w++ = 1.0 / (double)r->g[i].n_values;
    }
  return all;
}

/* Finds the residual at which the weights from an end on exceed `share`. It
 * sorts as many as that takes: none weighs less than one of a full group. */
static double end_at(const double *x, size_t n, double share, bool high) {
  const double *w = x + n;
  double most = fmax(share, 0) * DL_GROUP_RESIDUALS + 2, sum = 0;
  size_t k = most < (double)n ? (size_t)most : n, i = 0;
  DL_FREED size_t *at = dl_calloc(k, sizeof *at);
  if (high)
    gsl_sort_largest_index(at, k, x, 1, n);
  else
    gsl_sort_smallest_index(at, k, x, 1, n);
  while (i + 1 < k && (sum += w[at[i]]) <= share)
    i++;
  return x[at[i]];
}

/* The new group itself holds one share of G+1, beyond the end on the side
 * that is requested. */
static bool conformal(const struct dl_residuals *r, double coverage,
                      double *low, double *high) {
  size_t n;
  DL_FREED double *x = gather(r, &n);
  if (n == 0)
    return false;
  double tail = (1 - coverage) / 2 * ((double)r->n + 1);
  tail += 1e-9 * (double)r->n; /* sums of weights are rounded */
  *low = end_at(x, n, tail - 1, false);
  *high = end_at(x, n, tail - 1, true);
  return true;
}

static void mean_and_spread(const struct dl_group_residuals *g, double *mean,
                            double *variance) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < g->n_values; i++)
    sum += scaled(g, i);
  *mean = sum / (double)g->n_values;
  for (size_t i = 0; i < g->n_values; i++)
    squares += (scaled(g, i) - *mean) * (scaled(g, i) - *mean);
  *variance = squares / (double)g->n_values;
}

/* The interval about 0 reaches to x. */
static bool student(const struct dl_residuals *r, double coverage, double *x) {
  double between = 0, within = 0;
  for (size_t i = 0; i < r->n; i++) {
    double mean, variance;
    mean_and_spread(&r->g[i], &mean, &variance);
    between += mean * mean;
    within += variance;
  }
  double groups = (double)r->n;
  between /= groups;
  within /= groups;
  double t = gsl_cdf_tdist_Pinv((1 + coverage) / 2, groups);
  *x = t * sqrt(between + within);
  return isfinite(*x);
}

/* Number of groups that are as good as any more. */
#define MOST_FREEDOM 1e6

bool dl_residual_shift(const struct dl_residuals *r, double coverage,
                       double *shift, double *all) {
  double groups = (double)r->n, between = 0, within = 0, quantile;
  for (size_t i = 0; i < r->n; i++) {
    double mean, variance;
    mean_and_spread(&r->g[i], &mean, &variance);
    between += mean * mean / groups;
    within += variance / groups;
  }
  double sum = between + within;
  double freedom =
      fmin(groups * (sum / between) * (sum / between), MOST_FREEDOM);
  quantile = gsl_cdf_tdist_Pinv((1 + coverage) / 2, freedom);
  *shift = gsl_cdf_tdist_Pinv((1 + coverage) / 2, groups) * sqrt(between);
  *all = quantile * sqrt(sum);
  return r->n >= 2 && between > 0 && isfinite(*shift) && isfinite(*all);
}

bool dl_residual_interval(const struct dl_residuals *r, double coverage,
                          double *low, double *high) {
  double groups = (double)r->n;
  double share = fmin(fmax((groups - FEWEST) / (MOST - FEWEST), 0), 1);
  double inner = fmin(coverage, 1 - 4 / (groups + 1)), narrow, wide;
  if (r->n < 2 || !student(r, coverage, &wide))
    return false;
  *low = -wide;
  *high = wide;
  if (!(share > 0))
    return true;
  if (!student(r, inner, &narrow) || !conformal(r, inner, low, high))
    return false;
  *low = share * (*low - (wide - narrow)) - (1 - share) * wide;
  *high = share * (*high + (wide - narrow)) + (1 - share) * wide;
  return true;
}
