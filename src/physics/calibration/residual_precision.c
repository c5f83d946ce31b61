/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inverse of the covariance of residuals. */

#include "physics/calibration/residual_precision.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"

/* Variances left over by the pivoted Cholesky factorisation, relative. */
#define LEFT_OVER 1e-12

static const struct dl_residual_point *point_at(const struct dl_residual_gp *gp,
                                                size_t place) {
  return &gp->point[gp->order[place]];
}

/* Divides the sorted points into groups and blocks. */
static void divide(struct dl_residual_precision *k) {
  const struct dl_residual_gp *gp = k->gp;
  k->block = dl_calloc(gp->n, sizeof *k->block);
  k->group = dl_calloc(gp->n, sizeof *k->group);
  for (size_t i = 0; i < gp->n; i++) {
    const struct dl_place *p = &point_at(gp, i)->place;
    const struct dl_place *before = i ? &point_at(gp, i - 1)->place : NULL;
    bool new_group = !before || before->gpu != p->gpu;
    if (new_group)
      k->group[k->n_groups++] =
          (struct dl_precision_part){.first = i, .first_block = k->n_blocks};
    if (new_group || before->arch != p->arch) {
      k->block[k->n_blocks++] = (struct dl_precision_part){.first = i};
      k->group[k->n_groups - 1].n_blocks++;
    }
    k->block[k->n_blocks - 1].n++;
    k->group[k->n_groups - 1].n++;
  }
}

/* The covariance that points a and b have in common, less the part that columns
 * 0 to r - 1 of the factor explain. */
static double left_over(const struct dl_residual_precision *k,
                        const gsl_matrix *U, size_t r,
                        const struct dl_precision_part *g, size_t a, size_t b) {
  const struct dl_residual_gp *gp = k->gp;
  double x = dl_residual_in_common(k->process, point_at(gp, g->first + a),
                                   point_at(gp, g->first + b));
  const double *u = gsl_matrix_const_ptr(U, a, 0);
  const double *v = gsl_matrix_const_ptr(U, b, 0);
  for (size_t j = 0; j < r; j++)
    x -= u[j] * v[j];
  return x;
}

/* Room for twice as many columns, `most` at most. */
static gsl_matrix *widen(gsl_matrix *U, size_t most) {
  size_t columns = 2 * U->size2 < most ? 2 * U->size2 : most;
  gsl_matrix *wide = gsl_matrix_calloc(U->size1, columns);
  gsl_matrix_view part = gsl_matrix_submatrix(wide, 0, 0, U->size1, U->size2);
  gsl_matrix_memcpy(&part.matrix, U);
  gsl_matrix_free(U);
  return wide;
}

/* U of a group, by pivots of the largest variance left over; *rank columns of
 * it are set. */
static gsl_matrix *factor_in_common(const struct dl_residual_precision *k,
                                    const struct dl_precision_part *g,
                                    size_t *rank) {
  size_t n = g->n, r = 0;
  gsl_matrix *U = gsl_matrix_calloc(n, n < 16 ? n : 16);
  double *variance = dl_calloc(n, sizeof *variance), most = 0;
  for (size_t i = 0; i < n; i++) {
    variance[i] = left_over(k, U, 0, g, i, i);
    most = fmax(most, variance[i]);
  }
  for (; r < n; r++) {
    size_t pivot = 0;
    for (size_t i = 1; i < n; i++)
      if (variance[i] > variance[pivot])
        pivot = i;
    if (!(variance[pivot] > LEFT_OVER * most))
      break;
    if (r == U->size2)
      U = widen(U, n);
    double root = sqrt(variance[pivot]);
    for (size_t i = 0; i < n; i++) {
      double u = left_over(k, U, r, g, i, pivot) / root;
      variance[i] -= u * u;
      gsl_matrix_set(U, i, r, u);
    }
    variance[pivot] = 0;
  }
  free(variance);
  *rank = r;
  return U;
}

/* The factor of a block of D: the covariance without what is in common. */
static int factor_block(const struct dl_residual_precision *k,
                        struct dl_precision_part *b) {
  const struct dl_residual_gp *gp = k->gp;
  b->R = gsl_matrix_alloc(b->n, b->n);
  for (size_t i = 0; i < b->n; i++) {
    const struct dl_residual_point *p = point_at(gp, b->first + i);
    for (size_t j = 0; j <= i; j++) {
      const struct dl_residual_point *q = point_at(gp, b->first + j);
      gsl_matrix_set(b->R, i, j, dl_residual_in_pair(k->process, p, q));
    }
    *gsl_matrix_ptr(b->R, i, i) += k->noise[gp->order[b->first + i]];
  }
  return gsl_linalg_cholesky_decomp1(b->R);
}

/* R^-1 (CblasNoTrans) or R^-T (CblasTrans) times the rows of each block. */
static void solve_blocks(const struct dl_residual_precision *k,
                         const struct dl_precision_part *g,
                         CBLAS_TRANSPOSE_t how, gsl_matrix *rows) {
  for (size_t i = 0; i < g->n_blocks; i++) {
    const struct dl_precision_part *b = &k->block[g->first_block + i];
    gsl_matrix_view part =
        gsl_matrix_submatrix(rows, b->first - g->first, 0, b->n, rows->size2);
    gsl_blas_dtrsm(CblasLeft, CblasLower, how, CblasNonUnit, 1, b->R,
                   &part.matrix);
  }
}

