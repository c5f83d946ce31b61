/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/nls.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define TOLERANCE 1e-8

/* Damping: at the start, and where no step will help any more. */
#define FIRST_DAMPING 1e-3
#define LEAST_DAMPING 1e-12
#define MOST_DAMPING 1e12

/* Of a parameter at a time, in standard deviations of its prior. */
#define MOST_MOVE 1.0

/* Step of differences, by the size of the parameter. */
#define DIFFERENCE 6e-6

struct work {
  const struct dl_nls *q;
  double *r, *moved; /* n: residuals, at the trial point */
  double *J;         /* n x p */
  double *trial;     /* p */
  size_t *full;      /* p: columns of a row of J that are not 0 */
  double *most;      /* p: largest diagonal so far */
  gsl_matrix *H, *factor;
  gsl_vector *g, *step;
};

static void work_free(struct work *w) {
  free(w->r);
  free(w->moved);
  free(w->J);
  free(w->trial);
  free(w->full);
  free(w->most);
  gsl_matrix_free(w->H);
  gsl_matrix_free(w->factor);
  gsl_vector_free(w->g);
  gsl_vector_free(w->step);
}

static bool work_make(struct work *w) {
  size_t n = w->q->n, p = w->q->p;
  w->r = dl_calloc(n, sizeof *w->r);
  w->moved = dl_calloc(n, sizeof *w->moved);
  w->J = dl_calloc(n * p, sizeof *w->J);
  w->trial = dl_calloc(p, sizeof *w->trial);
  w->full = dl_calloc(p, sizeof *w->full);
  w->most = dl_calloc(p, sizeof *w->most);
  w->H = gsl_matrix_alloc(p, p);
  w->factor = gsl_matrix_alloc(p, p);
  w->g = gsl_vector_alloc(p);
  w->step = gsl_vector_alloc(p);
  return w->r && w->moved && w->J && w->trial && w->full && w->most && w->H &&
         w->factor && w->g && w->step;
}

static bool has_prior(const struct dl_nls *q, size_t j) {
  return q->sd && isfinite(q->sd[j]);
}

/* What is minimised, infinite where a residual is not finite. */
static double cost_at(const struct dl_nls *q, const double *theta, double *r) {
  double sum = 0;
  q->residuals(theta, r, q->ctx);
  for (size_t i = 0; i < q->n; i++)
    sum += r[i] * r[i];
  for (size_t j = 0; j < q->p; j++)
    if (has_prior(q, j)) {
      double z = (theta[j] - q->mean[j]) / q->sd[j];
      sum += z * z;
    }
  return isfinite(sum) ? sum : INFINITY;
}

static double size_of(const struct dl_nls *q, const double *theta, size_t j) {
  return fmax(fabs(theta[j]), has_prior(q, j) ? q->sd[j] : 0);
}

/* Central differences. */
static void differences(struct work *w, const double *theta) {
  const struct dl_nls *q = w->q;
  memcpy(w->trial, theta, q->p * sizeof *theta);
  for (size_t j = 0; j < q->p; j++) {
    double h = DIFFERENCE * size_of(q, theta, j);
    h = h > 0 ? h : DIFFERENCE;
    w->trial[j] = theta[j] + h;
    q->residuals(w->trial, w->moved, q->ctx);
    for (size_t i = 0; i < q->n; i++)
      w->J[i * q->p + j] = w->moved[i];
    w->trial[j] = theta[j] - h;
    q->residuals(w->trial, w->moved, q->ctx);
    for (size_t i = 0; i < q->n; i++)
      w->J[i * q->p + j] = (w->J[i * q->p + j] - w->moved[i]) / (2 * h);
    w->trial[j] = theta[j];
  }
}

/* Adds a row of J to J'J (lower triangle) and J'r; most of its columns are 0
 * where parameters belong to some residuals alone. */
static void add_row(struct work *w, size_t i) {
  size_t p = w->q->p, n = 0;
  const double *row = w->J + i * p;
  for (size_t j = 0; j < p; j++)
    if (isfinite(row[j]) && (row[j] < 0 || row[j] > 0))
      w->full[n++] = j;
  for (size_t a = 0; a < n; a++) {
    double x = row[w->full[a]];
    double *to = gsl_matrix_ptr(w->H, w->full[a], 0);
    for (size_t b = 0; b <= a; b++)
      to[w->full[b]] += x * row[w->full[b]];
    *gsl_vector_ptr(w->g, w->full[a]) += x * w->r[i];
  }
}

/* J'J with the priors, and half the gradient. */
static void normal_equations(struct work *w, const double *theta) {
  const struct dl_nls *q = w->q;
  if (q->jacobian)
    q->jacobian(theta, w->J, q->ctx);
  else
    differences(w, theta);
  gsl_matrix_set_zero(w->H);
  gsl_vector_set_zero(w->g);
  for (size_t i = 0; i < q->n; i++)
    add_row(w, i);
  for (size_t j = 0; j < q->p; j++)
    if (has_prior(q, j)) {
      double v = q->sd[j] * q->sd[j];
      *gsl_matrix_ptr(w->H, j, j) += 1 / v;
      *gsl_vector_ptr(w->g, j) += (theta[j] - q->mean[j]) / v;
    }
  for (size_t j = 0; j < q->p; j++)
    w->most[j] = fmax(w->most[j], gsl_matrix_get(w->H, j, j));
}

