/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prior of a calibration: the posterior of the fit, and the priors of the
 * effects of levels that it has not seen. */

#ifndef DL_PHYSICS_CALIBRATION_CALIBRATION_PRIOR_H
#define DL_PHYSICS_CALIBRATION_CALIBRATION_PRIOR_H

#include "physics/hierarchical_fit.h"

struct dl_calibration_prior {
  size_t p;
  double *mean;  /* p, owned */
  gsl_matrix *L; /* p x p: lower factor of the covariance, owned */
  /* Sources of the prior, borrowed. */
  struct dl_hierarchical_fit *fit;
  const struct dl_hierarchical_fit *from;
  const struct dl_configurations *configs;
  size_t n_factors; /* factors of the posterior */
};

/* Also enters the levels of the configurations in fit->by, which is new, behind
 * the levels of `from`. */
void dl_calibration_prior_make(struct dl_calibration_prior *prior,
                               struct dl_hierarchical_fit *fit,
                               const struct dl_hierarchical_fit *from,
                               const struct dl_configurations *configs);
void dl_calibration_prior_free(struct dl_calibration_prior *prior);

#endif
