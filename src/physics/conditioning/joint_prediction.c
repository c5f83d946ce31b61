/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The joint predictive distribution of two targets. */

#include "physics/conditioning/joint_prediction.h"

#include <math.h>
#include <string.h>

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

/* |L' J'|^2, by blocks of columns of L. */
static void add_posterior(const struct dl_posterior *posterior,
                          const struct active *a,
                          struct dl_joint_prediction *out) {
  enum { BLOCK = 64 };
  for (size_t first = 0; first < posterior->p; first += BLOCK) {
    double sum[2][BLOCK] = {{0}};
    for (size_t i = 0; i < a->n; i++) {
      if (a->at[i] < first)
        continue;
      const double *row = dl_posterior_row(posterior, a->at[i]) + first;
      size_t n = a->at[i] + 1 - first < BLOCK ? a->at[i] + 1 - first : BLOCK;
      for (size_t k = 0; k < n; k++) {
        sum[0][k] += a->by[i][0] * row[k];
        sum[1][k] += a->by[i][1] * row[k];
      }
    }
    double square[2] = {0, 0}, product = 0;
    for (size_t k = 0; k < BLOCK; k++) {
      square[0] += sum[0][k] * sum[0][k];
      square[1] += sum[1][k] * sum[1][k];
      product += sum[0][k] * sum[1][k];
    }
    const double unit = DL_POSTERIOR_UNIT * DL_POSTERIOR_UNIT;
    out->var[0] += unit * square[0];
    out->var[1] += unit * square[1];
    out->cov += unit * product;
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
  const struct dl_place place = dl_place_of(&p->names, p->inputs);
  const struct dl_residual_point at[2] = {{place, target[0], 0},
                                          {place, target[1], 0}};
  double noise = dl_residual_noise(process, 1);
  for (size_t i = 0; i < 2; i++)
    out->var[i] += dl_residual_covariance(process, &at[i], &at[i]) + noise;
  out->cov += dl_residual_covariance(process, &at[0], &at[1]);
}

/* All but the expected residuals, and of the variance that of residuals alone
 * into residual[2]. */
static void predict_moments(struct place *p, const size_t target[2],
                            struct dl_joint_prediction *out,
                            double residual[2]) {
  const struct dl_hierarchical_fit *fit = p->fit;
  double fx[DL_MAX_EFFECTS], y[DL_MAX_TARGETS];
  struct dl_gradient g[DL_MAX_TARGETS];
  struct active a = {.n = 0};
  p->g[0] = &g[target[0]];
  p->g[1] = &g[target[1]];
  dl_row_names_find(&p->names, &fit->names, p->inputs);
  dl_effects_of(fit->physics, fit->by, &p->names, p->inputs, fx);
  fit->physics->gradient(fit->c, fx, p->inputs, y, g);
  *out = (struct dl_joint_prediction){.mean = {y[target[0]], y[target[1]]}};
  add_residuals(p, target, out);
  residual[0] = out->var[0];
  residual[1] = out->var[1];
  add_constants(p, &a, out);
  add_effects(p, &a, out);
  add_posterior(&fit->posterior, &a, out);
}

void dl_predict_jointly(const struct dl_hierarchical_fit *fit,
                        const void *inputs, const size_t target[2],
                        struct dl_joint_prediction *out) {
  struct place p = {.fit = fit, .inputs = inputs};
  double residual[2];
  predict_moments(&p, target, out, residual);
  if (!fit->physics->process)
    return;
  const struct dl_place near = dl_fit_place(fit, &p.names, inputs);
  for (size_t i = 0; i < 2; i++)
    out->mean[i] += dl_expected_residual(fit, &near, target[i]);
}

/* The variance of a target by rates of a GPU that the fit has not seen. */
static double rates_variance(const struct place *p, size_t target) {
  const struct dl_residual_process *process = p->fit->physics->calibration;
  if (!process || p->names.number[DL_NAME_GPU] > 0)
    return 0;
  const struct dl_place place = dl_fit_place(p->fit, &p->names, p->inputs);
  const struct dl_residual_component *c =
      place.tuned && process->tuned ? process->tuned : process->component;
  double variance = 0;
  for (size_t i = 0; i < process->n_components; i++)
    for (size_t k = 0; k < DL_RATE_AXES && c[i].targets >> target & 1; k++)
      variance += pow(c[i].rate[k] * place.rate[k], 2);
  return variance;
}

double dl_run_spread(const struct dl_hierarchical_fit *fit, const void *inputs,
                     size_t target, bool new_arch, bool new_gpu) {
  if (!fit->physics->widths_by_run)
    return 1;
  struct dl_inputs copy;
  memcpy(&copy, inputs, fit->physics->input_size);
  struct dl_grouping *grouping = (void *)copy.bytes;
  if (new_arch)
    grouping->name[DL_NAME_ARCH] = NULL;
  if (new_gpu)
    grouping->name[DL_NAME_GPU] = grouping->name[DL_NAME_HOST] = NULL;
  struct place p = {.fit = fit, .inputs = grouping};
  struct dl_joint_prediction of;
  double residual[2];
  predict_moments(&p, (const size_t[]){target, target}, &of, residual);
  double variance = of.var[0] + rates_variance(&p, target);
  return pow(variance / residual[0], 0.25);
}
