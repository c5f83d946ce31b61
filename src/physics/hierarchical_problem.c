/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits of a physics, and fits that hold rows out. */

#include "physics/hierarchical_problem.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "physics/hierarchical_fit.h"

/* The expected decrease of the squares below which a fit has converged: the
 * parameters are then within about 1e-4 posterior standard deviations. */
#define CONVERGED 1e-8

/* The same of damped steps: 1 % of a standard deviation. */
#define LITTLE_GAIN 1e-4

enum { MOST_STEPS = 200 };

void dl_hierarchical_problem_free(struct dl_hierarchical_problem *q) {
  dl_configurations_free(&q->configs);
  dl_parameter_map_free(&q->map);
  dl_normal_equations_free(&q->equations);
  dl_intern_free(&q->names);
  if (q->physics)
    dl_levels_free(q->by, q->physics->n_factors);
}

/* The levels of factor k, in order of appearance. False: memory is out. */
static bool list_levels(struct dl_levels *levels,
                        const struct dl_configurations *configs, size_t k) {
  levels->level = dl_calloc(configs->n, sizeof *levels->level);
  for (size_t i = 0; levels->level && i < configs->n; i++) {
    const struct dl_grouping *inputs = configs->inputs[i];
    struct dl_level_key key =
        dl_level_key_of(&configs->names[i], &inputs->level[k]);
    if (!dl_level_is_none(key) &&
        dl_factor_level_find(levels, key) == levels->n)
      levels->level[levels->n++].key = key;
  }
  return levels->level;
}

bool dl_hierarchical_problem_make(struct dl_hierarchical_problem *q,
                                  const struct dl_physics *physics,
                                  const struct dl_observations *rows) {
  *q = (struct dl_hierarchical_problem){.physics = physics, .rows = *rows};
  bool ok = dl_configurations_make(&q->configs, physics, rows) &&
            dl_configurations_name(&q->configs, &q->names);
  for (size_t k = 0; ok && k < physics->n_factors; k++)
    ok = list_levels(&q->by[k], &q->configs, k);
  return ok &&
         dl_parameter_map_make(&q->map, physics, &q->configs, q->by,
                               physics->n_factors) &&
         dl_normal_equations_make(&q->equations, &q->map, false);
}

void dl_hierarchical_solution_free(struct dl_hierarchical_solution *s) {
  free(s->m);
  free(s->theta);
  free(s->known);
  *s = (struct dl_hierarchical_solution){0};
}

/* What a solver works on. */
struct work {
  const struct dl_hierarchical_problem *q;
  struct dl_hierarchical_solution *s;
  double *precision;          /* n_measurements */
  double *prior_mean, *prior; /* p: prior: 1 / variance */
  double *trial, *step;       /* p */
};

static void work_free(struct work *w) {
  free(w->precision);
  free(w->prior_mean);
  free(w->prior);
  free(w->trial);
  free(w->step);
}

/* Whether a configuration has rows that are not held out. */
static bool is_fitted(const struct dl_configurations *configs,
                      const struct dl_measurement *m, size_t config) {
  for (size_t k = configs->first[config]; k < configs->first[config + 1]; k++)
    if (m[k].weight > 0)
      return true;
  return false;
}

/* Counts the configurations of each level, by its first parameter, drops levels
 * as the factor's `many` says, and sets the priors of the others' effects:
 * those without an sd of their own take the largest level_sd of the level. */
static void set_effect_priors(struct work *w, size_t *count) {
  const struct dl_physics *physics = w->q->physics;
  const struct dl_parameter_map *map = &w->q->map;
  size_t factors = physics->n_factors, present[DL_MAX_FACTORS] = {0};
  for (size_t pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < map->configs->n; i++) {
      const struct dl_grouping *inputs = map->configs->inputs[i];
      if (!is_fitted(map->configs, w->s->m, i))
        continue;
      for (size_t k = 0; k < factors; k++) {
        const struct dl_grouping_factor *f = &physics->factor[k];
        size_t first = map->first[i * factors + k];
        if (first > 0 && pass == 0)
          present[k] += count[first]++ == 0;
        if (first == 0 || pass == 0 ||
            (f->many > 0 && present[k] > f->many && count[first] == 1))
          continue;
        for (size_t e = 0; e < f->n; e++) {
          double sd = physics->effect[f->first + e].sd;
          sd = sd > 0 ? sd : inputs->level_sd;
          if (!w->s->known[first + e] || 1 / (sd * sd) < w->prior[first + e])
            w->prior[first + e] = 1 / (sd * sd);
          w->s->known[first + e] = true;
        }
      }
    }
}

