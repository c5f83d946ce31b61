/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well predictions meet measurements. */

#ifndef DL_MATH_CROSS_VALIDATION_METRICS_H
#define DL_MATH_CROSS_VALIDATION_METRICS_H

#include <stddef.h>

/* Sums run in the order of the rows. With weights each row counts w times.
 * Fractions, not percent; rmse, mae and bias in the unit of y. NaN where
 * undefined (n = 0; r2 of a constant y; relative errors where some y = 0). */
struct dl_scores {
  size_t n;          /* rows */
  double r2;         /* 1 - sum (y-f)^2 / sum (y - mean y)^2 */
  double rmse;       /* root of mean (y-f)^2 */
  double mae;        /* mean |y-f| */
  double mape;       /* mean |y-f| / |y| */
  double median_ape; /* median |y-f| / |y| (weighted median with weights) */
  double bias;       /* mean (f-y): positive when predictions are high */
};

/* y measured, f predicted, w weights or NULL; n values each. */
void dl_score(struct dl_scores *s, const double *y, const double *f,
              const double *w, size_t n);

#endif
