/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was measured, by configuration: runs with the same inputs are one. */

#ifndef DL_PHYSICS_OBSERVATIONS_H
#define DL_PHYSICS_OBSERVATIONS_H

#include "physics/physics.h"

/* Runs of a physics; all borrowed. */
struct dl_observations {
  size_t n;
  const void *inputs;   /* n of physics->input_size bytes, without padding */
  const double *value;  /* n x n_targets: logarithms; NaN: not measured */
  const size_t *target; /* n: the one whose residuals are learnt */
  const double *weight; /* n, of the target's values, or NULL: 1 */
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
  struct dl_measurement *m; /* by configuration, then target; owned */
  size_t n_measurements;
};

/* Borrows the inputs. False: memory is out. */
bool dl_configurations_make(struct dl_configurations *c,
                            const struct dl_physics *physics,
                            const struct dl_observations *o);
void dl_configurations_free(struct dl_configurations *c);

#endif