static bool prepare(struct work *w, const bool *out) {
  const struct dl_hierarchical_problem *q = w->q;
  size_t n = q->configs.n_measurements, p = q->map.p;
  size_t *count = dl_calloc(p, sizeof *count);
  w->s->m = dl_calloc(n, sizeof *w->s->m);
  w->s->theta = dl_calloc(p, sizeof *w->s->theta);
  w->s->known = dl_calloc(p, sizeof *w->s->known);
  w->precision = dl_calloc(n, sizeof *w->precision);
  w->prior_mean = dl_calloc(p, sizeof *w->prior_mean);
  w->prior = dl_calloc(p, sizeof *w->prior);
  w->trial = dl_calloc(p, sizeof *w->trial);
  w->step = dl_calloc(p, sizeof *w->step);
  bool ok = count && w->s->m && w->s->theta && w->s->known && w->precision &&
            w->prior_mean && w->prior && w->trial && w->step;
  if (!ok) {
    free(count);
    return false;
  }
  dl_configurations_average(&q->configs, q->physics, &q->rows, out, w->s->m);
  for (size_t i = 0; i < n; i++) {
    const struct dl_measurement *m = &w->s->m[i];
    const struct dl_grouping *inputs = q->configs.inputs[m->config];
    double variance =
        q->physics->sigma[m->target] * q->physics->sigma[m->target] +
        inputs->sd[m->target] * inputs->sd[m->target];
    double weight = q->physics->weighted ? m->weight : m->weight > 0;
    w->precision[i] = sqrt(weight / variance);
  }
  for (size_t j = 0; j < p; j++)
    w->prior[j] = 1;
  for (size_t j = 0; j < q->physics->n_constants; j++) {
    double sd = q->physics->constant[j].sd;
    w->prior_mean[j] = log(q->physics->constant[j].median);
    w->prior[j] = 1 / (sd * sd);
    w->s->known[j] = true;
  }
  set_effect_priors(w, count);
  for (size_t j = 0; j < p; j++)
    w->s->theta[j] = w->s->known[j] ? w->prior_mean[j] : 0;
  free(count);
  return true;
}

static double sum(struct dl_normal_equations *e, const struct work *w,
                  const double *theta, double damping) {
  const struct dl_weighed_terms of = {w->s->m, w->precision, w->prior_mean,
                                      w->prior};
  return dl_normal_equations_sum(e, &of, theta, damping);
}

/* Levenberg's and Marquardt's method. The physics has kinks, where clocks are
 * at their lowest: a minimum on one is found by damped steps that gain ever
 * less.
 */
static enum dl_status minimise(struct work *w, struct dl_diag *d) {
  struct dl_normal_equations e;
  double *theta = w->s->theta, damping = 0, gain = INFINITY, ratio = 1;
  size_t p = w->q->map.p;
  bool ok = dl_normal_equations_begin(&e, &w->q->equations, w->s->known);
  double squares = ok ? sum(&e, w, theta, 0) : 0;
  enum dl_status status = ok ? DL_OK : dl_fail_memory(d);
  if (ok && !isfinite(squares))
    status = dl_fail(d, DL_EINPUT, "a row has no finite residual");
  for (size_t i = 0; i < MOST_STEPS && status == DL_OK; i++) {
    double expected = dl_normal_equations_solve(&e, w->step);
    if (isnan(expected))
      status = dl_fail(d, DL_EINPUT, "the normal equations are singular");
    if (isnan(expected) || gain < (damping > 0 ? LITTLE_GAIN : CONVERGED) ||
        (damping > 0 && expected < LITTLE_GAIN))
      break;
    for (size_t j = 0; j < p; j++)
      w->trial[j] = theta[j] + w->step[j];
    bool last = expected < CONVERGED;
    /* Damping falls where the step before was as good as expected. */
    double next = ratio < 0.75 ? damping : damping > 1e-6 ? damping / 10 : 0;
    double now = last ? squares : sum(&e, w, w->trial, next);
    if (now <= squares) {
      memcpy(theta, w->trial, p * sizeof *theta);
      gain = squares - now;
      squares = now;
      ratio = gain / expected;
      damping = next;
      if (last)
        break;
    } else {
      damping = damping > 0 ? damping * 10 : 1e-2;
      ratio = 0;
      sum(&e, w, theta, damping);
    }
  }
  dl_normal_equations_end(&e);
  return status;
}

/* The inverse of J'J and the priors. */
static enum dl_status covariance(struct work *w, gsl_matrix *cov,
                                 struct dl_diag *d) {
  struct dl_normal_equations dense, e = {0};
  bool ok = dl_normal_equations_make(&dense, &w->q->map, true) &&
            dl_normal_equations_begin(&e, &dense, w->s->known);
  enum dl_status status = ok ? DL_OK : dl_fail_memory(d);
  if (ok) {
    sum(&e, w, w->s->theta, 0);
    gsl_matrix_memcpy(cov, e.S);
    if (gsl_linalg_cholesky_decomp1(cov) || gsl_linalg_cholesky_invert(cov))
      status = dl_fail(d, DL_EINPUT, "the normal equations are singular");
  }
  dl_normal_equations_end(&e);
  dl_normal_equations_free(&dense);
  return status;
}

