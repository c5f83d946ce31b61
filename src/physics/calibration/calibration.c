/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calibration: a fit updated by further runs. */

#include "physics/calibration/calibration.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "physics/calibration/posterior_mode.h"

struct calibration_work {
  const struct dl_hierarchical_fit *from;
  const struct dl_observations *o;
  struct dl_runs_likelihood runs;
  struct dl_calibration_prior prior;
};

static void work_free(struct calibration_work *w) {
  dl_runs_likelihood_free(&w->runs);
  dl_calibration_prior_free(&w->prior);
}

/* --- what is kept */

/* Constants and effects at theta. */
static void keep_parameters(struct dl_hierarchical_fit *fit,
                            const double *theta) {
  const struct dl_physics *physics = fit->physics;
  memcpy(fit->theta, theta, physics->n_constants * sizeof *theta);
  theta += physics->n_constants;
  for (size_t k = 0; k < dl_posterior_factors(physics); k++)
    for (size_t i = 0; i < fit->by[k].n; i++, theta += physics->factor[k].n)
      memcpy(fit->by[k].level[i].effect, theta,
             physics->factor[k].n * sizeof *theta);
  dl_constants_of(physics, fit->theta, fit->c);
}

/* The posterior's factor: the prior's times the factor of H^-1. */
static enum dl_status keep_posterior(struct dl_hierarchical_fit *fit,
                                     gsl_matrix *H, const gsl_matrix *L,
                                     struct dl_diag *d) {
  if (gsl_linalg_cholesky_decomp1(H) || gsl_linalg_cholesky_invert(H) ||
      gsl_linalg_cholesky_decomp1(H))
    return dl_fail(d, DL_EINPUT, "the runs have no finite fit");
  for (size_t i = 0; i < H->size1; i++)
    for (size_t j = i + 1; j < H->size1; j++)
      gsl_matrix_set(H, i, j, 0);
  gsl_blas_dtrmm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, L, H);
  for (size_t i = 0; i < fit->physics->n_constants; i++) {
    gsl_vector_const_view row = gsl_matrix_const_row(H, i);
    fit->error[i] = gsl_blas_dnrm2(&row.vector);
  }
  dl_posterior_keep(&fit->posterior, H);
  return DL_OK;
}

/* Keeps the weights of the residuals y - f, of which earlier runs' change, and
 * what was known of other runs. Takes the points of the likelihood. */
static void keep_residuals(struct dl_hierarchical_fit *fit,
                           struct calibration_work *w, const double *weight) {
  struct dl_residual_gp *gp = &w->runs.gp;
  for (size_t i = 0; i < gp->n; i++)
    gp->point[i].weight -= weight[i];
  fit->calibration_residuals = *gp;
  *gp = (struct dl_residual_gp){0};
  dl_residual_gp_append(&fit->residuals, &w->from->residuals);
}

/* --- predictions of the rows */

/* A row's measurement of a target; SIZE_MAX: it was not measured. */
static size_t measurement_of(const struct calibration_work *w, size_t row,
                             size_t target) {
  const struct dl_configurations *c = &w->runs.configs;
  return c->at[c->of_row[row] * w->from->physics->n_targets + target];
}

/* Predicts by all rows: f + expected + (K - noise) weights, with K weights = y
 * - f - expected. */
static void predict_fitted(const struct calibration_work *w,
                           const double *weight, size_t target,
                           gsl_vector *fitted) {
  for (size_t i = 0; i < w->o->n; i++) {
    size_t k = measurement_of(w, i, target);
    gsl_vector_set(fitted, i,
                   k == SIZE_MAX ? (double)NAN
                                 : w->runs.configs.m[k].mean +
                                       w->runs.noise[k] * weight[k]);
  }
}

/* The measurements of the configurations whose first row is in a set. */
static void hold_out_set(const struct calibration_work *w, const size_t *set,
                         size_t k, bool *out) {
  const struct dl_configurations *c = &w->runs.configs;
  for (size_t i = 0; i < w->runs.n; i++)
    out[i] = set[c->row[c->first_row[c->m[i].config]]] == k;
}

/* Keeps the predictions of measurements that are held out. */
static void keep_left_out(const struct calibration_work *w, size_t target,
                          const bool *out, const double *misfit,
                          gsl_vector *left_out) {
  for (size_t i = 0; i < w->o->n; i++) {
    size_t m = measurement_of(w, i, target);
    if (m != SIZE_MAX && out[m])
      gsl_vector_set(left_out, i, w->runs.configs.m[m].mean + misfit[m]);
  }
}

/* Predictions of a set by the rows that are not in it, from the mode of all
 * rows. */
