/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Normal equations of a hierarchical fit, solved block by block. */

#include "physics/solver/normal_equations.h"

#include <gsl/gsl_linalg.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_normal_equations_free(struct dl_normal_equations *e) {
  gsl_matrix_free(e->S);
  gsl_vector_free(e->s);
  free(e->factors);
  free(e->A);
  free(e->panel);
  dl_cell_products_free(&e->products);
}

void dl_normal_equations_make(struct dl_normal_equations *e,
                              const struct dl_equation_blocks *blocks,
                              const struct dl_weighed_terms *terms) {
  size_t largest = blocks->largest;
  *e = (struct dl_normal_equations){
      .blocks = blocks,
      .terms = terms,
      .S = gsl_matrix_alloc(blocks->n_rest, blocks->n_rest),
      .s = gsl_vector_alloc(blocks->n_rest),
      .factors = dl_calloc(blocks->n_factors, sizeof *e->factors),
      .A = dl_calloc(largest * largest, sizeof *e->A),
      .panel = dl_calloc(largest * largest, sizeof *e->panel)};
  dl_cell_products_make(&e->products, blocks);
}

/* Factorises the first n of `size` columns of A. False: it is singular. */
static bool factor_columns(double *A, size_t size, size_t n) {
  for (size_t j = 0; j < n; j++) {
    double pivot = sqrt(A[j * size + j]);
    if (!(pivot > 0))
      return false;
    A[j * size + j] = pivot;
    for (size_t i = j + 1; i < size; i++)
      A[i * size + j] /= pivot;
    for (size_t i = j + 1; i < size; i++)
      for (size_t k = j + 1; k <= i && k < n; k++)
        A[i * size + k] -= A[i * size + j] * A[k * size + j];
  }
  return true;
}

/* Eliminates the first parameters of a block: keeps their columns of the
 * factor, and adds the rest to S. False: they are singular. */
static bool eliminate(struct dl_normal_equations *e,
                      const struct dl_equation_block *block) {
  size_t n = block->n_eliminated, rest = block->n_rest, size = n + rest;
  if (!factor_columns(e->A, size, n))
    return false;
  for (size_t i = 0; i < size; i++)
    memcpy(e->factors + block->factor + i * n, e->A + i * size,
           n * sizeof *e->A);
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < rest; i++)
      e->panel[k * rest + i] = e->A[(n + i) * size + k];
  for (size_t i = 0; i < rest; i++) {
    double *row = e->A + (n + i) * size + n;
    const size_t *param = block->param + n;
    double *to = gsl_matrix_ptr(e->S, e->blocks->rest[param[i]], 0);
    for (size_t k = 0; k < n; k++) {
      const double *column = e->panel + k * rest;
      double x = column[i];
      if (fabs(x) > 0)
#pragma omp simd
        for (size_t j = 0; j <= i; j++)
          row[j] -= x * column[j];
    }
    for (size_t j = 0; j <= i; j++)
      to[e->blocks->rest[param[j]]] += row[j];
  }
  return true;
}

double dl_normal_equations_gradient(struct dl_normal_equations *e,
                                    const double *theta, double *g) {
  return dl_products_at(&e->products, e->blocks, e->terms, theta, false, g);
}

double dl_normal_equations_sum(struct dl_normal_equations *e,
                               const double *theta, double *g) {
  return dl_products_at(&e->products, e->blocks, e->terms, theta, true, g);
}

/* The share of the configurations of a cell that are used. */
static double share_used(const struct dl_normal_equations *e, size_t cell) {
  const size_t *first = &e->blocks->cell[cell];
  size_t used = 0;
  for (size_t i = first[0]; i < first[1]; i++)
    used += dl_config_is_used(e->blocks->map->configs, e->terms,
                              e->blocks->order[i]);
  return (double)used / (double)(first[1] - first[0]);
}

/* Adds the products of a cell to A. */
static void place_cell(const struct dl_normal_equations *e,
                       const struct dl_equation_block *block, size_t cell,
                       const struct dl_cell_products *products) {
  const struct dl_cell_product *of = &products->cell[cell];
  const double *H = products->H + cell * products->room;
  size_t size = block->n_eliminated + block->n_rest, at[DL_MAX_COLUMNS];
  bool own = products == &e->products;
  double share = own ? 1 : share_used(e, cell);
  const struct dl_equation_columns *columns = &e->blocks->columns[cell];
  for (size_t i = 0; i < of->n; i++) {
    at[i] = columns->at[of->column[i]];
    if (!own && !e->terms->known[block->param[at[i]]])
      at[i] = SIZE_MAX;
  }
  for (size_t i = 0; share > 0 && i < of->n; H += ++i)
    for (size_t j = 0; at[i] < SIZE_MAX && j <= i; j++)
      if (at[j] < SIZE_MAX)
        e->A[at[i] > at[j] ? at[i] * size + at[j] : at[j] * size + at[i]] +=
            share * H[j];
}

