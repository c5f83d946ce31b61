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
    dl_factor_level_add(levels,
                        dl_level_key_of(&configs->names[i], &inputs->level[k]));
  }
}

void dl_hierarchical_problem_make(struct dl_hierarchical_problem *q,
                                  const struct dl_physics *physics,
                                  const struct dl_observations *rows) {
  *q = (struct dl_hierarchical_problem){.physics = physics, .rows = *rows};
  dl_hierarchical_problem_set_up(q);
}

void dl_hierarchical_problem_set_up(struct dl_hierarchical_problem *q) {
  const struct dl_physics *physics = q->physics;
  dl_configurations_make(&q->configs, physics, &q->rows);
  dl_configurations_name(&q->configs, &q->names);
  for (size_t k = 0; k < physics->n_factors; k++)
    list_levels(&q->by[k], &q->configs, k);
  dl_parameter_map_make(&q->map, physics, &q->configs, q->by,
                        physics->n_factors);
  dl_equation_blocks_make(&q->blocks, &q->map);
}

void dl_hierarchical_solution_free(struct dl_hierarchical_solution *s) {
  free(s->terms.m);
  free(s->terms.precision);
  free(s->terms.prior_mean);
  free(s->terms.prior);
  free(s->terms.known);
  free(s->theta);
  *s = (struct dl_hierarchical_solution){0};
}

/* Counts the configurations of each level, by its first parameter, drops levels
 * as the factor's `many` says, and sets the priors of the others' effects:
 * those without an sd of their own take the largest level_sd of the level, and
 * are 0 where that is. */
