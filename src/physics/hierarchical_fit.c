/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A fitted physics. */

#include "physics/hierarchical_fit.h"

#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"

struct dl_hierarchical_fit *
dl_hierarchical_fit_new(const struct dl_physics *physics) {
  struct dl_hierarchical_fit *fit = dl_calloc(1, sizeof *fit);
  fit->physics = physics;
  return fit;
}

void dl_hierarchical_fit_free(struct dl_hierarchical_fit *fit) {
  if (!fit)
    return;
  dl_intern_free(&fit->names);
  dl_levels_free(fit->by, fit->physics->n_factors);
  dl_residual_gp_free(&fit->residuals);
  dl_residual_gp_free(&fit->calibration_residuals);
  free(fit->posterior.factor);
  free(fit);
}

size_t dl_posterior_size(size_t p) {
  return p * (p + 1) / 2;
}

void dl_posterior_keep(struct dl_posterior *posterior, const gsl_matrix *L) {
  size_t p = L->size1;
  double *to = dl_calloc(dl_posterior_size(p), sizeof *to);
  *posterior = (struct dl_posterior){to, p};
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j <= i; j++)
      *to++ =
          round(gsl_matrix_get(L, i, j) / DL_POSTERIOR_UNIT) + 0; /* no -0 */
}

double dl_posterior_at(const struct dl_posterior *posterior, size_t row,
                       size_t column) {
  return DL_POSTERIOR_UNIT * dl_posterior_row(posterior, row)[column];
}

const double *dl_posterior_row(const struct dl_posterior *posterior,
                               size_t row) {
  return posterior->factor + dl_posterior_size(row);
}

double dl_expected_residual(const struct dl_hierarchical_fit *fit,
                            const struct dl_place *place, size_t target) {
  const struct dl_residual_process *process = fit->physics->process;
  if (!process)
    return 0;
  return dl_residual_gp_at(&fit->residuals, process, place, target) +
         dl_residual_gp_at(&fit->calibration_residuals,
                           fit->physics->calibration, place, target);
}

struct dl_place dl_fit_place(const struct dl_hierarchical_fit *fit,
                             const struct dl_row_names *names,
                             const struct dl_grouping *inputs) {
  struct dl_place place = dl_place_of(names, inputs);
  const struct dl_physics *physics = fit->physics;
  double c[DL_MAX_CONSTANTS];
  for (size_t i = 0; i < physics->n_constants; i++)
    c[i] = physics->constant[i].median;
  if (physics->bound)
    physics->bound(c, inputs, &place);
  return place;
}

static const char *word(const struct dl_hierarchical_fit *fit, long number) {
  return number > 0 ? fit->names.s[number - 1] : NULL;
}

bool dl_hierarchical_level(const struct dl_hierarchical_fit *fit,
                           const char *factor, size_t i, const char **name,
                           const char **within) {
  for (size_t k = 0; k < fit->physics->n_factors; k++)
    if (strcmp(fit->physics->factor[k].name, factor) == 0 && i < fit->by[k].n) {
      struct dl_level_key key = fit->by[k].level[i].key;
      *name = word(fit, key.name);
      *within = word(fit, key.within);
      return *name != NULL;
    }
  return false;
}

/* Copies constants and the levels that have effects out of a solution, and
 * moves the rows of cov that belong to them together. Returns how many
 * parameters a calibration starts from. */
static size_t keep(struct dl_hierarchical_fit *fit,
                   const struct dl_hierarchical_problem *q,
                   const struct dl_hierarchical_solution *s, gsl_matrix *cov) {
  const struct dl_physics *physics = fit->physics;
  size_t n = physics->n_constants, from = n, n_posterior = n;
  memcpy(fit->theta, s->theta, n * sizeof *fit->theta);
  for (size_t i = 0; i < n; i++)
    fit->error[i] = sqrt(gsl_matrix_get(cov, i, i));
  for (size_t k = 0; k < physics->n_factors; k++) {
    const struct dl_grouping_factor *f = &physics->factor[k];
    for (size_t l = 0; l < q->by[k].n; l++, from += f->n) {
      if (!s->terms.known[from])
        continue;
      struct dl_factor_level *to = &fit->by[k].level[fit->by[k].n++];
      to->key = q->by[k].level[l].key;
      memcpy(to->effect, s->theta + from, f->n * sizeof *to->effect);
      for (size_t e = 0; e < f->n; e++, n++) {
        gsl_vector_view row = gsl_matrix_row(cov, from + e);
        gsl_matrix_set_row(cov, n, &row.vector);
        gsl_vector_view column = gsl_matrix_column(cov, from + e);
        gsl_matrix_set_col(cov, n, &column.vector);
      }
    }
    if (k < dl_posterior_factors(physics))
      n_posterior = n;
  }
  dl_constants_of(physics, fit->theta, fit->c);
  return n_posterior;
}

enum dl_status dl_hierarchical_fit_solve(struct dl_hierarchical_fit *fit,
                                         struct dl_hierarchical_problem *q,
                                         size_t target, struct dl_diag *d) {
  DL_TRY(dl_full_solution_get(q, false, d));
  for (size_t k = 0; k < fit->physics->n_factors; k++)
    fit->by[k].level = dl_calloc(q->by[k].n, sizeof *fit->by[k].level);
  for (size_t i = 0; i < q->names.n; i++)
    dl_intern(&fit->names, q->names.s[i]);
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *cov = gsl_matrix_alloc(q->map.p, q->map.p);
  gsl_matrix_memcpy(cov, q->full_cov);
  size_t p = keep(fit, q, &q->full, cov);
  gsl_matrix_view block = gsl_matrix_submatrix(cov, 0, 0, p, p);
  if (!fit->physics->process)
    return DL_OK;
  if (gsl_linalg_cholesky_decomp1(&block.matrix))
    return dl_fail(d, DL_EINPUT,
                   "the covariance of the fit is not positive definite");
  dl_posterior_keep(&fit->posterior, &block.matrix);
  return q->configs.n > 0 ? dl_hierarchical_residuals(&fit->residuals, q,
                                                      &q->full, target, NULL, d)
                          : DL_OK;
}
