/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values of a training table by name. */

#ifndef DL_MODEL_TRAINING_TRAINING_COLUMNS_H
#define DL_MODEL_TRAINING_TRAINING_COLUMNS_H

#include "model/training/choice.h"
#include "model/training/training_table.h"

/* The rows as a physics takes them, or NULL. */
const struct dl_physics_rows *
dl_training_physics_rows(const struct dl_training *t,
                         const struct dl_physics *physics);

/* Folds of a training table. Error: DL_EUSAGE for a column without labels. */
enum dl_status dl_training_folds(struct dl_folds *folds,
                                 const struct dl_training *t,
                                 const struct dl_cv_spec *spec,
                                 unsigned long seed, struct dl_diag *d);

/* Distinct labels in a column; 0 without it. */
size_t dl_label_count(const struct dl_training *t, const char *column);

/* Index of a formula among the columns of x, or -1. */
long dl_training_column(const struct dl_training *t, const char *formula);

/* The values of a formula, t->n of them; it must be among the columns. */
void dl_training_values(const struct dl_training *t, const char *formula,
                        double *values);

/* Runs that the rows stand for. */
size_t dl_training_runs(const struct dl_training *t);

/* In a table of means: the sum over all rows of column TARGET_within
 * (means_table.h), which must be among the formulas; else 0. */
double dl_training_within(const struct dl_training *t, const char *target);

/* Labels by the name of their column, or NULL. */
const struct dl_labels *dl_training_labels(const struct dl_training *t,
                                           const char *column);

#endif
