/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitting one target on a training table. */

#ifndef DL_MODEL_FITTING_TRAIN_H
#define DL_MODEL_FITTING_TRAIN_H

#include "math/cross_validation/cross_validate.h"
#include "model/model.h"
#include "model/training/choice.h"
#include "model/training/training_table.h"

/* Finds what is open in c->hyper, fits, cross-validates (cv->k is 0 with
 * c->cv.none) and keeps residuals of held-out groups. *fit is owned by the
 * caller. */
enum dl_status dl_train(struct dl_fit *fit, struct dl_cv *cv,
                        const struct dl_training *t, struct dl_choice *c,
                        struct dl_diag *d);

/* Adds the residuals of held-out groups to a fit made with c->cv.none. Bit 1 <<
 * DL_HELD_OUT_GPU of `needed` and so on says which; residuals of configurations
 * are added where the others give no interval. */
enum dl_status dl_train_residuals(struct dl_fit *fit,
                                  const struct dl_training *t,
                                  const struct dl_choice *c, unsigned needed,
                                  struct dl_diag *d);

#endif
