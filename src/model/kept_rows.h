/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a plan as runs that a model keeps. */

#ifndef DL_MODEL_KEPT_ROWS_H
#define DL_MODEL_KEPT_ROWS_H

#include "model/kept_runs.h"
#include "physics/physics.h"
#include "run/plan.h"

/* Quantities of rows that are kept beside the columns of the runs table. */
struct dl_kept_quantities {
  struct {
    const char *name;
    struct dl_row_ref at;
  } of[128]; /* more than any physics takes */
  size_t n;
};

/* Those that a physics takes, of which the user gives some; adds their steps
 * and that of run_id to the plan. */
enum dl_status dl_kept_quantities_bind(struct dl_kept_quantities *q,
                                       const struct dl_physics *physics,
                                       struct dl_row_plan *f,
                                       struct dl_diag *d);

/* Sets what the user gave of a row, and the sizes of its data set. */
void dl_kept_run_read(struct dl_kept_run *run,
                      const struct dl_kept_quantities *q,
                      const struct dl_row *row);

#endif
