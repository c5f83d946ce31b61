/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A configuration as a fit sees it: what all predictions of it share, worked
 * out once. */

#ifndef DL_PHYSICS_FIT_ROW_H
#define DL_PHYSICS_FIT_ROW_H

#include "physics/hierarchical_fit.h"

struct dl_fit_row {
  const struct dl_hierarchical_fit *fit;
  const struct dl_grouping *inputs; /* borrowed, as the fit */
  struct dl_row_names names;
  size_t level[DL_MAX_FACTORS]; /* of each factor; by[k].n: none of the fit */
  double fx[DL_MAX_EFFECTS];    /* logarithms; 0 where there is no level */
  struct dl_place place; /* in the residual process; what bounds the inputs is
                            set where runs of a calibration need it */
  bool predicted;
  double y[DL_MAX_TARGETS]; /* logarithms of the targets by the physics alone,
                               where they are predicted */
};

/* inputs: complete. */
void dl_fit_row_make(struct dl_fit_row *row,
                     const struct dl_hierarchical_fit *fit, const void *inputs);

/* Makes the row as if its network, or its GPU with the host, were none of the
 * fit. Without its place. */
void dl_fit_row_hide(struct dl_fit_row *hidden, const struct dl_fit_row *row,
                     bool arch, bool gpu);

/* The logarithm of a target. */
double dl_fit_row_value(struct dl_fit_row *row, size_t target);

/* Whether a configuration of the fit is near enough that its residual is about
 * the row's (`neighbour_share` of the residual process). */
bool dl_fit_row_has_neighbours(const struct dl_fit_row *row, size_t target);

/* The largest share of the variance of a target's residual that a run of a
 * calibration has in common with the row; 0 without any. */
double dl_fit_row_nearest_run(const struct dl_fit_row *row, size_t target);

/* Whether that is more than half. */
bool dl_fit_row_is_calibrated(const struct dl_fit_row *row, size_t target);

/* How many runs of a calibration measured the row's own configuration: its
 * target, or the other two of an energy, a power and a time. 0 where none did,
 * or where the estimate is not theirs, as on another host. */
double dl_fit_row_repeats(struct dl_fit_row *row, size_t target);

#endif
