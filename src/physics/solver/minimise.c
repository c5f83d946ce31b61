/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Levenberg's and Marquardt's method, then quasi-Newton steps. */

#include "physics/solver/minimise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "physics/solver/quasi_newton.h"

/* The expected decrease of the squares below which a fit has converged: the
 * parameters are then within about 1e-4 posterior standard deviations. */
#define CONVERGED 1e-8

/* The decrease for fits that begin near: 3e-4, which moves no prediction by
 * 0.003 %. */
#define CONVERGED_NEAR 1e-7

/* The decrease for damped steps: 1 % of a standard deviation. */
#define LITTLE_GAIN 1e-4

/* An expected decrease below which the equations are kept: the parameters are
 * within about three standard deviations. */
#define NEAR 10.0

/* An expected decrease beyond which the curvature of the minimum does not hold.
 */
#define FAR 300.0

/* Steps in all, those that a set-up of the equations serves near the minimum,
 * and tries of one. */
enum { MOST_STEPS = 200, STEPS_OF_EQUATIONS = 8, MOST_SHORTER = 8 };

/* State of a minimisation. */
struct minimisation {
  struct dl_normal_equations e;
  struct dl_quasi_newton pairs;
  const struct dl_cell_products *curvature; /* borrowed, or NULL */
  double converged;
  size_t p;
  double *theta, *g;              /* p: the point, half its gradient */
  double *step, *trial, *trial_g; /* p */
  double squares;                 /* at theta */
  double damping;
  size_t n; /* steps */
};

static void start(struct minimisation *w, double *theta, bool near,
                  const struct dl_cell_products *curvature,
                  const struct dl_equation_blocks *blocks,
                  const struct dl_weighed_terms *terms) {
  size_t p = blocks->map->p;
  *w = (struct minimisation){.p = p,
                             .theta = theta,
                             .curvature = curvature,
                             .converged = near ? CONVERGED_NEAR : CONVERGED,
                             .g = dl_calloc(p, sizeof *w->g),
                             .step = dl_calloc(p, sizeof *w->step),
                             .trial = dl_calloc(p, sizeof *w->trial),
                             .trial_g = dl_calloc(p, sizeof *w->trial_g)};
  dl_quasi_newton_make(&w->pairs, p);
  dl_normal_equations_make(&w->e, blocks, terms);
}

static void finish(struct minimisation *w) {
  dl_quasi_newton_free(&w->pairs);
  dl_normal_equations_free(&w->e);
  free(w->g);
  free(w->step);
  free(w->trial);
  free(w->trial_g);
}

static void try_step(struct minimisation *w) {
  for (size_t j = 0; j < w->p; j++)
    w->trial[j] = w->theta[j] + w->step[j];
  w->n++;
}

static void accept(struct minimisation *w, double squares) {
  double *g = w->g;
  memcpy(w->theta, w->trial, w->p * sizeof *w->theta);
  w->g = w->trial_g;
  w->trial_g = g;
  w->squares = squares;
}

/* Sets the equations up anew at theta. False: they are singular. */
static bool set_up(struct minimisation *w) {
  w->squares = dl_normal_equations_sum(&w->e, w->theta, w->g);
  return dl_normal_equations_factor(&w->e, &w->e.products, 0);
}

static void solve_equations(void *ctx, double *x) {
  dl_normal_equations_solve(ctx, x);
}

/* Returns the decrease of the squares that is expected. */
static double quasi_newton_step(struct minimisation *w) {
  return dl_quasi_newton_step(&w->pairs, solve_equations, &w->e, w->g, w->step);
}

/* Shortens a step of which a decrease is expected until the squares do not
 * grow, by a parabola through the squares at both ends. False: they grow. */
static bool try_shorter(struct minimisation *w, double expected) {
  for (size_t i = 0; i < MOST_SHORTER && w->n < MOST_STEPS; i++) {
    try_step(w);
    double now = dl_normal_equations_gradient(&w->e, w->trial, w->trial_g);
    if (now <= w->squares) {
      dl_quasi_newton_add(&w->pairs, w->step, w->g, w->trial_g);
      accept(w, now);
      return true;
    }
    double share = expected / (now - w->squares + 2 * expected);
    share = isfinite(share) ? fmin(fmax(share, 0.1), 0.5) : 0.1;
    expected *= share;
    for (size_t j = 0; j < w->p; j++)
      w->step[j] *= share;
  }
  return false;
}

/* Factorises the curvature where the squares are expected to fall by no more
 * than FAR, and forgets what steps have found of it. */
static bool take_curvature(struct minimisation *w) {
  size_t n = w->pairs.n;
  w->pairs.n = 0;
  bool ok = w->curvature && dl_normal_equations_factor(&w->e, w->curvature, 0);
  double expected = ok ? quasi_newton_step(w) : 0;
  ok = ok && expected >= 0 && expected <= FAR;
  w->pairs.n = ok ? 0 : n;
  return ok;
}

