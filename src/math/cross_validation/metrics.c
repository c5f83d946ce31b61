/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/cross_validation/metrics.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"

static double weight(const double *w, size_t i) {
  return w ? w[i] : 1;
}

/* The weighted median: of the values in order the smallest with half of the
 * weight up to it, and the mean with the next where that is exactly half, so
 * that whole weights give the median of the repeated values. Reorders both. */
static double weighted_median(double *x, double *w, size_t n) {
  double total = 0, below = 0;
  gsl_sort2(x, 1, w, 1, n);
  for (size_t i = 0; i < n; i++)
    total += w[i];
  for (size_t i = 0; i + 1 < n; i++) {
    below += w[i];
    if (2 * below == total)
      return x[i] + (x[i + 1] - x[i]) / 2;
    if (2 * below > total)
      return x[i];
  }
  return x[n - 1];
}

/* The median of n values of equal weight; reorders them. */
static double median(double *x, size_t n) {
  double low = gsl_stats_select(x, 1, n, (n - 1) / 2);
  return n % 2 > 0 ? low : low + (gsl_stats_select(x, 1, n, n / 2) - low) / 2;
}

/* mape and median_ape; they stay NaN where some y = 0. */
static void relative_errors(struct dl_scores *s, const double *y,
                            const double *f, const double *w, size_t n) {
  DL_FREED double *x = dl_calloc(n, sizeof *x);
  DL_FREED double *v = dl_calloc(n, sizeof *v);
  double sum = 0, total = 0;
  bool defined = true;
  for (size_t i = 0; i < n; i++) {
    x[i] = fabs(y[i] - f[i]) / fabs(y[i]);
    defined = defined && y[i] != 0 && !isnan(x[i]);
    v[i] = weight(w, i);
    sum += v[i] * x[i];
    total += v[i];
  }
  if (defined) {
    s->mape = sum / total;
    s->median_ape = w ? weighted_median(x, v, n) : median(x, n);
  }
}

/* 1 - sse / (sum w (y - mean y)^2). The mean is taken relative to the first
 * value, so that a constant y has exactly no spread. */
static double r_squared(double sse, const double *y, const double *w,
                        size_t n) {
  double shift = 0, total = 0, spread = 0;
  for (size_t i = 0; i < n; i++) {
    shift += weight(w, i) * (y[i] - y[0]);
    total += weight(w, i);
  }
  double mean = y[0] + shift / total;
  for (size_t i = 0; i < n; i++)
    spread += weight(w, i) * (y[i] - mean) * (y[i] - mean);
  return spread > 0 ? 1 - sse / spread : NAN;
}

void dl_score(struct dl_scores *s, const double *y, const double *f,
              const double *w, size_t n) {
  *s = (struct dl_scores){.n = n,
                          .r2 = NAN,
                          .rmse = NAN,
                          .mae = NAN,
                          .mape = NAN,
                          .median_ape = NAN,
                          .bias = NAN};
  if (n == 0)
    return;
  double total = 0, squares = 0, absolute = 0, signed_sum = 0;
  for (size_t i = 0; i < n; i++) {
    double e = f[i] - y[i], wi = weight(w, i);
    total += wi;
    squares += wi * e * e;
    absolute += wi * fabs(e);
    signed_sum += wi * e;
  }
  s->rmse = sqrt(squares / total);
  s->mae = absolute / total;
  s->bias = signed_sum / total;
  s->r2 = r_squared(squares, y, w, n);
  relative_errors(s, y, f, w, n);
}
