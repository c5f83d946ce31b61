/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inverse of the covariance K of measured residuals, by its structure.
 *
 * Residuals on different GPUs are independent (residual_gp.h). On one GPU
 *
 *   K = D + U U'
 *
 * where D is block diagonal, a block for each architecture, and U U' is what
 * architectures have in common (dl_residual_in_common). That is a smooth
 * function of few coordinates, hence of low rank: U is its pivoted Cholesky
 * factor, which ends where no variance left over is above 1e-12 of the largest
 * (Harbrecht, Peters & Schneider 2012, doi 10.1016/j.apnum.2011.10.001). By
 * Woodbury's identity
 *
 *   K^-1 = D^-1 - Y Y',   Y = D^-1 U C^-T,   C C' = I + U' D^-1 U
 *
 * so that n measurements take time and memory in proportion to n where the
 * blocks and the rank do not grow. */

#ifndef DL_PHYSICS_CALIBRATION_RESIDUAL_PRECISION_H
#define DL_PHYSICS_CALIBRATION_RESIDUAL_PRECISION_H

#include "physics/residual_gp.h"

/* n points from `first` on in gp->order: of a GPU, or of one architecture on it
 * (a block of that GPU's). */
struct dl_precision_part {
  size_t first, n;
  size_t first_block, n_blocks; /* of a GPU */
  gsl_matrix *R; /* of a block, n x n: lower factor of its part of D, owned */
  gsl_matrix *Y; /* of a GPU, n x rank, owned; NULL for rank 0 */
};

struct dl_residual_precision {
  const struct dl_residual_gp *gp;           /* the points, borrowed */
  const struct dl_residual_process *process; /* while K is factored */
  const double *noise;                       /* likewise */
  struct dl_precision_part *block;
  struct dl_precision_part *group;
  size_t n_blocks, n_groups;
};

/* Factors K of the points of a sorted gp; noise: what is added to the variance
 * of each. Start from {0}. Error (DL_EINPUT): K is singular. */
enum dl_status
dl_residual_precision_make(struct dl_residual_precision *k,
                           const struct dl_residual_gp *gp,
                           const struct dl_residual_process *process,
                           const double *noise, struct dl_diag *d);
void dl_residual_precision_free(struct dl_residual_precision *k);

/* x (a value for each point, in their order) becomes K^-1 x. */
void dl_residual_precision_apply(const struct dl_residual_precision *k,
                                 double *x);

/* The rows and columns of K^-1 of m points of group g, given by ascending
 * places in gp->order, into out (m x m). */
void dl_residual_precision_among(const struct dl_residual_precision *k,
                                 size_t g, const size_t *place, size_t m,
                                 gsl_matrix *out);

#endif
