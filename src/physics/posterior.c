/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/posterior.h"

#include <gsl/gsl_blas.h>
#include <math.h>

#include "base/memory.h"

#define UNIT 1e-6

size_t dl_posterior_size(size_t p) {
  return p * (p + 1) / 2;
}

bool dl_posterior_keep(struct dl_posterior *posterior, const gsl_matrix *L) {
  size_t p = L->size1;
  double *to = dl_calloc(dl_posterior_size(p), sizeof *to);
  if (!to)
    return false;
  *posterior = (struct dl_posterior){to, p};
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j <= i; j++)
      *to++ = round(gsl_matrix_get(L, i, j) / UNIT);
  return true;
}

double dl_posterior_at(const struct dl_posterior *posterior, size_t row,
                       size_t column) {
  return UNIT * posterior->factor[dl_posterior_size(row) + column];
}

void dl_cholesky_semidefinite(gsl_matrix *L, const gsl_matrix *cov) {
  gsl_matrix_set_zero(L);
  for (size_t j = 0; j < L->size1; j++) {
    gsl_vector_const_view mine = gsl_matrix_const_row(L, j);
    for (size_t i = j; i < L->size1; i++) {
      double dot;
      gsl_vector_const_view its = gsl_matrix_const_row(L, i);
      gsl_blas_ddot(&its.vector, &mine.vector, &dot);
      double left = gsl_matrix_get(cov, i, j) - dot;
      if (i == j)
        gsl_matrix_set(L, j, j, left > 1e-10 ? sqrt(left) : 0);
      else if (gsl_matrix_get(L, j, j) > 0)
        gsl_matrix_set(L, i, j, left / gsl_matrix_get(L, j, j));
    }
  }
}
