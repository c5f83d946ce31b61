/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The joint predictive distribution of two targets. */

#include "physics/conditioning/joint_prediction.h"

#include <math.h>

/* The parameters that inputs depend on, with the derivatives of both
 * targets. */
struct active {
  size_t n;
  size_t at[DL_MAX_CONSTANTS + DL_MAX_EFFECTS]; /* in the posterior */
  double by[DL_MAX_CONSTANTS + DL_MAX_EFFECTS][2];
};

/* Adds what an independent deviation contributes. */
static void add_variance(struct dl_joint_prediction *out, const double by[2],
                         double variance) {
  out->var[0] += by[0] * by[0] * variance;
  out->var[1] += by[1] * by[1] * variance;
  out->cov += by[0] * by[1] * variance;
}

static void activate(struct active *a, size_t at, const double by[2]) {
  if (by[0] == 0 && by[1] == 0)
    return;
  a->at[a->n] = at;
  a->by[a->n][0] = by[0];
  a->by[a->n++][1] = by[1];
}

/* What the inputs are, to the fit. */
struct place {
  const struct dl_hierarchical_fit *fit;
  const struct dl_grouping *inputs;
  struct dl_row_names names;
  const struct dl_gradient *g[2]; /* of the two targets */
};

static size_t level_in(const struct place *p, size_t k) {
  return dl_factor_level_find(&p->fit->by[k],
                              dl_level_key_of(&p->names, &p->inputs->level[k]));
}

/* The variance of effect e of factor k that no posterior has; NaN: it is in the
 * posterior alone. */
static double own_variance(const struct place *p, size_t k, size_t level,
                           size_t e) {
  const struct dl_physics *physics = p->fit->physics;
  const struct dl_grouping_factor *f = &physics->factor[k];
  double sd = physics->effect[f->first + e].sd;
  if (level == p->fit->by[k].n) {
    sd = sd > 0 ? sd : p->inputs->level_sd;
    return sd * sd;
  }
  bool other_unit =
      f->unit_share > 0 && level_in(p, f->unit) == p->fit->by[f->unit].n;
  return other_unit ? f->unit_share * f->unit_share * sd * sd : 0;
}

static void add_effects(const struct place *p, struct active *a,
                        struct dl_joint_prediction *out) {
  const struct dl_physics *physics = p->fit->physics;
  for (size_t k = 0; k < physics->n_factors; k++) {
    const struct dl_grouping_factor *f = &physics->factor[k];
    bool joint = p->fit->posterior.factor && k < dl_posterior_factors(physics);
    size_t l = level_in(p, k);
    size_t first = dl_first_parameter(physics, p->fit->by, k) + l * f->n;
    for (size_t e = 0; e < f->n; e++) {
      const double by[2] = {p->g[0]->fx[f->first + e],
                            p->g[1]->fx[f->first + e]};
      if (joint && l < p->fit->by[k].n)
        activate(a, first + e, by);
      add_variance(out, by, own_variance(p, k, l, e));
    }
  }
}

static void add_constants(const struct place *p, struct active *a,
                          struct dl_joint_prediction *out) {
  for (size_t i = 0; i < p->fit->physics->n_constants; i++) {
    const double by[2] = {p->g[0]->c[i], p->g[1]->c[i]};
    if (p->fit->posterior.factor)
      activate(a, i, by);
    else
      add_variance(out, by, p->fit->error[i] * p->fit->error[i]);
  }
}

/* |L' J'|^2, column by column of L. */
static void add_posterior(const struct dl_posterior *posterior,
                          const struct active *a,
                          struct dl_joint_prediction *out) {
  for (size_t column = 0; column < posterior->p; column++) {
    double sum[2] = {0, 0};
    for (size_t i = 0; i < a->n; i++) {
      double x =
          a->at[i] < column ? 0 : dl_posterior_at(posterior, a->at[i], column);
      sum[0] += a->by[i][0] * x;
      sum[1] += a->by[i][1] * x;
    }
    add_variance(out, sum, 1);
  }
}

static void add_residuals(const struct place *p, const size_t target[2],
                          struct dl_joint_prediction *out) {
  const struct dl_residual_process *process = p->fit->physics->process;
  if (!process) {
    for (size_t i = 0; i < 2; i++)
      out->var[i] +=
          p->fit->physics->sigma[target[i]] * p->fit->physics->sigma[target[i]];
    return;
  }
  const struct dl_place place = dl_place_of(&p->names, p->inputs),
                        near = dl_fit_place(p->fit, &p->names, p->inputs);
  const struct dl_residual_point at[2] = {{place, target[0], 0},
                                          {place, target[1], 0}};
  double noise = dl_residual_noise(process, 1);
  for (size_t i = 0; i < 2; i++) {
    out->var[i] += dl_residual_covariance(process, &at[i], &at[i]) + noise;
    out->mean[i] += dl_expected_residual(p->fit, &near, target[i]);
  }
  out->cov += dl_residual_covariance(process, &at[0], &at[1]);
}

void dl_predict_jointly(const struct dl_hierarchical_fit *fit,
                        const void *inputs, const size_t target[2],
                        struct dl_joint_prediction *out) {
  double fx[DL_MAX_EFFECTS], y[DL_MAX_TARGETS];
  struct dl_gradient g[DL_MAX_TARGETS];
  struct active a = {.n = 0};
  struct place p = {
      .fit = fit, .inputs = inputs, .g = {&g[target[0]], &g[target[1]]}};
  dl_row_names_find(&p.names, &fit->names, inputs);
  dl_effects_of(fit->physics, fit->by, &p.names, inputs, fx);
  fit->physics->gradient(fit->c, fx, inputs, y, g);
  *out = (struct dl_joint_prediction){.mean = {y[target[0]], y[target[1]]}};
  add_constants(&p, &a, out);
  add_effects(&p, &a, out);
  add_posterior(&fit->posterior, &a, out);
  add_residuals(&p, target, out);
}
