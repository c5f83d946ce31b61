/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/training/auxiliary_rows.h"

#include <math.h>
#include <string.h>

#include "model/training/training_columns.h"

static bool occurs(const struct dl_training *t, const struct dl_training *more,
                   const char *column, size_t row) {
  const struct dl_labels *mine = dl_training_labels(t, column);
  const struct dl_labels *its = dl_training_labels(more, column);
  return mine && its &&
         dl_intern_find(&mine->names, its->names.s[its->id[row]]) >= 0;
}

/* Rows without any measured target inform nothing. */
static bool is_measured(const struct dl_physics_rows *rows, size_t i) {
  for (size_t t = 0; t < rows->physics->n_targets; t++)
    if (!isnan(rows->value[i * rows->physics->n_targets + t]))
      return true;
  return false;
}

void dl_training_use_auxiliary(struct dl_training *t,
                               struct dl_training *more) {
  struct dl_physics_rows *rows = &more->physics[0];
  size_t kept = 0, n_targets = rows->physics->n_targets;
  for (size_t i = 0; i < more->n; i++) {
    /* These may be equal measurements. */
    if (!is_measured(rows, i) ||
        (occurs(t, more, "gpu", i) && occurs(t, more, "arch", i)))
      continue;
    rows->input[kept] = rows->input[i];
    memmove(rows->value + kept * n_targets, rows->value + i * n_targets,
            n_targets * sizeof *rows->value);
    for (size_t k = 0; k < more->n_labels; k++)
      more->labels[k].id[kept] = more->labels[k].id[i];
    kept++;
  }
  more->n = rows->n = kept;
  t->auxiliary = kept > 0 ? more : NULL;
}
