/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The normal equations of a hierarchical fit, J'J and J'r with the priors, set
 * up and solved by their block structure (equation_blocks.h).
 *
 * The blocks A_k are eliminated one by one by Cholesky's factors, and the rest
 * follows from the Schur complement C - sum B_k' A_k^-1 B_k (Bjorck 1996,
 * Numerical Methods for Least Squares Problems, section 6.3). The cost grows
 * with the number of configurations, not with the square of the number of
 * levels. */

#ifndef DL_PHYSICS_SOLVER_NORMAL_EQUATIONS_H
#define DL_PHYSICS_SOLVER_NORMAL_EQUATIONS_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "physics/solver/equation_blocks.h"

/* What is minimised: the squares of measurements and priors. Borrowed. */
struct dl_weighed_terms {
  const struct dl_measurement *m;
  const double *precision;  /* n_measurements: 1 / sd; 0: not used */
  const double *prior_mean; /* p */
  const double *prior;      /* p: 1 / variance about prior_mean */
  const bool *known;        /* p: others are left as they are */
};

struct dl_normal_equations {
  const struct dl_equation_blocks *blocks; /* borrowed */
  const struct dl_weighed_terms *terms;    /* borrowed */
  gsl_matrix *S;   /* of the rest: the Schur complement, then its factor */
  gsl_vector *s;   /* of the rest */
  double *factors; /* of the blocks */
  double *A;       /* of one block */
  double *panel;   /* of one block, transposed */
};

/* Allocates. False: memory is out. */
bool dl_normal_equations_make(struct dl_normal_equations *e,
                              const struct dl_equation_blocks *blocks,
                              const struct dl_weighed_terms *terms);
void dl_normal_equations_free(struct dl_normal_equations *e);

/* The sum of the squares at theta, and half its gradient into g (p). NaN or
 * infinite where the physics has no finite value. */
double dl_normal_equations_gradient(const struct dl_normal_equations *e,
                                    const double *theta, double *g);

/* The same, and sets up the equations. damping: times the diagonal, added to
 * it. */
double dl_normal_equations_sum(struct dl_normal_equations *e,
                               const double *theta, double damping, double *g);

/* Factorises what dl_normal_equations_sum has set up. False: it is singular. */
bool dl_normal_equations_factor(struct dl_normal_equations *e);

/* Replaces x (p) by its solution. */
void dl_normal_equations_solve(struct dl_normal_equations *e, double *x);

#endif
