/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The joint predictive distribution of targets. */

#include "physics/conditioning/joint_prediction.h"

#include <math.h>

/* But for expected residuals: logarithms of all targets and their derivatives;
 * of the two that a third follows from the variances and the covariance. */
struct moments {
  size_t target[2];
  double y[DL_MAX_TARGETS];
  struct dl_gradient g[DL_MAX_TARGETS];
  double var[2], cov;
  /* The parameters in the posterior that a row depends on, with the derivatives
   * of the two targets. */
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

static void activate(struct moments *m, size_t at, const double by[2]) {
  if (by[0] == 0 && by[1] == 0)
    return;
  m->at[m->n] = at;
  m->by[m->n][0] = by[0];
  m->by[m->n++][1] = by[1];
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

static void add_effects(const struct dl_fit_row *row, struct moments *m) {
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
        activate(m, first + row->level[k] * f->n + e, by);
      if (variance > 0)
        add_variance(m, by, variance);
    }
    first += levels[k].n * f->n;
  }
}

static void add_constants(const struct dl_fit_row *row, struct moments *m) {
  for (size_t i = 0; i < row->fit->physics->n_constants; i++) {
    const double by[2] = {m->g[m->target[0]].c[i], m->g[m->target[1]].c[i]};
    if (row->fit->posterior.factor)
      activate(m, i, by);
    else
      add_variance(m, by, row->fit->error[i] * row->fit->error[i]);
  }
}

