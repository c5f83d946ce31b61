/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Collapses repeated runs into configurations. */

#include "physics/observations.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/cross_validation/folds.h"

/* The target of row i. */
static size_t target_of(const struct dl_observations *o,
                        const struct dl_physics *physics, size_t i) {
  size_t t = 0;
  if (i < o->n - o->n_auxiliary)
    return o->target;
  while (t + 1 < physics->n_targets && isnan(o->row[i].value[t]))
    t++;
  return t;
}

/* Numbers the configurations in c->of_row, own ones before auxiliary ones;
 * first gets the first row of each. */
static void number_rows(struct dl_configurations *c, size_t *first,
                        const struct dl_physics *physics,
                        const struct dl_observations *o) {
  DL_SCOPED(dl_intern_free)
  struct dl_intern inputs = {.size = physics->input_size};
  size_t n_own_rows = o->n - o->n_auxiliary, n = physics->n_targets;
  for (size_t i = 0; i < o->n; i++)
    c->of_row[i] = (size_t)dl_intern(&inputs, o->row[i].inputs);
  DL_FREED size_t *number =
      dl_calloc(inputs.n * n, sizeof *number); /* 0: none yet */
  for (size_t i = 0; i < o->n; i++) {
    size_t *k = &number[c->of_row[i] * n + target_of(o, physics, i)];
    if (i < n_own_rows ? *k == 0 : *k <= c->n_own) {
      first[c->n] = i;
      *k = ++c->n;
      c->n_own += i < n_own_rows;
    }
    c->of_row[i] = *k - 1;
  }
}

/* Adds a row to the sums that the means of its configuration are so far. */
static void add_row(const struct dl_configurations *c,
                    const struct dl_physics *physics,
                    const struct dl_observations *o, size_t i,
                    struct dl_measurement *m) {
  const size_t *at = c->at + c->of_row[i] * physics->n_targets;
  for (size_t t = 0; t < physics->n_targets; t++) {
    double x = o->row[i].value[t];
    bool weighs = o->weight && (physics->weighted || o->means ||
                                t == target_of(o, physics, i));
    double w = weighs ? gsl_vector_get(o->weight, i) : 1;
    if (isnan(x))
      continue;
    m[at[t]].mean += w * x;
    m[at[t]].weight += w;
  }
}

void dl_configurations_average(const struct dl_configurations *c,
                               const struct dl_physics *physics,
                               const struct dl_observations *o, const bool *out,
                               struct dl_measurement *m) {
  for (size_t i = 0; i < c->n_measurements; i++)
    m[i] = c->m[i];
  for (size_t i = 0; i < o->n; i++)
    if (!out || out[i]) /* its configuration changes: weight below 0 */
      for (size_t k = c->first[c->of_row[i]]; k < c->first[c->of_row[i] + 1];
           k++)
        m[k].weight = -1;
  for (size_t k = 0; k < c->n; k++) {
    size_t first = c->first[k], end = c->first[k + 1];
    if (first == end || !(m[first].weight < 0))
      continue;
    for (size_t i = first; i < end; i++)
      m[i].mean = m[i].weight = 0;
    for (size_t i = c->first_row[k]; i < c->first_row[k + 1]; i++)
      if (!out || !out[c->row[i]])
        add_row(c, physics, o, c->row[i], m);
    for (size_t i = first; i < end; i++)
      if (m[i].weight > 0)
        m[i].mean /= m[i].weight;
  }
}

/* Lists what was measured, by configuration and target. */
static void list_measurements(struct dl_configurations *c,
                              const struct dl_physics *physics,
                              const struct dl_observations *o) {
  size_t n_targets = physics->n_targets;
  c->m = dl_calloc(c->n * n_targets, sizeof *c->m);
  c->at = dl_calloc(c->n * n_targets, sizeof *c->at);
  c->first = dl_calloc(c->n + 1, sizeof *c->first);
  for (size_t i = 0; i < o->n; i++)
    for (size_t t = 0; t < n_targets; t++)
      if (!isnan(o->row[i].value[t]))
        c->at[c->of_row[i] * n_targets + t] = 1;
  size_t n = 0;
  for (size_t k = 0; k < c->n * n_targets; k++) {
    if (k % n_targets == 0)
      c->first[k / n_targets] = n;
    if (c->at[k]) {
      c->m[n] = (struct dl_measurement){k / n_targets, k % n_targets, 0, 0};
      c->at[k] = n++;
    } else {
      c->at[k] = SIZE_MAX;
    }
  }
  c->n_measurements = n;
  c->first[c->n] = n;
  dl_list_by_group(c->of_row, o->n, c->n, &c->row, &c->first_row);
  dl_configurations_average(c, physics, o, NULL, c->m);
}

