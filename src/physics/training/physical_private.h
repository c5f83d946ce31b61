/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: the state of a physical fit. */

#ifndef DL_PHYSICS_TRAINING_PHYSICAL_PRIVATE_H
#define DL_PHYSICS_TRAINING_PHYSICAL_PRIVATE_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "physics/training/physical.h"
#include "physics/training/training_cost.h"

/* The effects of one bearer of a kind: of one GPU, say. */
struct dl_bearer_effects {
  double key;
  double fx[DL_N_EFFECTS]; /* those of its kind; 0 the others */
};

struct dl_bearers {
  struct dl_bearer_effects *b; /* owned */
  size_t n;
};

/* Residuals of the configurations that were seen, smoothed between near
 * ones on the same GPU. */
struct dl_near {
  gsl_matrix *at;     /* m x DL_NEAR: where they are, owned; NULL: none */
  gsl_vector *weight; /* m: K^-1 residuals, owned */
};

/* What is known of the constants and of the effects of hosts, GPUs and
 * networks together: the lower Cholesky factor of the covariance of their
 * logarithms, by rows, packed, in 1e-6 and rounded to that. The constants come
 * first, then the effects by kind, bearer and effect. */
struct dl_joint {
  gsl_vector *factor; /* p (p + 1) / 2, owned; NULL: not known */
};

struct dl_physical {
  double theta[DL_N_PHYSICS], error[DL_N_PHYSICS];
  double c[DL_N_PHYSICS]; /* exp(theta): the same for every row */
  struct dl_bearers by[DL_N_BEARERS];
  struct dl_near near;
  struct dl_joint joint;
  struct dl_near runs; /* of the runs it was calibrated by */
};

/* Key of the bearer of a kind in a row; 0: none. */
double dl_physical_key(enum dl_bearer by, const double *row);

/* A row as a load; fills in what is not known. */
void dl_physical_load(const double *row, struct dl_load *load);

/* Logarithms of the targets, by enum dl_physical_target. c: the constants. */
void dl_physical_targets(const double *c, const double *fx,
                         const struct dl_load *load, double ram_w,
                         double out[DL_PT_TIME + 1]);

/* Effects that a state knows for a row; 0 elsewhere. */
void dl_physical_effects(const struct dl_physical *s, const double *row,
                         double fx[DL_N_EFFECTS]);

/* physical_near.c: learns the residuals r (m) of the rows of X, from n (m)
 * values each. */
enum dl_status dl_near_fit(struct dl_near *near, const gsl_matrix *X,
                           const gsl_vector *r, const gsl_vector *n,
                           struct dl_diag *d);
double dl_near_at(const struct dl_near *near, const double *row);
/* Adds what another has learnt. False: memory is out. */
bool dl_near_append(struct dl_near *near, const struct dl_near *more);
void dl_near_free(struct dl_near *near);

/* Columns of dl_near.at. */
enum {
  DL_NEAR_BATCH,
  DL_NEAR_PX,
  DL_NEAR_SAMPLES,
  DL_NEAR_FROZEN,
  DL_NEAR_GPU,
  DL_NEAR_ARCH,
  DL_NEAR_TARGET,
  DL_NEAR
};
void dl_near_place(const double *row, double *at); /* at: DL_NEAR */
/* Square of the distance between two places; *same: one configuration. */
double dl_near_distance2(const double *a, const double *b, bool *same);

/* physical_joint.c */
/* Parameters of the joint distribution, and where those of a kind begin. */
size_t dl_joint_size(const struct dl_physical *s);
size_t dl_joint_first(const struct dl_physical *s, enum dl_bearer kind);
/* Keeps the factor of a covariance whose first rows and columns are those of
 * the joint distribution; s->by is filled in. */
enum dl_status dl_joint_keep(struct dl_physical *s, const gsl_matrix *cov,
                             struct dl_diag *d);
/* The same for a factor. False: memory is out. */
bool dl_joint_keep_factor(struct dl_physical *s, const gsl_matrix *factor);
/* Effects of a bearer of a kind. */
size_t dl_joint_effects(enum dl_bearer kind);
/* Element of the factor, row >= column. */
double dl_joint_at(const struct dl_joint *joint, size_t row, size_t column);

/* L of L L' = cov, whose lower half is given. A host without a name repeats
 * another, so that a pivot may be 0: it leaves its column 0. */
void dl_joint_factorise(gsl_matrix *L, const gsl_matrix *cov);

/* physical_runs.c: what calibrating runs leave over. */
double dl_runs_covariance(const double *a, const double *b); /* places */
/* Variance of the mean of n values of a run measured again. */
double dl_runs_noise(double n);

#endif
