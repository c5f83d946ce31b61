/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was measured, by configuration: runs with the same inputs are one. */

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
};

/* The mean of a target over the runs of a configuration. */
struct dl_measurement {
  size_t config;
  size_t target;
  double mean;   /* of the logarithm */
  double weight; /* of the runs, in sum */
};

struct dl_configurations {
  size_t n;
  const void **inputs;      /* n, of the first run of each */
  size_t *target;           /* n */
  struct dl_row_names *names; /* n; by dl_configurations_name */
  struct dl_measurement *m; /* by configuration, then target; owned */
  size_t n_measurements;
};

/* Borrows the inputs. False: memory is out. */
bool dl_configurations_make(struct dl_configurations *c,
                            const struct dl_physics *physics,
                            const struct dl_observations *o);

/* Enters the names of the configurations into those of a fit. False: memory is
 * out. */
bool dl_configurations_name(struct dl_configurations *c,
                            struct dl_intern *names);
void dl_configurations_free(struct dl_configurations *c);

#endif
