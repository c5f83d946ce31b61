/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Auxiliary training data: the rows that a fit learns from in addition to its
 * table.
 */

#ifndef DL_MODEL_TRAINING_AUXILIARY_ROWS_H
#define DL_MODEL_TRAINING_AUXILIARY_ROWS_H

#include "model/training/training_table.h"

/* Removes from `more` the rows whose GPU or architecture occurs in t, and
 * hands the rest to t: nothing that a fold of t holds out is in it. */
void dl_training_use_auxiliary(struct dl_training *t, struct dl_training *more);

#endif
