/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prior of the machines of a calibration, before their runs. */

#include "physics/calibration/calibration_prior.h"

#include <gsl/gsl_blas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"

static struct dl_level_key level_of(const struct dl_configurations *configs,
                                    size_t i, size_t k) {
  const struct dl_grouping *inputs = configs->inputs[i];
  return dl_level_key_of(&configs->names[i], &inputs->level[k]);
}

static struct dl_level_key unnamed_of(const struct dl_configurations *configs,
                                      size_t i, size_t k) {
  const struct dl_grouping *inputs = configs->inputs[i];
  return dl_level_key_of(&configs->names[i], &inputs->unnamed[k]);
}

/* Whether inputs that do not name their level of factor k mean the level of
 * configuration i: the only one on its GPU. */
static bool stands_for_unnamed(const struct dl_configurations *configs,
                               size_t i, size_t k) {
  if (dl_level_is_none(unnamed_of(configs, i, k)))
    return false;
  for (size_t j = 0; j < configs->n; j++)
    if (configs->names[i].number[DL_NAME_GPU] ==
            configs->names[j].number[DL_NAME_GPU] &&
        !dl_level_equal(level_of(configs, i, k), level_of(configs, j, k)))
      return false;
  return true;
}

/* The levels of `from`, and behind them new ones. */
static void list_levels(struct dl_levels *to, const struct dl_levels *from,
                        const struct dl_configurations *configs, size_t k,
                        bool add) {
  to->level = dl_calloc(from->n + 2 * configs->n, sizeof *to->level);
  for (; to->n < from->n; to->n++)
    to->level[to->n] = from->level[to->n];
  for (size_t i = 0; add && i < configs->n; i++)
    dl_factor_level_add(to, level_of(configs, i, k));
  for (size_t i = 0; add && i < configs->n; i++)
    if (stands_for_unnamed(configs, i, k))
      dl_factor_level_add(to, unnamed_of(configs, i, k));
}

/* Finds where parameters of the old posterior are in the new one. */
static void place_old(const struct dl_calibration_prior *w, size_t *place) {
  const struct dl_physics *physics = w->fit->physics;
  size_t i = 0;
  for (; i < physics->n_constants; i++)
    place[i] = i;
  for (size_t k = 0; k < w->n_factors; k++) {
    size_t n = w->from->by[k].n * physics->factor[k].n;
    size_t first = dl_first_parameter(physics, w->fit->by, k);
    for (size_t j = 0; j < n; j++)
      place[i++] = first + j;
  }
}

/* The level that an unnamed one stands for; by[k].n: it is none. */
static size_t named_level(const struct dl_calibration_prior *w, size_t k,
                          struct dl_level_key key) {
  for (size_t i = 0; i < w->configs->n; i++) {
    struct dl_level_key level = level_of(w->configs, i, k);
    if (dl_level_equal(unnamed_of(w->configs, i, k), key) &&
        !dl_level_equal(level, key) && stands_for_unnamed(w->configs, i, k))
      return dl_factor_level_find(&w->fit->by[k], level);
  }
  return w->fit->by[k].n;
}

/* Whether a level is one of tuned software. */
static bool is_tuned(const struct dl_calibration_prior *w, size_t k,
                     struct dl_level_key key) {
  for (size_t i = 0; i < w->configs->n; i++) {
    const struct dl_grouping *inputs = w->configs->inputs[i];
    if (dl_level_equal(level_of(w->configs, i, k), key))
      return inputs->level[k].within == DL_NAME_TUNED;
  }
  return false;
}

/* Mean and rows of the factor for a level that the fit has not seen: an unnamed
 * one repeats the one it stands for. */
static void add_level(const struct dl_calibration_prior *w, size_t k,
                      size_t l) {
  const struct dl_physics *physics = w->fit->physics;
  const struct dl_grouping_factor *f = &physics->factor[k];
  struct dl_levels *by = &w->fit->by[k];
  size_t first = dl_first_parameter(physics, w->fit->by, k);
  size_t named = named_level(w, k, by->level[l].key);
  bool tuned = is_tuned(w, k, by->level[l].key);
  for (size_t e = 0; e < f->n; e++) {
    size_t to = first + l * f->n + e;
    if (named < by->n) {
      gsl_vector_const_view row =
          gsl_matrix_const_row(w->L, first + named * f->n + e);
      gsl_matrix_set_row(w->L, to, &row.vector);
      by->level[l].effect[e] = by->level[named].effect[e];
    } else {
      const struct dl_random_effect *of = &physics->effect[f->first + e];
      gsl_matrix_set(w->L, to, to, tuned ? of->tuned_sd : of->calibrated_sd);
    }
  }
}