void dl_configurations_make(struct dl_configurations *c,
                            const struct dl_physics *physics,
                            const struct dl_observations *o) {
  DL_FREED size_t *first = dl_calloc(o->n, sizeof *first);
  *c = (struct dl_configurations){0};
  c->of_row = dl_calloc(o->n, sizeof *c->of_row);
  number_rows(c, first, physics, o);
  c->inputs = dl_calloc(c->n, sizeof *c->inputs);
  c->target = dl_calloc(c->n, sizeof *c->target);
  list_measurements(c, physics, o);
  for (size_t i = 0; i < c->n; i++) {
    c->inputs[i] = o->row[first[i]].inputs;
    c->target[i] = target_of(o, physics, first[i]);
  }
}

void dl_configurations_name(struct dl_configurations *c,
                            struct dl_intern *names) {
  c->names = dl_calloc(c->n, sizeof *c->names);
  for (size_t i = 0; i < c->n; i++) {
    const struct dl_grouping *inputs = c->inputs[i];
    for (size_t k = 0; k < DL_N_NAMES; k++)
      if (inputs->name[k])
        dl_intern(names, inputs->name[k]);
    dl_row_names_find(&c->names[i], names, inputs);
  }
}

void dl_configurations_free(struct dl_configurations *c) {
  free((void *)c->inputs);
  free(c->target);
  free(c->m);
  free(c->names);
  free(c->of_row);
  free(c->row);
  free(c->at);
  free(c->first);
}

void dl_parameter_map_make(struct dl_parameter_map *map,
                           const struct dl_physics *physics,
                           const struct dl_configurations *configs,
                           const struct dl_levels *by, size_t n_factors) {
  size_t n = configs->n, factors = physics->n_factors;
  *map = (struct dl_parameter_map){
      .physics = physics,
      .configs = configs,
      .p = dl_first_parameter(physics, by, n_factors),
      .first = dl_calloc(n * factors, sizeof *map->first),
      .fixed = dl_calloc(n * physics->n_effects, sizeof *map->fixed)};
  for (size_t k = 0; k < n_factors; k++)
    map->n_levels[k] = by[k].n;
  for (size_t i = 0; i < n; i++) {
    const struct dl_grouping *inputs = configs->inputs[i];
    const struct dl_row_names *names = &configs->names[i];
    size_t level[DL_MAX_FACTORS];
    dl_effects_of(physics, by, names, inputs, level,
                  map->fixed + i * physics->n_effects);
    for (size_t k = 0; k < n_factors; k++)
      if (level[k] < by[k].n)
        map->first[i * factors + k] = dl_first_parameter(physics, by, k) +
                                      level[k] * physics->factor[k].n;
  }
}

void dl_parameter_map_free(struct dl_parameter_map *map) {
  free(map->first);
  free(map->fixed);
}

void dl_effects_at(const struct dl_parameter_map *map, const double *theta,
                   size_t config, double *fx) {
  const struct dl_physics *physics = map->physics;
  const size_t *first = map->first + config * physics->n_factors;
  memcpy(fx, map->fixed + config * physics->n_effects,
         physics->n_effects * sizeof *fx);
  for (size_t k = 0; k < physics->n_factors; k++)
    if (first[k] > 0)
      memcpy(fx + physics->factor[k].first, theta + first[k],
             physics->factor[k].n * sizeof *fx);
}

void dl_predict_config(const struct dl_parameter_map *map, const double *c,
                       const double *theta, size_t config, double *y) {
  double fx[DL_MAX_EFFECTS];
  dl_effects_at(map, theta, config, fx);
  map->physics->predict(c, fx, map->configs->inputs[config], y);
}

