/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The physical regression: glue between the registry and the physics. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/regression/regression_methods.h"
#include "physics/training/calibrate_physical.h"
#include "physics/training/physical_fit.h"

static const char *const bearer_names[] = {[DL_BY_HOST] = "host",
                                           [DL_BY_GPU] = "gpu",
                                           [DL_BY_ARCH] = "arch",
                                           [DL_BY_FRAMEWORK] = "framework",
                                           [DL_BY_FACTS] = "facts"};

static void physical_free(void *state) {
  struct dl_physical *s = state;
  if (!s)
    return;
  for (size_t k = 0; k < DL_N_BEARERS; k++)
    free(s->by[k].b);
  dl_near_free(&s->near);
  dl_near_free(&s->runs);
  gsl_vector_free(s->joint.factor);
  free(s);
}

static enum dl_status check_columns(size_t p, struct dl_diag *d) {
  if (p == DL_PC_N)
    return DL_OK;
  return dl_fail(d, DL_EUSAGE,
                 "the physical method takes its own features; leave --features "
                 "out");
}

static enum dl_status check_rows(const gsl_matrix *X, struct dl_diag *d) {
  static const enum dl_physical_column positive[] = {
      DL_PC_BATCH, DL_PC_TRAIN, DL_PC_MACS,
      DL_PC_PEAK,  DL_PC_TDP,   DL_PC_BANDWIDTH};
  for (size_t i = 0; i < X->size1; i++)
    for (size_t j = 0; j < sizeof positive / sizeof *positive; j++)
      if (!(gsl_matrix_get(X, i, positive[j]) > 0))
        return dl_fail(d, DL_EINPUT,
                       "row %zu: batch, samples, work, peak rate, bandwidth "
                       "and TDP must be above 0",
                       i + 1);
  return DL_OK;
}

/* A state that is whole goes to the caller. */
static enum dl_status hand_over(void **state, struct dl_physical *s,
                                enum dl_status status) {
  if (status != DL_OK) {
    physical_free(s);
    return status;
  }
  dl_physical_constants_of(s->theta, s->c);
  *state = s;
  return DL_OK;
}

/* Fits the rows, or brings what another state knows up to date by them. */
static enum dl_status learn(void **state, const struct dl_physical *from,
                            const gsl_matrix *X, const gsl_vector *y,
                            const gsl_vector *w, struct dl_diag *d) {
  enum dl_status status = dl_check_fit(X, y, w, d);
  if (status == DL_OK)
    status = check_columns(X->size2, d);
  if (status == DL_OK)
    status = check_rows(X, d);
  if (status != DL_OK)
    return status;
  struct dl_physical *s = dl_calloc(1, sizeof *s);
  if (!s)
    status = dl_fail_memory(d);
  else if (from)
    status = dl_physical_update(s, from, X, y, d);
  else
    status = dl_physical_solve(s, X, y, w, d);
  return hand_over(state, s, status);
}

static enum dl_status fit(void **state, const gsl_matrix *X,
                          const gsl_vector *y, const gsl_vector *w,
                          double *hyper, const char *const *names,
                          struct dl_diag *d) {
  (void)hyper, (void)names;
  return learn(state, NULL, X, y, w, d);
}

static enum dl_status adapt(void **state, const void *from, const gsl_matrix *X,
                            const gsl_vector *y, struct dl_diag *d) {
  return learn(state, from, X, y, NULL, d);
}

static double predict_row(const struct dl_physical *s, const double *row) {
  double fx[DL_N_EFFECTS], out[DL_PT_TIME + 1];
  struct dl_load load;
  dl_physical_effects(s, row, fx);
  dl_physical_load(row, &load);
  dl_physical_targets(s->c, fx, &load, row[DL_PC_RAM_W], out);
  return out[(size_t)row[DL_PC_TARGET]] + dl_near_at(&s->near, row) +
         dl_near_at(&s->runs, row);
}

