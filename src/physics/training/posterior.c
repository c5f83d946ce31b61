/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The joint distribution of constants and effects that a fit ends with: normal
 * in the logarithms, about the fitted values. A factor rather than the
 * covariance, so that rounding leaves it one; whole numbers, so that a model
 * file stays short and gives back the same bits. */

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>

#include "physics/training/physical_private.h"

#define UNIT 1e-6

/* Kinds whose effects are in it: the first ones. Doubt about the facts of a
 * network belongs to the tables of the fit. */
enum { N_KINDS = DL_BY_FACTS };

size_t dl_joint_effects(enum dl_bearer kind) {
  size_t n = 0;
  for (size_t i = 0; i < DL_N_EFFECTS; i++)
    n += dl_effect_info((enum dl_effect)i)->by == kind;
  return n;
}

size_t dl_joint_first(const struct dl_physical *s, enum dl_bearer kind) {
  size_t first = DL_N_PHYSICS;
  for (size_t k = 0; k < (size_t)kind && k < N_KINDS; k++)
    first += s->by[k].n * dl_joint_effects((enum dl_bearer)k);
  return first;
}

size_t dl_joint_size(const struct dl_physical *s) {
  return dl_joint_first(s, (enum dl_bearer)N_KINDS);
}

static size_t place(size_t row, size_t column) {
  return row * (row + 1) / 2 + column;
}

double dl_joint_at(const struct dl_joint *joint, size_t row, size_t column) {
  return UNIT * gsl_vector_get(joint->factor, place(row, column));
}

bool dl_joint_keep_factor(struct dl_physical *s, const gsl_matrix *factor) {
  size_t p = factor->size1;
  s->joint.factor = gsl_vector_alloc(place(p, 0));
  if (!s->joint.factor)
    return false;
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j <= i; j++)
      gsl_vector_set(s->joint.factor, place(i, j),
                     round(gsl_matrix_get(factor, i, j) / UNIT));
  return true;
}

enum dl_status dl_joint_keep(struct dl_physical *s, const gsl_matrix *cov,
                             struct dl_diag *d) {
  size_t p = dl_joint_size(s);
  gsl_matrix *factor = gsl_matrix_alloc(p, p);
  if (!factor)
    return dl_fail_memory(d);
  gsl_matrix_const_view block = gsl_matrix_const_submatrix(cov, 0, 0, p, p);
  gsl_matrix_memcpy(factor, &block.matrix);
  enum dl_status status = DL_OK;
  if (gsl_linalg_cholesky_decomp1(factor))
    status = dl_fail(d, DL_EINPUT,
                     "the covariance of the fit is not positive definite");
  else if (!dl_joint_keep_factor(s, factor))
    status = dl_fail_memory(d);
  gsl_matrix_free(factor);
  return status;
}

void dl_joint_factorise(gsl_matrix *L, const gsl_matrix *cov) {
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