static enum dl_status leave_out(const struct calibration_work *w,
                                const struct dl_adapted_rows *rows, size_t k,
                                const double *z, struct dl_diag *d) {
  DL_SCOPED(dl_held_out_points_free) struct dl_held_out_points held = {0};
  DL_SCOPED(dl_mode_search_free) struct dl_mode_search search;
  DL_FREED bool *out = dl_calloc(w->runs.n, sizeof *out);
  hold_out_set(w, rows->set, k, out);
  dl_mode_search_make(&search, &w->runs, &w->prior, &held, z);
  DL_TRY(dl_held_out_points_make(&held, &w->runs, out, d));
  DL_TRY(dl_mode_find(&search, d));
  for (size_t t = 0; t < rows->n_targets; t++)
    keep_left_out(w, rows->target[t], out, search.misfit, rows->left_out[t]);
  return DL_OK;
}

static enum dl_status leave_out_all(const struct calibration_work *w,
                                    const struct dl_adapted_rows *rows,
                                    const double *z, struct dl_diag *d) {
  DL_FREED struct dl_diag *own = dl_calloc(rows->n_sets, sizeof *own);
  DL_FREED enum dl_status *status = dl_calloc(rows->n_sets, sizeof *status);
  enum dl_status all = DL_OK;
  for (size_t t = 0; t < rows->n_targets; t++)
    gsl_vector_set_all(rows->left_out[t], NAN);
#pragma omp parallel for schedule(dynamic)
  for (size_t k = 0; k < rows->n_sets; k++) {
    status[k] = leave_out(w, rows, k, z, &own[k]);
    dl_progress_step(d->progress, (double)(k + 1) / (double)(rows->n_sets + 1));
  }
  for (size_t k = 0; k < rows->n_sets; k++) {
    if (all == DL_OK && status[k] != DL_OK) {
      all = status[k];
      dl_diag_take(d, &own[k]);
    }
    dl_diag_free(&own[k]);
  }
  return all;
}

/* --- calibration */

static enum dl_status solve(struct dl_hierarchical_fit *fit,
                            struct calibration_work *w,
                            const struct dl_adapted_rows *rows,
                            struct dl_diag *d) {
  DL_SCOPED(dl_mode_search_free) struct dl_mode_search search;
  dl_mode_search_make(&search, &w->runs, &w->prior, NULL, NULL);
  DL_TRY(dl_mode_find(&search, d));
  if (rows && rows->n_sets > 0)
    DL_TRY(leave_out_all(w, rows, search.z, d));
  for (size_t t = 0; rows && t < rows->n_targets; t++)
    predict_fitted(w, search.weight, rows->target[t], rows->fitted[t]);
  keep_parameters(fit, search.theta);
  dl_mode_curvature(&search);
  DL_TRY(keep_posterior(fit, search.H, w->prior.L, d));
  keep_residuals(fit, w, search.weight);
  return DL_OK;
}

/* Whether the target of the fit was measured, and moves no parameter: few
 * configurations do not say what is the GPU's and what is theirs. */
static bool is_settled(const struct dl_physics *physics,
                       const struct dl_configurations *configs) {
  size_t target = configs->target[0];
  for (size_t i = 0; i < configs->n_measurements; i++)
    if (configs->m[i].target == target && configs->n < DL_SETTLED_BELOW)
      return physics->settled >> target & 1;
  return false;
}

static enum dl_status prepare(struct dl_hierarchical_fit *fit,
                              struct calibration_work *w, struct dl_diag *d) {
  struct dl_runs_likelihood *l = &w->runs;
  for (size_t i = 0; i < w->from->names.n; i++) /* their numbers stay */
    dl_intern(&fit->names, w->from->names.s[i]);
  dl_configurations_make(&l->configs, fit->physics, w->o);
  dl_configurations_name(&l->configs, &fit->names);
  if (l->configs.n_measurements == 0)
    return dl_fail(d, DL_EINPUT, "no run has a power, an energy or a time");
  dl_calibration_prior_make(&w->prior, fit, w->from, &l->configs);
  dl_parameter_map_make(&l->map, fit->physics, &l->configs, fit->by,
                        dl_posterior_factors(fit->physics));
  l->map.still = is_settled(fit->physics, &l->configs);
  return dl_runs_likelihood_make(l, w->from, d);
}

enum dl_status dl_calibrate_fit(struct dl_hierarchical_fit **out,
                                const struct dl_hierarchical_fit *from,
                                const struct dl_observations *o,
                                const struct dl_adapted_rows *rows,
                                struct dl_diag *d) {
  *out = NULL;
  if (!from->posterior.factor)
    return dl_fail(d, DL_EINPUT,
                   "the model does not say how sure it is of its constants; "
                   "fit it again");
  DL_SCOPED(work_free) struct calibration_work w = {.from = from, .o = o};
  struct dl_hierarchical_fit *fit = dl_hierarchical_fit_new(from->physics);
  enum dl_status status = prepare(fit, &w, d);
  if (status == DL_OK)
    status = solve(fit, &w, rows, d);
  if (status == DL_OK)
    *out = fit;
  else
    dl_hierarchical_fit_free(fit);
  return status;
}
