/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mode of a calibration's posterior: the minimum over z of
 *
 *   r' K^-1 r + |z|^2,   r = f(m + L z) + expected - y
 *
 * (calibration.h). Far from it by Levenberg's and Marquardt's method (More
 * 1978, doi 10.1007/BFb0067700); near to it the equations are kept while steps
 * by them converge. */

#ifndef DL_PHYSICS_CALIBRATION_POSTERIOR_MODE_H
#define DL_PHYSICS_CALIBRATION_POSTERIOR_MODE_H

#include "physics/calibration/calibration_prior.h"
#include "physics/calibration/runs_likelihood.h"
#include "physics/solver/quasi_newton.h"

struct dl_mode_search {
  const struct dl_runs_likelihood *runs;
  const struct dl_calibration_prior *prior;
  const struct dl_held_out_points *held; /* or NULL */
  double *z;                             /* p: the point */
  double *theta;                         /* p: where it was last evaluated */
  double *weight;       /* of each point there, see dl_runs_weigh */
  double *misfit;       /* of each measurement there */
  double *g, *before;   /* p: half the gradient, and that before */
  double *step, *trial; /* p */
  struct dl_quasi_newton pairs;
  gsl_matrix *H;      /* p x p: half the second derivatives */
  gsl_matrix *factor; /* lower factor of H */
  double squares;     /* at z */
  double expected;    /* decrease of the squares by the step before */
  double damping;
  bool here;     /* the equations are those at z */
  bool factored; /* with the damping */
};

/* A search that begins at z (p; NULL: the prior's mean). The rest is
 * borrowed. */
void dl_mode_search_make(struct dl_mode_search *w,
                         const struct dl_runs_likelihood *runs,
                         const struct dl_calibration_prior *prior,
                         const struct dl_held_out_points *held,
                         const double *z);
void dl_mode_search_free(struct dl_mode_search *w);

/* Moves z to the mode, where the rest is evaluated. Errors (DL_EINPUT): no
 * finite residual at the start, or singular equations. */
enum dl_status dl_mode_find(struct dl_mode_search *w, struct dl_diag *d);

/* Sets H up at the mode. */
void dl_mode_curvature(struct dl_mode_search *w);

#endif
