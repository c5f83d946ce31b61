/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The joint predictive distribution of the targets of one configuration: how
 * wide their intervals are, and how a known value of one (the time) moves
 * another (the power).
 *
 * With theta = m + L z, L L' the covariance of the posterior, the logarithms of
 * the targets are normal about their predictions with covariance
 *
 *   J L L' J' + V + K
 *
 * J: their derivatives by constants and effects (the delta method); V: the
 * variance of the effects of levels that the fit has not seen, and of units of
 * levels that it has (struct dl_grouping_factor); K: the covariance of the
 * residual process, as if nothing near had been measured. A fit that keeps no
 * joint posterior has the standard errors of its constants in its place. */

#ifndef DL_PHYSICS_CONDITIONING_JOINT_PREDICTION_H
#define DL_PHYSICS_CONDITIONING_JOINT_PREDICTION_H

#include "physics/fit_row.h"

/* Logarithms, by target. */
struct dl_joint_prediction {
  double mean[DL_MAX_TARGETS];
  double cov[DL_MAX_TARGETS][DL_MAX_TARGETS];
};

/* Predicts a row. */
void dl_predict_jointly(const struct dl_fit_row *row,
                        struct dl_joint_prediction *out);

/* The spreads of the targets of a row, which their intervals are as wide as:
 * the square root of
 *
 *   standard deviation as above / standard deviation of the residual process
 *
 * and so half way, on a logarithmic scale, between one width for all runs (1)
 * and the width by the posterior. new_arch, new_gpu: as if the network, or the
 * GPU with its host, were none of the fit. 1 for a physics without
 * `widths_by_run`. */
void dl_run_spreads(const struct dl_fit_row *row, bool new_arch, bool new_gpu,
                    double spread[DL_MAX_TARGETS]);

#endif
