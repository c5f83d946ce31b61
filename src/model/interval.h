/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prediction intervals from residuals of held-out groups. */

#ifndef DL_MODEL_INTERVAL_H
#define DL_MODEL_INTERVAL_H

#include "model/model.h"

/* Bounds of a new group's residual with the given coverage (0 .. 1).
 *
 * With enough groups (coverage <= (G-1)/(G+1)) they are the weighted
 * quantiles of hierarchical conformal prediction (Lee, Barber, Willett 2023,
 * arXiv 2306.06342): each group weighs 1/(G+1), its rows share that. With
 * fewer groups Student's t with G-1 degrees of freedom on the groups' mean
 * residuals, plus the spread within groups, centred on 0.
 *
 * false: no interval (fewer than two groups). */
bool dl_residual_interval(const struct dl_residuals *r, double coverage,
                          double *low, double *high);

/* Describes the n residuals x of a group, which are sorted here, by up to 21
 * quantiles: g->n, g->n_values and g->value. */
void dl_residual_quantiles(struct dl_group_residuals *g, double *x, size_t n);

/* Adds that group under a name, which is copied. False: memory is out. */
bool dl_add_group_residuals(struct dl_residuals *r, const char *name, double *x,
                            size_t n);

#endif
