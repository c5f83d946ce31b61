/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of rows that were held out, as the groups on which intervals are
 * based: of a fit's target and, for a physics, of times, by the software that
 * they were measured with (struct dl_time_residuals). Its fits predict all its
 * targets, and speeds were measured of more GPUs and networks than energies. */

#ifndef DL_MODEL_CROSS_VALIDATION_FOLD_RESIDUALS_H
#define DL_MODEL_CROSS_VALIDATION_FOLD_RESIDUALS_H

#include "model/cross_validation/fold_predictions.h"
#include "model/model.h"

/* The logarithm of a target in a row of a design, to compare with a prediction;
 * NaN where it was not measured or is not compared. */
double dl_held_out_value(const struct dl_design *g, size_t row, size_t target);

/* Whether the network, or the GPU, of a run is new, by what is held out. For
 * other groups than networks and GPUs both are. */
static inline bool dl_leaves_arch(enum dl_held_out_group left) {
  return left == DL_HELD_OUT_ARCH || left == DL_N_HELD_OUT;
}
static inline bool dl_leaves_gpu(enum dl_held_out_group left) {
  return left == DL_HELD_OUT_GPU || left == DL_N_HELD_OUT;
}

/* The software of a row of a design; NULL where the physics has none. */
const char *dl_software_of(const struct dl_design *g, size_t row);

/* Whether the fit of that design keeps residuals of times. */
static inline bool dl_keeps_times(const struct dl_design *g) {
  return g->physics && g->physics->software &&
         g->target == g->physics->times_beside;
}

/* Rows that were held out by folds; a row of fold SIZE_MAX is in none. All
 * borrowed. */
struct dl_fold_rows {
  const struct dl_design *g;
  enum dl_held_out_group left;
  size_t first; /* row of the design that row 0 is */
  const struct dl_folds *folds;
  const struct dl_fold_predictions *h; /* of a physics: their predictions */
};

/* Adds the residuals x (folds->n; NaN: none) of a target to r, a group for each
 * fold that has any, with the rows' spreads where the physics has such widths.
 * scored: and their error to the scores. */
void dl_add_fold_residuals(struct dl_residuals *r, const struct dl_fit *fit,
                           const struct dl_fold_rows *rows, size_t target,
                           const double *x, bool scored);

/* Adds the residuals of the design's target by the predictions of a physics. */
void dl_add_target_residuals(struct dl_fit *fit,
                             const struct dl_fold_rows *rows);

/* Adds the residuals of the times, where the fit keeps them. */
void dl_add_time_residuals(struct dl_fit *fit, const struct dl_fold_rows *rows);

#endif
