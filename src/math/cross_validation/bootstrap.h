/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Confidence intervals and ranks of scores by the cluster bootstrap.
 *
 * Rows of a group are not independent (repeated runs of a configuration), so
 * that groups are drawn, not rows: G of G with replacement, each with all its
 * rows (the cluster bootstrap, Davison & Hinkley 1997, Bootstrap Methods and
 * their Application, section 3.8). Every predictor is scored on the same
 * draws. From the resampled scores T_1 .. T_B come
 *
 *   intervals   quantiles (1 - c) / 2 and (1 + c) / 2 of T, c the confidence
 *               (percentile method; quantiles of R type 7)
 *   ranks       1 + the number of predictors that are better: those with an
 *               interval of the difference in MAPE, on the rows that both
 *               predict, wholly on their side of 0. Predictors without a
 *               clear difference share a rank; intervals may overlap where the
 *               paired difference is clear. Each pair is judged by itself: c is
 *               not corrected for their number.
 *
 * Intervals by few groups (fewer than about ten) are too narrow. */

#ifndef DL_MATH_CROSS_VALIDATION_BOOTSTRAP_H
#define DL_MATH_CROSS_VALIDATION_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/progress/progress.h"

/* Predictions to score; all borrowed. */
struct dl_boot {
  size_t n;              /* rows */
  size_t n_groups;       /* G */
  const uint32_t *group; /* n: of each row, below n_groups */
  size_t n_methods;
  const double *const *y; /* n_methods, each n: measured */
  const double *const *f; /* n_methods, each n: predicted; NaN: the row does
                             not count */
  size_t resamples;       /* B; 0: ranks by the scores alone, no intervals */
  double confidence;      /* c */
  unsigned long seed; /* of gsl_rng_mt19937, which draws the groups in turn */
  struct dl_progress *progress; /* or NULL */
};

struct dl_boot_range {
  double low, high; /* NaN: fewer than two groups, or a resample without it */
};

/* Of one predictor; units as in struct dl_scores. */
struct dl_boot_scores {
  struct dl_boot_range rmse, mae, mape, median_ape, r2, bias;
  size_t rank; /* 0: unknown */
};

/* One entry a method. The result does not depend on the number of threads. */
void dl_bootstrap(const struct dl_boot *b, struct dl_boot_scores *out);

#endif
