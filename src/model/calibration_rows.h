/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a frame as runs that a model keeps. */

#ifndef DL_MODEL_CALIBRATION_ROWS_H
#define DL_MODEL_CALIBRATION_ROWS_H

#include "model/calibration_runs.h"
#include "physics/physics.h"
#include "run/plan.h"

enum { DL_MOST_QUANTITIES = 128 }; /* more than any physics takes */

/* Quantities of rows that are kept beside the columns of the runs table. */
struct dl_calibration_quantities {
  const char *name[DL_MOST_QUANTITIES]; /* n */
  struct dl_row_ref at[DL_MOST_QUANTITIES];
  size_t n;
};

/* Binds the quantities that a physics takes and the user gives; adds their
 * steps and the step of run_id to the frame. */
enum dl_status
dl_calibration_quantities_bind(struct dl_calibration_quantities *q,
                               const struct dl_physics *physics,
                               struct dl_row_plan *f, struct dl_diag *d);

/* Sets what the user gave of a row, and the sizes of its data set. */
void dl_calibration_run_read(struct dl_calibration_run *run,
                             const struct dl_calibration_quantities *q,
                             const struct dl_row *row);

#endif
