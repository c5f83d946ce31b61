/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: a fitted state brought up to date by further runs. */

#ifndef DL_PHYSICS_TRAINING_CALIBRATE_PHYSICAL_H
#define DL_PHYSICS_TRAINING_CALIBRATE_PHYSICAL_H

#include "base/diag.h"
#include "physics/training/physical_private.h"

/* Bayes' rule, with what `from` knows as the prior: the joint distribution of
 * its constants and effects, and the priors of the effects of hosts, GPUs and
 * networks that are new. X: n x DL_PC_N; y: logarithms of the target, NaN where
 * a row tells of the others alone (DL_PC_POWER and the next two). What the
 * runs leave over is normal with the covariance of physical_runs.c. *s, zeroed
 * by the caller, is the caller's to free in either case; it can be brought up
 * to date again. Error (DL_EINPUT): nothing measured, or a state that was saved
 * without its joint distribution. */
enum dl_status dl_physical_update(struct dl_physical *s,
                                  const struct dl_physical *from,
                                  const gsl_matrix *X, const gsl_vector *y,
                                  struct dl_diag *d);

#endif