/* Sets up the equations anew: the curvature and Gauss and Newton's matrix in
 * turn. */
static bool renew(struct minimisation *w, bool *curvature) {
  *curvature = !*curvature && take_curvature(w);
  return *curvature || set_up(w);
}

/* Quasi-Newton steps, where the equations are factorised; `curvature`: they are
 * the curvature. Whether they have converged. */
static bool finish_near(struct minimisation *w, bool curvature) {
  double gain = INFINITY;
  for (size_t i = 0; w->n < MOST_STEPS; i++) {
    if (i > 0 && i % STEPS_OF_EQUATIONS == 0 && !renew(w, &curvature))
      return false;
    double expected = quasi_newton_step(w);
    if (!(expected >= 0))
      return false;
    if (expected < LITTLE_GAIN && gain < w->converged)
      return true;
    if (expected < w->converged) {
      try_step(w);
      accept(w, w->squares);
      return true;
    }
    gain = w->squares;
    if (!try_shorter(w, expected))
      return false;
    gain -= w->squares;
  }
  return false;
}

/* The Gauss-Newton step of factorised equations; returns the decrease of the
 * squares that it expects. */
static double gauss_newton_step(struct minimisation *w) {
  double expected = 0;
  memcpy(w->step, w->g, w->p * sizeof *w->step);
  dl_normal_equations_solve(&w->e, w->step);
  for (size_t j = 0; j < w->p; j++) {
    expected += w->step[j] * w->g[j];
    w->step[j] = -w->step[j];
  }
  return expected;
}

/* The damping after a step whose gain was `ratio` of what was expected (Nielsen
 * 1999, IMM-REP-1999-05). */
static double less_damping(double damping, double ratio) {
  double share = 1 - pow(2 * ratio - 1, 3);
  return damping > 1e-6 ? damping * fmax(share, 1.0 / 3) : 0;
}

/* Ends near the minimum where the equations or the curvature hold. False: it
 * does not converge there, and the products are those at theta again. */
static bool end_near(struct minimisation *w, bool curvature) {
  if ((curvature || dl_normal_equations_factor(&w->e, &w->e.products, 0)) &&
      finish_near(w, curvature))
    return true;
  w->squares = dl_normal_equations_sum(&w->e, w->theta, w->g);
  return false;
}

/* Levenberg's and Marquardt's method, up to a point near the minimum. The
 * physics has kinks, where clocks are at their lowest: a minimum on one is
 * found by damped steps that gain ever less. */
static enum dl_status descend(struct minimisation *w, struct dl_diag *d) {
  double gain = INFINITY, expected = INFINITY, near = NEAR;
  w->squares = dl_normal_equations_sum(&w->e, w->theta, w->g);
  while (w->n < MOST_STEPS) {
    if (near > 0 && expected < FAR && take_curvature(w)) {
      if (end_near(w, true))
        return DL_OK;
      near = 0;
    }
    if (!dl_normal_equations_factor(&w->e, &w->e.products, w->damping))
      return dl_fail(d, DL_EINPUT, "the normal equations are singular");
    expected = gauss_newton_step(w);
    if (gain < (w->damping > 0 ? LITTLE_GAIN : w->converged) ||
        (w->damping > 0 && expected < LITTLE_GAIN))
      return DL_OK;
    if (expected < near) {
      if (end_near(w, false))
        return DL_OK;
      near = 0;
      continue;
    }
    try_step(w);
    double now = dl_squares_at(w->e.blocks, w->e.terms, w->trial);
    if (now <= w->squares) {
      gain = w->squares - now;
      w->damping = less_damping(w->damping, gain / expected);
      now = dl_normal_equations_sum(&w->e, w->trial, w->trial_g);
      accept(w, now);
    } else {
      w->damping = w->damping > 0 ? w->damping * 10 : 1e-2;
    }
  }
  return DL_OK;
}

/* From a solution of a part of the terms. Whether it converges. */
static bool from_near(struct minimisation *w) {
  w->squares = dl_normal_equations_gradient(&w->e, w->theta, w->g);
  if (!isfinite(w->squares))
    return false;
  if (!w->curvature)
    return set_up(w) && finish_near(w, false);
  return take_curvature(w) && finish_near(w, true);
}

enum dl_status dl_minimise(double *theta, bool near,
                           const struct dl_cell_products *curvature,
                           const struct dl_equation_blocks *blocks,
                           const struct dl_weighed_terms *terms,
                           struct dl_diag *d) {
  struct minimisation w;
  enum dl_status status = DL_OK;
  start(&w, theta, near, curvature, blocks, terms);
  if (!isfinite(dl_squares_at(blocks, terms, theta)))
    status = dl_fail(d, DL_EINPUT, "a row has no finite residual");
  else if (!near || !from_near(&w))
    status = descend(&w, d);
  finish(&w);
  return status;
}
