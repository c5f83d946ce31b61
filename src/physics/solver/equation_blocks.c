/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Finds the blocks of the normal equations. */

#include "physics/solver/equation_blocks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_equation_blocks_free(struct dl_equation_blocks *e) {
  for (size_t k = 0; e->block && k < e->n_blocks; k++)
    free(e->block[k].param);
  free(e->block);
  free(e->cell);
  free(e->order);
  free(e->columns);
  free(e->rest);
}

/* Whether each level of factor k occurs in one block only. block: of each
 * configuration; seen: p zeros, and any numbers afterwards. */
static bool is_nested(const struct dl_parameter_map *map, size_t k,
                      const size_t *block, size_t *seen) {
  for (size_t i = 0; i < map->configs->n; i++) {
    size_t first = map->first[i * map->physics->n_factors + k];
    if (first == 0)
      continue;
    if (seen[first] != 0 && seen[first] != block[i] + 1)
      return false;
    seen[first] = block[i] + 1;
  }
  return true;
}

/* Blocks are the levels of the factor with the most parameters, of
 * configurations without one levels of the next. Chooses the factors whose
 * levels lie within blocks. block: of each configuration, the first parameter
 * of that level; 0: none. */
static void choose_factors(const struct dl_parameter_map *map, bool *use,
                           size_t *block) {
  const struct dl_physics *physics = map->physics;
  size_t n[DL_MAX_FACTORS], factors = physics->n_factors;
  for (size_t k = 0; k < factors; k++)
    n[k] = map->n_levels[k] * physics->factor[k].n;
  for (size_t i = 0; i < map->configs->n; i++) {
    const size_t *first = map->first + i * factors;
    for (size_t k = 0, most = 0; k < factors; k++)
      if (first[k] > 0 && n[k] > most) {
        most = n[k];
        block[i] = first[k];
      }
  }
  for (size_t k = 0; k < factors; k++) {
    DL_FREED size_t *seen = dl_calloc(map->p, sizeof *seen);
    use[k] = n[k] > 0 && is_nested(map, k, block, seen);
  }
}

/* A configuration with its block and its levels. */
struct tagged_config {
  size_t block, config, n_factors;
  const size_t *first; /* n_factors: first parameter of each level */
};

static int compare(size_t a, size_t b) {
  return (a > b) - (a < b);
}

static int by_cell(const void *a, const void *b) {
  const struct tagged_config *x = a, *y = b;
  int order = compare(x->block, y->block);
  for (size_t k = 0; order == 0 && k < x->n_factors; k++)
    order = compare(x->first[k], y->first[k]);
  return order;
}

static int by_cell_and_number(const void *a, const void *b) {
  const struct tagged_config *x = a, *y = b;
  int order = by_cell(a, b);
  return order ? order : compare(x->config, y->config);
}

/* Counts cells and blocks of configurations in order. */
static void count_cells(struct dl_equation_blocks *e,
                        const struct tagged_config *tagged, size_t n) {
  for (size_t i = 0; i < n; i++) {
    e->order[i] = tagged[i].config;
    bool new_block = i == 0 || tagged[i].block != tagged[i - 1].block;
    if (new_block)
      e->block[e->n_blocks++].first = e->n_cells;
    if (new_block || by_cell(&tagged[i], &tagged[i - 1]) != 0) {
      e->cell[e->n_cells++] = i;
      e->block[e->n_blocks - 1].n++;
    }
    e->cell[e->n_cells] = i + 1;
  }
}

/* Orders the configurations by block and cell. */
static void order_configs(struct dl_equation_blocks *e, const size_t *block) {
  const struct dl_parameter_map *map = e->map;
  size_t n = map->configs->n, factors = map->physics->n_factors;
  DL_FREED struct tagged_config *tagged = dl_calloc(n, sizeof *tagged);
  e->block = dl_calloc(n, sizeof *e->block);
  e->cell = dl_calloc(n + 1, sizeof *e->cell);
  for (size_t i = 0; i < n; i++) {
    const size_t *first = map->first + i * factors;
    tagged[i] = (struct tagged_config){block[i], i, factors, first};
  }
  qsort(tagged, n, sizeof *tagged, by_cell_and_number);
  count_cells(e, tagged, n);
  e->columns = dl_calloc(e->n_cells, sizeof *e->columns);
}

static int ascending(const void *a, const void *b) {
  return compare(*(const size_t *)a, *(const size_t *)b);
}

