/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs of a physics from the rows of a plan, and a table of runs as a
 * physics takes it, block by block. */

#ifndef DL_PHYSICS_ROWS_PHYSICS_ROWS_H
#define DL_PHYSICS_ROWS_PHYSICS_ROWS_H

#include "base/names/intern.h"
#include "catalog/descriptor_kinds.h"
#include "physics/observations.h"
#include "physics/physics.h"
#include "run/plan.h"

enum { DL_MAX_GIVEN = 16 };

/* Places of the inputs in a plan. */
struct dl_physics_binding {
  const struct dl_physics *physics;
  struct dl_row_ref other[DL_MAX_OTHER];
  /* Fields of descriptors for which the user gives values. */
  const struct dl_field *given[DL_MAX_GIVEN];
  bool given_of_gpu[DL_MAX_GIVEN]; /* of the accelerator's descriptor */
  struct dl_row_ref given_at[DL_MAX_GIVEN];
  size_t n_given;
  struct dl_accelerator no_gpu; /* of which nothing is known */
  struct dl_architecture no_arch;
};

/* Adds the steps of the physics' quantities to the plan. `required`: a row
 * without one that is required is at fault (dl_plan_quantity). */
enum dl_status dl_physics_bind(struct dl_physics_binding *b,
                               const struct dl_physics *physics,
                               struct dl_row_plan *f, bool required,
                               struct dl_diag *d);

/* Whether the plan has all required quantities. */
bool dl_physics_available(const struct dl_physics *physics,
                          const struct dl_row_plan *f);

/* Inputs of a row, whose texts they borrow. Returns the first required quantity
 * that is unknown, or NULL. Thread-safe. */
const char *dl_physics_read(const struct dl_physics_binding *b,
                            const struct dl_row *row, void *inputs);

/* Physics that a table may be read for. */
enum { DL_MOST_PHYSICS = 6 };

struct dl_physics_rows {
  const struct dl_physics *physics;
  bool tried;   /* not requested: tables without its inputs are ignored
                 */
  bool lacking; /* tried, and a row lacked something */
  size_t n;
  struct dl_intern inputs; /* inputs of the configurations */
  size_t *input;           /* n: number of each row's, owned */
  double *value;           /* n x n_targets, owned */
  struct dl_intern names;  /* texts of the inputs */
  char *block;             /* inputs of a block, owned */
  size_t first;            /* where the values of a block begin */
  size_t cap_input, cap_value, cap_block;
};

/* Room for a block of rows behind the n there are. */
void dl_physics_rows_room(struct dl_physics_rows *rows, size_t block);

/* The place of row i of the block. */
void *dl_physics_rows_inputs(const struct dl_physics_rows *rows, size_t i);
double *dl_physics_rows_value(const struct dl_physics_rows *rows, size_t i);

/* Quantity that rows of inference lack for a physics of trainings. */
#define DL_LACKS_TRAINING "phase=training"

/* Writes them. Returns what the row lacks, or NULL; `lacking` is set instead
 * where the physics is tried. Thread-safe. */
const char *dl_physics_rows_read(struct dl_physics_rows *rows,
                                 const struct dl_physics_binding *b,
                                 const struct dl_row *row, size_t i);

/* Keeps row i of the block, with copies of its texts, as the next row. */
void dl_physics_rows_take(struct dl_physics_rows *rows, size_t i);
void dl_physics_rows_free(struct dl_physics_rows *rows);

/* Row i; borrowed from rows, until more are taken. */
struct dl_observed dl_physics_row_at(const struct dl_physics_rows *rows,
                                     size_t i);

/* Number of a target's column, or -1. */
long dl_physics_target(const struct dl_physics *physics, const char *column);

#endif
