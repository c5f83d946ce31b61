/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The block structure of the normal equations of a hierarchical fit.
 *
 * A configuration depends on the constants and on the effects of its own
 * levels. Levels that never occur together (architectures) have no element in
 * common in J'J: with the parameters in the order (blocks of such levels, the
 * rest) it is
 *
 *   | A_1         B_1 |
 *   |     A_2     B_2 |
 *   |         ..   .. |
 *   | B_1' B_2' .. C  |
 *
 * Configurations of a block with equal levels are a cell: they have derivatives
 * by its parameters. */

#ifndef DL_PHYSICS_SOLVER_EQUATION_BLOCKS_H
#define DL_PHYSICS_SOLVER_EQUATION_BLOCKS_H

#include "physics/observations.h"

/* A cell's derivatives that are not 0: by which constant or effect, and the
 * number of that parameter in the block, ascending. */
enum { DL_MAX_COLUMNS = DL_MAX_CONSTANTS + DL_MAX_EFFECTS };
struct dl_equation_columns {
  unsigned n;
  unsigned at[DL_MAX_COLUMNS];
  unsigned char of[DL_MAX_COLUMNS]; /* below DL_MAX_CONSTANTS: a constant, else
                                       DL_MAX_CONSTANTS + an effect */
};

/* Cells that share levels to eliminate. */
struct dl_equation_block {
  size_t first, n;             /* cells */
  size_t n_eliminated, n_rest; /* parameters */
  size_t *param;               /* those eliminated, then the rest; each of them
                                  ascending; owned */
  size_t factor;               /* where (n_eliminated + n_rest) x n_eliminated
                                  numbers are among n_factors */
};

struct dl_equation_blocks {
  const struct dl_parameter_map *map;
  bool eliminated[DL_MAX_FACTORS]; /* whether a factor's levels are */
  size_t *order;                   /* configurations by block and cell, owned */
  size_t *cell; /* n_cells + 1: where each begins in `order`, owned */
  size_t n_cells;
  struct dl_equation_columns *columns; /* n_cells, owned */
  struct dl_equation_block *block;     /* owned */
  size_t n_blocks;
  size_t *rest; /* p: number among the rest, or SIZE_MAX; owned */
  size_t n_rest, largest, n_factors;
};

/* Blocks are the levels of the factor with the most parameters. */
void dl_equation_blocks_make(struct dl_equation_blocks *e,
                             const struct dl_parameter_map *map);
void dl_equation_blocks_free(struct dl_equation_blocks *e);

#endif
