/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions of a set of configurations at given parameters, and their
 * derivatives by those that each depends on: the constants, and the effects of
 * its own levels. */

#ifndef DL_PHYSICS_LINEARISATION_H
#define DL_PHYSICS_LINEARISATION_H

#include "physics/levels.h"
#include "physics/observations.h"

/* Where the effects of a configuration's levels are among the parameters. */
struct dl_parameter_map {
  const struct dl_physics *physics;
  const struct dl_configurations *configs;
  size_t p;
  size_t n_levels[DL_MAX_FACTORS]; /* that are parameters */
  /* configs->n x n_factors: the first parameter of the level; 0: none, and the
   * effects of `fixed` hold. Owned. */
  size_t *first;
  double *fixed; /* configs->n x n_effects, owned */
};

/* The map of levels that are all parameters, up to factor n_factors. `by` also
 * gives the fixed effects. False: memory is out. */
bool dl_parameter_map_make(struct dl_parameter_map *map,
                           const struct dl_physics *physics,
                           const struct dl_configurations *configs,
                           const struct dl_levels *by, size_t n_factors);
void dl_parameter_map_free(struct dl_parameter_map *map);

/* The effects of a configuration at theta. */
void dl_effects_at(const struct dl_parameter_map *map, const double *theta,
                   size_t config, double *fx);

/* Logarithms of each measurement's target at theta. */
void dl_predict_measurements(const struct dl_parameter_map *map,
                             const double *theta, double *out);

/* Their derivatives by theta, n_measurements x p, row-major, each row divided
 * by its scale (NULL: 1). */
void dl_differentiate_measurements(const struct dl_parameter_map *map,
                                   const double *theta, const double *scale,
                                   double *J);

#endif
