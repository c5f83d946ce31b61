/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Information that runs would give a fit, before they are measured.
 *
 * With what was measured so far, the covariance is C - G G': each measured
 * point has a column of G, for the wanted quantities and for the points. */

#include "physics/calibration/run_information.h"

#include <gsl/gsl_blas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"
#include "physics/calibration/calibration_prior.h"

struct dl_run_information {
  const struct dl_information_request *request;
  const struct dl_residual_process *process;
  size_t n_points, n_wanted;
  struct dl_residual_point *point; /* what runs measure; owned */
  double *noise;                   /* n_points */
  size_t *first;                   /* n_runs + 1: points of each run */
  gsl_matrix *points;              /* n_points x p: J L */
  gsl_matrix *quantities;          /* n_wanted x p: J L */
  struct dl_place *place;          /* of each wanted */
  double *variance;                /* n_wanted: now */
  double *of_points;     /* n_measured x n_points: columns of G, owned */
  double *of_quantities; /* n_measured x n_wanted */
  size_t n_measured, cap_points, cap_quantities;
};

void dl_run_information_free(struct dl_run_information *p) {
  if (!p)
    return;
  free(p->point);
  free(p->noise);
  free(p->first);
  gsl_matrix_free(p->points);
  gsl_matrix_free(p->quantities);
  free(p->place);
  free(p->variance);
  free(p->of_points);
  free(p->of_quantities);
  free(p);
}

/* --- derivatives */

/* Runs, or wanted configurations, as a fit takes them. Starts from {0}. */
struct information_rows {
  struct dl_configurations configs;
  struct dl_parameter_map map;
  double *value; /* n x n_targets */
  struct dl_observed *observed;
};

static void free_rows(struct information_rows *r) {
  dl_configurations_free(&r->configs);
  dl_parameter_map_free(&r->map);
  free(r->value);
  free(r->observed);
}

/* run: n of them, or NULL: all targets of `wanted`. Measured values do not
 * matter: they are 0. */
static void list_rows(struct information_rows *r,
                      struct dl_hierarchical_fit *fit,
                      const struct dl_information_run *run,
                      const void *const *wanted, size_t n) {
  const struct dl_physics *physics = fit->physics;
  r->value = dl_calloc(n * physics->n_targets, sizeof *r->value);
  r->observed = dl_calloc(n, sizeof *r->observed);
  for (size_t i = 0; i < n; i++) {
    double *value = r->value + i * physics->n_targets;
    for (size_t t = 0; run && t < physics->n_targets; t++)
      value[t] = run[i].measured >> t & 1 ? 0 : NAN;
    r->observed[i] =
        (struct dl_observed){run ? run[i].inputs : wanted[i], value};
  }
  const struct dl_observations o = {.n = n, .row = r->observed};
  dl_configurations_make(&r->configs, physics, &o);
  dl_configurations_name(&r->configs, &fit->names);
}

/* The measurement of a target of a row. */
static size_t measurement_of(const struct information_rows *r, size_t row,
                             size_t target) {
  return r->configs
      .at[r->configs.of_row[row] * r->map.physics->n_targets + target];
}

static double noise_of(const struct dl_residual_process *process,
                       const struct dl_grouping *inputs) {
  return dl_residual_noise(process, 1) + inputs->misfit_sd * inputs->misfit_sd;
}

static void find_points(struct dl_run_information *p,
                        const struct information_rows *r) {
  const struct dl_information_request *q = p->request;
  size_t n_targets = q->from->physics->n_targets;
  p->point = dl_calloc(q->n_runs * n_targets, sizeof *p->point);
  p->noise = dl_calloc(q->n_runs * n_targets, sizeof *p->noise);
  p->first = dl_calloc(q->n_runs + 1, sizeof *p->first);
  for (size_t i = 0; i < q->n_runs; i++) {
    size_t config = r->configs.of_row[i];
    const struct dl_grouping *inputs = q->run[i].inputs;
    struct dl_place place =
        dl_fit_place(q->from, &r->configs.names[config], inputs);
    p->first[i] = p->n_points;
    for (size_t t = 0; t < n_targets; t++)
      if (q->run[i].measured >> t & 1) {
        p->point[p->n_points] =
            (struct dl_residual_point){.place = place, .target = t};
        p->noise[p->n_points++] = noise_of(p->process, inputs);
      }
  }
  p->first[q->n_runs] = p->n_points;
}

/* Derivatives of all measurements of rows by the parameters. */
static double *differentiate(const struct information_rows *r,
                             const double *theta) {
  size_t n = r->configs.n_measurements;
  double *J = dl_calloc(n * r->map.p, sizeof *J);
  dl_differentiate_measurements(&r->map, theta, NULL, n, J);
  return J;
}

