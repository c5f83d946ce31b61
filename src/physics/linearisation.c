/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions of configurations and their derivatives. */

#include "physics/linearisation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

bool dl_parameter_map_make(struct dl_parameter_map *map,
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
  if (!map->first || !map->fixed)
    return false;
  for (size_t k = 0; k < n_factors; k++)
    map->n_levels[k] = by[k].n;
  for (size_t i = 0; i < n; i++) {
    const struct dl_grouping *inputs = configs->inputs[i];
    const struct dl_row_names *names = &configs->names[i];
    dl_effects_of(physics, by, names, inputs,
                  map->fixed + i * physics->n_effects);
    for (size_t k = 0; k < n_factors; k++) {
      size_t l = dl_factor_level_find(
          &by[k], dl_level_key_of(names, &inputs->level[k]));
      if (l < by[k].n)
        map->first[i * factors + k] =
            dl_first_parameter(physics, by, k) + l * physics->factor[k].n;
    }
  }
  return true;
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

void dl_predict_measurements(const struct dl_parameter_map *map,
                             const double *theta, double *out) {
  const struct dl_configurations *configs = map->configs;
  double c[DL_MAX_CONSTANTS], fx[DL_MAX_EFFECTS], y[DL_MAX_TARGETS];
  dl_constants_of(map->physics, theta, c);
  for (size_t i = 0; i < configs->n_measurements; i++) {
    const struct dl_measurement *m = &configs->m[i];
    if (i == 0 || m->config != m[-1].config) {
      dl_effects_at(map, theta, m->config, fx);
      map->physics->predict(c, fx, configs->inputs[m->config], y);
    }
    out[i] = y[m->target];
  }
}

/* The derivatives of measurement m at the gradient of its target into its row,
 * over scale. */
static void fill_row(const struct dl_parameter_map *map,
                     const struct dl_measurement *m,
                     const struct dl_gradient *g, double scale, double *row) {
  const struct dl_physics *physics = map->physics;
  const size_t *first = map->first + m->config * physics->n_factors;
  for (size_t j = 0; j < physics->n_constants; j++)
    row[j] = g->c[j] / scale;
  for (size_t k = 0; k < physics->n_factors; k++)
    for (size_t e = 0; first[k] > 0 && e < physics->factor[k].n; e++)
      row[first[k] + e] = g->fx[physics->factor[k].first + e] / scale;
}

void dl_differentiate_measurements(const struct dl_parameter_map *map,
                                   const double *theta, const double *scale,
                                   double *J) {
  const struct dl_configurations *configs = map->configs;
  double c[DL_MAX_CONSTANTS], fx[DL_MAX_EFFECTS];
  struct dl_gradient g[DL_MAX_TARGETS];
  dl_constants_of(map->physics, theta, c);
  memset(J, 0, configs->n_measurements * map->p * sizeof *J);
  for (size_t i = 0; i < configs->n_measurements; i++) {
    const struct dl_measurement *m = &configs->m[i];
    if (i == 0 || m->config != m[-1].config) {
      dl_effects_at(map, theta, m->config, fx);
      map->physics->gradient(c, fx, configs->inputs[m->config], g);
    }
    fill_row(map, m, &g[m->target], scale ? scale[i] : 1, J + i * map->p);
  }
}
