/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitting the physics: constants and effects by nonlinear least squares on
 * the logarithms of configuration means, with priors (nls.h). */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/collapse.h"
#include "math/nls.h"
#include "math/physical_fit.h"

/* Standard deviations of what is left over, in logarithms: what priors are
 * weighed against. */
static const double sigma[] = {
    [DL_PT_POWER] = 0.06, [DL_PT_ENERGY] = 0.08, [DL_PT_TIME] = 0.08};

enum { N_TARGETS = DL_PT_TIME };

/* A measured mean of a configuration. */
struct seen {
  size_t row; /* of the distinct rows */
  enum dl_physical_target target;
  double log_value;
  double scale; /* standard deviation it is weighed with */
};

struct bearer {
  double key;
  size_t first; /* its parameters in theta */
};

struct work {
  struct dl_distinct rows;
  gsl_vector *weight, *mean; /* of the distinct rows: values, log target */
  struct seen *seen;
  size_t n_seen;
  struct bearer *bearer[DL_N_BEARERS];
  size_t n_bearers[DL_N_BEARERS];
  size_t *of_row[DL_N_BEARERS]; /* bearer of each distinct row, +1; 0: none */
  struct dl_load *load;         /* of the distinct rows */
  size_t p;
  double *theta, *prior_mean, *prior_sd;
  size_t *kind_of, *bearer_of; /* of the parameters behind the constants */
  double *moved, *at;          /* of the Jacobian: p, n_seen */
};

static void work_free(struct work *w) {
  dl_distinct_free(&w->rows);
  gsl_vector_free(w->weight);
  gsl_vector_free(w->mean);
  free(w->seen);
  for (size_t k = 0; k < DL_N_BEARERS; k++) {
    free(w->bearer[k]);
    free(w->of_row[k]);
  }
  free(w->load);
  free(w->theta);
  free(w->prior_mean);
  free(w->prior_sd);
  free(w->kind_of);
  free(w->bearer_of);
  free(w->moved);
  free(w->at);
}

static enum dl_physical_target target_of(const gsl_matrix *X, size_t i) {
  return (enum dl_physical_target)gsl_matrix_get(X, i, DL_PC_TARGET);
}

/* Rows that differ in what was measured alone are one configuration. */
static bool collapse(struct work *w, const gsl_matrix *X) {
  gsl_matrix *plain = gsl_matrix_alloc(X->size1, X->size2);
  if (!plain)
    return false;
  gsl_matrix_memcpy(plain, X);
  for (size_t j = DL_PC_POWER; j <= DL_PC_TIME; j++) {
    gsl_vector_view column = gsl_matrix_column(plain, j);
    gsl_vector_set_zero(&column.vector);
  }
  bool ok = dl_distinct_make(&w->rows, plain);
  gsl_matrix_free(plain);
  if (!ok)
    return false;
  size_t m = w->rows.X->size1;
  w->weight = gsl_vector_alloc(m);
  w->mean = gsl_vector_alloc(m);
  w->seen = dl_calloc(m * N_TARGETS, sizeof *w->seen);
  return w->weight && w->mean && w->seen;
}

/* Means of the logarithms of what was measured beside the target. */
static bool add_beside(struct work *w, const gsl_matrix *X, size_t column,
                       enum dl_physical_target target) {
  size_t m = w->rows.X->size1;
  double *sum = dl_calloc(2 * m, sizeof *sum), *n = sum ? sum + m : NULL;
  if (!sum)
    return false;
  for (size_t i = 0; i < X->size1; i++) {
    double x = gsl_matrix_get(X, i, column);
    if (!(x > 0) || target_of(X, i) == target)
      continue;
    sum[w->rows.of_row[i]] += log(x);
    n[w->rows.of_row[i]] += 1;
  }
  for (size_t i = 0; i < m; i++)
    if (n[i] > 0)
      w->seen[w->n_seen++] = (struct seen){i, target, sum[i] / n[i], 1};
  free(sum);
  return true;
}

static bool list_seen(struct work *w, const gsl_matrix *X, const gsl_vector *y,
                      const gsl_vector *weights) {
  if (!collapse(w, X))
    return false;
  dl_distinct_average(&w->rows, y, weights, w->weight, w->mean);
  for (size_t i = 0; i < w->rows.X->size1; i++)
    w->seen[w->n_seen++] = (struct seen){i, target_of(w->rows.X, i),
                                         gsl_vector_get(w->mean, i), 1};
  return add_beside(w, X, DL_PC_POWER, DL_PT_POWER) &&
         add_beside(w, X, DL_PC_ENERGY, DL_PT_ENERGY) &&
         add_beside(w, X, DL_PC_TIME, DL_PT_TIME);
}

