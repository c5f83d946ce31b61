/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of configurations, architectures and GPUs when they are left out:
 * what the intervals rest on. */

#ifndef DL_MODEL_FITTING_GROUP_CV_RESIDUALS_H
#define DL_MODEL_FITTING_GROUP_CV_RESIDUALS_H

#include "model/fitting/train.h"

/* Fills fit->left_out for every column of groups that the table has, or by
 * random rows where it has none. p is the design of c, whose
 * hyper-parameters are settled. */
enum dl_status dl_leave_all_out(struct dl_fit *fit, const struct dl_training *t,
                                const struct dl_choice *c,
                                const struct dl_problem *p, struct dl_diag *d);

/* Adds the groups of the auxiliary training data (t->auxiliary) that are not
 * among those of t: each is held out in turn and predicted. Rows whose facts
 * are uncertain stay out; an architecture or GPU without others adds nothing.
 */
enum dl_status dl_auxiliary_residuals(struct dl_fit *fit, enum dl_left_out left,
                                      const struct dl_training *t,
                                      const struct dl_choice *c,
                                      const struct dl_problem *p,
                                      struct dl_diag *d);

/* Up to 21 values that stand for the n of x, which are sorted. */
void dl_keep_quantiles(struct dl_group_residuals *g, double *x, size_t n);

/* Bounds of each row's value with that coverage (0 .. 1), from the residuals
 * of the folds that it is not in (dl_residual_interval) and of the groups of
 * `others`, or NULL, that are no folds: what it would have been given as a new
 * group. y and prediction, out of fold, have folds->n
 * values, as low and high, which are NaN where there are fewer than three
 * groups. */
enum dl_status dl_out_of_fold_intervals(
    double *low, double *high, const double *y, const double *prediction,
    bool log_target, const struct dl_folds *folds,
    const struct dl_residuals *others, double coverage, struct dl_diag *d);

/* Distinct labels in a column; 0 without it. */
size_t dl_label_count(const struct dl_training *t, const char *column);

#endif
