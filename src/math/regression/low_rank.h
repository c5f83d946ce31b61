/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to src/math: kernel ridge regression on features of the kernel.
 *
 * A Gaussian kernel matrix of m points on few features has a numerical rank r
 * far below m. Cholesky factorisation with complete pivoting finds r points
 * (pivots) and L (m x r) with K = L L' to rounding (Fine, Scheinberg,
 * "Efficient SVM training using low-rank kernel representations", JMLR 2,
 * 2001). Kernel ridge regression then is ridge regression on the r features,
 *
 *   beta = (L'WL + alpha I)^-1 L'Wy,  f = F beta
 *
 * with F = K_zP L_P^-T, the features of the rows Z that are predicted. */

#ifndef DL_MATH_REGRESSION_LOW_RANK_H
#define DL_MATH_REGRESSION_LOW_RANK_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stdbool.h>
#include <stddef.h>

struct dl_low_rank {
  /* Borrowed: */
  const gsl_matrix *X, *Z; /* m x p: distinct points; q x p: to be predicted */
  const gsl_vector *w, *y; /* m: weights, targets */
  /* For one gamma; the first `rank` columns count. Owned: */
  size_t rank;
  size_t *pivot;    /* most: rows of X */
  gsl_matrix *L;    /* m x most */
  gsl_matrix *F;    /* q x most */
  gsl_matrix *B;    /* m x most: W^1/2 L */
  gsl_matrix *G;    /* most x most: L'WL, lower triangle */
  gsl_matrix *A;    /* most x most: system for one alpha */
  gsl_vector *b;    /* most: L'Wy */
  gsl_vector *beta; /* most */
};

/* Makes room for `most` features; the caller has set X, Z, w and y. */
void dl_low_rank_alloc(struct dl_low_rank *l, size_t most);
void dl_low_rank_free(struct dl_low_rank *l);

/* Factorises the kernel matrix for gamma until no diagonal element of what is
 * left exceeds the unit of rounding (LAPACK's dpstrf stops at m units, which a
 * small alpha would amplify to the eighth digit of the predictions), and works
 * out what all alphas share. False: more features are needed. */
bool dl_low_rank_factorise(struct dl_low_rank *l, double gamma);

/* Predictions f (q) for alpha; a GSL error number where the system is not
 * positive definite. */
int dl_low_rank_predict(struct dl_low_rank *l, double alpha, gsl_vector *f);

#endif
