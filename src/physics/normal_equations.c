/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Normal equations of a hierarchical fit, solved block by block. */

#include "physics/normal_equations.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Blocks of more parameters than this are not worth eliminating. */
enum { MOST_ELIMINATED = 48 };

void dl_normal_equations_free(struct dl_normal_equations *e) {
  for (size_t k = 0; e->block && k < e->n_blocks; k++)
    free(e->block[k].param);
  free(e->block);
  free(e->order);
  free(e->local);
  free(e->rest);
}

void dl_normal_equations_end(struct dl_normal_equations *e) {
  gsl_matrix_free(e->S);
  gsl_vector_free(e->s);
  free(e->y);
  free(e->g);
  free(e->factors);
  free(e->A);
  free(e->b);
  free(e->column);
}

bool dl_normal_equations_begin(struct dl_normal_equations *e,
                               const struct dl_normal_equations *structure,
                               const bool *known) {
  size_t p = structure->map->p, largest = structure->largest;
  *e = *structure;
  e->known = known;
  e->S = gsl_matrix_alloc(e->n_rest, e->n_rest);
  e->s = gsl_vector_alloc(e->n_rest);
  e->y = dl_calloc(p, sizeof *e->y);
  e->g = dl_calloc(p, sizeof *e->g);
  e->factors = dl_calloc(e->n_factors, sizeof *e->factors);
  e->A = dl_calloc(largest * largest, sizeof *e->A);
  e->b = dl_calloc(largest, sizeof *e->b);
  e->column = dl_calloc(largest, sizeof *e->column);
  return e->S && e->s && e->y && e->g && e->factors && e->A && e->b &&
         e->column;
}

/* Sets of levels that occur together, by their first parameters (union-find).
 */
static size_t root_of(const size_t *parent, size_t i) {
  while (parent[i] != i)
    i = parent[i];
  return i;
}

/* Joins the levels of the factors in `use` that occur together; size[root]
 * counts parameters. Returns the largest. */
static size_t join_levels(const struct dl_parameter_map *map, const bool *use,
                          size_t *parent, size_t *size) {
  const struct dl_physics *physics = map->physics;
  size_t most = 0;
  for (size_t j = 0; j < map->p; j++) {
    parent[j] = j;
    size[j] = 0;
  }
  for (size_t i = 0; i < map->configs->n; i++) {
    const size_t *first = map->first + i * physics->n_factors;
    size_t before = SIZE_MAX;
    for (size_t k = 0; k < physics->n_factors; k++) {
      if (!use[k] || first[k] == 0)
        continue;
      if (parent[first[k]] == first[k] && size[first[k]] == 0)
        size[first[k]] = physics->factor[k].n;
      size_t a = root_of(parent, first[k]);
      size_t b = before == SIZE_MAX ? a : root_of(parent, before);
      if (a != b) {
        parent[a > b ? a : b] = a > b ? b : a;
        size[a > b ? b : a] += size[a > b ? a : b];
      }
      before = first[k];
      size_t now = size[root_of(parent, first[k])];
      most = now > most ? now : most;
    }
  }
  return most;
}

/* Chooses the factors to eliminate, those of most levels first, as long as
 * their blocks stay small. */
static void choose_factors(const struct dl_parameter_map *map, bool *use,
                           size_t *parent, size_t *size) {
  const struct dl_physics *physics = map->physics;
  bool tried[DL_MAX_FACTORS] = {false};
  for (size_t round = 0; round < physics->n_factors; round++) {
    size_t best = physics->n_factors, most = 0;
    for (size_t k = 0; k < physics->n_factors; k++)
      if (!tried[k] && map->n_levels[k] * physics->factor[k].n > most) {
        most = map->n_levels[k] * physics->factor[k].n;
        best = k;
      }
    if (best == physics->n_factors)
      break;
    tried[best] = use[best] = true;
    use[best] = join_levels(map, use, parent, size) <= MOST_ELIMINATED;
  }
  join_levels(map, use, parent, size);
}

struct tagged {
  size_t block, config;
};

static int by_block(const void *a, const void *b) {
  const struct tagged *x = a, *y = b;
  return x->block != y->block
             ? (x->block > y->block) - (x->block < y->block)
             : (x->config > y->config) - (x->config < y->config);
}