/* rows: of the runs. */
static void differentiate_points(struct dl_run_information *p,
                                 const struct information_rows *r,
                                 const struct dl_calibration_prior *prior) {
  const struct dl_information_request *q = p->request;
  DL_FREED double *J = differentiate(r, prior->mean);
  p->points = gsl_matrix_alloc(p->n_points, prior->p);
  for (size_t i = 0; i < q->n_runs; i++)
    for (size_t k = p->first[i]; k < p->first[i + 1]; k++) {
      size_t m = measurement_of(r, i, p->point[k].target);
      memcpy(gsl_matrix_ptr(p->points, k, 0), J + m * prior->p,
             prior->p * sizeof *J);
    }
  gsl_blas_dtrmm(CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, 1,
                 prior->L, p->points);
}

/* The sum of multiples of the derivatives of a wanted row's targets. */
static void differentiate_quantity(const struct information_rows *r, size_t row,
                                   const double *of, const double *J,
                                   double *to) {
  for (size_t t = 0; t < r->map.physics->n_targets; t++) {
    const double *by = J + measurement_of(r, row, t) * r->map.p;
    for (size_t i = 0; i < r->map.p; i++)
      to[i] += of[t] * by[i];
  }
}

/* rows: of what is wanted. */
static void differentiate_quantities(struct dl_run_information *p,
                                     const struct information_rows *r,
                                     const struct dl_calibration_prior *prior) {
  DL_FREED double *J = differentiate(r, prior->mean);
  p->quantities = gsl_matrix_calloc(p->n_wanted, prior->p);
  for (size_t i = 0; i < p->n_wanted; i++)
    differentiate_quantity(r, i, p->request->quantity, J,
                           gsl_matrix_ptr(p->quantities, i, 0));
  gsl_blas_dtrmm(CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, 1,
                 prior->L, p->quantities);
}

/* --- variances */

/* The covariance of the residuals of a wanted row and a point. */
static double with_point(const struct dl_run_information *p, size_t i,
                         const struct dl_residual_point *point) {
  const double *of = p->request->quantity;
  struct dl_residual_point own = {.place = p->place[i]};
  double sum = 0;
  if (own.place.gpu != point->place.gpu)
    return 0;
  for (own.target = 0; own.target < p->request->from->physics->n_targets;
       own.target++)
    if (fabs(of[own.target]) > 0)
      sum += of[own.target] * dl_residual_covariance(p->process, &own, point);
  return sum;
}

/* The variance of effects of levels that no run has and the fit has not seen:
 * no run says anything of them. */
static double unseen_variance(const struct information_rows *r, size_t config,
                              const double *of, const struct dl_gradient *g) {
  const struct dl_physics *physics = r->map.physics;
  const struct dl_grouping *inputs = r->configs.inputs[config];
  double sum = 0;
  for (size_t k = 0; k < dl_posterior_factors(physics); k++) {
    const struct dl_level_names *level = &inputs->level[k];
    const struct dl_grouping_factor *f = &physics->factor[k];
    if (r->map.first[config * physics->n_factors + k] > 0 ||
        dl_level_is_none(dl_level_key_of(&r->configs.names[config], level)))
      continue;
    for (size_t e = f->first; e < f->first + f->n; e++) {
      const struct dl_random_effect *effect = &physics->effect[e];
      double sd = level->within == DL_NAME_TUNED ? effect->tuned_sd
                                                 : effect->calibrated_sd;
      double by = 0;
      for (size_t t = 0; t < physics->n_targets; t++)
        by += of[t] * (isfinite(g[t].fx[e]) ? g[t].fx[e] : 0);
      sum += by * by * sd * sd;
    }
  }
  return sum;
}

/* The gradients of the targets of a wanted row. */
static void find_gradient(const struct information_rows *r, size_t config,
                          const double *theta, struct dl_gradient *g) {
  double c[DL_MAX_CONSTANTS], fx[DL_MAX_EFFECTS], y[DL_MAX_TARGETS];
  dl_constants_of(r->map.physics, theta, c);
  dl_effects_at(&r->map, theta, config, fx);
  memset(g, 0, DL_MAX_TARGETS * sizeof *g);
  r->map.physics->gradient(c, fx, r->configs.inputs[config], y, g);
}

