/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fit brought to one's own machine by a few measured runs. */

#ifndef DL_MODEL_FITTING_CALIBRATE_H
#define DL_MODEL_FITTING_CALIBRATE_H

#include "model/fitting/training_table.h"
#include "model/model.h"

/* How far off a fit was on the runs, and is after learning from them: mean
 * absolute percentage errors, as fractions; NaN where the target itself was
 * not measured. */
struct dl_calibration {
  size_t runs, configurations;
  double before, after;
};

/* Updates a fit of a physics by the rows of t, which has the rows of the
 * physics and one formula, the target; the posterior of the fit is the prior.
 * Where the target is DL_NOT_MEASURED, what the features hold of other
 * quantities teaches alone. The fit's state is replaced; a GPU with
 * DL_CALIBRATED_CONFIGS configurations or more counts as seen from then on, one
 * with fewer keeps the interval of a GPU that was not. Errors: DL_EUSAGE for a
 * method that cannot learn so, DL_EINPUT for no usable row or a target that is
 * not above 0. */
enum { DL_CALIBRATED_CONFIGS = 5, DL_NOT_MEASURED = -1 };
enum dl_status dl_calibrate(struct dl_fit *fit, const struct dl_training *t,
                            struct dl_calibration *c, struct dl_diag *d);

#endif
