/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Confidence intervals and ranks of scores by the cluster bootstrap.
 *
 * Rows of a group are not independent (repeated runs of a configuration, runs
 * on a GPU), so that groups are drawn, not rows: G of G with replacement, each
 * with all its rows (the cluster bootstrap, Davison & Hinkley 1997, Bootstrap
 * Methods and their Application, section 3.8). Every predictor is scored on
 * equal draws. Rows may be grouped in several ways at once, as by GPU and by
 * architecture: each way k has a standard error s_k, the standard deviation of
 * the resampled scores times sqrt(G_k / (G_k - 1)), as resampling G groups
 * yields too small a variance. The squares of the ways add up (two-way
 * clustering without the subtraction of the intersections, which may be
 * negative: Davezies, D'Haultfoeuille, Guyonvarch, Annals of Statistics 49
 * (2021) 845). With t of Student's distribution with min G'_k - 1 degrees of
 * freedom (few groups: Cameron, Miller, J. Human Resources 50 (2015) 317), G'
 * the effective number of groups, n^2 / sum n_g^2 with n_g rows each (equal
 * weights of Carter, Schnepel, Steigerwald, Rev. Economics and Statistics 99
 * (2017) 698), come
 *
 *   intervals   T exp(-t s / T) .. T exp(t s / T) of scores T that are positive
 *               and skewed, and so of 1 - R2; T - t s .. T + t s of the bias;
 *               none where a way has G' < DL_BOOT_LEAST
 *   ranks       1 + the number of predictors that are better: those with a
 *               difference in MAPE, on the rows that both predict, of more than
 *               t s. Predictors without a clear difference share a rank;
 *               intervals may overlap where the paired difference is clear.
 *               Each pair is judged by itself: the confidence is not corrected
 *               for their number. */

#ifndef DL_MATH_CROSS_VALIDATION_BOOTSTRAP_H
#define DL_MATH_CROSS_VALIDATION_BOOTSTRAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/number.h"
#include "base/progress/progress.h"

/* Ways to group the rows at once. */
enum { DL_BOOT_WAYS = 2 };

/* Scores have intervals from this number of effective groups on: three of
 * nearly equal size. */
#define DL_BOOT_LEAST 2.5

/* Predictions to score; all borrowed. */
struct dl_boot {
  size_t n; /* rows */
  size_t n_ways;
  size_t n_groups[DL_BOOT_WAYS];       /* G of each way to group the rows */
  const uint32_t *group[DL_BOOT_WAYS]; /* n: of each row, below that */
  size_t n_methods;
  const double *const *y; /* n_methods, each n: measured */
  const double *const *f; /* n_methods, each n: predicted; NaN: the row does
                             not count */
  size_t resamples;       /* B; 0: ranks by the scores alone, no intervals */
  double confidence;
  unsigned long seed; /* of gsl_rng_mt19937, which draws the groups in turn */
  struct dl_progress *progress; /* or NULL */
};

/* Ranges of the scores of one predictor; units as in struct dl_scores. NaN: too
 * few groups, or a resample without it. */
struct dl_boot_scores {
  struct dl_span rmse, mae, mape, median_ape, r2, bias;
  size_t rank; /* 0: unknown */
};

/* The effective number of groups, of the way with the fewest. */
double dl_boot_groups(const struct dl_boot *b);

/* One entry a method. The result does not depend on the number of threads. */
void dl_bootstrap(const struct dl_boot *b, struct dl_boot_scores *out);

#endif