/* (H + damping D) step = -g; false where that has no solution. */
static bool solve_step(struct work *w, double damping) {
  gsl_matrix_memcpy(w->factor, w->H);
  for (size_t j = 0; j < w->q->p; j++)
    *gsl_matrix_ptr(w->factor, j, j) += damping * w->most[j];
  return gsl_linalg_cholesky_decomp1(w->factor) == GSL_SUCCESS &&
         gsl_linalg_cholesky_solve(w->factor, w->g, w->step) == GSL_SUCCESS;
}

/* Shortens a step that would move a parameter by more than its prior's
 * standard deviation: a long first one may end in another valley. */
static void shorten(struct work *w) {
  double most = 0;
  for (size_t j = 0; j < w->q->p; j++)
    if (has_prior(w->q, j))
      most = fmax(most, fabs(gsl_vector_get(w->step, j)) / w->q->sd[j]);
  if (most > MOST_MOVE)
    gsl_vector_scale(w->step, MOST_MOVE / most);
}

static bool is_small(const struct work *w, const double *theta, double tol) {
  for (size_t j = 0; j < w->q->p; j++)
    if (fabs(gsl_vector_get(w->step, j)) >
        tol * (size_of(w->q, theta, j) + tol))
      return false;
  return true;
}

/* One accepted step, with as much damping as it needs. False: none helps. */
static bool descend(struct work *w, double *theta, double *cost,
                    double *damping) {
  for (; *damping < MOST_DAMPING; *damping *= 10) {
    if (!solve_step(w, *damping))
      continue;
    shorten(w);
    for (size_t j = 0; j < w->q->p; j++)
      w->trial[j] = theta[j] - gsl_vector_get(w->step, j);
    double there = cost_at(w->q, w->trial, w->moved);
    if (!(there <= *cost))
      continue;
    double *r = w->r;
    w->r = w->moved;
    w->moved = r;
    memcpy(theta, w->trial, w->q->p * sizeof *theta);
    *cost = there;
    *damping = fmax(*damping / 10, LEAST_DAMPING);
    return true;
  }
  return false;
}

static enum dl_status check_start(struct work *w, double cost,
                                  struct dl_diag *d) {
  const struct dl_nls *q = w->q;
  size_t rows = q->n;
  for (size_t j = 0; j < q->p; j++)
    rows += has_prior(q, j);
  if (rows < q->p)
    return dl_fail(d, DL_EINPUT,
                   "%zu values are too few for %zu parameters without priors",
                   rows, q->p);
  for (size_t i = 0; i < q->n; i++)
    if (!isfinite(w->r[i]))
      return dl_fail(d, DL_EINPUT, "value %zu has no finite residual", i + 1);
  if (!isfinite(cost))
    return dl_fail(d, DL_EINPUT, "the residuals are too large to be squared");
  return DL_OK;
}

static enum dl_status invert(struct work *w, const double *theta,
                             gsl_matrix *cov, struct dl_diag *d) {
  normal_equations(w, theta);
  gsl_matrix_memcpy(cov, w->H);
  int gsl = gsl_linalg_cholesky_decomp1(cov);
  if (!gsl)
    gsl = gsl_linalg_cholesky_invert(cov);
  return gsl ? dl_fail(d, DL_EINPUT, "no covariance: %s", gsl_strerror(gsl))
             : DL_OK;
}

static enum dl_status solve(struct work *w, double *theta, gsl_matrix *cov,
                            struct dl_nls_result *result, struct dl_diag *d) {
  const struct dl_nls *q = w->q;
  double tol = q->tolerance > 0 ? q->tolerance : TOLERANCE;
  double damping = FIRST_DAMPING;
  result->cost = cost_at(q, theta, w->r);
  enum dl_status status = check_start(w, result->cost, d);
  if (status != DL_OK)
    return status;
  size_t most = q->most_steps ? q->most_steps : 200;
  while (result->steps < most && !result->converged) {
    normal_equations(w, theta);
    /* Where no step helps the best point is found. */
    result->converged =
        !descend(w, theta, &result->cost, &damping) || is_small(w, theta, tol);
    result->steps++;
  }
  return cov ? invert(w, theta, cov, d) : DL_OK;
}

enum dl_status dl_nls_solve(const struct dl_nls *q, double *theta,
                            gsl_matrix *cov, struct dl_nls_result *result,
                            struct dl_diag *d) {
  struct work w = {.q = q};
  *result = (struct dl_nls_result){0};
  enum dl_status status =
      work_make(&w) ? solve(&w, theta, cov, result, d) : dl_fail_memory(d);
  work_free(&w);
  return status;
}
