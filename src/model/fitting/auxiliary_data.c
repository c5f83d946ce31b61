/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of another table that a fit learns from. */

#include <string.h>

#include "model/fitting/training_table.h"

static bool occurs(const struct dl_training *t, const struct dl_training *more,
                   const char *column, size_t row) {
  const struct dl_labels *mine = dl_training_labels(t, column);
  const struct dl_labels *its = dl_training_labels(more, column);
  return mine && its &&
         dl_intern_find(&mine->names, its->names.s[its->id[row]]) >= 0;
}

void dl_training_learn_from(struct dl_training *t, struct dl_training *more) {
  size_t kept = 0;
  for (size_t i = 0; i < more->n; i++) {
    /* Perhaps the same measurements. */
    if (occurs(t, more, "gpu", i) && occurs(t, more, "arch", i))
      continue;
    gsl_vector_const_view row = gsl_matrix_const_row(more->x, i);
    if (kept != i)
      gsl_matrix_set_row(more->x, kept, &row.vector);
    for (size_t k = 0; k < more->n_labels; k++)
      more->labels[k].id[kept] = more->labels[k].id[i];
    kept++;
  }
  more->n = kept;
  if (more->x)
    more->x->size1 = kept;
  t->more = kept > 0 ? more : NULL;
}
