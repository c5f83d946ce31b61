/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits without a part of the rows. */

#include "physics/hold_out.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A GPU and an architecture with a configuration. */
struct pair {
  long gpu, arch;
  size_t config;
};

static int by_pair(const void *a, const void *b) {
  const struct pair *x = a, *y = b;
  return x->gpu != y->gpu ? (x->gpu > y->gpu) - (x->gpu < y->gpu)
                          : (x->arch > y->arch) - (x->arch < y->arch);
}

/* Marks in `near` the configurations of the GPUs and architectures of those
 * that are marked in `held`. */
static void mark_near(const struct dl_configurations *configs, const bool *held,
                      bool *near) {
  DL_FREED struct pair *pairs = dl_calloc(configs->n, sizeof *pairs);
  for (size_t i = 0; i < configs->n; i++)
    pairs[i] = (struct pair){configs->names[i].number[DL_NAME_GPU],
                             configs->names[i].number[DL_NAME_ARCH], i};
  qsort(pairs, configs->n, sizeof *pairs, by_pair);
  for (size_t i = 0, end; i < configs->n; i = end) {
    bool any = false;
    for (end = i; end < configs->n && by_pair(&pairs[i], &pairs[end]) == 0;
         end++)
      any |= held[pairs[end].config];
    for (size_t k = i; k < end; k++)
      near[pairs[k].config] = any;
  }
}

/* Predicts the configurations marked in `held`. */
static enum dl_status predict_held(const struct dl_hierarchical_problem *q,
                                   const struct dl_hierarchical_solution *s,
                                   const bool *held, const bool *near,
                                   double *y, struct dl_diag *d) {
  const struct dl_residual_process *process = q->physics->process;
  size_t n_targets = q->physics->n_targets;
  for (size_t i = 0; i < q->configs.n; i++)
    if (held[i])
      dl_hierarchical_values(q, s, i, y + i * n_targets);
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
  mark_near(&q->configs, held, near);
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
