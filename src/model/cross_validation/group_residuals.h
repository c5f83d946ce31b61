/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of configurations, architectures and GPUs when they are held out:
 * the prediction intervals are based on them. */

#ifndef DL_MODEL_CROSS_VALIDATION_GROUP_RESIDUALS_H
#define DL_MODEL_CROSS_VALIDATION_GROUP_RESIDUALS_H

#include "model/cross_validation/fold_predictions.h"
#include "model/model.h"
#include "model/training/choice.h"
#include "model/training/training_table.h"

/* Fills fit->held_out_residuals for every column of groups that the table has
 * and that is needed (see dl_train_residuals), or by random rows where it has
 * none. g is the design of c, whose hyper-parameters are settled. */
enum dl_status dl_group_residuals_add(struct dl_fit *fit,
                                      const struct dl_training *t,
                                      const struct dl_choice *c,
                                      const struct dl_design *g,
                                      unsigned needed, struct dl_diag *d);

/* Out-of-fold predictions; y and prediction have folds->n values. */
struct dl_out_of_fold {
  const double *y, *prediction;
  const double *spread; /* of the rows (dl_run_spreads), or NULL */
  bool log_target;
  const struct dl_folds *folds;
  const struct dl_residuals *others; /* of groups that are no folds, or NULL */
};

/* Bounds of each row's value with that coverage (0 .. 1), from the residuals
 * of the folds that it is not in (dl_residual_interval) and of the other
 * groups: what it would have been given as a new group. low and high have
 * folds->n values; NaN where there are fewer than three groups. */
void dl_out_of_fold_intervals(double *low, double *high,
                              const struct dl_out_of_fold *o, double coverage);

#endif
