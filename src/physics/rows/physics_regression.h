/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A physics as a regression (regression.h) whose rows are struct dl_observed
 * and whose state is a struct dl_hierarchical_fit. */

#ifndef DL_PHYSICS_ROWS_PHYSICS_REGRESSION_H
#define DL_PHYSICS_ROWS_PHYSICS_REGRESSION_H

#include "math/regression/regression.h"
#include "physics/hierarchical_fit.h"

extern const struct dl_physics dl_training_physics;
extern const struct dl_physics dl_serving_physics;

/* The rows of a sample. */
struct dl_observations dl_observations_of(const struct dl_sample *s);

/* Error (DL_EINPUT, DL_EUSAGE): rows that lack what the physics cannot do
 * without, or none. */
enum dl_status dl_physics_check_rows(const struct dl_physics *physics,
                                     const struct dl_sample *s,
                                     struct dl_diag *d);

/* The physics of a method; NULL: a regression on a matrix. */
const struct dl_physics *dl_physics_of(const struct dl_regression *method);

#endif
