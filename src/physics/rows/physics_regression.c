/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A physics as a regression: checks, fits, predictions. */

#include "physics/rows/physics_regression.h"

#include "physics/calibration/calibration.h"
#include "physics/fit_row.h"

struct dl_observations dl_observations_of(const struct dl_sample *s) {
  return (struct dl_observations){s->n_rows, s->rows, s->w, s->n_auxiliary,
                                  s->means};
}

enum dl_status dl_physics_check_rows(const struct dl_physics *physics,
                                     const struct dl_sample *s,
                                     struct dl_diag *d) {
  if (!s->rows)
    return dl_fail(d, DL_EUSAGE,
                   "the %s method takes its own features; leave --features out",
                   physics->name);
  for (size_t i = 0; i < s->n_rows; i++) {
    const struct dl_observed *row = s->rows[i];
    const char *reason = physics->check(row->inputs);
    if (reason)
      return dl_fail(d, DL_EINPUT, "row %zu: %s", i + 1, reason);
  }
  return DL_OK;
}

enum dl_status dl_physics_fit(const struct dl_regression *r, void **state,
                              const struct dl_sample *s, double *hyper,
                              struct dl_diag *d) {
  const struct dl_observations o = dl_observations_of(s);
  enum dl_status status = dl_physics_check_rows(r->physics, s, d);
  (void)hyper;
  if (status != DL_OK)
    return status;
  struct dl_hierarchical_fit *new = dl_hierarchical_fit_new(r->physics);
  status = dl_hierarchical_fit_solve(new, &o, s->full, d);
  if (status == DL_OK)
    *state = new;
  else
    dl_hierarchical_fit_free(new);
  return status;
}

enum dl_status dl_physics_adapt(void **state, const void *from,
                                const struct dl_sample *s,
                                const struct dl_adapted_rows *rows,
                                struct dl_diag *d) {
  const struct dl_hierarchical_fit *old = from;
  const struct dl_observations o = dl_observations_of(s);
  struct dl_hierarchical_fit *new = NULL;
  enum dl_status status = dl_physics_check_rows(old->physics, s, d);
  if (status == DL_OK)
    status = dl_calibrate_fit(&new, old, &o, rows, d);
  *state = new;
  return status;
}

enum dl_status dl_physics_predict(const void *state, const void *const *rows,
                                  gsl_vector *out, struct dl_diag *d) {
  (void)d;
  for (size_t i = 0; i < out->size; i++) {
    const struct dl_observed *observed = rows[i];
    struct dl_fit_row row;
    dl_fit_row_make(&row, state, observed->inputs);
    gsl_vector_set(out, i, dl_fit_row_value(&row, observed->target));
  }
  return DL_OK;
}

void dl_physics_free(void *state) {
  dl_hierarchical_fit_free(state);
}
