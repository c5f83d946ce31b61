/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared between the projectors. */

#ifndef DL_ESTIMATE_PROJECTION_PROJECTION_PRIVATE_H
#define DL_ESTIMATE_PROJECTION_PROJECTION_PRIVATE_H

#include "estimate/projection/projection.h"

static inline double dl_projection_sum(const double *x, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += x[i];
  return sum;
}

dl_project_fn dl_project_step, dl_project_step_power, dl_project_step_energy,
    dl_project_carbontracker;

/* Most recent changes of level that are kept. */
enum { DL_REGIMES_BLOCKS = 256 };

/* Regimes of a series x > 0: where its level changes for good.
 *
 * Optimal partitioning (Jackson et al., IEEE Signal Processing Letters 12
 * (2005) 105; PELT of Killick, Fearnhead, Eckley, JASA 107 (2012) 1590,
 * without the pruning, which so few points do not need) of z = log x, with the
 * biweight loss of Fearnhead and Rigaill, "Changepoint detection in the
 * presence of outliers", JASA 114 (2019) 169:
 *
 *   min over changes of  sum_i min(((z_i - m)/sigma)^2, K^2) + beta changes
 *
 * m the median of a segment, sigma from the median of |z_i - z_{i-1}|. A point
 * costs K^2 at most, so beta = 1.9 K^2 lets two points at the end make a
 * regime, never one, and four in between. More than DL_REGIMES_BLOCKS points
 * are taken in blocks, by medians. */
struct dl_regimes {
  size_t n;     /* 1 or more */
  size_t start; /* first point of the last regime, or of the first whose level
                   is within 2 sigma of its own: what came between were
                   disturbances, and may come again */
  double last_change; /* level of it by the one before; NaN: one regime */
};

/* n >= 1. */
void dl_regimes_find(struct dl_regimes *r, const double *x, size_t n);

/* Every k-th epoch takes longer: validation, evaluation, a checkpoint.
 *
 * Sought for k = 2 ... 64 from two such epochs on, the first epoch left out:
 * the excess over the median of the ordinary epochs up to k away is 4 % or
 * more and five times their scatter, alike in all of them, in energy and in
 * duration, and other epochs do not exceed half of it. The least such k is
 * taken. Two stalls of different size are none. */
struct dl_energy_pattern {
  size_t every, first; /* epochs i with i % every == first; 0: none found */
  size_t n;            /* seen */
  double share;        /* median excess by ordinary epochs */
  double energy_j, energy_se; /* mean excess, and its standard error */
  double duration_s, duration_se;
};

/* In the epochs from `from` on, where a planned phase begins. */
void dl_pattern_find(struct dl_energy_pattern *p,
                     const struct dl_measured_epochs *epochs, size_t from);
bool dl_pattern_holds(const struct dl_energy_pattern *p, size_t i);

/* Such epochs of from ... to - 1; a part of an epoch is none. */
double dl_pattern_count(const struct dl_energy_pattern *p, double from,
                        double to);

/* A series of n without the excess. */
void dl_pattern_remove(const struct dl_energy_pattern *p, double excess,
                       const double *x, size_t n, double *ordinary);

/* Scales that a drift may have; the first is none. */
enum { DL_DRIFTS = 4 };

/* The epochs that the rest is projected from, as shares of their level. */
struct dl_level {
  size_t n;
  size_t n_epochs;        /* measured, also in other regimes */
  double mean;            /* in the unit of the series */
  double scatter;         /* of single epochs */
  double core;            /* mean without stalls, as a share of the mean */
  double quiet;           /* scatter without them */
  double disturbance;     /* the part of it that may last: without stalls, and
                           * from the power within epochs where it is known */
  double miscount;        /* standard error of the number of epochs to come */
  double correlation;     /* of neighbours, 0 ... 0.8 */
  double outliers;        /* share */
  double drift, drift_se; /* per epoch; NaN: too few epochs */
  double drift_own;       /* its standard error without errors in where epochs
                           * begin */
  double drift_weight[DL_DRIFTS]; /* probability of each scale; 0: of none */
  double stalls;                  /* epochs that took much longer */
  double stall_log;               /* sum of the logarithms of their excess */
  bool parts_known;               /* energies of the parts of epochs */
  double recent; /* level of the last two where both are far from the
                  * others on one side; else 1 */
  bool first_only;
  double extra, extra_se; /* excess of an epoch of the pattern, standard error
                           * of it; in the unit of the series */
};

/* A sum with the bounds of its interval, as distances. */
struct dl_spread {
  double value, below, above;
};

/* The level of n >= 1 values > 0; `work` has room for n. `stalls`: some
 * that were not met yet are allowed for, else the mean is plain. The caller
 * sets n_epochs, miscount, first_only and extra. */
void dl_level_find(struct dl_level *l, const double *x, size_t n, bool stalls,
                   double *work);

/* Weighs what the drift may be, for a scatter of the machine's own (NaN:
 * unknown, like the scatter of the epochs). Sets parts_known and what begins
 * with drift_. */
void dl_level_weigh_drift(struct dl_level *l, double within);

/* Scatter of whole epochs from the energies of their parts, as a share: parts
 * are free of errors in where an epoch begins. n >= 2 epochs. */
double dl_level_within(const double *block_j, size_t n);

/* Has a slope that chance gives in 1 % of trainings, and that matters. */
bool dl_level_drifts(const struct dl_level *l, double rest);

/* Relative predictive variance of the mean of `rest` further epochs without
 * stalls and drift. */
double dl_level_variance(const struct dl_level *l, double rest);

/* The sum of `rest` more values (projection_predictive.c). */
struct dl_spread dl_level_rest(const struct dl_level *l, double rest,
                               double coverage);

#endif
