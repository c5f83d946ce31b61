/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of configurations, architectures and GPUs when they are left out:
 * what the intervals rest on. */

#ifndef DL_MODEL_LEFT_OUT_H
#define DL_MODEL_LEFT_OUT_H

#include "model/train.h"

/* Fills fit->left_out for every column of groups that the table has, or by
 * random rows where it has none. p is the design of c, whose
 * hyper-parameters are settled. */
enum dl_status dl_leave_all_out(struct dl_fit *fit, const struct dl_training *t,
                                const struct dl_choice *c,
                                const struct dl_problem *p, struct dl_diag *d);

/* Bounds of each row's value with that coverage (0 .. 1), from the residuals
 * of the folds that it is not in (dl_residual_interval): what it would have
 * been given as a new group. y and prediction, out of fold, have folds->n
 * values, as low and high, which are NaN where there are fewer than three
 * folds. */
enum dl_status dl_out_of_fold_intervals(double *low, double *high,
                                        const double *y,
                                        const double *prediction,
                                        bool log_target,
                                        const struct dl_folds *folds,
                                        double coverage, struct dl_diag *d);

/* Distinct labels in a column; 0 without it. */
size_t dl_label_count(const struct dl_training *t, const char *column);

#endif
