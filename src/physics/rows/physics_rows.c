/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a physics, read block by block. */

#include "physics/rows/physics_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_physics_rows_free(struct dl_physics_rows *rows) {
  dl_intern_free(&rows->inputs);
  free(rows->input);
  free(rows->value);
  free(rows->block);
  dl_intern_free(&rows->names);
  *rows = (struct dl_physics_rows){0};
}

void dl_physics_rows_room(struct dl_physics_rows *rows, size_t block) {
  size_t want = rows->n + block;
  rows->inputs.size = rows->physics->input_size;
  rows->block =
      dl_grown(rows->block, &rows->cap_block, block, rows->inputs.size);
  DL_GROW(rows->input, rows->cap_input, want);
  rows->value = dl_grown(rows->value, &rows->cap_value, want,
                         rows->physics->n_targets * sizeof *rows->value);
  rows->first = rows->n;
}

void *dl_physics_rows_inputs(const struct dl_physics_rows *rows, size_t i) {
  return rows->block + i * rows->inputs.size;
}

double *dl_physics_rows_value(const struct dl_physics_rows *rows, size_t i) {
  return rows->value + (rows->first + i) * rows->physics->n_targets;
}

const char *dl_physics_rows_read(struct dl_physics_rows *rows,
                                 const struct dl_physics_binding *b,
                                 const struct dl_row *row, size_t i) {
  const char *lacks = dl_physics_read(b, row, dl_physics_rows_inputs(rows, i));
  rows->physics->measured(&row->run, dl_physics_rows_value(rows, i));
  if (!lacks && !rows->physics->inference && dl_run_is_inference(&row->run))
    lacks = DL_LACKS_TRAINING;
  if (!lacks || !rows->tried)
    return lacks;
#pragma omp atomic write
  rows->lacking = true;
  return NULL;
}

void dl_physics_rows_take(struct dl_physics_rows *rows, size_t i) {
  size_t n_targets = rows->physics->n_targets;
  struct dl_grouping *g = dl_physics_rows_inputs(rows, i);
  memmove(rows->value + rows->n * n_targets, dl_physics_rows_value(rows, i),
          n_targets * sizeof *rows->value);
  for (size_t k = 0; k < DL_N_NAMES; k++)
    if (g->name[k]) {
      long name = dl_intern(&rows->names, g->name[k]);
      g->name[k] = rows->names.s[name];
    }
  rows->input[rows->n++] = (size_t)dl_intern(&rows->inputs, g);
}

struct dl_observed dl_physics_row_at(const struct dl_physics_rows *rows,
                                     size_t i) {
  return (struct dl_observed){rows->inputs.s[rows->input[i]],
                              rows->value + i * rows->physics->n_targets};
}

long dl_physics_target(const struct dl_physics *physics, const char *column) {
  for (size_t t = 0; t < physics->n_targets; t++)
    if (strcmp(physics->target[t], column) == 0)
      return (long)t;
  return -1;
}