/* Number of the bearer with a key, entering it if it is new. */
static size_t bearer_of(struct work *w, size_t kind, double key) {
  size_t n = w->n_bearers[kind];
  for (size_t b = 0; b < n; b++)
    if (!(w->bearer[kind][b].key < key) && !(w->bearer[kind][b].key > key))
      return b;
  w->bearer[kind][n].key = key;
  return w->n_bearers[kind]++;
}

static size_t effects_of(size_t kind) {
  size_t n = 0;
  for (size_t i = 0; i < DL_N_EFFECTS; i++)
    n += dl_effect_info((enum dl_effect)i)->by == (enum dl_bearer)kind;
  return n;
}

/* Standard deviation that a residual is measured in. */
static double scale_of(const struct work *w, const struct seen *s) {
  return hypot(sigma[s->target],
               gsl_matrix_get(w->rows.X, s->row, DL_PC_DOUBT));
}

static bool list_bearers(struct work *w) {
  size_t m = w->rows.X->size1;
  w->load = dl_calloc(m, sizeof *w->load);
  for (size_t i = 0; w->load && i < m; i++)
    dl_physical_load(gsl_matrix_const_ptr(w->rows.X, i, 0), &w->load[i]);
  for (size_t i = 0; w->load && i < w->n_seen; i++)
    w->seen[i].scale = scale_of(w, &w->seen[i]);
  if (!w->load)
    return false;
  w->p = DL_N_PHYSICS;
  for (size_t k = 0; k < DL_N_BEARERS; k++) {
    w->bearer[k] = dl_calloc(m, sizeof *w->bearer[k]);
    w->of_row[k] = dl_calloc(m, sizeof *w->of_row[k]);
    if (!w->bearer[k] || !w->of_row[k])
      return false;
    for (size_t i = 0; i < m; i++) {
      double key = dl_physical_key((enum dl_bearer)k,
                                   gsl_matrix_const_ptr(w->rows.X, i, 0));
      if (key > 0)
        w->of_row[k][i] = bearer_of(w, k, key) + 1;
    }
    for (size_t b = 0; b < w->n_bearers[k]; b++) {
      w->bearer[k][b].first = w->p;
      w->p += effects_of(k);
    }
  }
  return true;
}

static bool set_priors(struct work *w) {
  w->theta = dl_calloc(w->p, sizeof *w->theta);
  w->prior_mean = dl_calloc(w->p, sizeof *w->prior_mean);
  w->prior_sd = dl_calloc(w->p, sizeof *w->prior_sd);
  w->kind_of = dl_calloc(w->p, sizeof *w->kind_of);
  w->bearer_of = dl_calloc(w->p, sizeof *w->bearer_of);
  w->moved = dl_calloc(w->p, sizeof *w->moved);
  w->at = dl_calloc(w->n_seen, sizeof *w->at);
  if (!w->theta || !w->prior_mean || !w->prior_sd || !w->kind_of ||
      !w->bearer_of || !w->moved || !w->at)
    return false;
  for (size_t i = 0; i < DL_N_PHYSICS; i++) {
    const struct dl_physics_info *c = dl_physics_info((enum dl_physics)i);
    w->theta[i] = w->prior_mean[i] = log(c->median);
    w->prior_sd[i] = c->sd;
  }
  for (size_t k = 0; k < DL_N_BEARERS; k++)
    for (size_t b = 0; b < w->n_bearers[k]; b++) {
      size_t at = w->bearer[k][b].first;
      for (size_t i = 0; i < DL_N_EFFECTS; i++)
        if (dl_effect_info((enum dl_effect)i)->by == (enum dl_bearer)k) {
          w->kind_of[at - DL_N_PHYSICS] = k;
          w->bearer_of[at - DL_N_PHYSICS] = b;
          w->prior_sd[at++] = dl_effect_info((enum dl_effect)i)->sd;
        }
    }
  return true;
}

/* The effects of a bearer out of theta. */
static void take_effects(size_t kind, const double *from,
                         double fx[DL_N_EFFECTS]) {
  for (size_t i = 0; i < DL_N_EFFECTS; i++)
    if (dl_effect_info((enum dl_effect)i)->by == (enum dl_bearer)kind)
      fx[i] = *from++;
}

/* Effects of a distinct row under theta. */
static void effects_at(const struct work *w, const double *theta, size_t row,
                       double fx[DL_N_EFFECTS]) {
  memset(fx, 0, DL_N_EFFECTS * sizeof *fx);
  for (size_t k = 0; k < DL_N_BEARERS; k++)
    if (w->of_row[k][row])
      take_effects(k, theta + w->bearer[k][w->of_row[k][row] - 1].first, fx);
}

static double expected(const struct work *w, const double *c,
                       const double *theta, size_t row,
                       enum dl_physical_target target) {
  double fx[DL_N_EFFECTS];
  effects_at(w, theta, row, fx);
  return dl_physical_target(c, fx, &w->load[row],
                            gsl_matrix_get(w->rows.X, row, DL_PC_RAM_W),
                            target);
}

