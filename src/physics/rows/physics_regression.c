/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A physics as a regression: checks and fits. */

#include "physics/rows/physics_regression.h"

#include "physics/hierarchical_fit.h"

enum dl_status dl_physics_check_rows(const struct dl_physics *physics,
                                     const struct dl_observations *rows,
                                     struct dl_diag *d) {
  if (!rows)
    return dl_fail(d, DL_EUSAGE,
                   "the %s method takes its own features; leave --features out",
                   physics->name);
  for (size_t i = 0; i < rows->n; i++) {
    const char *reason = physics->check(rows->row[i].inputs);
    if (reason)
      return dl_fail(d, DL_EINPUT, "row %zu: %s", i + 1, reason);
  }
  return DL_OK;
}

enum dl_status dl_physics_fit(const struct dl_regression *r, void **state,
                              const struct dl_sample *s, double *hyper,
                              struct dl_diag *d) {
  struct dl_hierarchical_problem own = {0}, *q = s->problem;
  enum dl_status status =
      q ? DL_OK : dl_physics_check_rows(r->physics, s->rows, d);
  (void)hyper;
  if (status != DL_OK)
    return status;
  if (!q) {
    dl_hierarchical_problem_make(&own, r->physics, s->rows);
    q = &own;
  }
  struct dl_hierarchical_fit *new = dl_hierarchical_fit_new(r->physics);
  status = dl_hierarchical_fit_solve(new, q, s->rows->target, d);
  dl_hierarchical_problem_free(&own);
  if (status == DL_OK)
    *state = new;
  else
    dl_hierarchical_fit_free(new);
  return status;
}

void dl_physics_free(void *state) {
  dl_hierarchical_fit_free(state);
}
