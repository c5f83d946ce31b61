/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/cross_validation/fold_residuals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/residual_interval.h"
#include "physics/conditioning/joint_prediction.h"

const char *dl_software_of(const struct dl_design *g, size_t row) {
  const void *inputs = g->rows->row[row].inputs;
  return g->physics->software ? g->physics->software(inputs) : NULL;
}

double dl_held_out_value(const struct dl_design *g, size_t row, size_t target) {
  const struct dl_observed *o = &g->rows->row[row];
  return g->physics->scored ? g->physics->scored(o->inputs, o->value, target)
                            : o->value[target];
}

/* The spreads of the rows that have a residual x, equal ones worked out once;
 * NULL: one width holds for all. */
static double *spreads_of(const struct dl_fit *fit,
                          const struct dl_fold_rows *rows, size_t target,
                          const double *x) {
  const struct dl_design *g = rows->g;
  if (!g->physics || !g->physics->widths_by_run)
    return NULL;
  double *spread = dl_calloc(rows->folds->n, sizeof *spread);
  DL_FREED double *seen = dl_calloc(g->problem->n_inputs, sizeof *seen);
  for (size_t i = 0; i < rows->folds->n; i++) {
    double *its = &seen[g->problem->input[rows->first + i]];
    if (isfinite(x[i]) && !(*its > 0)) {
      struct dl_fit_row row;
      double its_targets[DL_MAX_TARGETS];
      dl_fit_row_make(&row, fit->state, g->rows->row[rows->first + i].inputs);
      dl_run_spreads(&row, dl_leaves_arch(rows->left),
                     dl_leaves_gpu(rows->left), its_targets);
      *its = its_targets[target];
    }
    spread[i] = *its;
  }
  return spread;
}

/* Adds the mean absolute percentage error of n residuals. */
static void add_error(struct dl_scores *s, const double *x, size_t n) {
  double sum = s->mape * (double)s->n;
  for (size_t i = 0; i < n; i++)
    sum += fabs(expm1(-x[i]));
  *s = (struct dl_scores){.n = s->n + n,
                          .r2 = NAN,
                          .rmse = NAN,
                          .mae = NAN,
                          .mape = sum / (double)(s->n + n),
                          .median_ape = NAN,
                          .bias = NAN};
}

void dl_add_fold_residuals(struct dl_residuals *r, const struct dl_fit *fit,
                           const struct dl_fold_rows *rows, size_t target,
                           const double *x, bool scored) {
  const struct dl_folds *folds = rows->folds;
  size_t *row, *from;
  DL_FREED double *spread = spreads_of(fit, rows, target, x);
  DL_FREED double *its = dl_calloc(folds->n, sizeof *its);
  DL_FREED double *its_spread =
      spread ? dl_calloc(folds->n, sizeof *spread) : NULL;
  dl_list_by_group(folds->of_row, folds->n, folds->k, &row, &from);
  for (size_t k = 0; k < folds->k; k++) {
    size_t n = 0;
    for (size_t i = from[k]; i < from[k + 1]; i++) {
      if (!isfinite(x[row[i]]))
        continue;
      if (spread)
        its_spread[n] = spread[row[i]];
      its[n++] = x[row[i]];
    }
    if (n > 0 && scored)
      add_error(&r->pooled, its, n);
    if (n > 0)
      dl_add_group_residuals(r, folds->name ? folds->name[k] : "", its,
                             its_spread, n);
  }
  free(row);
}

/* The residuals of a target, of the rows with that software (NULL: of all); NaN
 * for others. Owned by the caller. */
static double *residuals_of(const struct dl_fold_rows *rows, size_t target,
                            const char *software) {
  const struct dl_design *g = rows->g;
  const struct dl_folds *folds = rows->folds;
  double *x = dl_calloc(folds->n, sizeof *x);
  for (size_t i = 0; i < folds->n; i++) {
    size_t row = rows->first + i;
    x[i] = NAN;
    if (folds->of_row[i] < folds->k &&
        (!software || strcmp(dl_software_of(g, row), software) == 0))
      x[i] = dl_held_out_value(g, row, target) -
             rows->h->y[i * g->physics->n_targets + target];
  }
  return x;
}

void dl_add_target_residuals(struct dl_fit *fit,
                             const struct dl_fold_rows *rows) {
  DL_FREED double *x = residuals_of(rows, rows->g->target, NULL);
  dl_add_fold_residuals(&fit->held_out_residuals[rows->left], fit, rows,
                        rows->g->target, x, false);
}

void dl_add_time_residuals(struct dl_fit *fit,
                           const struct dl_fold_rows *rows) {
  if (!dl_keeps_times(rows->g))
    return;
  size_t time = rows->g->physics->time;
  double *x = residuals_of(rows, time, NULL);
  for (size_t i = 0; i < rows->folds->n; i++)
    if (!isnan(x[i]))
      dl_fit_add_times(fit, dl_software_of(rows->g, rows->first + i));
  free(x);
  for (size_t s = 0; s < fit->n_times; s++) {
    x = residuals_of(rows, time, fit->times[s].software);
    dl_add_fold_residuals(&fit->times[s].held_out[rows->left], fit, rows, time,
                          x, true);
    free(x);
  }
}
