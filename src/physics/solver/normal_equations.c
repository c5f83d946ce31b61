/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Normal equations of a hierarchical fit, solved block by block. */

#include "physics/solver/normal_equations.h"

#include <assert.h>
#include <gsl/gsl_linalg.h>
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
}

bool dl_normal_equations_make(struct dl_normal_equations *e,
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
  return e->S && e->s && e->factors && e->A && e->panel;
}

/* The squares of the priors, and half their gradient. */
static double add_priors(const struct dl_weighed_terms *of, size_t p,
                         const double *theta, double *g) {
  double squares = 0;
  for (size_t j = 0; j < p; j++) {
    double off = theta[j] - of->prior_mean[j];
    squares += of->prior[j] * off * off;
    g[j] = of->prior[j] * off;
  }
  return squares;
}

/* Where the equations are set up. */
struct point {
  const double *theta;
  double c[DL_MAX_CONSTANTS]; /* the constants there */
  double *g;                  /* half the gradient, borrowed */
};

/* The priors' part of the sum of the squares and of the gradient. */
static double begin(struct point *at, const struct dl_normal_equations *e,
                    const double *theta, double *g) {
  const struct dl_parameter_map *map = e->blocks->map;
  *at = (struct point){.theta = theta, .g = g};
  dl_constants_of(map->physics, theta, at->c);
  return add_priors(e->terms, map->p, theta, g);
}

/* The physics of a configuration. */
struct values {
  double y[DL_MAX_TARGETS];
  struct dl_gradient g[DL_MAX_TARGETS];
};

/* False: nothing of the configuration is used. */
static bool evaluate(struct values *v, const struct dl_normal_equations *e,
                     size_t config, const struct point *at) {
  const struct dl_parameter_map *map = e->blocks->map;
  const struct dl_configurations *configs = map->configs;
  double fx[DL_MAX_EFFECTS], used = 0;
  for (size_t i = configs->first[config]; i < configs->first[config + 1]; i++)
    used += e->terms->precision[i];
  if (!(used > 0))
    return false;
  dl_effects_at(map, at->theta, config, fx);
  map->physics->gradient(at->c, fx, configs->inputs[config], v->y, v->g);
  return true;
}

static double derivative(const struct dl_gradient *g, size_t of) {
  return of < DL_MAX_CONSTANTS ? g->c[of] : g->fx[of - DL_MAX_CONSTANTS];
}

/* Columns of a cell whose parameters are known. */
static void known_columns(struct dl_equation_columns *columns,
                          const struct dl_normal_equations *e,
                          const struct dl_equation_block *block, size_t cell) {
  size_t n = 0;
  dl_equation_columns_of(columns, e->blocks, block, cell);
  for (size_t j = 0; j < columns->n; j++)
    if (e->terms->known[block->param[columns->at[j]]]) {
      columns->at[n] = columns->at[j];
      columns->of[n++] = columns->of[j];
    }
  columns->n = n;
}

/* Sums over the measurements of a configuration. */
struct sums {
  const struct dl_equation_columns *columns;
  double H[DL_MAX_COLUMNS * DL_MAX_COLUMNS]; /* J'J, lower half */
  double b[DL_MAX_COLUMNS];                  /* J'r */
};

/* Lower half of H += sum of x x' over the DL_MAX_TARGETS rows of x. */
static void add_products(struct sums *s, const double (*x)[DL_MAX_COLUMNS]) {
  for (size_t i = 0; i < s->columns->n; i++) {
    double *to = s->H + i * DL_MAX_COLUMNS;
    double a = x[0][i], b = x[1][i], c = x[2][i], d = x[3][i];
    if (fabs(a) + fabs(b) + fabs(c) + fabs(d) > 0)
#pragma omp simd
      for (size_t j = 0; j <= i; j++)
        to[j] += (a * x[0][j] + b * x[1][j]) + (c * x[2][j] + d * x[3][j]);
  }
}