/* The first parameters of the levels of a cell. */
static const size_t *levels_of(const struct dl_equation_blocks *e,
                               size_t cell) {
  return e->map->first + e->order[e->cell[cell]] * e->map->physics->n_factors;
}

/* Lists the parameters of a block, those eliminated into list[0], with where[]
 * 1 for each; n: how many. */
static void collect(const struct dl_equation_blocks *e,
                    const struct dl_equation_block *b, size_t *const list[2],
                    size_t n[2], size_t *where) {
  const struct dl_physics *physics = e->map->physics;
  for (size_t j = 0; j < physics->n_constants; j++)
    list[1][n[1]++] = j;
  for (size_t c = b->first; c < b->first + b->n; c++)
    for (size_t k = 0; k < physics->n_factors; k++) {
      size_t first = levels_of(e, c)[k], to = !e->eliminated[k];
      for (size_t j = first; first > 0 && j < first + physics->factor[k].n; j++)
        if (!where[j]) {
          where[j] = 1;
          list[to][n[to]++] = j;
        }
    }
  for (size_t l = 0; l < 2; l++)
    qsort(list[l], n[l], sizeof **list, ascending);
}

/* Lists the columns of a cell, whose levels have the numbers that `where` gives
 * their first parameters in the block. */
static void list_columns(const struct dl_equation_blocks *e,
                         const struct dl_equation_block *block, size_t cell,
                         const size_t *where) {
  const struct dl_physics *physics = e->map->physics;
  const size_t *first = levels_of(e, cell);
  struct dl_equation_columns *columns = &e->columns[cell];
  unsigned n = 0;
  for (size_t pass = 0; pass < 2; pass++) {
    for (size_t j = 0; pass == 1 && j < physics->n_constants; j++, n++) {
      columns->at[n] = (unsigned)(block->n_eliminated + j);
      columns->of[n] = (unsigned char)j;
    }
    for (size_t k = 0; k < physics->n_factors; k++)
      for (size_t f = 0; first[k] > 0 && e->eliminated[k] == (pass == 0) &&
                         f < physics->factor[k].n;
           f++, n++) {
        columns->at[n] = (unsigned)(where[first[k]] + f);
        columns->of[n] =
            (unsigned char)(DL_MAX_CONSTANTS + physics->factor[k].first + f);
      }
  }
  columns->n = n;
}

/* Lists the parameters of a block and the columns of its cells. where: p zeros,
 * and zeros again afterwards; room: 2 p. */
static void list_parameters(struct dl_equation_blocks *e,
                            struct dl_equation_block *b, size_t *where,
                            size_t *room) {
  size_t n[2] = {0, 0};
  size_t *const list[2] = {room, room + e->map->p};
  collect(e, b, list, n, where);
  size_t size = n[0] + n[1];
  b->param = dl_calloc(size, sizeof *b->param);
  memcpy(b->param, list[0], n[0] * sizeof *b->param);
  memcpy(b->param + n[0], list[1], n[1] * sizeof *b->param);
  b->n_eliminated = n[0];
  b->n_rest = n[1];
  b->factor = e->n_factors;
  e->n_factors += size * n[0];
  e->largest = size > e->largest ? size : e->largest;
  for (size_t j = 0; j < size; j++)
    where[b->param[j]] = j;
  for (size_t c = b->first; c < b->first + b->n; c++)
    list_columns(e, b, c, where);
  for (size_t j = 0; j < size; j++)
    where[b->param[j]] = 0;
}

void dl_equation_blocks_make(struct dl_equation_blocks *e,
                             const struct dl_parameter_map *map) {
  *e = (struct dl_equation_blocks){
      .map = map,
      .order = dl_calloc(map->configs->n, sizeof *e->order),
      .rest = dl_calloc(map->p, sizeof *e->rest)};
  DL_FREED size_t *block = dl_calloc(map->configs->n, sizeof *block);
  DL_FREED size_t *where = dl_calloc(map->p, sizeof *where);
  DL_FREED size_t *room = dl_calloc(2 * map->p, sizeof *room);
  choose_factors(map, e->eliminated, block);
  order_configs(e, block);
  for (size_t k = 0; k < e->n_blocks; k++)
    list_parameters(e, &e->block[k], where, room);
  for (size_t k = 0; k < e->n_blocks; k++)
    for (size_t j = 0; j < e->block[k].n_eliminated; j++)
      e->rest[e->block[k].param[j]] = SIZE_MAX;
  for (size_t j = 0; j < map->p; j++)
    if (e->rest[j] < SIZE_MAX)
      e->rest[j] = e->n_rest++;
}
