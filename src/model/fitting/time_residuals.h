/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of the times of rows that were held out, by the software that they
 * were measured with (struct dl_time_residuals): the fits of a physics predict
 * all its targets, and speeds were measured of more GPUs and networks than
 * energies. */

#ifndef DL_MODEL_FITTING_TIME_RESIDUALS_H
#define DL_MODEL_FITTING_TIME_RESIDUALS_H

#include "model/fitting/held_out.h"

/* The logarithm of a target in a row of a design's sample, to compare with a
 * prediction; NaN where it was not measured or is not compared. */
double dl_held_out_value(const struct dl_design *g, size_t row, size_t target);

/* By what is held out, which of a run's network and GPU are new. Of other
 * groups than those both are. */
static inline bool dl_leaves_arch(enum dl_held_out_group left) {
  return left == DL_HELD_OUT_ARCH || left == DL_N_HELD_OUT;
}
static inline bool dl_leaves_gpu(enum dl_held_out_group left) {
  return left == DL_HELD_OUT_GPU || left == DL_N_HELD_OUT;
}

/* Whether residuals of a design have spreads. */
static inline bool dl_has_spreads(const struct dl_design *g) {
  return g->physics && g->physics->widths_by_run;
}

/* Spreads of the rows of a design's sample (dl_run_spreads), each distinct one
 * worked out once. Start from the first four members; free what it remembers
 * with free(seen). */
struct dl_held_out_spreads {
  const struct dl_fit *fit;
  const struct dl_design *g;
  size_t target;
  enum dl_held_out_group left;
  double *seen; /* n_inputs of its table: 0: not yet; owned */
};
double dl_held_out_spread(struct dl_held_out_spreads *s, size_t row);

/* The software of a row of a design's sample; NULL where the physics has none.
 */
const char *dl_software_of(const struct dl_design *g, size_t row);

/* Whether the fit of that design keeps residuals of times. */
static inline bool dl_keeps_times(const struct dl_design *g) {
  return g->physics && g->physics->software &&
         g->target == g->physics->times_beside;
}

/* Adds those of the folds of folds->n rows, the first of which is row `first`
 * of the sample; a row of fold SIZE_MAX is in none. h: their predictions. */
void dl_add_time_residuals(struct dl_fit *fit, enum dl_held_out_group left,
                           const struct dl_design *g, size_t first,
                           const struct dl_folds *folds,
                           const struct dl_held_out *h);

#endif
