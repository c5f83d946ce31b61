/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a plan as runs that a model keeps. */

#include "model/calibration_rows.h"

#include <math.h>

#include "base/memory.h"
#include "base/number.h"
#include "quantities/quantities.h"

enum dl_status
dl_calibration_quantities_bind(struct dl_calibration_quantities *q,
                               const struct dl_physics *physics,
                               struct dl_row_plan *f, struct dl_diag *d) {
  static const char *const of_loader[] = {"loader", "loader_workers",
                                          "augmentation"};
  struct dl_row_ref ignored; /* a member of the run */
  *q = (struct dl_calibration_quantities){0};
  if (dl_plan_is_given(f, "run_id"))
    DL_TRY(dl_plan_text(f, "run_id", false, &ignored, d));
  for (size_t i = 0; i < DL_LENGTH(of_loader); i++)
    if (dl_plan_is_given(f, of_loader[i]))
      DL_TRY(dl_plan_quantity(f, of_loader[i], false, &ignored, d));
  for (size_t i = 0; i < physics->n_quantities; i++) {
    const char *name = physics->quantity[i].name;
    if (!dl_plan_is_given(f, name) || dl_run_column_find(name) ||
        q->n == DL_MOST_QUANTITIES)
      continue;
    q->name[q->n] = name;
    DL_TRY(dl_plan_quantity(f, name, false, &q->at[q->n++], d));
  }
  return DL_OK;
}

static void set_number(struct dl_calibration_run *run, const char *name,
                       double x) {
  if (!isfinite(x))
    return;
  char buf[DL_NUMBER_SIZE];
  dl_calibration_run_set(run, name, dl_format_short(buf, x));
}

static bool is_size(size_t id) {
  return id == DL_RUN_train_samples || id == DL_RUN_val_samples ||
         id == DL_RUN_stored_mpx || id == DL_RUN_stored_kb;
}

void dl_calibration_run_read(struct dl_calibration_run *run,
                             const struct dl_calibration_quantities *q,
                             const struct dl_row *row) {
  for (size_t i = 0; i < DL_N_RUN_COLUMNS; i++) {
    const struct dl_run_column *c = &dl_run_columns[i];
    bool known = dl_run_has(&row->run, c->id);
    if (!known || !(dl_run_set_has(&row->given, c->id) || is_size(i)))
      continue;
    if (c->is_text)
      dl_calibration_run_set(run, c->name, dl_run_text(&row->run, c->id));
    else
      set_number(run, c->name, dl_run_number(&row->run, c->id));
  }
  for (size_t i = 0; i < q->n; i++) {
    dl_calibration_run_set(run, q->name[i], dl_row_text(row, &q->at[i]));
    set_number(run, q->name[i], dl_row_number(row, &q->at[i]));
  }
}
