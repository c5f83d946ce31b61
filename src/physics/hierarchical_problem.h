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
 * method finds it (More 1978, doi 10.1007/BFb0067700), with steps from
 * normal_equations.h. The residual process models what remains
 * (residual_gp.h).
 *
 * The problem is set up once per table. Rows can then be held out of it: such a
 * fit begins at the optimum of all rows. */

#ifndef DL_PHYSICS_HIERARCHICAL_PROBLEM_H
#define DL_PHYSICS_HIERARCHICAL_PROBLEM_H

#include "physics/normal_equations.h"

struct dl_hierarchical_problem {
  const struct dl_physics *physics;
  struct dl_observations rows;
  struct dl_configurations configs;
  struct dl_intern names; /* of the levels */
  struct dl_levels by[DL_MAX_FACTORS];
  struct dl_parameter_map map;
  struct dl_normal_equations equations; /* their structure */
};

/* Borrows the rows. False: memory is out. */
bool dl_hierarchical_problem_make(struct dl_hierarchical_problem *q,
                                  const struct dl_physics *physics,
                                  const struct dl_observations *rows);
void dl_hierarchical_problem_free(struct dl_hierarchical_problem *q);

/* A solution. All arrays are owned. */
struct dl_hierarchical_solution {
  struct dl_measurement *m; /* what it was fitted to */
  double *theta;            /* p */
  bool *known; /* p: parameters that the rows say something of; others are 0 */
};

/* Solves for the rows that are not `out` (NULL: none is), beginning at the
 * prior: a start that has seen the rows that are out may end at another
 * optimum. cov: p x p, or NULL. Error (DL_EINPUT): no finite residual at the
 * start. */
enum dl_status dl_hierarchical_solve(struct dl_hierarchical_solution *s,
                                     const struct dl_hierarchical_problem *q,
                                     const bool *out, gsl_matrix *cov,
                                     struct dl_diag *d);
void dl_hierarchical_solution_free(struct dl_hierarchical_solution *s);

/* Learns the residuals of the configurations' own targets: of the auxiliary
 * ones the first that was measured, of the others `target`. wanted: of those
 * on GPUs and architectures for which wanted[config], or NULL: all. Rows whose
 * measurement is uncertain inform the constants alone. */
enum dl_status
dl_hierarchical_residuals(struct dl_residual_gp *gp,
                          const struct dl_hierarchical_problem *q,
                          const struct dl_hierarchical_solution *s,
                          size_t target, const bool *wanted, struct dl_diag *d);

/* Fits without the rows that are `out` and predicts their configurations: y,
 * configs.n x n_targets, each target as a fit of it would. */
enum dl_status dl_hold_out(const struct dl_hierarchical_problem *q,
                           const bool *out, double *y, struct dl_diag *d);

/* Marks in `out` (n rows), where own rows are marked already, the auxiliary
 * rows that are to be held out with them: those of a GPU, an architecture or a
 * source of which all own rows are out. False: memory is out. */
bool dl_hold_out_auxiliary(const struct dl_hierarchical_problem *q, bool *out);

#endif
