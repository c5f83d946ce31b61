/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fits of a physics to configurations. */

#include "physics/hierarchical_problem.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "physics/solver/minimise.h"

/* The levels of factor k, in order of appearance. */
static void list_levels(struct dl_levels *levels,
                        const struct dl_configurations *configs, size_t k) {
  levels->level = dl_calloc(configs->n, sizeof *levels->level);
  for (size_t i = 0; i < configs->n; i++) {
    const struct dl_grouping *inputs = configs->inputs[i];
    struct dl_level_key key =
        dl_level_key_of(&configs->names[i], &inputs->level[k]);
    if (!dl_level_is_none(key) &&
        dl_factor_level_find(levels, key) == levels->n)
      levels->level[levels->n++].key = key;
  }
}

void dl_hierarchical_problem_make(struct dl_hierarchical_problem *q,
                                  const struct dl_physics *physics,
                                  const struct dl_observations *rows) {
  *q = (struct dl_hierarchical_problem){.physics = physics, .rows = *rows};
  dl_configurations_make(&q->configs, physics, rows);
  dl_configurations_name(&q->configs, &q->names);
  for (size_t k = 0; k < physics->n_factors; k++)
    list_levels(&q->by[k], &q->configs, k);
  dl_parameter_map_make(&q->map, physics, &q->configs, q->by,
                        physics->n_factors);
  dl_equation_blocks_make(&q->blocks, &q->map);
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
};

static void work_free(struct work *w) {
  free(w->precision);
  free(w->prior_mean);
  free(w->prior);
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
 * those without an sd of their own take the largest level_sd of the level, and
 * are 0 where that is. */
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
          if (!(sd > 0))
            continue;
          if (!w->s->known[first + e] || 1 / (sd * sd) < w->prior[first + e])
            w->prior[first + e] = 1 / (sd * sd);
          w->s->known[first + e] = true;
        }
      }
    }
}

double dl_measurement_precision(const struct dl_hierarchical_problem *q,
                                const struct dl_measurement *m) {
  const struct dl_grouping *inputs = q->configs.inputs[m->config];
  double sigma = q->physics->sigma[m->target], own = inputs->sd[m->target];
  double weight = q->physics->weighted ? m->weight : m->weight > 0;
  return weight / (sigma * sigma + own * own);
}