static enum dl_status predict(const void *state, const gsl_matrix *X,
                              gsl_vector *out, struct dl_diag *d) {
  enum dl_status status = dl_check_predict(DL_PC_N, X, out, d);
  for (size_t i = 0; i < X->size1 && status == DL_OK; i++)
    gsl_vector_set(out, i, predict_row(state, gsl_matrix_const_ptr(X, i, 0)));
  return status;
}

/* One row a bearer: its key, then its effects. */
static bool save_bearers(struct dl_arrays *to, const char *name,
                         const struct dl_bearers *by) {
  if (by->n == 0)
    return true;
  gsl_matrix *m = gsl_matrix_alloc(by->n, 1 + DL_N_EFFECTS);
  for (size_t b = 0; m && b < by->n; b++) {
    gsl_matrix_set(m, b, 0, by->b[b].key);
    for (size_t i = 0; i < DL_N_EFFECTS; i++)
      gsl_matrix_set(m, b, 1 + i, by->b[b].fx[i]);
  }
  bool ok = m && dl_arrays_add_matrix(to, name, m);
  gsl_matrix_free(m);
  return ok;
}

static enum dl_status save(const void *state, struct dl_arrays *to,
                           struct dl_diag *d) {
  const struct dl_physical *s = state;
  gsl_vector_const_view theta =
      gsl_vector_const_view_array(s->theta, DL_N_PHYSICS);
  gsl_vector_const_view error =
      gsl_vector_const_view_array(s->error, DL_N_PHYSICS);
  bool ok = dl_arrays_add_vector(to, "constants", &theta.vector) &&
            dl_arrays_add_vector(to, "errors", &error.vector);
  for (size_t k = 0; k < DL_N_BEARERS; k++)
    ok = ok && save_bearers(to, bearer_names[k], &s->by[k]);
  if (s->near.at)
    ok = ok && dl_arrays_add_matrix(to, "near", s->near.at) &&
         dl_arrays_add_vector(to, "residuals", s->near.weight);
  if (s->joint.factor)
    ok = ok && dl_arrays_add_vector(to, "factor", s->joint.factor);
  if (s->runs.at)
    ok = ok && dl_arrays_add_matrix(to, "runs", s->runs.at) &&
         dl_arrays_add_vector(to, "runs_residuals", s->runs.weight);
  return ok ? DL_OK : dl_fail_memory(d);
}

static enum dl_status restore_bearers(struct dl_bearers *by,
                                      const struct dl_arrays *from,
                                      const char *name, struct dl_diag *d) {
  if (!dl_arrays_find(from, name))
    return DL_OK;
  const struct dl_array *a = dl_check_array(from, name, 0, 1 + DL_N_EFFECTS, d);
  if (!a)
    return DL_EINPUT;
  by->b = dl_calloc(a->rows, sizeof *by->b);
  if (!by->b)
    return dl_fail_memory(d);
  by->n = a->rows;
  for (size_t b = 0; b < by->n; b++) {
    const double *row = a->data + b * a->cols;
    by->b[b].key = row[0];
    memcpy(by->b[b].fx, row + 1, sizeof by->b[b].fx);
  }
  return DL_OK;
}

static enum dl_status restore_near(struct dl_near *near,
                                   const struct dl_arrays *from,
                                   const char *places, const char *residuals,
                                   struct dl_diag *d) {
  if (!dl_arrays_find(from, places))
    return DL_OK;
  const struct dl_array *at = dl_check_array(from, places, 0, DL_NEAR, d);
  if (!at)
    return DL_EINPUT;
  const struct dl_array *w = dl_check_array(from, residuals, at->rows, 1, d);
  if (!w)
    return DL_EINPUT;
  near->at = gsl_matrix_alloc(at->rows, DL_NEAR);
  near->weight = gsl_vector_alloc(at->rows);
  if (!near->at || !near->weight)
    return dl_fail_memory(d);
  memcpy(near->at->data, at->data, at->rows * DL_NEAR * sizeof(double));
  memcpy(near->weight->data, w->data, at->rows * sizeof(double));
  return DL_OK;
}