static void residuals(const double *theta, double *r, void *ctx) {
  const struct work *w = ctx;
  double c[DL_N_PHYSICS];
  dl_physical_constants_of(theta, c);
  for (size_t i = 0; i < w->n_seen; i++) {
    const struct seen *s = &w->seen[i];
    r[i] = (expected(w, c, theta, s->row, s->target) - s->log_value) / s->scale;
  }
}

#define STEP 1e-6

/* Column j of the Jacobian by forward differences; rows without the bearer
 * (b, of kind k) that parameter j belongs to do not change. */
static void differentiate(const struct work *w, const double *moved, size_t j,
                          const double *at, double *J, size_t k, size_t b) {
  double c[DL_N_PHYSICS];
  dl_physical_constants_of(moved, c);
  for (size_t i = 0; i < w->n_seen; i++) {
    const struct seen *s = &w->seen[i];
    bool same = k < DL_N_BEARERS && w->of_row[k][s->row] != b + 1;
    J[i * w->p + j] = same
                          ? 0
                          : (expected(w, c, moved, s->row, s->target) - at[i]) /
                                STEP / s->scale;
  }
}

static void jacobian(const double *theta, double *J, void *ctx) {
  struct work *w = ctx;
  double c[DL_N_PHYSICS];
  dl_physical_constants_of(theta, c);
  memcpy(w->moved, theta, w->p * sizeof *theta);
  for (size_t i = 0; i < w->n_seen; i++)
    w->at[i] = expected(w, c, theta, w->seen[i].row, w->seen[i].target);
  for (size_t j = 0; j < w->p; j++) {
    size_t k = DL_N_BEARERS, b = 0;
    if (j >= DL_N_PHYSICS) {
      k = w->kind_of[j - DL_N_PHYSICS];
      b = w->bearer_of[j - DL_N_PHYSICS];
    }
    w->moved[j] += STEP;
    differentiate(w, w->moved, j, w->at, J, k, b);
    w->moved[j] = theta[j];
  }
}

static bool keep_effects(struct dl_physical *s, const struct work *w) {
  for (size_t k = 0; k < DL_N_BEARERS; k++) {
    s->by[k].b = dl_calloc(w->n_bearers[k], sizeof *s->by[k].b);
    if (!s->by[k].b)
      return false;
    s->by[k].n = w->n_bearers[k];
    for (size_t b = 0; b < s->by[k].n; b++) {
      s->by[k].b[b].key = w->bearer[k][b].key;
      take_effects(k, w->theta + w->bearer[k][b].first, s->by[k].b[b].fx);
    }
  }
  return true;
}

/* What is left of the target itself. */
static enum dl_status fit_near(struct dl_physical *s, const struct work *w,
                               struct dl_diag *d) {
  size_t m = w->rows.X->size1;
  gsl_vector *r = gsl_vector_alloc(m);
  if (!r)
    return dl_fail_memory(d);
  double c[DL_N_PHYSICS];
  dl_physical_constants_of(w->theta, c);
  for (size_t i = 0; i < m; i++)
    gsl_vector_set(r, i,
                   gsl_vector_get(w->mean, i) -
                       expected(w, c, w->theta, i, target_of(w->rows.X, i)));
  enum dl_status status = dl_near_fit(&s->near, w->rows.X, r, w->weight, d);
  gsl_vector_free(r);
  return status;
}

static enum dl_status solve(struct dl_physical *s, struct work *w,
                            struct dl_diag *d) {
  struct dl_nls q = {.n = w->n_seen,
                     .p = w->p,
                     .residuals = residuals,
                     .jacobian = jacobian,
                     .ctx = w,
                     .mean = w->prior_mean,
                     .sd = w->prior_sd};
  struct dl_nls_result result;
  gsl_matrix *cov = gsl_matrix_alloc(w->p, w->p);
  enum dl_status status =
      cov ? dl_nls_solve(&q, w->theta, cov, &result, d) : dl_fail_memory(d);
  for (size_t i = 0; i < DL_N_PHYSICS && status == DL_OK; i++) {
    s->theta[i] = w->theta[i];
    s->error[i] = sqrt(gsl_matrix_get(cov, i, i));
  }
  gsl_matrix_free(cov);
  if (status == DL_OK && !keep_effects(s, w))
    status = dl_fail_memory(d);
  return status == DL_OK ? fit_near(s, w, d) : status;
}

enum dl_status dl_physical_solve(struct dl_physical *s, const gsl_matrix *X,
                                 const gsl_vector *y, const gsl_vector *w,
                                 struct dl_diag *d) {
  struct work work = {0};
  enum dl_status status =
      list_seen(&work, X, y, w) && list_bearers(&work) && set_priors(&work)
          ? solve(s, &work, d)
          : dl_fail_memory(d);
  work_free(&work);
  return status;
}
