/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: fitting a physical state. */

#ifndef DL_PHYSICS_TRAINING_PHYSICAL_FIT_H
#define DL_PHYSICS_TRAINING_PHYSICAL_FIT_H

#include "base/diag.h"
#include "physics/training/physical_private.h"

/* X: n x DL_PC_N; y: logarithms of the targets; w: weights or NULL.
 * *s, zeroed by the caller, is the caller's to free in either case. */
enum dl_status dl_physical_solve(struct dl_physical *s, const gsl_matrix *X,
                                 const gsl_vector *y, const gsl_vector *w,
                                 struct dl_diag *d);

#endif
