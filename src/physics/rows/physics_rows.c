/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/rows/physics_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_physics_rows_free(struct dl_physics_rows *rows) {
  free(rows->inputs);
  free(rows->value);
  dl_intern_free(&rows->names);
  *rows = (struct dl_physics_rows){0};
}

bool dl_physics_rows_add(struct dl_physics_rows *rows, const void *inputs,
                         const double *value) {
  size_t size = rows->physics->input_size, n_targets = rows->physics->n_targets;
  void *to = rows->inputs, *values = rows->value;
  if (!dl_grow(&to, &rows->cap_inputs, (rows->n + 1) * size, 1))
    return false;
  rows->inputs = to;
  if (!dl_grow(&values, &rows->cap_value, (rows->n + 1) * n_targets,
               sizeof *value))
    return false;
  rows->value = values;
  struct dl_grouping *g = (void *)(rows->inputs + rows->n * size);
  memcpy(g, inputs, size);
  for (size_t i = 0; i < DL_N_NAMES; i++) {
    if (!g->name[i])
      continue;
    long name = dl_intern(&rows->names, g->name[i]);
    if (name < 0)
      return false;
    g->name[i] = rows->names.s[name];
  }
  memcpy(rows->value + rows->n * n_targets, value, n_targets * sizeof *value);
  rows->n++;
  return true;
}

struct dl_observed dl_physics_row_at(const struct dl_physics_rows *rows,
                                     size_t i, size_t target) {
  return (struct dl_observed){rows->inputs + i * rows->physics->input_size,
                              rows->value + i * rows->physics->n_targets,
                              target};
}

long dl_physics_target(const struct dl_physics *physics, const char *column) {
  for (size_t t = 0; t < physics->n_targets; t++)
    if (strcmp(physics->target[t], column) == 0)
      return (long)t;
  return -1;
}
