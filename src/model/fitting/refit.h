/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model refitted without a part of its training data: its targets, features,
 * method and hyper-parameters on other rows. */

#ifndef DL_MODEL_FITTING_REFIT_H
#define DL_MODEL_FITTING_REFIT_H

#include "model/fitting/train.h"

/* Has t read what the fits of the model and of those after it need of a
 * training table, which `plan` reads. Fits of servers are skipped if it has no
 * requests. */
void dl_refit_formulas(struct dl_training *t, const struct dl_model *m,
                       const struct dl_row_plan *plan);

/* Fits the targets of the model, and of those after it, on the rows of t for
 * which keep[i], with residuals for intervals from those rows alone. *out is
 * owned by the caller. */
enum dl_status dl_refit(struct dl_model **out, const struct dl_model *m,
                        const struct dl_training *t, const bool *keep,
                        struct dl_diag *d);

#endif
