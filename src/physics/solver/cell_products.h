/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The squares of a hierarchical fit and their derivatives, cell by cell
 * (equation_blocks.h).
 *
 * Cells are worked on by several threads and added up in their order: results
 * do not depend on the number of threads. */

#ifndef DL_PHYSICS_SOLVER_CELL_PRODUCTS_H
#define DL_PHYSICS_SOLVER_CELL_PRODUCTS_H

#include "physics/solver/equation_blocks.h"

/* Terms that are minimised: the squares of measurements and priors. */
struct dl_weighed_terms {
  struct dl_measurement *m;
  double *precision;  /* n_measurements: 1 / sd; 0: not used */
  double *prior_mean; /* p */
  double *prior;      /* p: 1 / variance about prior_mean */
  bool *known; /* p: those that the rows say something of; others are left as
                  they are, at 0 */
};

/* A symmetric matrix of each cell, of its columns in which it is not 0. */
struct dl_cell_products {
  struct dl_cell_product {
    size_t n;
    unsigned char column[DL_MAX_COLUMNS]; /* n: in dl_equation_columns */
    double squares, b[DL_MAX_COLUMNS];    /* r'r, and J'r by column */
  } * cell;                               /* n_cells, owned */
  double *H; /* `room` numbers a cell: the lower half by rows; owned */
  size_t room;
};

void dl_cell_products_make(struct dl_cell_products *products,
                           const struct dl_equation_blocks *blocks);
void dl_cell_products_free(struct dl_cell_products *products);

/* Whether any measurement of a configuration is used. */
bool dl_config_is_used(const struct dl_configurations *configs,
                       const struct dl_weighed_terms *terms, size_t config);

/* The sum of the squares at theta. NaN or infinite where the physics has no
 * finite value. */
double dl_squares_at(const struct dl_equation_blocks *blocks,
                     const struct dl_weighed_terms *terms, const double *theta);

/* Likewise, with half its gradient into g (p), J'r and, if `second`, J'J. */
double dl_products_at(struct dl_cell_products *products,
                      const struct dl_equation_blocks *blocks,
                      const struct dl_weighed_terms *terms, const double *theta,
                      bool second, double *g);

/* The second derivatives of half the squares of the measurements in place of
 * J'J, by differences of the gradient. */
void dl_curvature_at(struct dl_cell_products *products,
                     const struct dl_equation_blocks *blocks,
                     const struct dl_weighed_terms *terms, const double *theta);

#endif
