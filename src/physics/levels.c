/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/levels.h"

#include <math.h>
#include <stdlib.h>

size_t dl_factor_level_find(const struct dl_levels *levels, double key) {
  size_t l = 0;
  while (l < levels->n &&
         (levels->level[l].key < key || levels->level[l].key > key))
    l++;
  return l;
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
                   const struct dl_grouping *inputs, double *fx) {
  for (size_t k = 0; k < physics->n_factors; k++) {
    const struct dl_grouping_factor *f = &physics->factor[k];
    size_t l = dl_factor_level_find(&by[k], inputs->level[k]);
    for (size_t e = 0; e < f->n; e++)
      fx[f->first + e] = l < by[k].n ? by[k].level[l].effect[e] : 0;
  }
}

void dl_levels_free(struct dl_levels *by, size_t n_factors) {
  for (size_t k = 0; k < n_factors; k++)
    free(by[k].level);
}
