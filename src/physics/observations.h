/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured runs by configuration. Runs with equal inputs are one configuration,
 * whose sufficient statistics are the sum of the weights and the weighted mean
 * of each measured logarithm: the likelihood of the runs is
 *
 *   sum w (f - y)^2 = W (f - mean)^2 + sum w (y - mean)^2,   W = sum w
 *
 * and its last term, the variance within the configuration, does not depend on
 * the parameters. Also the predictions of configurations at given parameters,
 * and their derivatives by the constants and the effects of their levels. */

#ifndef DL_PHYSICS_OBSERVATIONS_H
#define DL_PHYSICS_OBSERVATIONS_H

#include "physics/levels.h"

/* A row of a table: a run. */
struct dl_observed {
  const void *inputs;  /* physics->input_size bytes, without padding */
  const double *value; /* n_targets logarithms; NaN: not measured */
};

/* Rows of a physics; all borrowed. */
struct dl_observations {
  size_t n;
  const struct dl_observed *row; /* n */
  const gsl_vector *weight;      /* n, of the target's values, or NULL: 1 */
  size_t n_auxiliary;            /* the last rows are auxiliary training data */
  size_t target; /* that is fitted, and that weights are for; of auxiliary rows
                    the first that was measured */
  bool means;    /* the weights are numbers of runs, and hold for all targets */
};

/* A target that was measured in a configuration. */
struct dl_measurement {
  size_t config;
  size_t target;
  double mean;   /* of the logarithm */
  double weight; /* sum over the runs */
};

struct dl_configurations {
  size_t n, n_own;            /* n_own: those before the auxiliary ones */
  const void **inputs;        /* n, of the first run of each */
  size_t *target;             /* n */
  struct dl_row_names *names; /* n; by dl_configurations_name */
  struct dl_measurement *m;   /* by configuration, then target; owned */
  size_t n_measurements;
  size_t *first;     /* n + 1: first measurement of each, owned */
  size_t *of_row;    /* o->n: configuration of each row, owned */
  size_t *row;       /* o->n: rows by configuration, owned */
  size_t *first_row; /* n + 1: the first of each there, behind them */
  size_t *at;        /* n x n_targets: its measurement, or SIZE_MAX; owned */
};

/* Borrows the inputs. */
void dl_configurations_make(struct dl_configurations *c,
                            const struct dl_physics *physics,
                            const struct dl_observations *o);

/* Means and weights over the rows that are not `out` (NULL: none is) into m,
 * n_measurements whose weight is 0 where all rows are out. */
void dl_configurations_average(const struct dl_configurations *c,
                               const struct dl_physics *physics,
                               const struct dl_observations *o, const bool *out,
                               struct dl_measurement *m);

/* Enters the names of the configurations into a fit's names. */
void dl_configurations_name(struct dl_configurations *c,
                            struct dl_intern *names);
void dl_configurations_free(struct dl_configurations *c);

/* Places of the effects of a configuration's levels among the parameters. */
struct dl_parameter_map {
  const struct dl_physics *physics;
  const struct dl_configurations *configs;
  size_t p;
  size_t n_levels[DL_MAX_FACTORS]; /* that are parameters */
  /* configs->n x n_factors: the first parameter of the level; 0: none, and the
   * effects of `fixed` hold. Owned. */
  size_t *first;
  double *fixed; /* configs->n x n_effects, owned */
  bool still;    /* derivatives are taken as 0: parameters stay */
};

/* The map of levels that are all parameters, up to factor n_factors. `by` also
 * gives the fixed effects. */
void dl_parameter_map_make(struct dl_parameter_map *map,
                           const struct dl_physics *physics,
                           const struct dl_configurations *configs,
                           const struct dl_levels *by, size_t n_factors);
void dl_parameter_map_free(struct dl_parameter_map *map);

/* The effects of a configuration at theta. */
void dl_effects_at(const struct dl_parameter_map *map, const double *theta,
                   size_t config, double *fx);

/* Logarithms of the targets of a configuration at theta, with constants c. */
void dl_predict_config(const struct dl_parameter_map *map, const double *c,
                       const double *theta, size_t config, double *y);

/* Logarithms of each measurement's target at theta. */
void dl_predict_measurements(const struct dl_parameter_map *map,
                             const double *theta, double *out);

/* Derivatives by theta of n of the measurements (NULL: the first), n x p,
 * row-major; 0 for numbers that are none of a measurement. */
void dl_differentiate_measurements(const struct dl_parameter_map *map,
                                   const double *theta, const size_t *which,
                                   size_t n, double *J);

/* Derivatives by the parameters that they depend on alone. known: p, others do
 * not count; NULL: all do. */
struct dl_derivatives {
  size_t p, *param; /* owned */
  gsl_matrix *J;    /* n x p, owned; NULL for p = 0 */
};
void dl_derivatives_make(struct dl_derivatives *d,
                         const struct dl_parameter_map *map,
                         const double *theta, const size_t *which, size_t n,
                         const bool *known);
void dl_derivatives_free(struct dl_derivatives *d);

/* The sum of the derivatives of all measurements, each times its weight (p). */
void dl_weighted_derivatives(const struct dl_parameter_map *map,
                             const double *theta, const double *weight,
                             double *sum);

#endif
