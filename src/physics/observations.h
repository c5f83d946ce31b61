/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measured runs by configuration. Runs with the same inputs are one
 * configuration, whose sufficient statistics are the sum of the weights and
 * the weighted mean of each measured logarithm: the likelihood of the runs is
 *
 *   sum w (f - y)^2 = W (f - mean)^2 + sum w (y - mean)^2,   W = sum w
 *
 * and its last term, the variance within the configuration, does not depend on
 * the parameters. */

#ifndef DL_PHYSICS_OBSERVATIONS_H
#define DL_PHYSICS_OBSERVATIONS_H

#include "physics/levels.h"

/* A row of a table: a run. */
struct dl_observed {
  const void *inputs;  /* physics->input_size bytes, without padding */
  const double *value; /* n_targets logarithms; NaN: not measured */
  size_t target;       /* the one whose residuals are learnt */
};

/* Rows of a physics; all borrowed. */
struct dl_observations {
  size_t n;
  const void *const *row;   /* n: struct dl_observed */
  const gsl_vector *weight; /* n, of the target's values, or NULL: 1 */
  size_t n_auxiliary;       /* the last rows are auxiliary training data */
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
  size_t *first;  /* n + 1: first measurement of each, owned */
  size_t *of_row; /* o->n: configuration of each row, owned */
  size_t *at;     /* n x n_targets: its measurement, or SIZE_MAX; owned */
};

/* Borrows the inputs. False: memory is out. */
bool dl_configurations_make(struct dl_configurations *c,
                            const struct dl_physics *physics,
                            const struct dl_observations *o);

/* Means and weights over the rows that are not `out` (NULL: none is) into m,
 * n_measurements whose weight is 0 where all rows are out. */
void dl_configurations_average(const struct dl_configurations *c,
                               const struct dl_physics *physics,
                               const struct dl_observations *o, const bool *out,
                               struct dl_measurement *m);

/* Enters the names of the configurations into those of a fit. False: memory is
 * out. */
bool dl_configurations_name(struct dl_configurations *c,
                            struct dl_intern *names);
void dl_configurations_free(struct dl_configurations *c);

#endif
