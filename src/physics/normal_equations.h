/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums J'J and J'r over configurations, and solves them by their block
 * structure.
 *
 * A configuration depends on the constants and on the effects of its own
 * levels. Levels that never occur together (architectures) have no element in
 * common in J'J: with the parameters in the order (blocks of such levels, the
 * rest) it is
 *
 *   | A_1         B_1 |
 *   |     A_2     B_2 |
 *   |         ..   .. |
 *   | B_1' B_2' .. C  |
 *
 * so that the blocks are eliminated one by one and the rest follows from the
 * Schur complement C - sum B_k' A_k^-1 B_k (Bjorck 1996, Numerical Methods for
 * Least Squares Problems, section 6.3). The cost grows with the number of
 * configurations, not with the square of the number of levels. */

#ifndef DL_PHYSICS_NORMAL_EQUATIONS_H
#define DL_PHYSICS_NORMAL_EQUATIONS_H

#include "physics/observations.h"

/* Configurations that share levels to eliminate. */
struct dl_equation_block {
  size_t first, n;             /* configurations, in `order` */
  size_t n_eliminated, n_rest; /* parameters */
  size_t *param;               /* those eliminated, then the rest; ascending */
  size_t factor;               /* where (n_eliminated + n_rest) x n_eliminated
                                  numbers are in `factors` */
};

struct dl_normal_equations {
  const struct dl_parameter_map *map;
  size_t *order; /* configurations by block, owned */
  size_t *local; /* configs x n_factors: number of each level's first parameter
                    in its block, owned */
  struct dl_equation_block *block; /* owned */
  size_t n_blocks;
  size_t *rest; /* p: number among the rest, or SIZE_MAX; owned */
  size_t n_rest, largest, n_factors; /* sizes of what follows */
  /* Numbers of one solver, owned by it. */
  const bool *known; /* p: others are left as they are; borrowed */
  gsl_matrix *S;
  gsl_vector *s; /* of the rest */
  double *y;     /* p: right-hand sides of those eliminated */
  double *factors;
  double *A, *b, *column; /* of one block */
  double *g;              /* p: gradient */
};

/* Makes the structure. Which factors are eliminated is chosen by the number of
 * their levels; with `dense` none is. False: memory is out. */
bool dl_normal_equations_make(struct dl_normal_equations *e,
                              const struct dl_parameter_map *map, bool dense);
void dl_normal_equations_free(struct dl_normal_equations *e);

/* Borrows a structure for numbers of its own. False: memory is out. */
bool dl_normal_equations_begin(struct dl_normal_equations *e,
                               const struct dl_normal_equations *structure,
                               const bool *known);
void dl_normal_equations_end(struct dl_normal_equations *e);

/* What the equations weigh: measurements against priors. Borrowed. */
struct dl_weighed_terms {
  const struct dl_measurement *m;
  const double *precision;  /* n_measurements: 1 / sd; 0: not used */
  const double *prior_mean; /* p */
  const double *prior;      /* p: 1 / variance about prior_mean */
};

/* Sets up the equations at theta. damping: times the diagonal, added to it.
 * Returns the sum of the squares, NaN or infinite where the physics has no
 * finite value. */
double dl_normal_equations_sum(struct dl_normal_equations *e,
                               const struct dl_weighed_terms *of,
                               const double *theta, double damping);

/* Solves for the Gauss-Newton step; returns minus its product with the
 * gradient, the decrease of the squares that a linear model expects, or NaN
 * where the equations are singular. */
double dl_normal_equations_solve(struct dl_normal_equations *e, double *step);

#endif
