/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mode of a calibration's posterior. */

#include "physics/calibration/posterior_mode.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The expected decrease of the squares below which the mode is found, to 1e-8
 * posterior standard deviations; and one that is within their rounding. */
#define CONVERGED 1e-16
#define ROUNDING 1e-8

/* An expected decrease below which the equations are kept: the parameters are
 * within about one standard deviation. */
#define NEAR 1.0

/* A gain of damped steps, at a kink of the physics, that is not worth another
 * one; and most damping. */
#define LITTLE_GAIN 1e-10
#define MOST_DAMPING 1e12

enum { MOST_STEPS = 200 };

void dl_mode_search_make(struct dl_mode_search *w,
                         const struct dl_runs_likelihood *runs,
                         const struct dl_calibration_prior *prior,
                         const struct dl_held_out_points *held,
                         const double *z) {
  size_t p = prior->p;
  *w = (struct dl_mode_search){.runs = runs,
                               .prior = prior,
                               .held = held,
                               .z = dl_calloc(p, sizeof *w->z),
                               .theta = dl_calloc(p, sizeof *w->theta),
                               .weight =
                                   dl_calloc(runs->gp.n, sizeof *w->weight),
                               .misfit = dl_calloc(runs->n, sizeof *w->misfit),
                               .g = dl_calloc(p, sizeof *w->g),
                               .before = dl_calloc(p, sizeof *w->before),
                               .step = dl_calloc(p, sizeof *w->step),
                               .trial = dl_calloc(p, sizeof *w->trial),
                               .H = gsl_matrix_alloc(p, p),
                               .factor = gsl_matrix_alloc(p, p)};
  dl_quasi_newton_make(&w->pairs, p);
  if (z)
    memcpy(w->z, z, p * sizeof *z);
}

void dl_mode_search_free(struct dl_mode_search *w) {
  free(w->z);
  free(w->theta);
  free(w->weight);
  free(w->misfit);
  free(w->g);
  free(w->before);
  free(w->step);
  free(w->trial);
  dl_quasi_newton_free(&w->pairs);
  gsl_matrix_free(w->H);
  gsl_matrix_free(w->factor);
}

/* The sum that is minimised, at z; theta = mean + L z. */
static double evaluate(struct dl_mode_search *w, const double *z) {
  size_t p = w->prior->p;
  gsl_vector_view theta = gsl_vector_view_array(w->theta, p);
  gsl_vector_const_view at = gsl_vector_const_view_array(z, p);
  double squares;
  memcpy(w->theta, z, p * sizeof *z);
  gsl_blas_dtrmv(CblasLower, CblasNoTrans, CblasNonUnit, w->prior->L,
                 &theta.vector);
  for (size_t i = 0; i < p; i++)
    w->theta[i] += w->prior->mean[i];
  dl_runs_misfit(w->runs, w->theta, w->misfit);
  gsl_blas_ddot(&at.vector, &at.vector, &squares);
  return squares + dl_runs_weigh(w->runs, w->held, w->misfit, w->weight);
}

/* Half its gradient, where it was last evaluated, which is z. */
static void find_gradient(struct dl_mode_search *w) {
  size_t p = w->prior->p;
  gsl_vector_view g = gsl_vector_view_array(w->g, p);
  dl_weighted_derivatives(&w->runs->map, w->theta, w->weight, w->g);
  gsl_blas_dtrmv(CblasLower, CblasTrans, CblasNonUnit, w->prior->L, &g.vector);
  for (size_t i = 0; i < p; i++)
    w->g[i] += w->z[i];
}

void dl_mode_curvature(struct dl_mode_search *w) {
  const gsl_matrix *L = w->prior->L;
  dl_runs_information(w->runs, w->held, w->theta, w->H);
  for (size_t i = 0; i < w->prior->p; i++)
    for (size_t j = i + 1; j < w->prior->p; j++)
      gsl_matrix_set(w->H, i, j, gsl_matrix_get(w->H, j, i));
  gsl_blas_dtrmm(CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, 1, L,
                 w->H);
  gsl_blas_dtrmm(CblasLeft, CblasLower, CblasTrans, CblasNonUnit, 1, L, w->H);
  for (size_t i = 0; i < w->prior->p; i++)
    *gsl_matrix_ptr(w->H, i, i) += 1;
}

/* Factors H + damping; false: it is singular. */
static bool factor(struct dl_mode_search *w, double damping) {
  gsl_vector_view diagonal = gsl_matrix_diagonal(w->factor);
  gsl_matrix_memcpy(w->factor, w->H);
  gsl_vector_add_constant(&diagonal.vector, damping);
  return gsl_linalg_cholesky_decomp1(w->factor) == 0;
}

static void solve(void *ctx, double *x) {
  const struct dl_mode_search *w = ctx;
  gsl_vector_view v = gsl_vector_view_array(x, w->prior->p);
  gsl_linalg_cholesky_svx(w->factor, &v.vector);
}

static void set_up(struct dl_mode_search *w) {
  evaluate(w, w->z);
  dl_mode_curvature(w);
  w->pairs.n = 0;
  w->here = true;
  w->factored = false;
  w->expected = INFINITY;
}

static void accept(struct dl_mode_search *w, double squares) {
  size_t size = w->prior->p * sizeof *w->g;
  memcpy(w->z, w->trial, size);
  memcpy(w->before, w->g, size);
  find_gradient(w);
  if (w->damping > 0)
    w->factored = false;
  else
    dl_quasi_newton_add(&w->pairs, w->step, w->before, w->g);
  w->damping = w->damping > 1e-6 ? w->damping / 10 : 0;
  w->squares = squares;
  w->here = false;
}

/* Takes the step where the squares do not grow; if they do, sets the equations
 * up anew or damps them. Whether that gains too little to go on. */
static bool take_step(struct dl_mode_search *w, double expected) {
  bool damped = w->damping > 0;
  for (size_t i = 0; i < w->prior->p; i++)
    w->trial[i] = w->z[i] + w->step[i];
  double now = evaluate(w, w->trial), gain = w->squares - now;
  if (expected < ROUNDING || gain >= 0) {
    accept(w, now);
    w->expected = expected;
    return damped && gain < LITTLE_GAIN;
  }
  if (!w->here) {
    set_up(w);
    return false;
  }
  w->damping = damped ? 10 * w->damping : 1e-2;
  w->factored = false;
  return w->damping > MOST_DAMPING;
}

enum dl_status dl_mode_find(struct dl_mode_search *w, struct dl_diag *d) {
  w->squares = evaluate(w, w->z);
  if (!isfinite(w->squares))
    return dl_fail(d, DL_EINPUT, "a row has no finite residual");
  find_gradient(w);
  set_up(w);
  for (size_t i = 0; i < MOST_STEPS; i++) {
    if (!w->factored && !factor(w, w->damping))
      return dl_fail(d, DL_EINPUT, "the normal equations are singular");
    w->factored = true;
    double expected = dl_quasi_newton_step(&w->pairs, solve, w, w->g, w->step);
    if (expected < CONVERGED ||
        (expected < ROUNDING && expected >= w->expected))
      break;
    if (expected > NEAR && !w->here)
      set_up(w);
    else if (take_step(w, expected))
      break;
  }
  evaluate(w, w->z);
  return DL_OK;
}
