/* SPDX-License-Identifier: GPL-3.0-or-later */
/* L-BFGS by its two loops. */

#include "physics/solver/quasi_newton.h"

#include <gsl/gsl_cblas.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The least s'y / y'y of a pair. */
#define LEAST_CURVATURE 1e-12

void dl_quasi_newton_make(struct dl_quasi_newton *q, size_t p) {
  *q = (struct dl_quasi_newton){
      .p = p,
      .s = dl_calloc(DL_MOST_PAIRS * p, sizeof *q->s),
      .y = dl_calloc(DL_MOST_PAIRS * p, sizeof *q->y),
      .inverse = dl_calloc(DL_MOST_PAIRS, sizeof *q->inverse)};
}

void dl_quasi_newton_free(struct dl_quasi_newton *q) {
  free(q->s);
  free(q->y);
  free(q->inverse);
}

static void drop_oldest(struct dl_quasi_newton *q) {
  q->n--;
  memmove(q->s, q->s + q->p, q->n * q->p * sizeof *q->s);
  memmove(q->y, q->y + q->p, q->n * q->p * sizeof *q->y);
  memmove(q->inverse, q->inverse + 1, q->n * sizeof *q->inverse);
}

/* Keeps the pair behind those there are. */
static void keep(struct dl_quasi_newton *q) {
  int p = (int)q->p;
  const double *s = q->s + q->n * q->p, *y = q->y + q->n * q->p;
  double curvature = cblas_ddot(p, s, 1, y, 1);
  if (curvature > LEAST_CURVATURE * cblas_ddot(p, y, 1, y, 1))
    q->inverse[q->n++] = 1 / curvature;
}

void dl_quasi_newton_add(struct dl_quasi_newton *q, const double *step,
                         const double *from, const double *to) {
  if (q->n == DL_MOST_PAIRS)
    drop_oldest(q);
  for (size_t i = 0; i < q->p; i++) {
    q->s[q->n * q->p + i] = step[i];
    q->y[q->n * q->p + i] = to[i] - from[i];
  }
  keep(q);
}

double dl_quasi_newton_step(const struct dl_quasi_newton *q,
                            void (*solve)(void *ctx, double *x), void *ctx,
                            const double *g, double *step) {
  double a[DL_MOST_PAIRS];
  int p = (int)q->p;
  memcpy(step, g, q->p * sizeof *step);
  for (size_t i = q->n; i-- > 0;) {
    a[i] = q->inverse[i] * cblas_ddot(p, q->s + i * q->p, 1, step, 1);
    cblas_daxpy(p, -a[i], q->y + i * q->p, 1, step, 1);
  }
  solve(ctx, step);
  for (size_t i = 0; i < q->n; i++) {
    double b = q->inverse[i] * cblas_ddot(p, q->y + i * q->p, 1, step, 1);
    cblas_daxpy(p, a[i] - b, q->s + i * q->p, 1, step, 1);
  }
  double decrease = cblas_ddot(p, g, 1, step, 1);
  for (size_t i = 0; i < q->p; i++)
    step[i] = -step[i];
  return decrease;
}
