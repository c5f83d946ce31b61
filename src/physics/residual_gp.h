/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The residual process: the residual of a configuration is like the residuals
 * of configurations near to it (a Gaussian process; kriging).
 *
 * Configurations of one architecture on one GPU are off together, by more than
 * a GPU differs as a whole: kernels that a library has for one network and not
 * for another. The residual of a logarithm is a sum of components (of the time,
 * of the power), each with covariance
 *
 *   group^2 + near^2 exp(-d^2 / 2) + own^2 [same configuration]
 *
 * within an architecture on a GPU and 0 beyond; d is the distance of two
 * places. Between runs of a calibration
 *
 *   bound^2 / (1 + e^2 / (2 length^2))
 *
 * is added on one GPU, whatever the architecture: work that is bound alike errs
 * alike (a rational quadratic: the errors of distant work covary more than a
 * Gaussian would let them). e is the distance of what bounds them. There d is
 * in units of near_length. And
 *
 *   sum over k of rate_k^2 x_k y_k
 *
 * where x and y are the shares of the time that parts of the work take whose
 * rates differ by GPU: a part that takes 1 + v times as long lengthens the time
 * by the share of v, and v has the standard deviation rate_k. */

#ifndef DL_PHYSICS_RESIDUAL_GP_H
#define DL_PHYSICS_RESIDUAL_GP_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

enum { DL_PLACE_AXES = 3, DL_BOUND_AXES = 6, DL_RATE_AXES = 2 };

/* The place of a configuration. */
struct dl_place {
  double x[DL_PLACE_AXES]; /* in length scales */
  double exact;            /* differs between configurations at one x */
  long gpu, arch;          /* numbers of names; 0: none */
  bool tuned;              /* in software that is tuned for networks */
  /* Coordinates of what bounds it (struct dl_physics); all 0: not known. */
  double bound[DL_BOUND_AXES];
  double rate[DL_RATE_AXES]; /* shares of the time; 0: not known */
};

/* A component of the residuals. Standard deviations of logarithms. */
struct dl_residual_component {
  double group, near, own, bound;
  unsigned targets; /* bit t: it is part of the residual of target t */
  double rate[DL_RATE_AXES];
};

struct dl_residual_process {
  const struct dl_residual_component *component;
  /* These components in tuned software, or NULL: they are as above. The two
   * share the smaller of their variances. */
  const struct dl_residual_component *tuned;
  size_t n_components;
  double repeat_sd;                 /* of a run measured again */
  double floor_sd;                  /* what repeats do not reduce */
  double bound_length, near_length; /* of calibrations */
  /* A row that has less than this share of its variance in common with each
   * configuration of the fit is as new as another GPU. 0: none is. */
  double neighbour_share;
};

/* Residuals learnt from. */
struct dl_residual_point {
  struct dl_place place;
  size_t target;
  double weight; /* of K^-1 residuals */
  /* Number of runs of a calibration that it is the mean of, and the logarithm
   * that they measured; 0 runs: not known. */
  double runs, value;
};

struct dl_residual_gp {
  struct dl_residual_point *point; /* owned */
  size_t n;
  size_t *order; /* n: the points by GPU and architecture, owned */
  bool bounded;  /* what bounds a point is known */
};

/* The covariance of an architecture on a GPU, 0 beyond; the covariance of all
 * work on a GPU; and their sum. */
double dl_residual_in_pair(const struct dl_residual_process *process,
                           const struct dl_residual_point *a,
                           const struct dl_residual_point *b);
double dl_residual_in_common(const struct dl_residual_process *process,
                             const struct dl_residual_point *a,
                             const struct dl_residual_point *b);
double dl_residual_covariance(const struct dl_residual_process *process,
                              const struct dl_residual_point *a,
                              const struct dl_residual_point *b);

/* Variance of the mean of n values of a configuration measured again. */
double dl_residual_noise(const struct dl_residual_process *process, double n);

/* Half the width of the interval of a logarithm that n runs of one
 * configuration have measured. Differences of repeats are Student's t with
 * three degrees of freedom and a scale of repeat_sd: half of the configurations
 * of del Rey et al. repeat within 1 %, few vary by a tenth
 * (docs/lab/designs.md). The mean of n leaves (1 + 1 / n) / 2 of that variance.
 */
double dl_residual_repeats(const struct dl_residual_process *process, double n,
                           double coverage);

/* The point of a target at a place, all of whose coordinates agree, or NULL. */
const struct dl_residual_point *
dl_residual_gp_find(const struct dl_residual_gp *gp,
                    const struct dl_place *place, size_t target);

/* Learns residuals: each gp->point has one as its weight, which becomes K^-1
 * times it. K is block diagonal, a block each architecture on a GPU. count: n
 * numbers of values that each is the mean of. */
enum dl_status dl_residual_gp_fit(struct dl_residual_gp *gp,
                                  const struct dl_residual_process *process,
                                  const double *count, struct dl_diag *d);

/* The expected residual of a target at a place. */
double dl_residual_gp_at(const struct dl_residual_gp *gp,
                         const struct dl_residual_process *process,
                         const struct dl_place *place, size_t target);

/* The largest share of its variance, but for the variance of rates, that a
 * place has in common with one that was learnt: 0 .. 1. */
double dl_residual_gp_nearest(const struct dl_residual_gp *gp,
                              const struct dl_residual_process *process,
                              const struct dl_place *place, size_t target);

/* Makes gp->order, which dl_residual_gp_at needs. */
void dl_residual_gp_sort(struct dl_residual_gp *gp);

/* Adds what another has learnt, and sorts. */
void dl_residual_gp_append(struct dl_residual_gp *gp,
                           const struct dl_residual_gp *more);
void dl_residual_gp_free(struct dl_residual_gp *gp);

#endif
