/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The joint predictive distribution of targets. */

#include "physics/conditioning/joint_prediction.h"

#include <math.h>
#include <string.h>

/* Of two targets, but for expected residuals: logarithms, their derivatives
 * (those of all targets in g), their variances and covariance. */
struct moments {
  size_t target[2];
  double y[DL_MAX_TARGETS];
  struct dl_gradient g[DL_MAX_TARGETS];
  double var[2], cov;
};

/* The parameters in the posterior that a row depends on, with the derivatives
 * of the targets. */
struct active {
  size_t n;
  size_t at[DL_MAX_CONSTANTS + DL_MAX_EFFECTS];
  double by[DL_MAX_CONSTANTS + DL_MAX_EFFECTS][2];
};

/* Adds what an independent deviation contributes. */
static void add_variance(struct moments *m, const double by[2],
                         double variance) {
  m->var[0] += by[0] * by[0] * variance;
  m->var[1] += by[1] * by[1] * variance;
  m->cov += by[0] * by[1] * variance;
}

static void activate(struct active *a, size_t at, const double by[2]) {
  if (by[0] == 0 && by[1] == 0)
    return;
  a->at[a->n] = at;
  a->by[a->n][0] = by[0];
  a->by[a->n++][1] = by[1];
}

/* The variance of effect e of factor k that no posterior has. */
static double own_variance(const struct dl_fit_row *row, size_t k, size_t e) {
  const struct dl_physics *physics = row->fit->physics;
  const struct dl_grouping_factor *f = &physics->factor[k];
  double sd = physics->effect[f->first + e].sd;
  if (row->level[k] == row->fit->by[k].n) {
    sd = sd > 0 ? sd : row->inputs->level_sd;
    return sd * sd;
  }
  bool other_unit =
      f->unit_share > 0 && row->level[f->unit] == row->fit->by[f->unit].n;
  return other_unit ? f->unit_share * f->unit_share * sd * sd : 0;
}

static void add_effects(const struct dl_fit_row *row, struct active *a,
                        struct moments *m) {
  const struct dl_physics *physics = row->fit->physics;
  const struct dl_levels *levels = row->fit->by;
  size_t n_joint =
      row->fit->posterior.factor ? dl_posterior_factors(physics) : 0;
  size_t first = physics->n_constants;
  for (size_t k = 0; k < physics->n_factors; k++) {
    const struct dl_grouping_factor *f = &physics->factor[k];
    for (size_t e = 0; e < f->n; e++) {
      const double by[2] = {m->g[m->target[0]].fx[f->first + e],
                            m->g[m->target[1]].fx[f->first + e]};
      double variance = own_variance(row, k, e);
      if (k < n_joint && row->level[k] < levels[k].n)
        activate(a, first + row->level[k] * f->n + e, by);
      if (variance > 0)
        add_variance(m, by, variance);
    }
    first += levels[k].n * f->n;
  }
}

static void add_constants(const struct dl_fit_row *row, struct active *a,
                          struct moments *m) {
  for (size_t i = 0; i < row->fit->physics->n_constants; i++) {
    const double by[2] = {m->g[m->target[0]].c[i], m->g[m->target[1]].c[i]};
    if (row->fit->posterior.factor)
      activate(a, i, by);
    else
      add_variance(m, by, row->fit->error[i] * row->fit->error[i]);
  }
}

/* J L L' J', by blocks of columns of L. */
static void add_posterior(const struct dl_posterior *posterior,
                          const struct active *a, struct moments *m) {
  enum { BLOCK = 64 };
  const double unit = DL_POSTERIOR_UNIT * DL_POSTERIOR_UNIT;
  for (size_t first = 0; first < posterior->p; first += BLOCK) {
    double x[BLOCK] = {0}, y[BLOCK] = {0}, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < a->n; i++) {
      if (a->at[i] < first)
        continue;
      const double *row = dl_posterior_row(posterior, a->at[i]) + first;
      size_t n = a->at[i] + 1 - first < BLOCK ? a->at[i] + 1 - first : BLOCK;
      double by_x = a->by[i][0], by_y = a->by[i][1];
#pragma omp simd
      for (size_t k = 0; k < n; k++) {
        x[k] += by_x * row[k];
        y[k] += by_y * row[k];
      }
    }
#pragma omp simd reduction(+ : xx, yy, xy)
    for (size_t k = 0; k < BLOCK; k++) {
      xx += x[k] * x[k];
      yy += y[k] * y[k];
      xy += x[k] * y[k];
    }
    m->var[0] += unit * xx;
    m->var[1] += unit * yy;
    m->cov += unit * xy;
  }
}

