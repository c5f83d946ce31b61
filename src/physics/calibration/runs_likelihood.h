/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The likelihood of the runs of a calibration: y - f(theta) - expected is
 * normal with covariance K (residual_precision.h).
 *
 * Points are the measurements, and behind them points of earlier calibrations:
 * given what is known of these, whose residuals are taken as 0 here, the
 * measurements have the conditional covariance.
 *
 * Without the measurements S, with P = K^-1 and J the derivatives of f, the
 * inverse covariance of the rest is P - P_S (P_SS)^-1 P_S' (Rasmussen &
 * Williams 2006, Gaussian Processes for Machine Learning, section 5.4.2), so
 * that squares, gradient and J' P J without them need the factorisation of P_SS
 * alone. */

#ifndef DL_PHYSICS_CALIBRATION_RUNS_LIKELIHOOD_H
#define DL_PHYSICS_CALIBRATION_RUNS_LIKELIHOOD_H

#include "physics/calibration/residual_precision.h"
#include "physics/hierarchical_fit.h"

struct dl_runs_likelihood {
  struct dl_configurations configs;
  struct dl_parameter_map map;
  struct dl_residual_gp gp; /* the points, sorted */
  size_t n;                 /* measurements */
  double *expected;         /* n: residuals known before */
  double *noise;            /* gp.n: variances */
  struct dl_residual_precision precision;
};

/* Points and their covariance. configs and map are there, the rest is 0. Error
 * (DL_EINPUT): a singular covariance. */
enum dl_status dl_runs_likelihood_make(struct dl_runs_likelihood *l,
                                       const struct dl_hierarchical_fit *from,
                                       struct dl_diag *d);
void dl_runs_likelihood_free(struct dl_runs_likelihood *l);

/* Measurements S that are held out. */
struct dl_held_out_points {
  /* Arrays by group of the precision, all owned: */
  size_t n_groups;
  size_t *m;      /* number of its points */
  size_t **place; /* m: in gp.order, ascending */
  gsl_matrix **M; /* lower factor of P_SS; NULL for m = 0 */
};

/* out: n, of the measurements. Error: as above. */
enum dl_status dl_held_out_points_make(struct dl_held_out_points *held,
                                       const struct dl_runs_likelihood *l,
                                       const bool *out, struct dl_diag *d);
void dl_held_out_points_free(struct dl_held_out_points *held);

/* f(theta) + expected - y of the measurements into r (n). */
void dl_runs_misfit(const struct dl_runs_likelihood *l, const double *theta,
                    double *r);

/* The weights K^-1 r (gp.n) of the misfits r (n), without the measurements that
 * are held out (NULL: none are): these have weight 0, and what the others make
 * likely is taken out of their misfits. Returns r' K^-1 r of the others. */
double dl_runs_weigh(const struct dl_runs_likelihood *l,
                     const struct dl_held_out_points *held, double *misfit,
                     double *weight);

/* The lower half of J' K^-1 J at theta into G (p x p). */
void dl_runs_information(const struct dl_runs_likelihood *l,
                         const struct dl_held_out_points *held,
                         const double *theta, gsl_matrix *G);

#endif
