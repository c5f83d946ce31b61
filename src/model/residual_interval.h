/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prediction intervals from residuals of held-out groups. */

#ifndef DL_MODEL_RESIDUAL_INTERVAL_H
#define DL_MODEL_RESIDUAL_INTERVAL_H

#include "model/model.h"

/* Bounds of a new group's residual with the given coverage c (0 .. 1), in
 * multiples of its run's spread where the G groups have spreads:
 *
 *   (1 - u) S(c) + u (Q(c') + S(c) - S(c')),   c' = min(c, 1 - 4 / (G + 1))
 *
 * with a share u that grows from 0 at 19 groups to 1 at 39.
 *
 * Q are weighted quantiles of hierarchical conformal prediction (Lee, Barber,
 * Willett 2023, arXiv 2306.06342): each group weighs 1/(G+1), its rows share
 * that. Beyond c', where less than two groups are outside at either end, they
 * depend on the most extreme residual: there the ends move on with S. S is
 * Student's t with G degrees of freedom: residuals are taken about 0, so that
 * the mean of G squares is their variance: the variance of the groups' mean
 * residuals, plus the variance within groups. So a group more or less changes
 * little, and a larger coverage never gives a narrower interval.
 * docs/lab/designs.md compares rules (Groups and the rule of intervals).
 *
 * false: no interval (fewer than two groups). */
bool dl_residual_interval(const struct dl_residuals *r, double coverage,
                          double *low, double *high);

/* S for groups that differ in one respect, as runs with one value of a setting
 * do, of which several rows are asked: half-widths of the shift that a new
 * group has as a whole, and of all residuals. The variance of a shift is known
 * by its G squares, that within groups by many rows; their sum has the degrees
 * of freedom of Welch and Satterthwaite (1946, doi 10.2307/3002019). false:
 * fewer than two groups. */
bool dl_residual_shift(const struct dl_residuals *r, double coverage,
                       double *shift, double *all);

/* Describes the n residuals x of a group, which are sorted here, by up to 21
 * quantiles: g->n, g->n_values and g->value. spread: of their runs, which are
 * sorted with them, or NULL. */
void dl_residual_quantiles(struct dl_group_residuals *g, double *x,
                           double *spread, size_t n);

/* Adds that group under a name, which is copied. */
void dl_add_group_residuals(struct dl_residuals *r, const char *name, double *x,
                            double *spread, size_t n);

/* Whether the intervals of these groups depend on the run's spread, and the
 * geometric mean of their spreads, each group counting alike (1 without). */
bool dl_residuals_by_run(const struct dl_residuals *r);
double dl_residuals_spread(const struct dl_residuals *r);

#endif
