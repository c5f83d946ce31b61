/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/rows/table_problem.h"

#include <stdlib.h>

#include "base/memory.h"
#include "physics/rows/physics_regression.h"

void dl_table_problems_free(struct dl_hierarchical_problem **list) {
  while (list && *list) {
    DL_FREED struct dl_hierarchical_problem *q = *list;
    *list = q->next;
    dl_hierarchical_problem_free(q);
  }
  free(list);
}

/* Auxiliary rows have the weight 1. */
static gsl_vector *weigh_rows(size_t n, const gsl_vector *w) {
  gsl_vector *weight = gsl_vector_alloc(n);
  gsl_vector_set_all(weight, 1);
  for (size_t i = 0; i < w->size; i++)
    gsl_vector_set(weight, i, gsl_vector_get(w, i));
  return weight;
}

/* Takes the rows behind those that there are. */
static void add_rows(struct dl_hierarchical_problem *q,
                     const struct dl_physics_rows *rows) {
  for (size_t i = 0; i < rows->n; i++, q->rows.n++) {
    q->own_row[q->rows.n] = dl_physics_row_at(rows, i);
    q->input[q->rows.n] = q->n_inputs + rows->input[i];
  }
  q->n_inputs += rows->inputs.n;
}

struct dl_hierarchical_problem *dl_table_problem(
    struct dl_hierarchical_problem **list, const struct dl_physics_rows *own,
    const struct dl_physics_rows *more, const gsl_vector *w, size_t weighted) {
  bool means = weighted == DL_MAX_TARGETS;
  size_t target = means ? 0 : weighted, n_more = more ? more->n : 0;
  struct dl_hierarchical_problem *q = *list;
  for (; q; q = q->next)
    if (q->physics == own->physics && q->rows.n_auxiliary == n_more &&
        q->rows.means == means && q->rows.target == target &&
        (q->own_weight != NULL) == (w != NULL))
      return q;
  size_t n = own->n + n_more;
  q = dl_calloc(1, sizeof *q);
  q->physics = own->physics;
  q->input = dl_calloc(n, sizeof *q->input);
  q->own_row = dl_calloc(n, sizeof *q->own_row);
  q->next = *list;
  add_rows(q, own);
  if (more)
    add_rows(q, more);
  q->own_weight = w ? weigh_rows(n, w) : NULL;
  q->rows = (struct dl_observations){.n = n,
                                     .row = q->own_row,
                                     .weight = q->own_weight,
                                     .n_auxiliary = n_more,
                                     .target = target,
                                     .means = means};
  *list = q;
  return q;
}

enum dl_status dl_table_problem_make(struct dl_hierarchical_problem *q,
                                     struct dl_diag *d) {
  if (q->configs.of_row)
    return DL_OK;
  DL_TRY(dl_physics_check_rows(q->physics, &q->rows, d));
  dl_hierarchical_problem_set_up(q);
  return DL_OK;
}
