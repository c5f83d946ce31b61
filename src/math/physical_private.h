/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: the state of a physical fit. */

#ifndef DL_MATH_PHYSICAL_PRIVATE_H
#define DL_MATH_PHYSICAL_PRIVATE_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "math/physical.h"
#include "math/physical_model.h"

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

struct dl_physical {
  double theta[DL_N_PHYSICS], error[DL_N_PHYSICS];
  double c[DL_N_PHYSICS]; /* exp(theta): the same for every row */
  struct dl_bearers by[DL_N_BEARERS];
  struct dl_near near;
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
enum { DL_NEAR = 7 }; /* columns of dl_near.at */

#endif
