/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levels of the grouping factors. */

#include "physics/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void dl_row_names_find(struct dl_row_names *found,
                       const struct dl_intern *names,
                       const struct dl_grouping *inputs) {
  for (size_t i = 0; i < DL_N_NAMES; i++) {
    const char *name = inputs->name[i];
    long at = name ? dl_intern_find(names, name) : -1;
    found->number[i] = at < 0 ? -1 : at + 1;
    if (!name)
      found->number[i] = 0;
  }
}

struct dl_level_key dl_level_key_of(const struct dl_row_names *names,
                                    const struct dl_level_names *level) {
  return (struct dl_level_key){names->number[level->name],
                               names->number[level->within]};
}

struct dl_place dl_place_of(const struct dl_row_names *names,
                            const struct dl_grouping *inputs) {
  struct dl_place place = {.exact = inputs->exact,
                           .gpu = names->number[DL_NAME_GPU],
                           .arch = names->number[DL_NAME_ARCH],
                           .tuned = inputs->name[DL_NAME_TUNED] != NULL};
  memcpy(place.x, inputs->x, sizeof place.x);
  return place;
}

bool dl_level_is_none(struct dl_level_key key) {
  return key.name == 0 && key.within == 0;
}

bool dl_level_equal(struct dl_level_key a, struct dl_level_key b) {
  return a.name == b.name && a.within == b.within;
}

size_t dl_factor_level_find(const struct dl_levels *levels,
                            struct dl_level_key key) {
  size_t l = 0;
  while (l < levels->n && !dl_level_equal(levels->level[l].key, key))
    l++;
  return l;
}

void dl_factor_level_add(struct dl_levels *levels, struct dl_level_key key) {
  if (!dl_level_is_none(key) && dl_factor_level_find(levels, key) == levels->n)
    levels->level[levels->n++].key = key;
}

size_t dl_first_parameter(const struct dl_physics *physics,
                          const struct dl_levels *by, size_t k) {
  size_t first = physics->n_constants;
  for (size_t i = 0; i < k; i++)
    first += by[i].n * physics->factor[i].n;
  return first;
}

size_t dl_posterior_factors(const struct dl_physics *physics) {
  size_t k = 0;
  while (k < physics->n_factors && !physics->factor[k].own_data)
    k++;
  return k;
}

void dl_constants_of(const struct dl_physics *physics, const double *theta,
                     double *c) {
  for (size_t i = 0; i < physics->n_constants; i++)
    c[i] = exp(theta[i]);
}

void dl_effects_of(const struct dl_physics *physics, const struct dl_levels *by,
                   const struct dl_row_names *names,
                   const struct dl_grouping *inputs, size_t *level,
                   double *fx) {
  for (size_t k = 0; k < physics->n_factors; k++) {
    const struct dl_grouping_factor *f = &physics->factor[k];
    size_t l =
        dl_factor_level_find(&by[k], dl_level_key_of(names, &inputs->level[k]));
    level[k] = l;
    for (size_t e = 0; e < f->n; e++)
      fx[f->first + e] = l < by[k].n ? by[k].level[l].effect[e] : 0;
  }
}

void dl_levels_free(struct dl_levels *by, size_t n_factors) {
  for (size_t k = 0; k < n_factors; k++)
    free(by[k].level);
}
