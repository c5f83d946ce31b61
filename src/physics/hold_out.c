/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits without a part of the rows. */

#include "physics/hold_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Marks in `near` the configurations of the GPUs and architectures of those
 * that are marked in `held`. */
static void mark_near(const struct dl_hierarchical_problem *q, const bool *held,
                      bool *near) {
  size_t n = q->configs.n;
  DL_SCOPED(dl_intern_free)
  struct dl_intern pairs = {.size = 2 * sizeof(long)};
  DL_FREED size_t *pair = dl_calloc(n, sizeof *pair);
  for (size_t i = 0; i < n; i++) {
    const long *name = q->configs.names[i].number;
    const long key[] = {name[DL_NAME_GPU], name[DL_NAME_ARCH]};
    pair[i] = (size_t)dl_intern(&pairs, key);
  }
  DL_FREED bool *any_held = dl_calloc(pairs.n, sizeof *any_held);
  for (size_t i = 0; i < n; i++)
    any_held[pair[i]] |= held[i];
  for (size_t i = 0; i < n; i++)
    near[i] = any_held[pair[i]];
}

/* Predicts the configurations marked in `held`. */
static enum dl_status predict_held(const struct dl_hierarchical_problem *q,
                                   const struct dl_hierarchical_solution *s,
                                   const bool *held, const bool *near,
                                   double *y, struct dl_diag *d) {
  const struct dl_residual_process *process = q->physics->process;
  size_t n_targets = q->physics->n_targets;
  double c[DL_MAX_CONSTANTS];
  dl_constants_of(q->physics, s->theta, c);
  for (size_t i = 0; i < q->configs.n; i++)
    if (held[i])
      dl_predict_config(&q->map, c, s->theta, i, y + i * n_targets);
  enum dl_status status = DL_OK;
  for (size_t t = 0; process && t < n_targets && status == DL_OK; t++) {
    struct dl_residual_gp gp;
    status = dl_hierarchical_residuals(&gp, q, s, t, near, d);
    for (size_t i = 0; status == DL_OK && i < q->configs.n; i++) {
      struct dl_place place =
          dl_place_of(&q->configs.names[i], q->configs.inputs[i]);
      if (held[i])
        y[i * n_targets + t] += dl_residual_gp_at(&gp, process, &place, t);
    }
    dl_residual_gp_free(&gp);
  }
  return status;
}

enum dl_status dl_hold_out(const struct dl_hierarchical_problem *q,
                           const bool *out,
                           const struct dl_hierarchical_start *start, double *y,
                           struct dl_diag *d) {
  struct dl_hierarchical_solution s;
  DL_FREED bool *held = dl_calloc(q->configs.n, sizeof *held);
  DL_FREED bool *near = dl_calloc(q->configs.n, sizeof *near);
  for (size_t i = 0; i < q->rows.n; i++)
    if (out[i])
      held[q->configs.of_row[i]] = true;
  mark_near(q, held, near);
  enum dl_status status = dl_hierarchical_solve(&s, q, out, start, NULL, d);
  if (status == DL_OK) {
    status = predict_held(q, &s, held, near, y, d);
    dl_hierarchical_solution_free(&s);
  }
  return status;
}

void dl_hold_out_auxiliary(const struct dl_hierarchical_problem *q, bool *out) {
  static const enum dl_name groupings[] = {DL_NAME_GPU, DL_NAME_ARCH,
                                           DL_NAME_SOURCE};
  const struct dl_configurations *configs = &q->configs;
  size_t n_own = q->rows.n - q->rows.n_auxiliary, n_names = q->names.n + 1;
  DL_FREED bool *some_out = dl_calloc(n_names, sizeof *some_out);
  DL_FREED bool *some_in = dl_calloc(n_names, sizeof *some_in);
  DL_FREED bool *is_out = dl_calloc(configs->n, sizeof *is_out);
  DL_FREED bool *is_in = dl_calloc(configs->n, sizeof *is_in);
  for (size_t i = 0; i < n_own; i++)
    (out[i] ? is_out : is_in)[configs->of_row[i]] = true;
  for (size_t g = 0; g < sizeof groupings / sizeof *groupings; g++) {
    memset(some_out, 0, n_names * sizeof *some_out);
    memset(some_in, 0, n_names * sizeof *some_in);
    for (size_t k = 0; k < configs->n_own; k++) {
      some_out[configs->names[k].number[groupings[g]]] |= is_out[k];
      some_in[configs->names[k].number[groupings[g]]] |= is_in[k];
    }
    for (size_t i = n_own; i < q->rows.n; i++) {
      long name = configs->names[configs->of_row[i]].number[groupings[g]];
      out[i] = out[i] || (some_out[name] && !some_in[name]);
    }
  }
}
