/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of the GPUs and architectures of auxiliary training data. Three
 * GPUs say little of how far off a new one may be, seven say more. */

#ifndef DL_MODEL_CROSS_VALIDATION_AUXILIARY_RESIDUALS_H
#define DL_MODEL_CROSS_VALIDATION_AUXILIARY_RESIDUALS_H

#include "math/regression/design.h"
#include "model/model.h"
#include "model/training/training_table.h"

/* Adds the groups of the auxiliary training data (t->auxiliary) that t lacks:
 * each is held out in turn and predicted. Rows whose facts are uncertain stay
 * out; an architecture or GPU without others adds nothing. */
enum dl_status dl_auxiliary_residuals(struct dl_fit *fit,
                                      enum dl_held_out_group left,
                                      const struct dl_training *t,
                                      const struct dl_design *g,
                                      struct dl_diag *d);

/* Marks the auxiliary rows of software that none of the table's own rows used,
 * which has effects of its own. */
void dl_mark_other_software(bool *apart, const struct dl_training *t,
                            const struct dl_design *g);

#endif
