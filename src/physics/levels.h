/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The levels of the grouping factors with their effects, and where each effect
 * is among the parameters: constants first, then factor by factor the effects
 * of each level. */

#ifndef DL_PHYSICS_LEVELS_H
#define DL_PHYSICS_LEVELS_H

#include "base/names/intern.h"
#include "physics/physics.h"

/* Numbers of names; 0: none, -1: not in the fit. */
struct dl_level_key {
  long name, within;
};

struct dl_factor_level {
  struct dl_level_key key;
  double effect[DL_MAX_FACTOR_EFFECTS]; /* effects of the factor */
};

struct dl_levels {
  struct dl_factor_level *level; /* owned */
  size_t n;
};

/* The numbers of a row's names, of which a level and a place are made. */
struct dl_row_names {
  long number[DL_N_NAMES];
};
void dl_row_names_find(struct dl_row_names *found,
                       const struct dl_intern *names,
                       const struct dl_grouping *inputs);
struct dl_level_key dl_level_key_of(const struct dl_row_names *names,
                                    const struct dl_level_names *level);
bool dl_level_is_none(struct dl_level_key key);
bool dl_level_equal(struct dl_level_key a, struct dl_level_key b);

/* The place of inputs in the residual process. */
struct dl_place dl_place_of(const struct dl_row_names *names,
                            const struct dl_grouping *inputs);

/* Number of the level with a key; levels->n: none. */
size_t dl_factor_level_find(const struct dl_levels *levels,
                            struct dl_level_key key);

/* Adds a level, where there is room, unless it is none or there already. */
void dl_factor_level_add(struct dl_levels *levels, struct dl_level_key key);

/* The first parameter of factor k, whose levels are by[k]; with k = n_factors
 * how many there are. */
size_t dl_first_parameter(const struct dl_physics *physics,
                          const struct dl_levels *by, size_t k);

/* The factors whose effects are in the posterior, the first ones: all but
 * factors of own_data. */
size_t dl_posterior_factors(const struct dl_physics *physics);

/* Constants from their logarithms. */
void dl_constants_of(const struct dl_physics *physics, const double *theta,
                     double *c);

/* The level of each factor (n_factors of them; by[k].n: there is none) and the
 * effects of inputs; 0 for levels that are not there. */
void dl_effects_of(const struct dl_physics *physics, const struct dl_levels *by,
                   const struct dl_row_names *names,
                   const struct dl_grouping *inputs, size_t *level, double *fx);

void dl_levels_free(struct dl_levels *by, size_t n_factors);

#endif