/* Orders the configurations by block, and counts the blocks. */
static bool order_configs(struct dl_normal_equations *e, const bool *use,
                          const size_t *parent) {
  const struct dl_parameter_map *map = e->map;
  size_t n = map->configs->n, factors = map->physics->n_factors;
  struct tagged *tagged = dl_calloc(n, sizeof *tagged);
  e->block = dl_calloc(n, sizeof *e->block);
  if (!tagged || !e->block) {
    free(tagged);
    return false;
  }
  for (size_t i = 0; i < n; i++) {
    tagged[i] = (struct tagged){0, i};
    for (size_t k = 0; k < factors; k++)
      if (use[k] && map->first[i * factors + k] > 0)
        tagged[i].block = root_of(parent, map->first[i * factors + k]);
  }
  qsort(tagged, n, sizeof *tagged, by_block);
  for (size_t i = 0; i < n; i++) {
    e->order[i] = tagged[i].config;
    if (i == 0 || tagged[i].block != tagged[i - 1].block)
      e->block[e->n_blocks++].first = i;
    e->block[e->n_blocks - 1].n++;
  }
  free(tagged);
  return true;
}

static int ascending(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

/* Lists the parameters of block `of` and numbers them in e->local. where: p
 * zeros, and zeros again afterwards. */
static bool list_parameters(struct dl_normal_equations *e, size_t of,
                            const bool *use, size_t *where) {
  const struct dl_parameter_map *map = e->map;
  const struct dl_physics *physics = map->physics;
  struct dl_equation_block *b = &e->block[of];
  size_t factors = physics->n_factors, constants = physics->n_constants;
  size_t *lists[2] = {dl_calloc(map->p, sizeof **lists),
                      dl_calloc(map->p, sizeof **lists)};
  size_t n[2] = {0, constants};
  b->param = dl_calloc(map->p, sizeof *b->param);
  bool ok = lists[0] && lists[1] && b->param;
  for (size_t j = 0; ok && j < constants; j++)
    lists[1][j] = j;
  for (size_t i = b->first; ok && i < b->first + b->n; i++)
    for (size_t k = 0; k < factors; k++) {
      size_t first = map->first[e->order[i] * factors + k];
      for (size_t j = first; first > 0 && j < first + physics->factor[k].n; j++)
        if (!where[j]) {
          where[j] = 1;
          lists[!use[k]][n[!use[k]]++] = j;
        }
    }
  for (size_t l = 0; ok && l < 2; l++)
    qsort(lists[l], n[l], sizeof **lists, ascending);
  if (ok) {
    memcpy(b->param, lists[0], n[0] * sizeof *b->param);
    memcpy(b->param + n[0], lists[1], n[1] * sizeof *b->param);
    b->n_eliminated = n[0];
    b->n_rest = n[1];
    b->factor = e->n_factors;
    e->n_factors += (n[0] + n[1]) * n[0];
  }
  for (size_t j = 0; ok && j < n[0] + n[1]; j++)
    where[b->param[j]] = j;
  for (size_t i = b->first; ok && i < b->first + b->n; i++)
    for (size_t k = 0; k < factors; k++)
      e->local[e->order[i] * factors + k] =
          where[map->first[e->order[i] * factors + k]];
  for (size_t j = 0; ok && j < n[0] + n[1]; j++)
    where[b->param[j]] = 0;
  free(lists[0]);
  free(lists[1]);
  return ok;
}

bool dl_normal_equations_make(struct dl_normal_equations *e,
                              const struct dl_parameter_map *map, bool dense) {
  size_t n = map->configs->n, factors = map->physics->n_factors;
  bool use[DL_MAX_FACTORS] = {false};
  *e = (struct dl_normal_equations){
      .map = map,
      .order = dl_calloc(n, sizeof *e->order),
      .local = dl_calloc(n * factors, sizeof *e->local),
      .rest = dl_calloc(map->p, sizeof *e->rest)};
  size_t *parent = dl_calloc(map->p, sizeof *parent);
  size_t *size = dl_calloc(map->p, sizeof *size);
  bool ok = e->order && e->local && e->rest && parent && size;
  if (ok && !dense)
    choose_factors(map, use, parent, size);
  ok = ok && order_configs(e, use, parent);
  if (ok)
    memset(size, 0, map->p * sizeof *size);
  for (size_t k = 0; ok && k < e->n_blocks; k++)
    ok = list_parameters(e, k, use, size);
  for (size_t k = 0; ok && k < e->n_blocks; k++) {
    const struct dl_equation_block *b = &e->block[k];
    if (b->n_eliminated + b->n_rest > e->largest)
      e->largest = b->n_eliminated + b->n_rest;
    for (size_t j = 0; j < b->n_eliminated; j++)
      e->rest[b->param[j]] = SIZE_MAX;
  }
  for (size_t j = 0; ok && j < map->p; j++)
    if (e->rest[j] < SIZE_MAX)
      e->rest[j] = e->n_rest++;
  free(parent);
  free(size);
  return ok;
}

/* The derivatives that are not 0 of one measurement, by local number. */
struct sparse_row {
  size_t n;
  size_t at[DL_MAX_CONSTANTS + DL_MAX_EFFECTS];
  double x[DL_MAX_CONSTANTS + DL_MAX_EFFECTS];
};

static void add_entry(struct sparse_row *row, size_t at, double x) {
  row->at[row->n] = at;
  row->x[row->n] = x;
  row->n += fabs(x) > 0 && isfinite(x);
}

/* Lower half of A += x x', b += r x. */
static void add_row(double *A, double *b, size_t size,
                    const struct sparse_row *row, double r) {
  for (size_t i = 0; i < row->n; i++) {
    double *to = A + row->at[i] * size;
    for (size_t j = 0; j <= i; j++)
      to[row->at[j]] += row->x[i] * row->x[j];
    b[row->at[i]] += r * row->x[i];
  }
}

/* Sums one configuration's measurements into A and b of its block; the sum of
 * their squares. c: the constants at theta. */
static double add_config(struct dl_normal_equations *e,
                         const struct dl_equation_block *block,
                         const struct dl_weighed_terms *terms, size_t config,
                         const double *c, const double *theta) {
  const struct dl_parameter_map *map = e->map;
  const struct dl_physics *physics = map->physics;
  const void *inputs = map->configs->inputs[config];
  size_t size = block->n_eliminated + block->n_rest;
  size_t end = map->configs->first[config + 1];
  const size_t *first = map->first + config * physics->n_factors;
  const size_t *local = e->local + config * physics->n_factors;
  double fx[DL_MAX_EFFECTS], y[DL_MAX_TARGETS], squares = 0;
  struct dl_gradient g[DL_MAX_TARGETS];
  if (end == map->configs->first[config])
    return 0;
  dl_effects_at(map, theta, config, fx);
  physics->gradient(c, fx, inputs, y, g);
  for (size_t i = map->configs->first[config]; i < end; i++) {
    struct sparse_row row = {.n = 0};
    const struct dl_measurement *m = &terms->m[i];
    const struct dl_gradient *of = &g[m->target];
    double scale = terms->precision[i], r = (y[m->target] - m->mean) * scale;
    if (!(scale > 0))
      continue;
    for (size_t pass = 0; pass < 2; pass++) {
      for (size_t j = 0; pass == 1 && j < physics->n_constants; j++)
        add_entry(&row, block->n_eliminated + j, of->c[j] * scale);
      for (size_t k = 0; k < physics->n_factors; k++)
        for (size_t f = 0; first[k] > 0 && f < physics->factor[k].n; f++)
          if (e->known[first[k] + f] &&
              (local[k] >= block->n_eliminated) == (pass == 1))
            add_entry(&row, local[k] + f,
                      of->fx[physics->factor[k].first + f] * scale);
    }
    add_row(e->A, e->b, size, &row, r);
    squares += r * r;
  }
  return squares;
}

/* Eliminates the first n of `size` parameters of A x = b by Cholesky's
 * factors, which go to the first n columns; b likewise. column: room. */
static void eliminate(double *A, double *b, size_t size, size_t n,
                      double *column) {
  for (size_t j = 0; j < n; j++) {
    double pivot = sqrt(A[j * size + j]);
    A[j * size + j] = pivot;
    b[j] /= pivot;
    for (size_t i = j + 1; i < size; i++) {
      double x = column[i] = A[i * size + j] /= pivot;
      b[i] -= x * b[j];
      for (size_t k = j + 1; k <= i && x != 0; k++)
        A[i * size + k] -= x * column[k];
    }
  }
}

/* Keeps what the back substitution needs, and adds the rest to S and s. */
static void scatter(struct dl_normal_equations *e,
                    struct dl_equation_block *block) {
  size_t n = block->n_eliminated, size = n + block->n_rest;
  for (size_t i = 0; i < size; i++)
    memcpy(e->factors + block->factor + i * n, e->A + i * size,
           n * sizeof *e->A);
  for (size_t i = 0; i < n; i++)
    e->y[block->param[i]] = e->b[i];
  for (size_t i = n; i < size; i++) {
    size_t row = e->rest[block->param[i]];
    *gsl_vector_ptr(e->s, row) += e->b[i];
    for (size_t j = n; j <= i; j++) {
      size_t column = e->rest[block->param[j]];
      *gsl_matrix_ptr(e->S, row, column) += e->A[i * size + j];
    }
  }
}

double dl_normal_equations_sum(struct dl_normal_equations *e,
                               const struct dl_weighed_terms *of,
                               const double *theta, double damping) {
  const struct dl_parameter_map *map = e->map;
  double c[DL_MAX_CONSTANTS], squares = 0;
  dl_constants_of(map->physics, theta, c);
  gsl_matrix_set_zero(e->S);
  gsl_vector_set_zero(e->s);
  for (size_t j = 0; j < map->p; j++) {
    double off = theta[j] - of->prior_mean[j];
    squares += of->prior[j] * off * off;
    e->g[j] = of->prior[j] * off;
    if (e->rest[j] < SIZE_MAX) {
      gsl_matrix_set(e->S, e->rest[j], e->rest[j],
                     of->prior[j] * (1 + damping));
      gsl_vector_set(e->s, e->rest[j], of->prior[j] * off);
    }
  }
  for (size_t k = 0; k < e->n_blocks; k++) {
    struct dl_equation_block *block = &e->block[k];
    size_t n = block->n_eliminated, size = n + block->n_rest;
    memset(e->A, 0, size * size * sizeof *e->A);
    memset(e->b, 0, size * sizeof *e->b);
    for (size_t i = block->first; i < block->first + block->n; i++)
      squares += add_config(e, block, of, e->order[i], c, theta);
    for (size_t j = 0; j < size; j++) {
      e->g[block->param[j]] += e->b[j];
      e->A[j * size + j] *= 1 + damping;
    }
    for (size_t j = 0; j < n; j++) {
      e->A[j * size + j] += of->prior[block->param[j]] * (1 + damping);
      e->b[j] = e->g[block->param[j]];
    }
    eliminate(e->A, e->b, size, n, e->column);
    scatter(e, block);
  }
  return squares;
}

double dl_normal_equations_solve(struct dl_normal_equations *e, double *step) {
  double decrease = 0;
  if (gsl_linalg_cholesky_decomp1(e->S))
    return NAN;
  gsl_linalg_cholesky_svx(e->S, e->s);
  for (size_t j = 0; j < e->map->p; j++)
    if (e->rest[j] < SIZE_MAX)
      step[j] = -gsl_vector_get(e->s, e->rest[j]);
  for (size_t k = 0; k < e->n_blocks; k++) {
    const struct dl_equation_block *b = &e->block[k];
    const double *factor = e->factors + b->factor;
    size_t n = b->n_eliminated;
    for (size_t i = n; i-- > 0;) {
      double x = -e->y[b->param[i]];
      for (size_t j = i + 1; j < n + b->n_rest; j++)
        x -= factor[j * n + i] * step[b->param[j]];
      step[b->param[i]] = x / factor[i * n + i];
    }
  }
  for (size_t j = 0; j < e->map->p; j++)
    decrease -= step[j] * e->g[j];
  return decrease;
}