static void set_effect_priors(struct dl_weighed_terms *terms,
                              const struct dl_parameter_map *map) {
  const struct dl_physics *physics = map->physics;
  size_t factors = physics->n_factors, present[DL_MAX_FACTORS] = {0};
  DL_FREED size_t *count = dl_calloc(map->p, sizeof *count);
  for (size_t pass = 0; pass < 2; pass++)
    for (size_t i = 0; i < map->configs->n; i++) {
      const struct dl_grouping *inputs = map->configs->inputs[i];
      if (!dl_config_is_used(map->configs, terms, i))
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
          double *prior = &terms->prior[first + e], its = 1 / (sd * sd);
          *prior = terms->known[first + e] ? fmin(*prior, its) : its;
          terms->known[first + e] = true;
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

/* The terms of the rows that are not `out`, and room for theta. */
static void prepare(struct dl_hierarchical_solution *s,
                    const struct dl_hierarchical_problem *q, const bool *out) {
  size_t n = q->configs.n_measurements, p = q->map.p;
  struct dl_weighed_terms *terms = &s->terms;
  *s = (struct dl_hierarchical_solution){
      .terms = {.m = dl_calloc(n, sizeof *terms->m),
                .precision = dl_calloc(n, sizeof *terms->precision),
                .prior_mean = dl_calloc(p, sizeof *terms->prior_mean),
                .prior = dl_calloc(p, sizeof *terms->prior),
                .known = dl_calloc(p, sizeof *terms->known)},
      .theta = dl_calloc(p, sizeof *s->theta)};
  dl_configurations_average(&q->configs, q->physics, &q->rows, out, terms->m);
  for (size_t i = 0; i < n; i++)
    terms->precision[i] = sqrt(dl_measurement_precision(q, &terms->m[i]));
  for (size_t j = 0; j < p; j++)
    terms->prior[j] = 1;
  for (size_t j = 0; j < q->physics->n_constants; j++) {
    double sd = q->physics->constant[j].sd;
    terms->prior_mean[j] = log(q->physics->constant[j].median);
    terms->prior[j] = 1 / (sd * sd);
    terms->known[j] = true;
  }
  set_effect_priors(terms, &q->map);
}

static enum dl_status covariance(const struct dl_hierarchical_problem *q,
                                 const struct dl_hierarchical_solution *s,
                                 gsl_matrix *cov, struct dl_diag *d) {
  DL_SCOPED(dl_normal_equations_free) struct dl_normal_equations e;
  DL_FREED double *g = dl_calloc(q->map.p, sizeof *g);
  dl_normal_equations_make(&e, &q->blocks, &s->terms);
  dl_normal_equations_sum(&e, s->theta, g);
  return dl_normal_equations_invert(&e, cov)
             ? DL_OK
             : dl_fail(d, DL_EINPUT, "the normal equations are singular");
}

/* Begins at the prior, or where another solution has ended. */
enum dl_status dl_hierarchical_solve(struct dl_hierarchical_solution *s,
                                     const struct dl_hierarchical_problem *q,
                                     const bool *out,
                                     const struct dl_hierarchical_start *start,
                                     gsl_matrix *cov, struct dl_diag *d) {
  prepare(s, q, out);
  bool near = start && start->theta;
  const double *from = near ? start->theta : s->terms.prior_mean;
  for (size_t j = 0; j < q->map.p; j++)
    s->theta[j] = s->terms.known[j] ? from[j] : 0;
  enum dl_status status =
      dl_minimise(s->theta, near, start ? start->curvature : NULL, &q->blocks,
                  &s->terms, d);
  if (status == DL_OK && cov)
    status = covariance(q, s, cov, d);
  if (status != DL_OK)
    dl_hierarchical_solution_free(s);
  return status;
}

static void free_full(struct dl_hierarchical_problem *q) {
  dl_hierarchical_solution_free(&q->full);
  gsl_matrix_free(q->full_cov);
  q->full_cov = NULL;
  dl_cell_products_free(&q->full_curvature);
}

static void free_predictions(struct dl_fold_predictions *h) {
  while (h) {
    struct dl_fold_predictions *next = h->next;
    free(h->of_row);
    free(h->y);
    free(h);
    h = next;
  }
}

void dl_hierarchical_problem_free(struct dl_hierarchical_problem *q) {
  free_predictions(q->held_out);
  free(q->own_row);
  gsl_vector_free(q->own_weight);
  free(q->input);
  free_full(q);
  dl_configurations_free(&q->configs);
  dl_parameter_map_free(&q->map);
  dl_equation_blocks_free(&q->blocks);
  dl_intern_free(&q->names);
  if (q->physics)
    dl_levels_free(q->by, q->physics->n_factors);
}

enum dl_status dl_full_solution_get(struct dl_hierarchical_problem *q,
                                    bool curvature, struct dl_diag *d) {
  if (!q->full_cov) {
    q->full_cov = gsl_matrix_alloc(q->map.p, q->map.p);
    enum dl_status status =
        dl_hierarchical_solve(&q->full, q, NULL, NULL, q->full_cov, d);
    if (status != DL_OK) {
      free_full(q);
      return status;
    }
  }
  if (curvature && !q->full_curvature.cell) {
    dl_cell_products_make(&q->full_curvature, &q->blocks);
    dl_curvature_at(&q->full_curvature, &q->blocks, &q->full.terms,
                    q->full.theta);
  }
  return DL_OK;
}

enum dl_status dl_hierarchical_residuals(
    struct dl_residual_gp *gp, const struct dl_hierarchical_problem *q,
    const struct dl_hierarchical_solution *s, size_t target, const bool *wanted,
    struct dl_diag *d) {
  const struct dl_configurations *configs = &q->configs;
  double c[DL_MAX_CONSTANTS], y[DL_MAX_TARGETS];
  DL_FREED double *count = dl_calloc(configs->n, sizeof *count);
  *gp = (struct dl_residual_gp){.point =
                                    dl_calloc(configs->n, sizeof *gp->point)};
  dl_constants_of(q->physics, s->theta, c);
  for (size_t i = 0; i < configs->n; i++) {
    const struct dl_grouping *inputs = configs->inputs[i];
    size_t its = i < configs->n_own ? target : configs->target[i];
    size_t at = configs->at[i * q->physics->n_targets + its];
    if (inputs->steady || at == SIZE_MAX || !(s->terms.m[at].weight > 0) ||
        (wanted && !wanted[i]))
      continue;
    const struct dl_measurement *m = &s->terms.m[at];
    dl_predict_config(&q->map, c, s->theta, i, y);
    count[gp->n] = m->weight;
    gp->point[gp->n++] = (struct dl_residual_point){
        .place = dl_place_of(&configs->names[i], inputs),
        .target = its,
        .weight = m->mean - y[its]};
  }
  return dl_residual_gp_fit(gp, q->physics->process, count, d);
}
