/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hierarchical nonlinear least squares: constants and random effects of a
 * physics from measured configurations.
 *
 * The mode of the posterior minimises
 *
 *   sum ((f(theta) - y) / s)^2 + sum ((theta - prior mean) / prior sd)^2
 *
 * over the measured logarithms y of all targets, with s the standard deviation
 * of a residual and the row's own in quadrature. Levenberg's and Marquardt's
 * method finds it (solver/minimise.h). The residual process models what remains
 * (residual_gp.h).
 *
 * The problem is set up once per table. Rows can then be held out of it
 * (hold_out.h). */

#ifndef DL_PHYSICS_HIERARCHICAL_PROBLEM_H
#define DL_PHYSICS_HIERARCHICAL_PROBLEM_H

#include <gsl/gsl_matrix.h>

#include "base/diag.h"
#include "physics/solver/cell_products.h"

/* A solution. All arrays are owned. */
struct dl_hierarchical_solution {
  struct dl_weighed_terms terms; /* what it was fitted to */
  double *theta;                 /* p */
};

/* Predictions of rows held out in folds: of all targets, as one fit gives them
 * all. */
struct dl_fold_predictions {
  bool auxiliary; /* rows: the auxiliary ones, else the table's own */
  size_t n, k;    /* rows, folds */
  size_t *of_row; /* n: fold of each, owned */
  double *y;      /* n x n_targets: logarithms, owned */
  struct dl_fold_predictions *next;
};

struct dl_hierarchical_problem {
  const struct dl_physics *physics;
  struct dl_observations rows;
  /* The rows of a problem that dl_table_problem made; owned, NULL in others. */
  struct dl_observed *own_row;
  gsl_vector *own_weight;
  size_t *input; /* rows.n: number of each row's inputs among the distinct ones,
                  */
  size_t n_inputs;                      /* of which there are so many */
  struct dl_fold_predictions *held_out; /* a list, owned */
  struct dl_hierarchical_problem *next; /* another problem of the table */

  struct dl_configurations configs;
  struct dl_intern names; /* of the levels */
  struct dl_levels by[DL_MAX_FACTORS];
  struct dl_parameter_map map;
  struct dl_equation_blocks blocks;

  /* The solution for all rows, by dl_full_solution_get. It does not depend on
   * whose residuals are learnt: fits of all targets and fits that hold rows out
   * share it. All of it is owned. */
  struct dl_hierarchical_solution full;
  gsl_matrix *full_cov;                   /* p x p; NULL: not solved */
  struct dl_cell_products full_curvature; /* second derivatives, if requested */
};

/* Borrows the rows. */
void dl_hierarchical_problem_make(struct dl_hierarchical_problem *q,
                                  const struct dl_physics *physics,
                                  const struct dl_observations *rows);

/* Sets up the configurations of a problem of which the rows alone are known. */
void dl_hierarchical_problem_set_up(struct dl_hierarchical_problem *q);

void dl_hierarchical_problem_free(struct dl_hierarchical_problem *q);

/* Start of a solution. Borrowed. */
struct dl_hierarchical_start {
  /* p: a solution that has not seen the rows that are held out either, as
   * another start may end at another optimum; NULL: the prior. */
  const double *theta;
  /* Second derivatives at the solution for all rows: steps that need fewer
   * evaluations end at that optimum. NULL: unknown. */
  const struct dl_cell_products *curvature;
};

/* The weight of a measurement: 1 / variance. */
double dl_measurement_precision(const struct dl_hierarchical_problem *q,
                                const struct dl_measurement *m);

/* Solves for the rows that are not `out` (NULL: none is). start: NULL: the
 * prior. cov: p x p, or NULL. Error (DL_EINPUT): no finite residual at the
 * start. */
enum dl_status dl_hierarchical_solve(struct dl_hierarchical_solution *s,
                                     const struct dl_hierarchical_problem *q,
                                     const bool *out,
                                     const struct dl_hierarchical_start *start,
                                     gsl_matrix *cov, struct dl_diag *d);

void dl_hierarchical_solution_free(struct dl_hierarchical_solution *s);

/* Solves for all rows, unless that was done before. curvature: that is needed
 * too. */
enum dl_status dl_full_solution_get(struct dl_hierarchical_problem *q,
                                    bool curvature, struct dl_diag *d);

/* Learns the residuals of the configurations' own targets: of the auxiliary
 * ones the first that was measured, of the others `target`. wanted: of those
 * for which wanted[config], or NULL: all. Rows whose measurement is uncertain
 * inform the constants alone. */
enum dl_status
dl_hierarchical_residuals(struct dl_residual_gp *gp,
                          const struct dl_hierarchical_problem *q,
                          const struct dl_hierarchical_solution *s,
                          size_t target, const bool *wanted, struct dl_diag *d);

#endif
