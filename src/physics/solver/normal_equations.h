/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The normal equations of a hierarchical fit, J'J and J'r with the priors, set
 * up and solved by their block structure (equation_blocks.h).
 *
 * The blocks A_k are eliminated one by one by Cholesky's factors, and the rest
 * follows from the Schur complement C - sum B_k' A_k^-1 B_k (Bjorck 1996,
 * Numerical Methods for Least Squares Problems, section 6.3). The cost grows
 * with the number of configurations, not with the square of the number of
 * levels.
 *
 * Products are kept by cell, so that other damping, or a fit without some
 * cells, evaluates the physics no more. */

#ifndef DL_PHYSICS_SOLVER_NORMAL_EQUATIONS_H
#define DL_PHYSICS_SOLVER_NORMAL_EQUATIONS_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "physics/solver/cell_products.h"

struct dl_normal_equations {
  const struct dl_equation_blocks *blocks; /* borrowed */
  const struct dl_weighed_terms *terms;    /* borrowed */
  struct dl_cell_products products;        /* J'J and J'r */
  gsl_matrix *S;   /* of the rest: the Schur complement, then its factor */
  gsl_vector *s;   /* of the rest */
  double *factors; /* of the blocks */
  double *A;       /* of one block */
  double *panel;   /* of one block, transposed */
};

void dl_normal_equations_make(struct dl_normal_equations *e,
                              const struct dl_equation_blocks *blocks,
                              const struct dl_weighed_terms *terms);
void dl_normal_equations_free(struct dl_normal_equations *e);

/* The sum of the squares at theta, and half its gradient into g (p). NaN or
 * infinite where the physics has no finite value. */
double dl_normal_equations_gradient(struct dl_normal_equations *e,
                                    const double *theta, double *g);

/* The gradient as above, and the products. */
double dl_normal_equations_sum(struct dl_normal_equations *e,
                               const double *theta, double *g);

/* Sets up the equations of products and priors, and factorises them. Products
 * may have more rows than are used: a cell counts by the share of its
 * configurations that are. damping: times the diagonal, added to it. False: the
 * equations are singular. */
bool dl_normal_equations_factor(struct dl_normal_equations *e,
                                const struct dl_cell_products *products,
                                double damping);

/* Replaces x (p) by its solution. */
void dl_normal_equations_solve(struct dl_normal_equations *e, double *x);

/* The inverse of the products and the priors, into cov (p x p): the covariance
 * of the fit. It is dense, and so are its equations here: it is found once for
 * each fit of all rows. False: they are singular. */
bool dl_normal_equations_invert(const struct dl_normal_equations *e,
                                gsl_matrix *cov);

#endif
