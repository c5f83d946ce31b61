/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Squares and their derivatives, cell by cell. */

#include "physics/solver/cell_products.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_cell_products_free(struct dl_cell_products *products) {
  free(products->cell);
  free(products->H);
  *products = (struct dl_cell_products){0};
}

void dl_cell_products_make(struct dl_cell_products *products,
                           const struct dl_equation_blocks *blocks) {
  size_t most =
      blocks->map->physics->n_constants + blocks->map->physics->n_effects;
  size_t room = most * (most + 1) / 2, n = blocks->n_cells;
  *products =
      (struct dl_cell_products){.cell = dl_calloc(n, sizeof *products->cell),
                                .H = dl_calloc(n * room, sizeof *products->H),
                                .room = room};
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

/* The point at which squares are summed, and their terms. */
struct summed_at {
  const struct dl_equation_blocks *blocks;
  const struct dl_weighed_terms *terms;
  const double *theta;
  double c[DL_MAX_CONSTANTS]; /* the constants there */
};

static struct summed_at point_at(const struct dl_equation_blocks *blocks,
                                 const struct dl_weighed_terms *terms,
                                 const double *theta) {
  struct summed_at at = {blocks, terms, theta, {0}};
  dl_constants_of(blocks->map->physics, theta, at.c);
  return at;
}

bool dl_config_is_used(const struct dl_configurations *configs,
                       const struct dl_weighed_terms *terms, size_t config) {
  for (size_t i = configs->first[config]; i < configs->first[config + 1]; i++)
    if (terms->precision[i] > 0)
      return true;
  return false;
}

/* The targets of a configuration with their derivatives, and the residuals of
 * those that are used over their standard deviations. */
struct config_values {
  double y[DL_MAX_TARGETS];
  struct dl_gradient g[DL_MAX_TARGETS];
  double r[DL_MAX_TARGETS], scale[DL_MAX_TARGETS];
  size_t target[DL_MAX_TARGETS], n;
};

static void evaluate(struct config_values *v, const struct summed_at *at,
                     size_t config, const double *c, const double *fx) {
  const struct dl_parameter_map *map = at->blocks->map;
  const struct dl_configurations *configs = map->configs;
  map->physics->gradient(c, fx, configs->inputs[config], v->y, v->g);
  v->n = 0;
  for (size_t i = configs->first[config]; i < configs->first[config + 1]; i++) {
    const struct dl_measurement *m = &at->terms->m[i];
    double scale = at->terms->precision[i];
    if (!(scale > 0))
      continue;
    v->target[v->n] = m->target;
    v->scale[v->n] = scale;
    v->r[v->n++] = (v->y[m->target] - m->mean) * scale;
  }
}

static double derivative(const struct dl_gradient *g, size_t of) {
  return of < DL_MAX_CONSTANTS ? g->c[of] : g->fx[of - DL_MAX_CONSTANTS];
}

/* a += factor b, where that is finite. */
static void add_gradient(const struct dl_physics *physics,
                         struct dl_gradient *a, double factor,
                         const struct dl_gradient *b) {
  for (size_t i = 0; i < physics->n_constants; i++)
    a->c[i] += isfinite(b->c[i]) ? factor * b->c[i] : 0;
  for (size_t i = 0; i < physics->n_effects; i++)
    a->fx[i] += isfinite(b->fx[i]) ? factor * b->fx[i] : 0;
}

/* The squares of a configuration, and half their gradient. */
static double squares_of(const struct summed_at *at, size_t config,
                         const double *c, const double *fx,
                         struct dl_gradient *g) {
  const struct dl_parameter_map *map = at->blocks->map;
  const struct dl_configurations *configs = map->configs;
  double mean[DL_MAX_TARGETS] = {0}, scale[DL_MAX_TARGETS] = {0};
  if (map->physics->squares) {
    for (size_t i = configs->first[config]; i < configs->first[config + 1];
         i++) {
      const struct dl_measurement *m = &at->terms->m[i];
      mean[m->target] = m->mean;
      scale[m->target] = at->terms->precision[i];
    }
    return map->physics->squares(c, fx, configs->inputs[config], mean, scale,
                                 g);
  }
  struct config_values v;
  double squares = 0;
  evaluate(&v, at, config, c, fx);
  *g = (struct dl_gradient){0};
  for (size_t k = 0; k < v.n; k++) {
    squares += v.r[k] * v.r[k];
    add_gradient(map->physics, g, v.scale[k] * v.r[k], &v.g[v.target[k]]);
  }
  return squares;
}

/* Sums of one cell. */
struct cell_sums {
  const struct dl_equation_columns *columns;
  bool known[DL_MAX_COLUMNS];          /* by column */
  unsigned char place[DL_MAX_COLUMNS]; /* 1 + number in `of`; 0: none yet */
  struct dl_cell_product *of;
  double *H;
};

static void begin_cell(struct cell_sums *s, const struct summed_at *at,
                       const struct dl_equation_block *block, size_t cell,
                       const struct dl_cell_products *products) {
  s->columns = &at->blocks->columns[cell];
  memset(s->place, 0, sizeof s->place);
  for (size_t j = 0; j < s->columns->n; j++)
    s->known[j] = at->terms->known[block->param[s->columns->at[j]]];
  s->of = &products->cell[cell];
  s->of->n = 0;
  s->of->squares = 0;
  s->H = products->H + cell * products->room;
}

/* The number of a column in the products of a cell. */
static size_t place_of(struct cell_sums *s, size_t column) {
  struct dl_cell_product *of = s->of;
  if (s->place[column] == 0) {
    size_t n = of->n++;
    of->column[n] = (unsigned char)column;
    of->b[n] = 0;
    memset(s->H + n * (n + 1) / 2, 0, (n + 1) * sizeof *s->H);
    s->place[column] = (unsigned char)of->n;
  }
  return s->place[column] - 1U;
}

/* H += sum of x x' over the rows of x. */
static void add_products(const struct cell_sums *s,
                         const double (*x)[DL_MAX_COLUMNS]) {
  static_assert(DL_MAX_TARGETS == 4, "four rows are added");
  double *to = s->H;
  for (size_t i = 0; i < s->of->n; to += ++i) {
    double a = x[0][i], b = x[1][i], c = x[2][i], d = x[3][i];
#pragma omp simd
    for (size_t j = 0; j <= i; j++)
      to[j] += (a * x[0][j] + b * x[1][j]) + (c * x[2][j] + d * x[3][j]);
  }
}

/* Adds one configuration with its products. */
static void add_config(struct cell_sums *s, const struct summed_at *at,
                       size_t config) {
  double x[DL_MAX_TARGETS][DL_MAX_COLUMNS], fx[DL_MAX_EFFECTS];
  struct config_values v;
  dl_effects_at(at->blocks->map, at->theta, config, fx);
  evaluate(&v, at, config, at->c, fx);
  memset(x, 0, sizeof x);
  for (size_t k = 0; k < v.n; k++) {
    const struct dl_gradient *g = &v.g[v.target[k]];
    s->of->squares += v.r[k] * v.r[k];
    for (size_t j = 0; j < s->columns->n; j++) {
      double d = derivative(g, s->columns->of[j]) * v.scale[k];
      if (!(fabs(d) > 0) || !isfinite(d) || !s->known[j])
        continue;
      size_t place = place_of(s, j);
      s->of->b[place] += d * v.r[k];
      x[k][place] = d;
    }
  }
  add_products(s, (const double(*)[DL_MAX_COLUMNS])x);
}

/* A step in a logarithm: its square is about the rounding error. */
#define STEP 1e-6

/* Adds the second derivatives of one configuration, by each column for which
 * its targets have a derivative. */
static void add_second(struct cell_sums *s, const struct summed_at *at,
                       size_t config) {
  double fx[DL_MAX_EFFECTS], c[DL_MAX_CONSTANTS];
  const struct dl_equation_columns *columns = s->columns;
  struct dl_gradient before, after;
  struct config_values v;
  dl_effects_at(at->blocks->map, at->theta, config, fx);
  evaluate(&v, at, config, at->c, fx);
  for (size_t k = 0; k < v.n; k++)
    for (size_t j = 0; j < columns->n; j++)
      if (fabs(derivative(&v.g[v.target[k]], columns->of[j])) > 0)
        place_of(s, j);
  squares_of(at, config, at->c, fx, &before);
  memcpy(c, at->c, sizeof c);
  for (size_t i = 0; i < s->of->n; i++) {
    size_t of = columns->of[s->of->column[i]];
    bool constant = of < DL_MAX_CONSTANTS;
    double *x = constant ? &c[of] : &fx[of - DL_MAX_CONSTANTS], kept = *x;
    *x = constant ? kept * exp(STEP) : kept + STEP;
    squares_of(at, config, c, fx, &after);
    *x = kept;
    for (size_t j = 0; j < s->of->n; j++) {
      size_t by = columns->of[s->of->column[j]];
      double half =
          (derivative(&after, by) - derivative(&before, by)) / STEP / 2;
      size_t row = i > j ? i : j, column = i + j - row;
      if (isfinite(half))
        s->H[row * (row + 1) / 2 + column] += i == j ? 2 * half : half;
    }
  }
}

/* Keeps the derivatives of a cell that are not 0. */
static void keep_gradient(struct cell_sums *s, const struct dl_gradient *g) {
  for (size_t j = 0; j < s->columns->n; j++) {
    double d = derivative(g, s->columns->of[j]);
    if (!(fabs(d) > 0) || !s->known[j])
      continue;
    s->of->column[s->of->n] = (unsigned char)j;
    s->of->b[s->of->n++] = d;
  }
}

enum order { FIRST, SECOND, CURVATURE };

static void add_cell(struct dl_cell_products *products,
                     const struct summed_at *at,
                     const struct dl_equation_block *block, size_t cell,
                     enum order order) {
  const size_t *first = &at->blocks->cell[cell];
  const struct dl_parameter_map *map = at->blocks->map;
  struct dl_gradient g, sum = {0};
  double fx[DL_MAX_EFFECTS];
  struct cell_sums s;
  begin_cell(&s, at, block, cell, products);
  for (size_t i = first[0]; i < first[1]; i++) {
    size_t config = at->blocks->order[i];
    if (!dl_config_is_used(map->configs, at->terms, config))
      continue;
    if (order == CURVATURE) {
      add_second(&s, at, config);
    } else if (order == SECOND) {
      add_config(&s, at, config);
    } else {
      dl_effects_at(map, at->theta, config, fx);
      s.of->squares += squares_of(at, config, at->c, fx, &g);
      add_gradient(map->physics, &sum, 1, &g);
    }
  }
  if (order == FIRST)
    keep_gradient(&s, &sum);
}

static void add_cells(struct dl_cell_products *products,
                      const struct summed_at *at, enum order order) {
  const struct dl_equation_blocks *blocks = at->blocks;
#pragma omp parallel for schedule(dynamic)
  for (size_t k = 0; k < blocks->n_blocks; k++) {
    const struct dl_equation_block *block = &blocks->block[k];
    for (size_t i = block->first; i < block->first + block->n; i++)
      add_cell(products, at, block, i, order);
  }
}

/* Adds the cells to g in their order; the sum of their squares. */
static double gather(const struct dl_cell_products *products,
                     const struct dl_equation_blocks *blocks, double *g) {
  double squares = 0;
  for (size_t k = 0; k < blocks->n_blocks; k++) {
    const struct dl_equation_block *block = &blocks->block[k];
    for (size_t i = block->first; i < block->first + block->n; i++) {
      const struct dl_cell_product *of = &products->cell[i];
      const struct dl_equation_columns *columns = &blocks->columns[i];
      squares += of->squares;
      for (size_t j = 0; j < of->n; j++)
        g[block->param[columns->at[of->column[j]]]] += of->b[j];
    }
  }
  return squares;
}

double dl_products_at(struct dl_cell_products *products,
                      const struct dl_equation_blocks *blocks,
                      const struct dl_weighed_terms *terms, const double *theta,
                      bool second, double *g) {
  const struct summed_at at = point_at(blocks, terms, theta);
  add_cells(products, &at, second ? SECOND : FIRST);
  return add_priors(terms, blocks->map->p, theta, g) +
         gather(products, blocks, g);
}

void dl_curvature_at(struct dl_cell_products *products,
                     const struct dl_equation_blocks *blocks,
                     const struct dl_weighed_terms *terms,
                     const double *theta) {
  const struct summed_at at = point_at(blocks, terms, theta);
  add_cells(products, &at, CURVATURE);
}

double dl_squares_at(const struct dl_equation_blocks *blocks,
                     const struct dl_weighed_terms *terms,
                     const double *theta) {
  const struct dl_parameter_map *map = blocks->map;
  size_t n = map->configs->n_measurements;
  DL_FREED double *f = dl_calloc(n, sizeof *f);
  double squares = 0;
  for (size_t j = 0; j < map->p; j++) {
    double off = theta[j] - terms->prior_mean[j];
    squares += terms->prior[j] * off * off;
  }
  dl_predict_measurements(map, theta, f);
  for (size_t i = 0; i < n; i++)
    if (terms->precision[i] > 0) {
      double r = (f[i] - terms->m[i].mean) * terms->precision[i];
      squares += r * r;
    }
  return squares;
}