/* J L L' J', by blocks of columns of L. */
static void add_posterior(const struct dl_posterior *posterior,
                          struct moments *m) {
  enum { BLOCK = 64 };
  const double unit = DL_POSTERIOR_UNIT * DL_POSTERIOR_UNIT;
  for (size_t first = 0; first < posterior->p; first += BLOCK) {
    double x[BLOCK] = {0}, y[BLOCK] = {0}, xx = 0, yy = 0, xy = 0;
    for (size_t i = 0; i < m->n; i++) {
      if (m->at[i] < first)
        continue;
      const double *row = dl_posterior_row(posterior, m->at[i]) + first;
      size_t n = m->at[i] + 1 - first < BLOCK ? m->at[i] + 1 - first : BLOCK;
      double by_x = m->by[i][0], by_y = m->by[i][1];
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

/* m: without residuals. */
static void find_moments(struct moments *m, const struct dl_fit_row *row) {
  const struct dl_hierarchical_fit *fit = row->fit;
  const struct dl_physics *physics = fit->physics;
  m->n = 0;
  m->target[0] = physics->energy ? physics->energy->power : 0;
  m->target[1] = physics->energy ? physics->energy->time : 1;
  m->var[0] = m->var[1] = m->cov = 0;
  physics->gradient(fit->c, row->fx, row->inputs, m->y, m->g);
  add_constants(row, m);
  add_effects(row, m);
  add_posterior(&fit->posterior, m);
}

static void set(double cov[DL_MAX_TARGETS][DL_MAX_TARGETS], size_t i, size_t j,
                double value) {
  cov[i][j] = cov[j][i] = value;
}

/* The share k P / (k P + m) of the power in an energy E = (k P + m) T: d log E
 * = d log T + share d log P. */
static double power_share(const struct dl_physics *physics,
                          const struct moments *m) {
  const struct dl_gradient *e = &m->g[physics->energy->energy],
                           *p = &m->g[physics->energy->power],
                           *t = &m->g[physics->energy->time];
  double product = 0, square = 0;
  for (size_t i = 0; i < physics->n_constants; i++) {
    product += (e->c[i] - t->c[i]) * p->c[i];
    square += p->c[i] * p->c[i];
  }
  for (size_t i = 0; i < physics->n_effects; i++) {
    product += (e->fx[i] - t->fx[i]) * p->fx[i];
    square += p->fx[i] * p->fx[i];
  }
  return square > 0 ? product / square : 0;
}

/* Covariances of all targets. */
static void find_covariances(const struct dl_physics *physics,
                             const struct moments *m,
                             double cov[DL_MAX_TARGETS][DL_MAX_TARGETS]) {
  size_t p = m->target[0], t = m->target[1];
  set(cov, p, p, m->var[0]);
  set(cov, t, t, m->var[1]);
  set(cov, p, t, m->cov);
  if (!physics->energy)
    return;
  size_t e = physics->energy->energy;
  double share = power_share(physics, m);
  set(cov, e, p, share * m->var[0] + m->cov);
  set(cov, e, t, share * m->cov + m->var[1]);
  set(cov, e, e, share * (share * m->var[0] + 2 * m->cov) + m->var[1]);
}

/* The covariance of what the physics leaves over of two targets. */
static double residual_covariance(const struct dl_physics *physics,
                                  const struct dl_place *place, size_t i,
                                  size_t j) {
  const struct dl_residual_process *process = physics->process;
  const struct dl_residual_point a = {.place = *place, .target = i},
                                 b = {.place = *place, .target = j};
  double sd = physics->sigma[i];
  if (!process)
    return i == j ? sd * sd : 0;
  return dl_residual_covariance(process, &a, &b) +
         (i == j ? dl_residual_noise(process, 1) : 0);
}

void dl_predict_jointly(const struct dl_fit_row *row,
                        struct dl_joint_prediction *out) {
  const struct dl_physics *physics = row->fit->physics;
  const struct dl_place place = dl_place_of(&row->names, row->inputs);
  struct moments m;
  find_moments(&m, row);
  find_covariances(physics, &m, out->cov);
  for (size_t i = 0; i < physics->n_targets; i++) {
    out->mean[i] = m.y[i] + dl_expected_residual(row->fit, &row->place, i);
    for (size_t j = 0; j < physics->n_targets; j++)
      out->cov[i][j] += residual_covariance(physics, &place, i, j);
  }
}

/* Adds the variance by the rates of a GPU that the fit has not seen. */
static void add_rates(const struct dl_fit_row *row,
                      double cov[DL_MAX_TARGETS][DL_MAX_TARGETS]) {
  const struct dl_physics *physics = row->fit->physics;
  const struct dl_residual_process *process = physics->calibration;
  if (!process || row->names.number[DL_NAME_GPU] > 0 ||
      (physics->own_rates && !physics->own_rates(row->inputs)))
    return;
  const struct dl_place place =
      dl_fit_place(row->fit, &row->names, row->inputs);
  const struct dl_residual_component *c =
      place.tuned && process->tuned ? process->tuned : process->component;
  for (size_t i = 0; i < process->n_components; i++)
    for (size_t k = 0; k < DL_RATE_AXES; k++)
      for (size_t t = 0; t < physics->n_targets; t++)
        if (c[i].targets >> t & 1)
          cov[t][t] += pow(c[i].rate[k] * place.rate[k], 2);
}

/* Whether the fit has names of the network, or of the GPU and its host. */
static bool has_levels_of(const struct dl_fit_row *row, bool arch, bool gpu) {
  const long *number = row->names.number;
  return (arch && number[DL_NAME_ARCH] > 0) ||
         (gpu && (number[DL_NAME_GPU] > 0 || number[DL_NAME_HOST] > 0));
}

void dl_run_spreads(const struct dl_fit_row *row, bool new_arch, bool new_gpu,
                    double spread[DL_MAX_TARGETS]) {
  const struct dl_physics *physics = row->fit->physics;
  double cov[DL_MAX_TARGETS][DL_MAX_TARGETS];
  struct dl_fit_row hidden;
  struct moments m;
  for (size_t t = 0; t < DL_MAX_TARGETS; t++)
    spread[t] = 1;
  if (!physics->widths_by_run)
    return;
  if (has_levels_of(row, new_arch, new_gpu)) {
    dl_fit_row_hide(&hidden, row, new_arch, new_gpu);
    row = &hidden;
  }
  const struct dl_place place = dl_place_of(&row->names, row->inputs);
  find_moments(&m, row);
  find_covariances(physics, &m, cov);
  add_rates(row, cov);
  for (size_t t = 0; t < physics->n_targets; t++) {
    double residual = residual_covariance(physics, &place, t, t);
    spread[t] = sqrt(sqrt((cov[t][t] + residual) / residual));
  }
}
