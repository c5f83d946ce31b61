/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A choice laid out as matrices for the numerical core. */

#ifndef DL_MODEL_TRAINING_FIT_DESIGN_H
#define DL_MODEL_TRAINING_FIT_DESIGN_H

#include "math/regression/design.h"
#include "model/training/choice.h"
#include "model/training/training_table.h"

/* Makes the design of a choice: its matrix and vectors are owned, but the
 * numbers and texts may belong to the training table and the choice, which must
 * outlive it. Errors: DL_EINPUT for fewer than two rows, and for targets,
 * weights or offsets that are not positive and must be; DL_EUSAGE for features
 * or a target that a physics does not take. */
enum dl_status dl_design_make(struct dl_design *g, const struct dl_training *t,
                              const struct dl_choice *c, struct dl_diag *d);
void dl_design_free(struct dl_design *g);

#endif