bool dl_normal_equations_factor(struct dl_normal_equations *e,
                                const struct dl_cell_products *products,
                                double damping) {
  const struct dl_equation_blocks *blocks = e->blocks;
  const double *prior = e->terms->prior;
  gsl_matrix_set_zero(e->S);
  for (size_t j = 0; j < blocks->map->p; j++)
    if (blocks->rest[j] < SIZE_MAX)
      gsl_matrix_set(e->S, blocks->rest[j], blocks->rest[j],
                     prior[j] * (1 + damping));
  for (size_t k = 0; k < blocks->n_blocks; k++) {
    const struct dl_equation_block *block = &blocks->block[k];
    size_t n = block->n_eliminated, size = n + block->n_rest;
    memset(e->A, 0, size * size * sizeof *e->A);
    for (size_t i = block->first; i < block->first + block->n; i++)
      place_cell(e, block, i, products);
    for (size_t j = 0; j < size; j++) {
      double of_prior = j < n ? prior[block->param[j]] : 0;
      e->A[j * size + j] = (e->A[j * size + j] + of_prior) * (1 + damping);
    }
    if (!eliminate(e, block))
      return false;
  }
  return !gsl_linalg_cholesky_decomp1(e->S);
}

void dl_normal_equations_solve(struct dl_normal_equations *e, double *x) {
  const struct dl_equation_blocks *blocks = e->blocks;
  for (size_t k = 0; k < blocks->n_blocks; k++) {
    const struct dl_equation_block *b = &blocks->block[k];
    const double *factor = e->factors + b->factor;
    size_t n = b->n_eliminated, size = n + b->n_rest;
    for (size_t i = 0; i < size; i++) {
      double sum = x[b->param[i]];
      for (size_t j = 0; j < n && j < i; j++)
        sum -= factor[i * n + j] * x[b->param[j]];
      x[b->param[i]] = i < n ? sum / factor[i * n + i] : sum;
    }
  }
  for (size_t j = 0; j < blocks->map->p; j++)
    if (blocks->rest[j] < SIZE_MAX)
      gsl_vector_set(e->s, blocks->rest[j], x[j]);
  gsl_linalg_cholesky_svx(e->S, e->s);
  for (size_t j = 0; j < blocks->map->p; j++)
    if (blocks->rest[j] < SIZE_MAX)
      x[j] = gsl_vector_get(e->s, blocks->rest[j]);
  for (size_t k = 0; k < blocks->n_blocks; k++) {
    const struct dl_equation_block *b = &blocks->block[k];
    const double *factor = e->factors + b->factor;
    size_t n = b->n_eliminated;
    for (size_t i = n; i-- > 0;) {
      double sum = x[b->param[i]];
      for (size_t j = i + 1; j < n + b->n_rest; j++)
        sum -= factor[j * n + i] * x[b->param[j]];
      x[b->param[i]] = sum / factor[i * n + i];
    }
  }
}

/* Adds the products of a cell to the equations of all parameters, whose lower
 * half is H. */
static void add_cell(const struct dl_normal_equations *e,
                     const struct dl_equation_block *block, size_t cell,
                     gsl_matrix *H) {
  const struct dl_cell_product *of = &e->products.cell[cell];
  const double *from = e->products.H + cell * e->products.room;
  const struct dl_equation_columns *columns = &e->blocks->columns[cell];
  size_t param[DL_MAX_COLUMNS];
  for (size_t i = 0; i < of->n; i++)
    param[i] = block->param[columns->at[of->column[i]]];
  for (size_t i = 0; i < of->n; i++)
    for (size_t j = 0; j <= i; j++)
      *gsl_matrix_ptr(H, GSL_MAX(param[i], param[j]),
                      GSL_MIN(param[i], param[j])) += *from++;
}

bool dl_normal_equations_invert(const struct dl_normal_equations *e,
                                gsl_matrix *cov) {
  gsl_matrix_set_zero(cov);
  for (size_t j = 0; j < cov->size1; j++)
    gsl_matrix_set(cov, j, j, e->terms->prior[j]);
  for (size_t k = 0; k < e->blocks->n_blocks; k++) {
    const struct dl_equation_block *block = &e->blocks->block[k];
    for (size_t i = block->first; i < block->first + block->n; i++)
      add_cell(e, block, i, cov);
  }
  return !gsl_linalg_cholesky_decomp1(cov) && !gsl_linalg_cholesky_invert(cov);
}