/* The variance of a wanted row, before anything is measured. */
static double first_variance(const struct dl_run_information *p, size_t i,
                             double noise) {
  const struct dl_information_request *q = p->request;
  const double *of = q->quantity;
  gsl_vector_const_view row = gsl_matrix_const_row(p->quantities, i);
  double norm = gsl_blas_dnrm2(&row.vector), sum = norm * norm;
  for (size_t t = 0; t < q->from->physics->n_targets; t++) {
    const struct dl_residual_point own = {.place = p->place[i], .target = t};
    sum += of[t] * (with_point(p, i, &own) + of[t] * noise);
  }
  return sum;
}

/* rows: of what is wanted. */
static void find_variances(struct dl_run_information *p,
                           const struct information_rows *r,
                           const double *theta) {
  const struct dl_information_request *q = p->request;
  p->place = dl_calloc(q->n_wanted, sizeof *p->place);
  p->variance = dl_calloc(p->n_wanted, sizeof *p->variance);
  for (size_t i = 0; i < q->n_wanted; i++) {
    size_t config = r->configs.of_row[i];
    struct dl_gradient g[DL_MAX_TARGETS];
    double noise = noise_of(p->process, q->wanted[i]);
    p->place[i] =
        dl_fit_place(q->from, &r->configs.names[config], q->wanted[i]);
    find_gradient(r, config, theta, g);
    p->variance[i] = first_variance(p, i, noise) +
                     unseen_variance(r, config, q->quantity, g);
  }
}

/* --- measurements */

/* Subtracts G g', with the row g of G of a point, from a column of n rows whose
 * part of G is `of`. */
static void subtract_measured(const struct dl_run_information *p,
                              const double *of, size_t n, size_t point,
                              double *column) {
  for (size_t s = 0; s < p->n_measured; s++) {
    double g = p->of_points[s * p->n_points + point];
    for (size_t i = 0; i < n; i++)
      column[i] -= g * of[s * n + i];
  }
}

/* The columns (n x n_wanted) of the present covariance of n points from `first`
 * on, owned by the caller. */
static gsl_matrix *find_columns(const struct dl_run_information *p,
                                size_t first, size_t n) {
  gsl_matrix *columns = gsl_matrix_alloc(n, p->n_wanted);
  gsl_matrix_const_view points =
      gsl_matrix_const_submatrix(p->points, first, 0, n, p->points->size2);
  gsl_blas_dgemm(CblasNoTrans, CblasTrans, 1, &points.matrix, p->quantities, 0,
                 columns);
  for (size_t k = 0; k < n; k++) {
    double *column = gsl_matrix_ptr(columns, k, 0);
    for (size_t i = 0; i < p->n_wanted; i++)
      column[i] += with_point(p, i, &p->point[first + k]);
    subtract_measured(p, p->of_quantities, p->n_wanted, first + k, column);
  }
  return columns;
}

/* The present covariance of two points. */
static double between_points(const struct dl_run_information *p, size_t a,
                             size_t b) {
  gsl_vector_const_view x = gsl_matrix_const_row(p->points, a),
                        y = gsl_matrix_const_row(p->points, b);
  double sum;
  gsl_blas_ddot(&x.vector, &y.vector, &sum);
  sum += dl_residual_covariance(p->process, &p->point[a], &p->point[b]);
  for (size_t s = 0; s < p->n_measured; s++)
    sum -=
        p->of_points[s * p->n_points + a] * p->of_points[s * p->n_points + b];
  return sum;
}

/* A lower factor of C_PP + N of m points from `first` on. */
static void factor_run(const struct dl_run_information *p, size_t first,
                       size_t m, double R[DL_MAX_TARGETS][DL_MAX_TARGETS]) {
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = between_points(p, first + i, first + j);
      for (size_t k = 0; k < j; k++)
        sum -= R[i][k] * R[j][k];
      /* Noise, of which no part is common, keeps it above 0. */
      R[i][j] =
          i > j ? sum / R[j][j] : sqrt(fmax(sum, 0) + p->noise[first + i]);
    }
}

/* Columns of C_P, m of n values each, become columns of C_P R'^-1. */
static void solve_columns(const double R[DL_MAX_TARGETS][DL_MAX_TARGETS],
                          double *column, size_t m, size_t n) {
  for (size_t i = 0; i < m; i++)
    for (size_t k = 0; k < n; k++) {
      double sum = column[i * n + k];
      for (size_t j = 0; j < i; j++)
        sum -= R[i][j] * column[j * n + k];
      column[i * n + k] = sum / R[i][i];
    }
}

/* The variances after a run, whose columns have been solved. */
static void reduce(const struct dl_run_information *p, const double *column,
                   size_t m, double *variance) {
  memcpy(variance, p->variance, p->n_wanted * sizeof *variance);
  for (size_t j = 0; j < m; j++)
    for (size_t i = 0; i < p->n_wanted; i++) {
      double g = column[j * p->n_wanted + i];
      variance[i] -= g * g;
    }
}