enum dl_status dl_hierarchical_solve(struct dl_hierarchical_solution *s,
                                     const struct dl_hierarchical_problem *q,
                                     const bool *out, gsl_matrix *cov,
                                     struct dl_diag *d) {
  struct work w = {.q = q, .s = s};
  *s = (struct dl_hierarchical_solution){0};
  enum dl_status status =
      prepare(&w, out) ? minimise(&w, d) : dl_fail_memory(d);
  if (status == DL_OK && cov)
    status = covariance(&w, cov, d);
  work_free(&w);
  if (status != DL_OK)
    dl_hierarchical_solution_free(s);
  return status;
}

/* The logarithms of a configuration's targets without residuals. */
static void predict(const struct dl_hierarchical_problem *q,
                    const struct dl_hierarchical_solution *s, const double *c,
                    size_t config, double *y) {
  double fx[DL_MAX_EFFECTS];
  dl_effects_at(&q->map, s->theta, config, fx);
  q->physics->predict(c, fx, q->configs.inputs[config], y);
}

enum dl_status dl_hierarchical_residuals(
    struct dl_residual_gp *gp, const struct dl_hierarchical_problem *q,
    const struct dl_hierarchical_solution *s, size_t target, const bool *wanted,
    struct dl_diag *d) {
  const struct dl_configurations *configs = &q->configs;
  double c[DL_MAX_CONSTANTS], y[DL_MAX_TARGETS];
  double *count = dl_calloc(configs->n, sizeof *count);
  *gp = (struct dl_residual_gp){.point =
                                    dl_calloc(configs->n, sizeof *gp->point)};
  dl_constants_of(q->physics, s->theta, c);
  for (size_t i = 0; count && gp->point && i < configs->n; i++) {
    const struct dl_grouping *inputs = configs->inputs[i];
    size_t its = i < configs->n_own ? target : configs->target[i];
    size_t at = configs->at[i * q->physics->n_targets + its];
    if (inputs->steady || at == SIZE_MAX || !(s->m[at].weight > 0) ||
        (wanted && !wanted[i]))
      continue;
    predict(q, s, c, i, y);
    count[gp->n] = s->m[at].weight;
    gp->point[gp->n++] = (struct dl_residual_point){
        dl_place_of(&configs->names[i], inputs), its, s->m[at].mean - y[its]};
  }
  enum dl_status status =
      count && gp->point ? dl_residual_gp_fit(gp, q->physics->process, count, d)
                         : dl_fail_memory(d);
  free(count);
  return status;
}

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
static bool mark_near(const struct dl_configurations *configs, const bool *held,
                      bool *near) {
  struct pair *pairs = dl_calloc(configs->n, sizeof *pairs);
  if (!pairs)
    return false;
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
  free(pairs);
  return true;
}

/* Predicts the configurations marked in `held`. */
static enum dl_status predict_held(const struct dl_hierarchical_problem *q,
                                   const struct dl_hierarchical_solution *s,
                                   const bool *held, const bool *near,
                                   double *y, struct dl_diag *d) {
  const struct dl_residual_process *process = q->physics->process;
  size_t n_targets = q->physics->n_targets;
  double c[DL_MAX_CONSTANTS];
  dl_constants_of(q->physics, s->theta, c);
  for (size_t i = 0; i < q->configs.n; i++)
    if (held[i])
      predict(q, s, c, i, y + i * n_targets);
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
                           const bool *out, double *y, struct dl_diag *d) {
  struct dl_hierarchical_solution s;
  bool *held = dl_calloc(q->configs.n, sizeof *held);
  bool *near = dl_calloc(q->configs.n, sizeof *near);
  for (size_t i = 0; held && i < q->rows.n; i++)
    if (out[i])
      held[q->configs.of_row[i]] = true;
  bool ok = held && near && mark_near(&q->configs, held, near);
  enum dl_status status =
      ok ? dl_hierarchical_solve(&s, q, out, NULL, d) : dl_fail_memory(d);
  if (status == DL_OK) {
    status = predict_held(q, &s, held, near, y, d);
    dl_hierarchical_solution_free(&s);
  }
  free(held);
  free(near);
  return status;
}

bool dl_hold_out_auxiliary(const struct dl_hierarchical_problem *q, bool *out) {
  static const enum dl_name groupings[] = {DL_NAME_GPU, DL_NAME_ARCH,
                                           DL_NAME_SOURCE};
  size_t n_own = q->rows.n - q->rows.n_auxiliary, n_names = q->names.n + 1;
  bool *some_out = dl_calloc(n_names, sizeof *some_out);
  bool *some_in = dl_calloc(n_names, sizeof *some_in);
  bool ok = some_out && some_in;
  for (size_t g = 0; ok && g < sizeof groupings / sizeof *groupings; g++) {
    memset(some_out, 0, n_names * sizeof *some_out);
    memset(some_in, 0, n_names * sizeof *some_in);
    for (size_t i = 0; i < q->rows.n; i++) {
      size_t config = q->configs.of_row[i];
      long name = q->configs.names[config].number[groupings[g]];
      if (i < n_own)
        (out[i] ? some_out : some_in)[name] = true;
      else
        out[i] = out[i] || (some_out[name] && !some_in[name]);
    }
  }
  free(some_out);
  free(some_in);
  return ok;
}