static void prepare(struct work *w, const bool *out) {
  const struct dl_hierarchical_problem *q = w->q;
  size_t n = q->configs.n_measurements, p = q->map.p;
  DL_FREED size_t *count = dl_calloc(p, sizeof *count);
  w->s->m = dl_calloc(n, sizeof *w->s->m);
  w->s->theta = dl_calloc(p, sizeof *w->s->theta);
  w->s->known = dl_calloc(p, sizeof *w->s->known);
  w->precision = dl_calloc(n, sizeof *w->precision);
  w->prior_mean = dl_calloc(p, sizeof *w->prior_mean);
  w->prior = dl_calloc(p, sizeof *w->prior);
  dl_configurations_average(&q->configs, q->physics, &q->rows, out, w->s->m);
  for (size_t i = 0; i < n; i++) {
    w->precision[i] = sqrt(dl_measurement_precision(q, &w->s->m[i]));
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
}

static enum dl_status covariance(struct work *w,
                                 const struct dl_weighed_terms *terms,
                                 gsl_matrix *cov, struct dl_diag *d) {
  struct dl_normal_equations e;
  DL_FREED double *g = dl_calloc(w->q->map.p, sizeof *g);
  enum dl_status status = DL_OK;
  dl_normal_equations_make(&e, &w->q->blocks, terms);
  dl_normal_equations_sum(&e, w->s->theta, g);
  if (!dl_normal_equations_invert(&e, cov))
    status = dl_fail(d, DL_EINPUT, "the normal equations are singular");
  dl_normal_equations_free(&e);
  return status;
}

static struct dl_weighed_terms terms_of(const struct work *w) {
  return (struct dl_weighed_terms){w->s->m, w->precision, w->prior_mean,
                                   w->prior, w->s->known};
}

/* Begins at the prior, or where another solution has ended; parameters that are
 * not known are 0. */
static enum dl_status solve(struct work *w, const bool *out,
                            const struct dl_hierarchical_start *start,
                            gsl_matrix *cov, struct dl_diag *d) {
  prepare(w, out);
  const struct dl_weighed_terms terms = terms_of(w);
  bool near = start && start->theta;
  const double *from = near ? start->theta : w->prior_mean;
  for (size_t j = 0; j < w->q->map.p; j++)
    w->s->theta[j] = w->s->known[j] ? from[j] : 0;
  DL_TRY(dl_minimise(w->s->theta, near, start ? start->curvature : NULL,
                     &w->q->blocks, &terms, d));
  if (cov)
    DL_TRY(covariance(w, &terms, cov, d));
  return DL_OK;
}

enum dl_status dl_hierarchical_solve(struct dl_hierarchical_solution *s,
                                     const struct dl_hierarchical_problem *q,
                                     const bool *out,
                                     const struct dl_hierarchical_start *start,
                                     gsl_matrix *cov, struct dl_diag *d) {
  DL_SCOPED(work_free) struct work w = {.q = q, .s = s};
  *s = (struct dl_hierarchical_solution){0};
  enum dl_status status = solve(&w, out, start, cov, d);
  if (status != DL_OK)
    dl_hierarchical_solution_free(s);
  return status;
}

static void find_curvature(struct dl_hierarchical_problem *q) {
  DL_SCOPED(dl_hierarchical_solution_free)
  struct dl_hierarchical_solution same = {0};
  DL_SCOPED(work_free) struct work w = {.q = q, .s = &same};
  dl_cell_products_make(&q->full.curvature, &q->blocks);
  prepare(&w, NULL);
  const struct dl_weighed_terms terms = terms_of(&w);
  dl_curvature_at(&q->full.curvature, &q->blocks, &terms, q->full.s.theta);
}

static void free_full(struct dl_full_solution *full) {
  dl_hierarchical_solution_free(&full->s);
  gsl_matrix_free(full->cov);
  dl_cell_products_free(&full->curvature);
  *full = (struct dl_full_solution){0};
}

void dl_hierarchical_problem_free(struct dl_hierarchical_problem *q) {
  free_full(&q->full);
  dl_configurations_free(&q->configs);
  dl_parameter_map_free(&q->map);
  dl_equation_blocks_free(&q->blocks);
  dl_intern_free(&q->names);
  if (q->physics)
    dl_levels_free(q->by, q->physics->n_factors);
}

enum dl_status dl_full_solution_get(struct dl_hierarchical_problem *q,
                                    bool curvature, struct dl_diag *d) {
  struct dl_full_solution *full = &q->full;
  if (!full->cov) {
    full->cov = gsl_matrix_alloc(q->map.p, q->map.p);
    enum dl_status status =
        dl_hierarchical_solve(&full->s, q, NULL, NULL, full->cov, d);
    if (status != DL_OK) {
      free_full(full);
      return status;
    }
  }
  if (curvature && !full->curvature.cell)
    find_curvature(q);
  return DL_OK;
}

void dl_hierarchical_values(const struct dl_hierarchical_problem *q,
                            const struct dl_hierarchical_solution *s,
                            size_t config, double *y) {
  double c[DL_MAX_CONSTANTS], fx[DL_MAX_EFFECTS];
  dl_constants_of(q->physics, s->theta, c);
  dl_effects_at(&q->map, s->theta, config, fx);
  q->physics->predict(c, fx, q->configs.inputs[config], y);
}

enum dl_status dl_hierarchical_residuals(
    struct dl_residual_gp *gp, const struct dl_hierarchical_problem *q,
    const struct dl_hierarchical_solution *s, size_t target, const bool *wanted,
    struct dl_diag *d) {
  const struct dl_configurations *configs = &q->configs;
  double y[DL_MAX_TARGETS];
  DL_FREED double *count = dl_calloc(configs->n, sizeof *count);
  *gp = (struct dl_residual_gp){.point =
                                    dl_calloc(configs->n, sizeof *gp->point)};
  for (size_t i = 0; i < configs->n; i++) {
    const struct dl_grouping *inputs = configs->inputs[i];
    size_t its = i < configs->n_own ? target : configs->target[i];
    size_t at = configs->at[i * q->physics->n_targets + its];
    if (inputs->steady || at == SIZE_MAX || !(s->m[at].weight > 0) ||
        (wanted && !wanted[i]))
      continue;
    dl_hierarchical_values(q, s, i, y);
    count[gp->n] = s->m[at].weight;
    gp->point[gp->n++] = (struct dl_residual_point){
        dl_place_of(&configs->names[i], inputs), its, s->m[at].mean - y[its]};
  }
  return dl_residual_gp_fit(gp, q->physics->process, count, d);
}