static void add_residuals(const struct dl_fit_row *row, struct moments *m) {
  const struct dl_physics *physics = row->fit->physics;
  const struct dl_residual_process *process = physics->process;
  const struct dl_place place = dl_place_of(&row->names, row->inputs);
  const struct dl_residual_point at[2] = {{place, m->target[0], 0},
                                          {place, m->target[1], 0}};
  for (size_t i = 0; i < 2; i++) {
    double sd = physics->sigma[m->target[i]];
    m->var[i] += process ? dl_residual_covariance(process, &at[i], &at[i]) +
                               dl_residual_noise(process, 1)
                         : sd * sd;
  }
  m->cov += process ? dl_residual_covariance(process, &at[0], &at[1]) : 0;
}

/* m: its targets. The variances of residuals alone go into residual. */
static void find_moments(struct moments *m, const struct dl_fit_row *row,
                         double residual[2]) {
  const struct dl_hierarchical_fit *fit = row->fit;
  struct active a;
  a.n = 0;
  m->var[0] = m->var[1] = m->cov = 0;
  fit->physics->gradient(fit->c, row->fx, row->inputs, m->y, m->g);
  add_residuals(row, m);
  residual[0] = m->var[0];
  residual[1] = m->var[1];
  add_constants(row, &a, m);
  add_effects(row, &a, m);
  add_posterior(&fit->posterior, &a, m);
}

void dl_predict_jointly(const struct dl_fit_row *row, const size_t target[2],
                        struct dl_joint_prediction *out) {
  struct moments m;
  double residual[2];
  memcpy(m.target, target, sizeof m.target);
  find_moments(&m, row, residual);
  memcpy(out->var, m.var, sizeof out->var);
  out->cov = m.cov;
  for (size_t i = 0; i < 2; i++)
    out->mean[i] =
        m.y[target[i]] + dl_expected_residual(row->fit, &row->place, target[i]);
}

/* Adds the variances by rates of a GPU that the fit has not seen. */
static void add_rates(const struct dl_fit_row *row, struct moments *m) {
  const struct dl_residual_process *process = row->fit->physics->calibration;
  if (!process || row->names.number[DL_NAME_GPU] > 0)
    return;
  const struct dl_place place =
      dl_fit_place(row->fit, &row->names, row->inputs);
  const struct dl_residual_component *c =
      place.tuned && process->tuned ? process->tuned : process->component;
  for (size_t i = 0; i < process->n_components; i++)
    for (size_t k = 0; k < DL_RATE_AXES; k++)
      for (size_t t = 0; t < 2; t++)
        if (c[i].targets >> m->target[t] & 1)
          m->var[t] += pow(c[i].rate[k] * place.rate[k], 2);
}

void dl_run_spreads(const struct dl_fit_row *row, bool new_arch, bool new_gpu,
                    const size_t target[2], double spread[2]) {
  struct dl_fit_row hidden;
  struct moments m;
  double residual[2];
  spread[0] = spread[1] = 1;
  if (!row->fit->physics->widths_by_run)
    return;
  memcpy(m.target, target, sizeof m.target);
  dl_fit_row_hide(&hidden, row, new_arch, new_gpu);
  find_moments(&m, &hidden, residual);
  add_rates(&hidden, &m);
  for (size_t t = 0; t < 2; t++)
    spread[t] = sqrt(sqrt(m.var[t] / residual[t]));
}