/* Adds one configuration; the sum of its squares. products: to H too. */
static double add_config(struct sums *s, const struct dl_normal_equations *e,
                         size_t config, const struct point *at, bool products) {
  static_assert(DL_MAX_TARGETS == 4, "add_products adds four rows");
  const struct dl_configurations *configs = e->blocks->map->configs;
  double x[DL_MAX_TARGETS][DL_MAX_COLUMNS], squares = 0;
  struct values v;
  if (!evaluate(&v, e, config, at))
    return 0;
  if (products)
    memset(x, 0, sizeof x);
  for (size_t i = configs->first[config]; i < configs->first[config + 1]; i++) {
    const struct dl_measurement *m = &e->terms->m[i];
    double scale = e->terms->precision[i];
    double r = (v.y[m->target] - m->mean) * scale;
    if (!(scale > 0))
      continue;
    squares += r * r;
    for (size_t j = 0; j < s->columns->n; j++) {
      double d = derivative(&v.g[m->target], s->columns->of[j]) * scale;
      d = isfinite(d) ? d : 0;
      s->b[j] += d * r;
      x[m->target][j] = d;
    }
  }
  if (products)
    add_products(s, (const double(*)[DL_MAX_COLUMNS])x);
  return squares;
}

/* Adds one cell to g, and to the block's A unless that is NULL. */
static double add_cell(const struct dl_normal_equations *e,
                       const struct dl_equation_block *block, size_t cell,
                       const struct point *at, double *A) {
  const struct dl_equation_cell *of = &e->blocks->cell[cell];
  size_t size = block->n_eliminated + block->n_rest;
  struct dl_equation_columns columns;
  struct sums s;
  double squares = 0;
  known_columns(&columns, e, block, cell);
  s.columns = &columns;
  memset(s.b, 0, sizeof s.b);
  if (A)
    memset(s.H, 0, columns.n * DL_MAX_COLUMNS * sizeof *s.H);
  for (size_t i = of->first; i < of->first + of->n; i++)
    squares += add_config(&s, e, e->blocks->order[i], at, A != NULL);
  for (size_t i = 0; i < columns.n; i++) {
    at->g[block->param[columns.at[i]]] += s.b[i];
    for (size_t j = 0; A && j <= i; j++)
      A[columns.at[i] * size + columns.at[j]] += s.H[i * DL_MAX_COLUMNS + j];
  }
  return squares;
}

double dl_normal_equations_gradient(const struct dl_normal_equations *e,
                                    const double *theta, double *g) {
  struct point at;
  double squares = begin(&at, e, theta, g);
  for (size_t k = 0; k < e->blocks->n_blocks; k++) {
    const struct dl_equation_block *block = &e->blocks->block[k];
    for (size_t i = block->first; i < block->first + block->n; i++)
      squares += add_cell(e, block, i, &at, NULL);
  }
  return squares;
}

/* Factorises the first n of `size` columns of A. */
static void factor_columns(double *A, size_t size, size_t n) {
  for (size_t j = 0; j < n; j++) {
    double pivot = sqrt(A[j * size + j]);
    A[j * size + j] = pivot;
    for (size_t i = j + 1; i < size; i++)
      A[i * size + j] /= pivot;
    for (size_t i = j + 1; i < size; i++)
      for (size_t k = j + 1; k <= i && k < n; k++)
        A[i * size + k] -= A[i * size + j] * A[k * size + j];
  }
}

/* Eliminates the first parameters of a block: keeps their columns of the
 * factor, and adds the rest to S. */
static void eliminate(struct dl_normal_equations *e,
                      const struct dl_equation_block *block) {
  size_t n = block->n_eliminated, rest = block->n_rest, size = n + rest;
  factor_columns(e->A, size, n);
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
}

double dl_normal_equations_sum(struct dl_normal_equations *e,
                               const double *theta, double damping, double *g) {
  const struct dl_equation_blocks *blocks = e->blocks;
  const double *prior = e->terms->prior;
  struct point at;
  double squares = begin(&at, e, theta, g);
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
      squares += add_cell(e, block, i, &at, e->A);
    for (size_t j = 0; j < size; j++) {
      double of_prior = j < n ? prior[block->param[j]] : 0;
      e->A[j * size + j] = (e->A[j * size + j] + of_prior) * (1 + damping);
    }
    eliminate(e, block);
  }
  return squares;
}

bool dl_normal_equations_factor(struct dl_normal_equations *e) {
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
