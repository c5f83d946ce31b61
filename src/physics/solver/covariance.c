/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inverse of the normal equations, block by block. */

#include "physics/solver/covariance.h"

#include <gsl/gsl_linalg.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

/* What is worked on. */
struct work {
  const struct dl_normal_equations *e;
  gsl_matrix *cov;
  gsl_matrix *C;   /* of the rest, in its order; owned */
  double *W;       /* as the factors, row r of block k: W_k' there; owned */
  double *product; /* n_rest: a row of W C; owned */
};

/* Solves L' x = x, L the lower n x n factor of a block. */
static void solve_transposed(const double *L, size_t n, double *x) {
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++)
      x[i] -= L[j * n + i] * x[j];
    x[i] /= L[i * n + i];
  }
}

/* Solves L x = unit vector `of`. */
static void solve_unit(const double *L, size_t n, size_t of, double *x) {
  for (size_t i = 0; i < n; i++) {
    x[i] = i == of;
    for (size_t j = 0; j < i; j++)
      x[i] -= L[i * n + j] * x[j];
    x[i] /= L[i * n + i];
  }
}

/* A_k^-1 into the covariance, and W_k. */
static void invert_block(struct work *w, const struct dl_equation_block *b) {
  size_t n = b->n_eliminated, size = n + b->n_rest;
  const double *L = w->e->factors + b->factor;
  double *W = w->W + b->factor;
  for (size_t i = 0; i < n; i++) {
    double *x = W + i * n; /* room */
    solve_unit(L, n, i, x);
    solve_transposed(L, n, x);
    for (size_t j = 0; j < n; j++)
      gsl_matrix_set(w->cov, b->param[i], b->param[j], x[j]);
  }
  for (size_t r = n; r < size; r++) {
    for (size_t i = 0; i < n; i++)
      W[r * n + i] = L[r * n + i];
    solve_transposed(L, n, W + r * n);
  }
}

/* W C of parameter i of a block. */
static void multiply(struct work *w, const struct dl_equation_block *b,
                     size_t i) {
  size_t n = b->n_eliminated, n_rest = w->C->size1;
  const double *W = w->W + b->factor;
  double *to = w->product;
  for (size_t j = 0; j < n_rest; j++)
    to[j] = 0;
  for (size_t r = n; r < n + b->n_rest; r++) {
    double x = W[r * n + i];
    const double *row =
        gsl_matrix_const_ptr(w->C, w->e->blocks->rest[b->param[r]], 0);
#pragma omp simd
    for (size_t j = 0; j < n_rest; j++)
      to[j] += x * row[j];
  }
}

/* Adds W C W' between the parameter whose W C is the product and block b. */
static void add_pairs(struct work *w, size_t param,
                      const struct dl_equation_block *b) {
  size_t n = b->n_eliminated;
  const double *W = w->W + b->factor;
  for (size_t r = n; r < n + b->n_rest; r++) {
    double x = w->product[w->e->blocks->rest[b->param[r]]];
    for (size_t j = 0; j < n; j++)
      *gsl_matrix_ptr(w->cov, param, b->param[j]) += x * W[r * n + j];
  }
}

static void fill(struct work *w) {
  const struct dl_equation_blocks *blocks = w->e->blocks;
  size_t p = blocks->map->p;
  gsl_matrix_set_zero(w->cov);
  for (size_t k = 0; k < blocks->n_blocks; k++)
    invert_block(w, &blocks->block[k]);
  for (size_t k = 0; k < blocks->n_blocks; k++)
    for (size_t i = 0; i < blocks->block[k].n_eliminated; i++) {
      size_t param = blocks->block[k].param[i];
      multiply(w, &blocks->block[k], i);
      for (size_t l = 0; l < blocks->n_blocks; l++)
        add_pairs(w, param, &blocks->block[l]);
      for (size_t j = 0; j < p; j++)
        if (blocks->rest[j] < SIZE_MAX) {
          double x = -w->product[blocks->rest[j]];
          gsl_matrix_set(w->cov, param, j, x);
          gsl_matrix_set(w->cov, j, param, x);
        }
    }
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j < p; j++)
      if (blocks->rest[i] < SIZE_MAX && blocks->rest[j] < SIZE_MAX)
        gsl_matrix_set(w->cov, i, j,
                       gsl_matrix_get(w->C, blocks->rest[i], blocks->rest[j]));
}

bool dl_covariance(const struct dl_normal_equations *e, gsl_matrix *cov) {
  const struct dl_equation_blocks *blocks = e->blocks;
  struct work w = {.e = e,
                   .cov = cov,
                   .C = gsl_matrix_alloc(blocks->n_rest, blocks->n_rest),
                   .W = dl_calloc(blocks->n_factors, sizeof *w.W),
                   .product = dl_calloc(blocks->n_rest, sizeof *w.product)};
  gsl_matrix_memcpy(w.C, e->S);
  bool ok = !gsl_linalg_cholesky_invert(w.C);
  if (ok)
    fill(&w);
  gsl_matrix_free(w.C);
  free(w.W);
  free(w.product);
  return ok;
}
