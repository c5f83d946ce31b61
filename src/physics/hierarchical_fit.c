/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/hierarchical_fit.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/nls.h"
#include "physics/linearisation.h"

struct dl_hierarchical_fit *
dl_hierarchical_fit_new(const struct dl_physics *physics) {
  struct dl_hierarchical_fit *fit = dl_calloc(1, sizeof *fit);
  if (fit)
    fit->physics = physics;
  return fit;
}

void dl_hierarchical_fit_free(struct dl_hierarchical_fit *fit) {
  if (!fit)
    return;
  dl_intern_free(&fit->names);
  dl_levels_free(fit->by, fit->physics->n_factors);
  dl_residual_gp_free(&fit->residuals);
  dl_residual_gp_free(&fit->calibration_residuals);
  free(fit->posterior.factor);
  free(fit);
}

double dl_expected_residual(const struct dl_hierarchical_fit *fit,
                            const struct dl_place *place, size_t target) {
  const struct dl_residual_process *process = fit->physics->process;
  if (!process)
    return 0;
  return dl_residual_gp_at(&fit->residuals, process, place, target) +
         dl_residual_gp_at(&fit->calibration_residuals, process, place, target);
}

struct dl_place dl_place_of(const struct dl_row_names *names,
                            const struct dl_grouping *inputs) {
  struct dl_place place = {.exact = inputs->exact,
                           .gpu = names->number[DL_NAME_GPU],
                           .arch = names->number[DL_NAME_ARCH]};
  memcpy(place.x, inputs->x, sizeof place.x);
  return place;
}

void dl_hierarchical_effects(const struct dl_hierarchical_fit *fit,
                             const void *inputs, double *fx) {
  struct dl_row_names names;
  dl_row_names_find(&names, &fit->names, inputs);
  dl_effects_of(fit->physics, fit->by, &names, inputs, fx);
}

double dl_hierarchical_predict(const struct dl_hierarchical_fit *fit,
                               const void *inputs, size_t target) {
  double fx[DL_MAX_EFFECTS], y[DL_MAX_TARGETS];
  struct dl_row_names names;
  dl_row_names_find(&names, &fit->names, inputs);
  dl_effects_of(fit->physics, fit->by, &names, inputs, fx);
  fit->physics->predict(fit->c, fx, inputs, y);
  struct dl_place place = dl_place_of(&names, inputs);
  return y[target] + dl_expected_residual(fit, &place, target);
}

/* What the solver works on. */
struct work {
  struct dl_hierarchical_fit *fit;
  struct dl_configurations configs;
  struct dl_parameter_map map;
  double *scale; /* n_measurements: sd of each residual */
  double *theta, *prior_mean, *prior_sd; /* p */
  double *at;                            /* n_measurements: predictions */
};

static void work_free(struct work *w) {
  dl_configurations_free(&w->configs);
  dl_parameter_map_free(&w->map);
  free(w->scale);
  free(w->theta);
  free(w->prior_mean);
  free(w->prior_sd);
  free(w->at);
}

/* Drops the levels that occur in a single configuration. n: how often each
 * does. */
static void drop_singles(struct dl_levels *levels, const size_t *n) {
  size_t kept = 0;
  for (size_t l = 0; l < levels->n; l++)
    if (n[l] > 1)
      levels->level[kept++] = levels->level[l];
  levels->n = kept;
}

/* The levels of factor k, in order of appearance. False: memory is out. */
static bool list_levels(struct dl_levels *levels,
                        const struct dl_configurations *configs,
                        const struct dl_grouping_factor *factor, size_t k) {
  size_t *n = dl_calloc(configs->n, sizeof *n);
  levels->level = dl_calloc(configs->n, sizeof *levels->level);
  bool ok = n && levels->level;
  for (size_t i = 0; ok && i < configs->n; i++) {
    const struct dl_grouping *inputs = configs->inputs[i];
    struct dl_level_key key =
        dl_level_key_of(&configs->names[i], &inputs->level[k]);
    if (dl_level_is_none(key))
      continue;
    size_t l = dl_factor_level_find(levels, key);
    if (l == levels->n)
      levels->level[levels->n++].key = key;
    n[l]++;
  }
  if (ok && factor->many > 0 && levels->n > factor->many)
    drop_singles(levels, n);
  free(n);
  return ok;
}

static void set_constant_priors(struct work *w) {
  const struct dl_physics *physics = w->fit->physics;
  for (size_t i = 0; i < physics->n_constants; i++) {
    w->theta[i] = w->prior_mean[i] = log(physics->constant[i].median);
    w->prior_sd[i] = physics->constant[i].sd;
  }
}

/* Effects without an sd of their own take the largest level_sd of the level. */
static void set_effect_priors(struct work *w) {
  const struct dl_physics *physics = w->fit->physics;
  for (size_t i = 0; i < w->configs.n; i++)
    for (size_t k = 0; k < physics->n_factors; k++) {
      const struct dl_grouping *inputs = w->configs.inputs[i];
      const struct dl_grouping_factor *f = &physics->factor[k];
      size_t first = w->map.first[i * physics->n_factors + k];
      for (size_t e = 0; first > 0 && e < f->n; e++) {
        double sd = physics->effect[f->first + e].sd;
        w->prior_sd[first + e] =
            sd > 0 ? sd : fmax(w->prior_sd[first + e], inputs->level_sd);
      }
    }
}

static void set_scales(struct work *w) {
  const struct dl_physics *physics = w->fit->physics;
  for (size_t i = 0; i < w->configs.n_measurements; i++) {
    const struct dl_measurement *m = &w->configs.m[i];
    const struct dl_grouping *inputs = w->configs.inputs[m->config];
    w->scale[i] = hypot(physics->sigma[m->target], inputs->sd[m->target]);
    if (physics->weighted)
      w->scale[i] /= sqrt(m->weight);
  }
}

