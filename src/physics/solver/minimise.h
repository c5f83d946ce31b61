/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Minimises the squares of a hierarchical fit.
 *
 * Far from the minimum by Levenberg's and Marquardt's method (More 1978,
 * doi 10.1007/BFb0067700), with the equations set up in each step. Near to it
 * the equations are kept, or second derivatives are taken in their place, and
 * quasi-Newton steps (quasi_newton.h) take a gradient each. */

#ifndef DL_PHYSICS_SOLVER_MINIMISE_H
#define DL_PHYSICS_SOLVER_MINIMISE_H

#include "base/diag.h"
#include "physics/solver/normal_equations.h"

/* Moves theta (p) to the minimum. near: theta is the minimum of a part of the
 * terms. curvature: second derivatives by cell at a point near to the minimum,
 * which save steps and do not move it; or NULL. Errors (DL_EINPUT): no finite
 * residual at the start, or singular equations. */
enum dl_status dl_minimise(double *theta, bool near,
                           const struct dl_cell_products *curvature,
                           const struct dl_equation_blocks *blocks,
                           const struct dl_weighed_terms *terms,
                           struct dl_diag *d);

#endif