/* The factor of what was known, with room for new levels between. */
static void spread_out(const struct dl_calibration_prior *w) {
  size_t old = w->from->posterior.p;
  DL_FREED size_t *place = dl_calloc(old, sizeof *place);
  place_old(w, place);
  for (size_t i = 0; i < old; i++)
    for (size_t j = 0; j <= i; j++)
      gsl_matrix_set(w->L, place[i], place[j],
                     dl_posterior_at(&w->from->posterior, i, j));
  for (size_t k = 0; k < w->n_factors; k++)
    for (size_t l = w->from->by[k].n; l < w->fit->by[k].n; l++)
      add_level(w, k, l);
}

/* Whether a level of factor k occurs in a unit that the fit has not seen. */
static bool is_other_unit(const struct dl_calibration_prior *w, size_t k,
                          struct dl_level_key key) {
  size_t unit = w->fit->physics->factor[k].unit;
  const struct dl_levels *seen = &w->from->by[unit];
  for (size_t i = 0; i < w->configs->n; i++)
    if (dl_level_equal(level_of(w->configs, i, k), key) &&
        dl_factor_level_find(seen, level_of(w->configs, i, unit)) == seen->n)
      return true;
  return false;
}

/* Adds to the variance of factor k's old levels in other units. */
static bool widen_units(const struct dl_calibration_prior *w, size_t k,
                        gsl_matrix *cov) {
  const struct dl_physics *physics = w->fit->physics;
  const struct dl_grouping_factor *f = &physics->factor[k];
  size_t at = dl_first_parameter(physics, w->fit->by, k);
  bool any = false;
  for (size_t l = 0; l < w->from->by[k].n; l++) {
    bool other = is_other_unit(w, k, w->from->by[k].level[l].key);
    any |= other;
    for (size_t e = 0; e < f->n; e++, at++) {
      double sd = other ? f->unit_share * physics->effect[f->first + e].sd : 0;
      *gsl_matrix_ptr(cov, at, at) += sd * sd;
    }
  }
  return any;
}

/* L with L L' = cov, whose lower half is given, for a semidefinite cov: a pivot
 * of 0 leaves its column 0. */
static void cholesky_semidefinite(gsl_matrix *L, const gsl_matrix *cov) {
  gsl_matrix_set_zero(L);
  for (size_t j = 0; j < L->size1; j++) {
    gsl_vector_const_view mine = gsl_matrix_const_row(L, j);
    for (size_t i = j; i < L->size1; i++) {
      double dot;
      gsl_vector_const_view its = gsl_matrix_const_row(L, i);
      gsl_blas_ddot(&its.vector, &mine.vector, &dot);
      double left = gsl_matrix_get(cov, i, j) - dot;
      if (i == j)
        gsl_matrix_set(L, j, j, left > 1e-10 ? sqrt(left) : 0);
      else if (gsl_matrix_get(L, j, j) > 0)
        gsl_matrix_set(L, i, j, left / gsl_matrix_get(L, j, j));
    }
  }
}

static void widen_other_units(const struct dl_calibration_prior *w) {
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *cov = gsl_matrix_alloc(w->p, w->p);
  bool any = false;
  gsl_blas_dsyrk(CblasLower, CblasNoTrans, 1, w->L, 0, cov);
  for (size_t k = 0; k < w->n_factors; k++)
    if (w->fit->physics->factor[k].unit_share > 0)
      any |= widen_units(w, k, cov);
  if (any)
    cholesky_semidefinite(w->L, cov);
}

static void set_mean(const struct dl_calibration_prior *w) {
  const struct dl_physics *physics = w->fit->physics;
  double *to = w->mean;
  memcpy(to, w->from->theta, physics->n_constants * sizeof *to);
  to += physics->n_constants;
  for (size_t k = 0; k < w->n_factors; k++)
    for (size_t l = 0; l < w->fit->by[k].n; l++, to += physics->factor[k].n)
      memcpy(to, w->fit->by[k].level[l].effect,
             physics->factor[k].n * sizeof *to);
}

void dl_calibration_prior_make(struct dl_calibration_prior *prior,
                               struct dl_hierarchical_fit *fit,
                               const struct dl_hierarchical_fit *from,
                               const struct dl_configurations *configs) {
  const struct dl_physics *physics = fit->physics;
  *prior =
      (struct dl_calibration_prior){.fit = fit,
                                    .from = from,
                                    .configs = configs,
                                    .n_factors = dl_posterior_factors(physics)};
  for (size_t k = 0; k < physics->n_factors; k++)
    list_levels(&fit->by[k], &from->by[k], configs, k, k < prior->n_factors);
  prior->p = dl_first_parameter(physics, fit->by, prior->n_factors);
  prior->mean = dl_calloc(prior->p, sizeof *prior->mean);
  prior->L = gsl_matrix_calloc(prior->p, prior->p);
  spread_out(prior);
  widen_other_units(prior);
  set_mean(prior);
}

void dl_calibration_prior_free(struct dl_calibration_prior *prior) {
  free(prior->mean);
  gsl_matrix_free(prior->L);
}
