/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits that hold rows out, and their predictions of these rows.
 *
 * The squares may have more than one minimum, and where a fit begins decides
 * between them: model/cross_validation/fold_predictions.c says which fits may
 * begin at the solution for all rows, and which must not have seen what they
 * predict. */

#ifndef DL_PHYSICS_FOLD_FIT_H
#define DL_PHYSICS_FOLD_FIT_H

#include "physics/hierarchical_problem.h"

/* Fits without the rows that are `out` and predicts their configurations: y,
 * configs.n x n_targets, each target as a fit of it would. start: NULL: the
 * prior. */
enum dl_status dl_hold_out(const struct dl_hierarchical_problem *q,
                           const bool *out,
                           const struct dl_hierarchical_start *start, double *y,
                           struct dl_diag *d);

/* Marks in `out` (n rows), where own rows are marked already, the auxiliary
 * rows that are to be held out with them: rows of a GPU, an architecture or a
 * source of which all own rows are out. */
void dl_hold_out_auxiliary(const struct dl_hierarchical_problem *q, bool *out);

/* Predicts n configurations that are left out together without another fit, to
 * first order about the solution for all rows, which q has: their measured
 * targets, without the residual process, into y (configs.n x n_targets). */
void dl_leave_out(const struct dl_hierarchical_problem *q, const size_t *config,
                  size_t n, double *y);

#endif