void dl_predict_measurements(const struct dl_parameter_map *map,
                             const double *theta, double *out) {
  const struct dl_configurations *configs = map->configs;
  double c[DL_MAX_CONSTANTS], y[DL_MAX_TARGETS];
  dl_constants_of(map->physics, theta, c);
  for (size_t i = 0; i < configs->n_measurements; i++) {
    const struct dl_measurement *m = &configs->m[i];
    if (i == 0 || m->config != m[-1].config)
      dl_predict_config(map, c, theta, m->config, y);
    out[i] = y[m->target];
  }
}

/* Adds the derivatives of measurement m at the gradient of its target, times a
 * weight, to those by all parameters. Beyond what a physics can say, where they
 * are not finite, they are taken as 0. */
static void add_derivatives(const struct dl_parameter_map *map,
                            const struct dl_measurement *m,
                            const struct dl_gradient *g, double weight,
                            double *row) {
  const struct dl_physics *physics = map->physics;
  const size_t *first = map->first + m->config * physics->n_factors;
  if (map->still)
    return;
  for (size_t j = 0; j < physics->n_constants; j++)
    row[j] += isfinite(g->c[j]) ? weight * g->c[j] : 0;
  for (size_t k = 0; k < physics->n_factors; k++)
    for (size_t e = 0; first[k] > 0 && e < physics->factor[k].n; e++) {
      double x = g->fx[physics->factor[k].first + e];
      row[first[k] + e] += isfinite(x) ? weight * x : 0;
    }
}

/* The gradients of the targets of a configuration. */
static void differentiate(const struct dl_parameter_map *map,
                          const double *theta, size_t config,
                          struct dl_gradient *g) {
  double c[DL_MAX_CONSTANTS], fx[DL_MAX_EFFECTS], y[DL_MAX_TARGETS];
  dl_constants_of(map->physics, theta, c);
  dl_effects_at(map, theta, config, fx);
  map->physics->gradient(c, fx, map->configs->inputs[config], y, g);
}

void dl_differentiate_measurements(const struct dl_parameter_map *map,
                                   const double *theta, const size_t *which,
                                   size_t n, double *J) {
  const struct dl_configurations *configs = map->configs;
  struct dl_gradient g[DL_MAX_TARGETS];
  size_t at = SIZE_MAX;
  memset(J, 0, n * map->p * sizeof *J);
  for (size_t i = 0; i < n; i++) {
    size_t k = which ? which[i] : i;
    if (k >= configs->n_measurements)
      continue;
    const struct dl_measurement *m = &configs->m[k];
    if (m->config != at)
      differentiate(map, theta, m->config, g);
    at = m->config;
    add_derivatives(map, m, &g[m->target], 1, J + i * map->p);
  }
}

void dl_derivatives_make(struct dl_derivatives *d,
                         const struct dl_parameter_map *map,
                         const double *theta, const size_t *which, size_t n,
                         const bool *known) {
  DL_FREED double *all = dl_calloc(n * map->p, sizeof *all);
  dl_differentiate_measurements(map, theta, which, n, all);
  *d = (struct dl_derivatives){.param = dl_calloc(map->p, sizeof *d->param)};
  for (size_t j = 0; j < map->p; j++) {
    bool any = false;
    for (size_t i = 0; i < n && (!known || known[j]); i++)
      any |= fabs(all[i * map->p + j]) > 0;
    if (any)
      d->param[d->p++] = j;
  }
  d->J = d->p > 0 ? gsl_matrix_alloc(n, d->p) : NULL;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d->p; j++)
      gsl_matrix_set(d->J, i, j, all[i * map->p + d->param[j]]);
}

void dl_derivatives_free(struct dl_derivatives *d) {
  free(d->param);
  gsl_matrix_free(d->J);
}

void dl_weighted_derivatives(const struct dl_parameter_map *map,
                             const double *theta, const double *weight,
                             double *sum) {
  const struct dl_configurations *configs = map->configs;
  struct dl_gradient g[DL_MAX_TARGETS];
  memset(sum, 0, map->p * sizeof *sum);
  for (size_t i = 0; i < configs->n_measurements; i++) {
    const struct dl_measurement *m = &configs->m[i];
    if (i == 0 || m->config != m[-1].config)
      differentiate(map, theta, m->config, g);
    add_derivatives(map, m, &g[m->target], weight[i], sum);
  }
}
