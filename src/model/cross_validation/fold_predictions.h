/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-validation of a design: predictions of rows by fits without their fold.
 */

#ifndef DL_MODEL_CROSS_VALIDATION_FOLD_PREDICTIONS_H
#define DL_MODEL_CROSS_VALIDATION_FOLD_PREDICTIONS_H

#include "math/cross_validation/cross_validate.h"
#include "physics/hierarchical_problem.h"

/* Predictions of own or auxiliary rows of a physics' design for all targets,
 * held out by folds of them; they belong to its problem. */
enum dl_status dl_fold_predictions_get(const struct dl_fold_predictions **h,
                                       const struct dl_design *g,
                                       const struct dl_folds *folds,
                                       bool auxiliary, struct dl_diag *d);

/* Cross-validates by groups or other folds. Many of them are held out in sets
 * (dl_folds_in_sets) and scored one by one. hyper: of the method. */
enum dl_status dl_cross_validate_design(struct dl_cv *cv,
                                        const struct dl_design *g,
                                        const struct dl_regression *method,
                                        const double *hyper,
                                        const struct dl_folds *folds,
                                        struct dl_diag *d);

#endif
