/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads tables block by block into the rows of physics. */

#ifndef DL_PHYSICS_ROWS_PHYSICS_READER_H
#define DL_PHYSICS_ROWS_PHYSICS_READER_H

#include "physics/rows/physics_binding.h"
#include "physics/rows/physics_rows.h"

/* Physics that a table may be read for. */
enum { DL_MOST_PHYSICS = 6 };

/* Start from {0}. */
struct dl_physics_reader {
  struct dl_physics_rows *rows; /* n, borrowed: where rows go */
  size_t n;
  struct dl_physics_binding bound[DL_MOST_PHYSICS];
  char *inputs[DL_MOST_PHYSICS]; /* of the rows of the block, owned */
  double *values[DL_MOST_PHYSICS];
  size_t cap_inputs[DL_MOST_PHYSICS], cap_values[DL_MOST_PHYSICS];
};

/* Adds the steps of the quantities and targets of n physics to the frame. */
enum dl_status dl_physics_reader_bind(struct dl_physics_reader *r,
                                      struct dl_physics_rows *rows, size_t n,
                                      struct dl_frame *f, struct dl_diag *d);

/* Room for the rows of a block. False: memory is out. */
bool dl_physics_reader_room(struct dl_physics_reader *r, size_t rows);

/* Reads row i of the block; the first quantity that a physics lacks, or NULL.
 * Thread-safe. */
const char *dl_physics_reader_read(struct dl_physics_reader *r, size_t i,
                                   const struct dl_row *row);

/* Adds row i of the block to the rows. False: memory is out. */
bool dl_physics_reader_take(const struct dl_physics_reader *r, size_t i);
void dl_physics_reader_free(struct dl_physics_reader *r);

#endif
