/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions of a fitted physics. */

#include "physics/fit_row.h"

#include <math.h>

void dl_fit_row_make(struct dl_fit_row *row,
                     const struct dl_hierarchical_fit *fit,
                     const void *inputs) {
  row->fit = fit;
  row->inputs = inputs;
  row->predicted = false;
  dl_row_names_find(&row->names, &fit->names, inputs);
  dl_effects_of(fit->physics, fit->by, &row->names, inputs, row->level,
                row->fx);
  row->place = fit->calibration_residuals.bounded
                   ? dl_fit_place(fit, &row->names, inputs)
                   : dl_place_of(&row->names, inputs);
}

void dl_fit_row_hide(struct dl_fit_row *hidden, const struct dl_fit_row *row,
                     bool arch, bool gpu) {
  hidden->fit = row->fit;
  hidden->inputs = row->inputs;
  hidden->names = row->names;
  if (arch)
    hidden->names.number[DL_NAME_ARCH] = 0;
  if (gpu)
    hidden->names.number[DL_NAME_GPU] = hidden->names.number[DL_NAME_HOST] = 0;
  dl_effects_of(row->fit->physics, row->fit->by, &hidden->names, row->inputs,
                hidden->level, hidden->fx);
}

double dl_fit_row_value(struct dl_fit_row *row, size_t target) {
  if (!row->predicted)
    row->fit->physics->predict(row->fit->c, row->fx, row->inputs, row->y);
  row->predicted = true;
  return row->y[target] + dl_expected_residual(row->fit, &row->place, target);
}

bool dl_fit_row_has_neighbours(const struct dl_fit_row *row, size_t target) {
  const struct dl_residual_process *process = row->fit->physics->process;
  return !process || !(process->neighbour_share > 0) ||
         dl_residual_gp_nearest(&row->fit->residuals, process, &row->place,
                                target) >= process->neighbour_share;
}

double dl_fit_row_nearest_run(const struct dl_fit_row *row, size_t target) {
  const struct dl_residual_gp *runs = &row->fit->calibration_residuals;
  return runs->n > 0
             ? dl_residual_gp_nearest(runs, row->fit->physics->calibration,
                                      &row->place, target)
             : 0;
}

bool dl_fit_row_is_calibrated(const struct dl_fit_row *row, size_t target) {
  return dl_fit_row_nearest_run(row, target) > 0.5;
}

/* Runs that measured a target of the row's configuration as it is estimated. */
static double runs_of(struct dl_fit_row *row, size_t target) {
  const struct dl_residual_process *process = row->fit->physics->calibration;
  const struct dl_residual_point *p = dl_residual_gp_find(
      &row->fit->calibration_residuals, &row->place, target);
  bool its =
      p && p->runs > 0 &&
      fabs(p->value - dl_fit_row_value(row, target)) <= process->repeat_sd;
  return its ? p->runs : 0;
}

double dl_fit_row_repeats(struct dl_fit_row *row, size_t target) {
  const struct dl_energy_targets *e = row->fit->physics->energy;
  if (row->fit->calibration_residuals.n == 0)
    return 0;
  double runs = runs_of(row, target), least = INFINITY;
  if (runs > 0 || !e)
    return runs;
  const size_t all[] = {e->energy, e->power, e->time};
  for (size_t i = 0; i < 3; i++)
    if (all[i] != target)
      least = fmin(least, runs_of(row, all[i]));
  return least;
}