/* Models without it predict, but cannot be brought up to date. */
static enum dl_status restore_joint(struct dl_physical *s,
                                    const struct dl_arrays *from,
                                    struct dl_diag *d) {
  size_t p = dl_joint_size(s), n = p * (p + 1) / 2;
  if (!dl_arrays_find(from, "factor"))
    return DL_OK;
  const struct dl_array *a = dl_check_array(from, "factor", n, 1, d);
  if (!a)
    return DL_EINPUT;
  s->joint.factor = gsl_vector_alloc(n);
  if (!s->joint.factor)
    return dl_fail_memory(d);
  memcpy(s->joint.factor->data, a->data, n * sizeof(double));
  return DL_OK;
}

static enum dl_status restore(void **state, const struct dl_arrays *from,
                              size_t p, struct dl_diag *d) {
  enum dl_status status = check_columns(p, d);
  const struct dl_array *theta =
      status == DL_OK ? dl_check_array(from, "constants", DL_N_PHYSICS, 1, d)
                      : NULL;
  const struct dl_array *error =
      theta ? dl_check_array(from, "errors", DL_N_PHYSICS, 1, d) : NULL;
  if (!theta || !error)
    return DL_EINPUT;
  struct dl_physical *s = dl_calloc(1, sizeof *s);
  if (!s)
    return dl_fail_memory(d);
  memcpy(s->theta, theta->data, sizeof s->theta);
  memcpy(s->error, error->data, sizeof s->error);
  for (size_t k = 0; k < DL_N_BEARERS && status == DL_OK; k++)
    status = restore_bearers(&s->by[k], from, bearer_names[k], d);
  if (status == DL_OK)
    status = restore_near(&s->near, from, "near", "residuals", d);
  if (status == DL_OK)
    status = restore_near(&s->runs, from, "runs", "runs_residuals", d);
  if (status == DL_OK)
    status = restore_joint(s, from, d);
  return hand_over(state, s, status);
}

void dl_physical_explain(const void *state, const double *row,
                         struct dl_physical_parts *parts) {
  static const char *const names[] = {"compute", "memory", "kernels", "launch"};
  const struct dl_physical *s = state;
  double fx[DL_N_EFFECTS];
  struct dl_load load;
  struct dl_cost cost;
  dl_physical_effects(s, row, fx);
  dl_physical_load(row, &load);
  dl_physical_epoch(s->c, fx, &load, &cost);
  *parts = (struct dl_physical_parts){.time_s = cost.time,
                                      .gpu_energy_j = cost.energy,
                                      .gpu_power_w = cost.energy / cost.time,
                                      .compute_s = cost.compute,
                                      .memory_s = cost.memory,
                                      .kernels_s = cost.kernels,
                                      .launch_s = cost.launch,
                                      .fixed_s = cost.fixed};
  const double part[] = {cost.compute, cost.memory, cost.kernels, cost.launch};
  size_t most = 0;
  for (size_t i = 1; i < 4; i++)
    if (part[i] > part[most])
      most = i;
  parts->bound = names[most];
}

size_t dl_physical_constants(const void *state,
                             struct dl_physical_constant *list, size_t most) {
  const struct dl_physical *s = state;
  size_t n = 0;
  for (size_t i = 0; i < DL_N_PHYSICS && n < most; i++) {
    const struct dl_physics_info *c = dl_physics_info((enum dl_physics)i);
    list[n++] = (struct dl_physical_constant){
        c->name,     c->unit,   c->summary, exp(s->theta[i]),
        s->error[i], c->median, c->sd};
  }
  return n;
}

const struct dl_regression dl_physical = {
    .name = "physical",
    .summary = "arithmetic, memory traffic and launches, with priors",
    .fit = fit,
    .predict = predict,
    .save = save,
    .restore = restore,
    .free = physical_free,
    .adapt = adapt,
    .raw = true,
};
