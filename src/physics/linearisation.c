/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/linearisation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Of the forward differences. */
#define STEP 1e-6

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
  for (size_t i = 0; i < n; i++) {
    const struct dl_grouping *inputs = configs->inputs[i];
    dl_effects_of(physics, by, inputs, map->fixed + i * physics->n_effects);
    for (size_t k = 0; k < n_factors; k++) {
      size_t l = dl_factor_level_find(&by[k], inputs->level[k]);
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

/* The effects of a configuration at theta. */
static void effects_at(const struct dl_parameter_map *map, const double *theta,
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
      effects_at(map, theta, m->config, fx);
      map->physics->predict(c, fx, configs->inputs[m->config], y);
    }
    out[i] = y[m->target];
  }
}

/* What the derivatives of a configuration's measurements m[0..n) need. */
struct row {
  const struct dl_parameter_map *map;
  const struct dl_measurement *m;
  size_t n;
  const double *at, *scale; /* scale: or NULL */
  double *J;                /* its first row */
};

static void difference(const struct row *r, const double *c, const double *fx,
                       size_t parameter) {
  double y[DL_MAX_TARGETS];
  r->map->physics->predict(c, fx, r->map->configs->inputs[r->m->config], y);
  for (size_t i = 0; i < r->n; i++)
    r->J[i * r->map->p + parameter] =
        r->scale ? ((y[r->m[i].target] - r->m[i].mean) / r->scale[i] -
                    (r->at[i] - r->m[i].mean) / r->scale[i]) /
                       STEP
                 : (y[r->m[i].target] - r->at[i]) / STEP;
}

/* c: the constants; moved: each with its logarithm moved by STEP. */
static void differentiate(const struct row *r, const double *theta, double *c,
                          const double *moved) {
  const struct dl_physics *physics = r->map->physics;
  const size_t *first = r->map->first + r->m->config * physics->n_factors;
  double fx[DL_MAX_EFFECTS];
  effects_at(r->map, theta, r->m->config, fx);
  for (size_t j = 0; j < physics->n_constants; j++) {
    double was = c[j];
    c[j] = moved[j];
    difference(r, c, fx, j);
    c[j] = was;
  }
  for (size_t k = 0; k < physics->n_factors; k++)
    for (size_t e = 0; first[k] > 0 && e < physics->factor[k].n; e++) {
      double *x = &fx[physics->factor[k].first + e], was = *x;
      *x += STEP;
      difference(r, c, fx, first[k] + e);
      *x = was;
    }
}

void dl_differentiate_measurements(const struct dl_parameter_map *map,
                                   const double *theta, const double *at,
                                   const double *scale, double *J) {
  const struct dl_configurations *configs = map->configs;
  double c[DL_MAX_CONSTANTS], moved[DL_MAX_CONSTANTS];
  dl_constants_of(map->physics, theta, c);
  for (size_t j = 0; j < map->physics->n_constants; j++)
    moved[j] = exp(theta[j] + STEP);
  memset(J, 0, configs->n_measurements * map->p * sizeof *J);
  for (size_t i = 0, n; i < configs->n_measurements; i += n) {
    const struct dl_measurement *m = &configs->m[i];
    n = 1;
    while (i + n < configs->n_measurements && m[n].config == m->config)
      n++;
    struct row r = {map,           m, n, at + i, scale ? scale + i : NULL,
                    J + i * map->p};
    differentiate(&r, theta, c, moved);
  }
}
