/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A physics as a regression (regression.h) whose rows are struct
 * dl_observations and whose state is a struct dl_hierarchical_fit. */

#ifndef DL_PHYSICS_ROWS_PHYSICS_REGRESSION_H
#define DL_PHYSICS_ROWS_PHYSICS_REGRESSION_H

#include "math/regression/regression.h"
#include "physics/hierarchical_fit.h"

/* Members of the struct dl_regression of any physics. */
enum dl_status dl_physics_fit(const struct dl_regression *r, void **state,
                              const struct dl_design *s, double *hyper,
                              struct dl_diag *d);
void dl_physics_save(const void *state, struct dl_arrays *to);
enum dl_status dl_physics_restore(const struct dl_regression *r, void **state,
                                  const struct dl_arrays *from, size_t p,
                                  struct dl_diag *d);
void dl_physics_free(void *state);

/* Error (DL_EINPUT, DL_EUSAGE): rows that lack what the physics cannot do
 * without, or none (NULL). */
enum dl_status dl_physics_check_rows(const struct dl_physics *physics,
                                     const struct dl_observations *rows,
                                     struct dl_diag *d);

#endif
