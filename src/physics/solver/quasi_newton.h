/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quasi-Newton steps with limited memory (L-BFGS; Nocedal 1980,
 * doi 10.1090/S0025-5718-1980-0572855-7), started from Gauss's and Newton's
 * matrix in place of a multiple of the identity.
 *
 * Gauss-Newton steps leave the second derivatives of the physics out, and
 * converge linearly where residuals remain. Pairs of a step and the change of
 * the gradient over it correct that matrix. */

#ifndef DL_PHYSICS_SOLVER_QUASI_NEWTON_H
#define DL_PHYSICS_SOLVER_QUASI_NEWTON_H

#include <stddef.h>

enum { DL_MOST_PAIRS = 40 };

struct dl_quasi_newton {
  size_t p, n;   /* parameters, pairs */
  double *s, *y; /* DL_MOST_PAIRS x p: steps and changes, newest last; owned */
  double *inverse; /* DL_MOST_PAIRS: 1 / s'y, owned */
};

void dl_quasi_newton_make(struct dl_quasi_newton *q, size_t p);
void dl_quasi_newton_free(struct dl_quasi_newton *q);

/* Keeps a step and the change of the gradient over it, if the curvature along
 * it is positive. */
void dl_quasi_newton_add(struct dl_quasi_newton *q, const double *step,
                         const double *from, const double *to);

/* The step at gradient g; solve divides x (p) by the matrix that the pairs
 * correct. Returns the decrease of the squares that a quadratic model expects.
 */
double dl_quasi_newton_step(const struct dl_quasi_newton *q,
                            void (*solve)(void *ctx, double *x), void *ctx,
                            const double *g, double *step);

#endif