void dl_variance_after(const struct dl_run_information *p, size_t first,
                       size_t n, double *variance) {
  size_t from = p->first[first];
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *columns = find_columns(p, from, p->first[first + n] - from);
  for (size_t i = first; i < first + n; i++) {
    double R[DL_MAX_TARGETS][DL_MAX_TARGETS];
    size_t at = p->first[i], m = p->first[i + 1] - at;
    double *column = columns->data + (at - from) * columns->tda;
    factor_run(p, at, m, R);
    solve_columns(R, column, m, p->n_wanted);
    reduce(p, column, m, variance + (i - first) * p->n_wanted);
  }
}

void dl_run_information_measure(struct dl_run_information *p, size_t run) {
  double R[DL_MAX_TARGETS][DL_MAX_TARGETS];
  size_t first = p->first[run], m = p->first[run + 1] - first;
  size_t n = p->n_points, n_all = p->n_measured + m;
  DL_SCOPED(gsl_matrix_free_local)
  gsl_matrix *columns = find_columns(p, first, m);
  double *column = columns->data;
  DL_FREED double *of_points = dl_calloc(m * n, sizeof *of_points);
  for (size_t k = 0; k < m; k++)
    for (size_t i = 0; i < n; i++)
      of_points[k * n + i] = between_points(p, i, first + k);
  factor_run(p, first, m, R);
  solve_columns(R, of_points, m, n);
  solve_columns(R, column, m, p->n_wanted);
  reduce(p, column, m, p->variance);
  DL_GROW(p->of_points, p->cap_points, n_all * n);
  DL_GROW(p->of_quantities, p->cap_quantities, n_all * p->n_wanted);
  memcpy(p->of_points + p->n_measured * n, of_points,
         m * n * sizeof *of_points);
  memcpy(p->of_quantities + p->n_measured * p->n_wanted, column,
         m * p->n_wanted * sizeof *column);
  p->n_measured = n_all;
}

const double *dl_variance_before(const struct dl_run_information *p) {
  return p->variance;
}

/* --- all */

static void free_prior(struct dl_calibration_prior *prior) {
  dl_calibration_prior_free(prior);
}

static void free_fit(struct dl_hierarchical_fit **fit) {
  dl_hierarchical_fit_free(*fit);
}

static void prepare(struct dl_run_information *p) {
  const struct dl_information_request *q = p->request;
  const struct dl_hierarchical_fit *from = q->from;
  DL_SCOPED(free_rows) struct information_rows runs = {0};
  DL_SCOPED(free_rows) struct information_rows wanted = {0};
  DL_SCOPED(free_prior) struct dl_calibration_prior prior = {0};
  DL_SCOPED(free_fit)
  struct dl_hierarchical_fit *fit = dl_hierarchical_fit_new(from->physics);
  size_t n_factors = dl_posterior_factors(from->physics);
  for (size_t i = 0; i < from->names.n; i++) /* their numbers stay */
    dl_intern(&fit->names, from->names.s[i]);
  list_rows(&runs, fit, q->run, NULL, q->n_runs);
  list_rows(&wanted, fit, NULL, q->wanted, q->n_wanted);
  dl_calibration_prior_make(&prior, fit, from, &runs.configs);
  dl_parameter_map_make(&runs.map, from->physics, &runs.configs, fit->by,
                        n_factors);
  dl_parameter_map_make(&wanted.map, from->physics, &wanted.configs, fit->by,
                        n_factors);
  find_points(p, &runs);
  differentiate_points(p, &runs, &prior);
  differentiate_quantities(p, &wanted, &prior);
  find_variances(p, &wanted, prior.mean);
}

enum dl_status
dl_run_information_new(struct dl_run_information **out,
                       const struct dl_information_request *request,
                       struct dl_diag *d) {
  const struct dl_hierarchical_fit *from = request->from;
  *out = NULL;
  if (!from->posterior.factor)
    return dl_fail(d, DL_EINPUT,
                   "the model does not say how sure it is of its constants; "
                   "fit it again");
  if (from->calibration_residuals.n > 0)
    return dl_fail(d, DL_EINPUT,
                   "an earlier version of dlest calibrated the model and kept "
                   "no runs; give the model of before");
  struct dl_run_information *p = dl_calloc(1, sizeof *p);
  p->request = request;
  p->process = from->physics->calibration;
  p->n_wanted = request->n_wanted;
  prepare(p);
  *out = p;
  return DL_OK;
}