/* U (its first `rank` columns) becomes Y, a new matrix. */
static int factor_group(const struct dl_residual_precision *k,
                        struct dl_precision_part *g, gsl_matrix *U,
                        size_t rank) {
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *C = gsl_matrix_alloc(rank, rank);
  gsl_matrix_const_view used = gsl_matrix_const_submatrix(U, 0, 0, g->n, rank);
  g->Y = gsl_matrix_alloc(g->n, rank);
  gsl_matrix_memcpy(g->Y, &used.matrix);
  solve_blocks(k, g, CblasNoTrans, g->Y);
  gsl_matrix_set_identity(C);
  gsl_blas_dsyrk(CblasLower, CblasTrans, 1, g->Y, 1, C);
  int gsl = gsl_linalg_cholesky_decomp1(C);
  if (!gsl) {
    gsl_blas_dtrsm(CblasRight, CblasLower, CblasTrans, CblasNonUnit, 1, C,
                   g->Y);
    solve_blocks(k, g, CblasTrans, g->Y);
  }
  return gsl;
}

enum dl_status
dl_residual_precision_make(struct dl_residual_precision *k,
                           const struct dl_residual_gp *gp,
                           const struct dl_residual_process *process,
                           const double *noise, struct dl_diag *d) {
  int gsl = 0;
  k->gp = gp;
  k->process = process;
  k->noise = noise;
  divide(k);
  for (size_t i = 0; !gsl && i < k->n_blocks; i++)
    gsl = factor_block(k, &k->block[i]);
  for (size_t i = 0; !gsl && i < k->n_groups; i++) {
    size_t rank;
    DL_SCOPED(gsl_matrix_free_local)
    gsl_matrix *U = factor_in_common(k, &k->group[i], &rank);
    if (rank > 0)
      gsl = factor_group(k, &k->group[i], U, rank);
  }
  return gsl ? dl_fail(d, DL_EINPUT, "covariance of the runs: %s",
                       gsl_strerror(gsl))
             : DL_OK;
}

void dl_residual_precision_free(struct dl_residual_precision *k) {
  for (size_t i = 0; i < k->n_blocks; i++)
    gsl_matrix_free(k->block[i].R);
  for (size_t i = 0; i < k->n_groups; i++)
    gsl_matrix_free(k->group[i].Y);
  free(k->block);
  free(k->group);
}

/* K^-1 x of a group: D^-1 x - Y (Y' x). */
static void apply_group(const struct dl_residual_precision *k,
                        const struct dl_precision_part *g, double *x) {
  const size_t *order = k->gp->order + g->first;
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *rows = gsl_matrix_alloc(g->n, 1);
  gsl_vector_view v = gsl_matrix_column(rows, 0);
  DL_SCOPED(gsl_vector_free_local)
  gsl_vector *t = g->Y ? gsl_vector_alloc(g->Y->size2) : NULL;
  for (size_t i = 0; i < g->n; i++)
    gsl_vector_set(&v.vector, i, x[order[i]]);
  if (t)
    gsl_blas_dgemv(CblasTrans, 1, g->Y, &v.vector, 0, t);
  solve_blocks(k, g, CblasNoTrans, rows);
  solve_blocks(k, g, CblasTrans, rows);
  if (t)
    gsl_blas_dgemv(CblasNoTrans, -1, g->Y, t, 1, &v.vector);
  for (size_t i = 0; i < g->n; i++)
    x[order[i]] = gsl_vector_get(&v.vector, i);
}

void dl_residual_precision_apply(const struct dl_residual_precision *k,
                                 double *x) {
  for (size_t i = 0; i < k->n_groups; i++)
    apply_group(k, &k->group[i], x);
}

/* Subtracts the products of the rows of Y. */
static void subtract_in_common(const struct dl_precision_part *g,
                               const size_t *place, size_t m, gsl_matrix *out) {
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *rows = gsl_matrix_alloc(m, g->Y->size2);
  for (size_t i = 0; i < m; i++) {
    gsl_vector_const_view row = gsl_matrix_const_row(g->Y, place[i] - g->first);
    gsl_matrix_set_row(rows, i, &row.vector);
  }
  gsl_blas_dsyrk(CblasLower, CblasNoTrans, -1, rows, 1, out);
}

/* Rows and columns of D^-1 of a block: T'T, where T has columns of R^-1. */
static void among_block(const struct dl_precision_part *b, const size_t *place,
                        size_t m, gsl_matrix *out) {
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *T = gsl_matrix_calloc(b->n, m);
  for (size_t i = 0; i < m; i++)
    gsl_matrix_set(T, place[i] - b->first, i, 1);
  gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, b->R, T);
  gsl_blas_dsyrk(CblasLower, CblasTrans, 1, T, 0, out);
}

void dl_residual_precision_among(const struct dl_residual_precision *k,
                                 size_t g, const size_t *place, size_t m,
                                 gsl_matrix *out) {
  const struct dl_precision_part *group = &k->group[g];
  gsl_matrix_set_zero(out);
  for (size_t i = 0, at = 0; i < group->n_blocks; i++) {
    const struct dl_precision_part *b = &k->block[group->first_block + i];
    size_t end = at;
    while (end < m && place[end] < b->first + b->n)
      end++;
    if (end > at) {
      gsl_matrix_view part =
          gsl_matrix_submatrix(out, at, at, end - at, end - at);
      among_block(b, place + at, end - at, &part.matrix);
    }
    at = end;
  }
  if (group->Y)
    subtract_in_common(group, place, m, out);
}
