/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: the state of a fit of language models that serve. */

#ifndef DL_PHYSICS_SERVING_SERVING_PRIVATE_H
#define DL_PHYSICS_SERVING_SERVING_PRIVATE_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "base/diag.h"
#include "physics/serving/serving.h"
#include "physics/serving/serving_cost.h"

/* The effects of one GPU, network or kind of requests. */
struct dl_serving_known {
  double key;
  double fx[DL_N_SERVING_EFFECTS]; /* those of its kind; 0 the others */
};

struct dl_serving {
  double theta[DL_N_SERVING], error[DL_N_SERVING];
  struct {
    struct dl_serving_known *k; /* owned */
    size_t n;
  } by[DL_N_SERVING_BEARERS];
};

/* Key of the bearer of a kind in a row; 0: none. The length of prompts has
 * one only where it is in doubt. */
double dl_serving_key(enum dl_serving_bearer by, const double *row);

void dl_serving_load_of(const double *row, struct dl_serving_load *load);

/* Logarithms of the targets, by enum dl_serving_target; [0] is not set. */
void dl_serving_targets(const double *c, const double *fx,
                        const struct dl_serving_load *load,
                        double out[DL_ST_POWER + 1]);

/* Effects that a state knows for a row; 0 elsewhere. */
void dl_serving_effects(const struct dl_serving *s, const double *row,
                        double fx[DL_N_SERVING_EFFECTS]);

/* serving_fit.c. X: n x DL_SC_N, w: weights or NULL. Times and powers are
 * taken from the columns beside the target y, which itself stands where those
 * are 0. *s, zeroed by the caller, is the caller's to free in either case. */
enum dl_status dl_serving_solve(struct dl_serving *s, const gsl_matrix *X,
                                const gsl_vector *y, const gsl_vector *w,
                                struct dl_diag *d);

#endif