static bool prepare(struct work *w, const struct dl_observations *o) {
  const struct dl_physics *physics = w->fit->physics;
  struct dl_levels *by = w->fit->by;
  bool ok = dl_configurations_make(&w->configs, physics, o) &&
            dl_configurations_name(&w->configs, &w->fit->names);
  for (size_t k = 0; ok && k < physics->n_factors; k++)
    ok = list_levels(&by[k], &w->configs, &physics->factor[k], k);
  if (!ok || !dl_parameter_map_make(&w->map, physics, &w->configs, by,
                                    physics->n_factors))
    return false;
  w->scale = dl_calloc(w->configs.n_measurements, sizeof *w->scale);
  w->at = dl_calloc(w->configs.n_measurements, sizeof *w->at);
  w->theta = dl_calloc(w->map.p, sizeof *w->theta);
  w->prior_mean = dl_calloc(w->map.p, sizeof *w->prior_mean);
  w->prior_sd = dl_calloc(w->map.p, sizeof *w->prior_sd);
  if (!w->scale || !w->at || !w->theta || !w->prior_mean || !w->prior_sd)
    return false;
  set_constant_priors(w);
  set_effect_priors(w);
  set_scales(w);
  return true;
}

static void residuals(const double *theta, double *r, void *ctx) {
  const struct work *w = ctx;
  dl_predict_measurements(&w->map, theta, r);
  for (size_t i = 0; i < w->configs.n_measurements; i++)
    r[i] = (r[i] - w->configs.m[i].mean) / w->scale[i];
}

static void jacobian(const double *theta, double *J, void *ctx) {
  const struct work *w = ctx;
  dl_differentiate_measurements(&w->map, theta, w->scale, J);
}

/* The residuals of each configuration's own target. Rows whose measurement is
 * uncertain inform the constants alone. */
static enum dl_status learn_residuals(const struct work *w, struct dl_diag *d) {
  const struct dl_physics *physics = w->fit->physics;
  const struct dl_configurations *configs = &w->configs;
  struct dl_residual_gp *gp = &w->fit->residuals;
  double *count = dl_calloc(configs->n, sizeof *count);
  gp->point = dl_calloc(configs->n, sizeof *gp->point);
  dl_predict_measurements(&w->map, w->theta, w->at);
  for (size_t i = 0; count && gp->point && i < configs->n_measurements; i++) {
    const struct dl_measurement *m = &configs->m[i];
    const struct dl_grouping *inputs = configs->inputs[m->config];
    if (inputs->steady || m->target != configs->target[m->config])
      continue;
    count[gp->n] = m->weight;
    gp->point[gp->n++] = (struct dl_residual_point){
        dl_place_of(&configs->names[m->config], inputs), m->target,
        m->mean - w->at[i]};
  }
  enum dl_status status = DL_OK;
  if (!count || !gp->point)
    status = dl_fail_memory(d);
  else if (gp->n > 0)
    status = dl_residual_gp_fit(gp, physics->process, count, d);
  free(count);
  return status;
}

static enum dl_status keep_posterior(struct dl_hierarchical_fit *fit,
                                     gsl_matrix *cov, struct dl_diag *d) {
  size_t p = dl_first_parameter(fit->physics, fit->by,
                                dl_posterior_factors(fit->physics));
  gsl_matrix_view block = gsl_matrix_submatrix(cov, 0, 0, p, p);
  if (gsl_linalg_cholesky_decomp1(&block.matrix))
    return dl_fail(d, DL_EINPUT,
                   "the covariance of the fit is not positive definite");
  return dl_posterior_keep(&fit->posterior, &block.matrix) ? DL_OK
                                                           : dl_fail_memory(d);
}

/* Constants and effects out of theta. */
static void keep(struct dl_hierarchical_fit *fit, const double *theta,
                 const gsl_matrix *cov) {
  const struct dl_physics *physics = fit->physics;
  for (size_t i = 0; i < physics->n_constants; i++) {
    fit->theta[i] = *theta++;
    fit->error[i] = sqrt(gsl_matrix_get(cov, i, i));
  }
  for (size_t k = 0; k < physics->n_factors; k++)
    for (size_t l = 0; l < fit->by[k].n; l++, theta += physics->factor[k].n)
      memcpy(fit->by[k].level[l].effect, theta,
             physics->factor[k].n * sizeof *theta);
  dl_constants_of(physics, fit->theta, fit->c);
}

static enum dl_status solve(struct work *w, struct dl_diag *d) {
  struct dl_nls q = {.n = w->configs.n_measurements,
                     .p = w->map.p,
                     .residuals = residuals,
                     .jacobian = jacobian,
                     .ctx = w,
                     .mean = w->prior_mean,
                     .sd = w->prior_sd,
                     .tolerance = 1e-4};
  struct dl_nls_result result;
  gsl_matrix *cov = gsl_matrix_alloc(q.p, q.p);
  enum dl_status status =
      cov ? dl_nls_solve(&q, w->theta, cov, &result, d) : dl_fail_memory(d);
  if (status == DL_OK)
    keep(w->fit, w->theta, cov);
  if (status == DL_OK && w->fit->physics->process) {
    status = keep_posterior(w->fit, cov, d);
    if (status == DL_OK)
      status = learn_residuals(w, d);
  }
  gsl_matrix_free(cov);
  return status;
}

enum dl_status dl_hierarchical_fit_solve(struct dl_hierarchical_fit *fit,
                                         const struct dl_observations *o,
                                         struct dl_diag *d) {
  struct work w = {.fit = fit};
  enum dl_status status = prepare(&w, o) ? solve(&w, d) : dl_fail_memory(d);
  work_free(&w);
  return status;
}
