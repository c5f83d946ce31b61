/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitting the physics: constants and effects by nonlinear least squares on
 * the logarithms of configuration means, with priors (nls.h). */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/equal_rows.h"
#include "math/numeric/nls.h"
#include "physics/training/physical_fit.h"

/* Standard deviations of what is left over, in logarithms: what priors are
 * weighed against. */
static const double sigma[] = {
    [DL_PT_POWER] = 0.06, [DL_PT_ENERGY] = 0.08, [DL_PT_TIME] = 0.08};

/* Doubt about a row's time, by that about its power. */
#define TIME_DOUBT 4

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
  double doubt; /* largest of its rows about the facts of their networks */
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

/* Means of the logarithms of what was measured of a target, NaN for rows
 * where nothing was; the target itself comes in y. */
static bool mean_of(const struct work *w, const gsl_matrix *X, size_t column,
                    enum dl_physical_target target, double *mean) {
  size_t m = w->rows.X->size1;
  double *n = dl_calloc(m, sizeof *n);
  if (!n)
    return false;
  memset(mean, 0, m * sizeof *mean);
  for (size_t i = 0; i < X->size1; i++) {
    double x = gsl_matrix_get(X, i, column);
    if (!(x > 0) || target_of(X, i) == target)
      continue;
    mean[w->rows.of_row[i]] += log(x);
    n[w->rows.of_row[i]] += 1;
  }
  for (size_t i = 0; i < m; i++)
    mean[i] = target_of(w->rows.X, i) == target ? gsl_vector_get(w->mean, i)
              : n[i] > 0                        ? mean[i] / n[i]
                                                : NAN;
  free(n);
  return true;
}

static bool list_seen(struct work *w, const gsl_matrix *X, const gsl_vector *y,
                      const gsl_vector *weights) {
  static const size_t column[] = {[DL_PT_POWER] = DL_PC_POWER,
                                  [DL_PT_ENERGY] = DL_PC_ENERGY,
                                  [DL_PT_TIME] = DL_PC_TIME};
  if (!collapse(w, X))
    return false;
  dl_distinct_average(&w->rows, y, weights, w->weight, w->mean);
  size_t m = w->rows.X->size1;
  double *mean = dl_calloc(m * (N_TARGETS + 1), sizeof *mean);
  bool ok = mean;
  for (size_t t = DL_PT_POWER; ok && t <= DL_PT_TIME; t++)
    ok = mean_of(w, X, column[t], (enum dl_physical_target)t, mean + t * m);
  for (size_t i = 0; ok && i < m; i++)
    for (size_t t = DL_PT_POWER; t <= DL_PT_TIME; t++)
      if (isfinite(mean[t * m + i]))
        w->seen[w->n_seen++] =
            (struct seen){i, (enum dl_physical_target)t, mean[t * m + i], 1};
  free(mean);
  return ok;
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

/* Standard deviation that a residual is measured in. A time on another
 * machine tells little: of the input pipeline nothing is known. */
static double scale_of(const struct work *w, const struct seen *s) {
  double doubt = gsl_matrix_get(w->rows.X, s->row, DL_PC_DOUBT);
  return hypot(sigma[s->target],
               s->target == DL_PT_TIME ? TIME_DOUBT * doubt : doubt);
}

/* In a table of so many networks, one that occurs in a single row has nothing
 * to tell of itself, and as many effects would only slow the fit. */
#define MANY_NETWORKS 64

static void drop_seen_once(struct work *w, size_t kind) {
  size_t m = w->rows.X->size1, n = w->n_bearers[kind], kept = 0;
  struct bearer *b = w->bearer[kind];
  for (size_t i = 0; i < m; i++)
    if (w->of_row[kind][i])
      b[w->of_row[kind][i] - 1].first++; /* rows, as yet */
  for (size_t i = 0; i < n; i++) {
    size_t rows = b[i].first;
    b[i].first = rows > 1 ? ++kept : 0; /* new number + 1 */
  }
  for (size_t i = 0; i < m; i++)
    if (w->of_row[kind][i])
      w->of_row[kind][i] = b[w->of_row[kind][i] - 1].first;
  for (size_t i = 0; i < n; i++)
    if (b[i].first > 0)
      b[b[i].first - 1] = b[i];
  w->n_bearers[kind] = kept;
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
      if (key > 0) {
        size_t b = bearer_of(w, k, key);
        w->of_row[k][i] = b + 1;
        w->bearer[k][b].doubt =
            fmax(w->bearer[k][b].doubt,
                 gsl_matrix_get(w->rows.X, i, DL_PC_FACTS_DOUBT));
      }
    }
    if (k == DL_BY_ARCH && w->n_bearers[k] > MANY_NETWORKS)
      drop_seen_once(w, k);
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
    w->prior_mean[i] = log(c->median);
    w->prior_sd[i] = c->sd;
    w->theta[i] = w->prior_mean[i];
  }
  for (size_t k = 0; k < DL_N_BEARERS; k++)
    for (size_t b = 0; b < w->n_bearers[k]; b++) {
      size_t at = w->bearer[k][b].first;
      for (size_t i = 0; i < DL_N_EFFECTS; i++)
        if (dl_effect_info((enum dl_effect)i)->by == (enum dl_bearer)k) {
          w->kind_of[at - DL_N_PHYSICS] = k;
          w->bearer_of[at - DL_N_PHYSICS] = b;
          double sd = dl_effect_info((enum dl_effect)i)->sd;
          w->prior_sd[at] = sd > 0 ? sd : w->bearer[k][b].doubt;
          at++;
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

static void expect(const struct work *w, const double *c, const double *theta,
                   size_t row, double out[N_TARGETS + 1]) {
  double fx[DL_N_EFFECTS];
  effects_at(w, theta, row, fx);
  dl_physical_targets(c, fx, &w->load[row],
                      gsl_matrix_get(w->rows.X, row, DL_PC_RAM_W), out);
}

static void residuals(const double *theta, double *r, void *ctx) {
  const struct work *w = ctx;
  double c[DL_N_PHYSICS], out[N_TARGETS + 1];
  dl_physical_constants_of(theta, c);
  for (size_t i = 0; i < w->n_seen; i++) {
    const struct seen *s = &w->seen[i];
    if (i == 0 || s->row != s[-1].row)
      expect(w, c, theta, s->row, out);
    r[i] = (out[s->target] - s->log_value) / s->scale;
  }
}

#define STEP 1e-6

/* Column j of the Jacobian by forward differences from `at`; rows without the
 * bearer b of kind k that parameter j belongs to do not change. */
static void differentiate(const struct work *w, const double *moved, size_t j,
                          const double *at, double *J, size_t k, size_t b) {
  double c[DL_N_PHYSICS], out[N_TARGETS + 1];
  dl_physical_constants_of(moved, c);
  for (size_t i = 0; i < w->n_seen; i++) {
    const struct seen *s = &w->seen[i];
    double *to = &J[i * w->p + j];
    *to = 0;
    if (k < DL_N_BEARERS && w->of_row[k][s->row] != b + 1)
      continue;
    if (i == 0 || s->row != s[-1].row)
      expect(w, c, moved, s->row, out);
    *to = ((out[s->target] - s->log_value) / s->scale - at[i]) / STEP;
  }
}

static void jacobian(const double *theta, double *J, void *ctx) {
  struct work *w = ctx;
  memcpy(w->moved, theta, w->p * sizeof *theta);
  residuals(theta, w->at, ctx);
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

/* What is left of the target itself, without rows that are in doubt: they
 * tell of their own configurations alone. */
static enum dl_status fit_near(struct dl_physical *s, const struct work *w,
                               struct dl_diag *d) {
  size_t m = w->rows.X->size1, p = w->rows.X->size2, n = 0;
  gsl_matrix *X = gsl_matrix_alloc(m, p);
  gsl_vector *r = gsl_vector_alloc(m), *count = gsl_vector_alloc(m);
  double c[DL_N_PHYSICS], out[N_TARGETS + 1];
  dl_physical_constants_of(w->theta, c);
  for (size_t i = 0; X && r && count && i < m; i++) {
    if (gsl_matrix_get(w->rows.X, i, DL_PC_DOUBT) > 0)
      continue;
    gsl_vector_const_view row = gsl_matrix_const_row(w->rows.X, i);
    gsl_matrix_set_row(X, n, &row.vector);
    expect(w, c, w->theta, i, out);
    gsl_vector_set(r, n,
                   gsl_vector_get(w->mean, i) - out[target_of(w->rows.X, i)]);
    gsl_vector_set(count, n++, gsl_vector_get(w->weight, i));
  }
  enum dl_status status = DL_OK;
  if (!X || !r || !count) {
    status = dl_fail_memory(d);
  } else if (n > 0) {
    gsl_matrix_const_view at = gsl_matrix_const_submatrix(X, 0, 0, n, p);
    gsl_vector_const_view left = gsl_vector_const_subvector(r, 0, n);
    gsl_vector_const_view of = gsl_vector_const_subvector(count, 0, n);
    status = dl_near_fit(&s->near, &at.matrix, &left.vector, &of.vector, d);
  }
  gsl_matrix_free(X);
  gsl_vector_free(r);
  gsl_vector_free(count);
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
                     .sd = w->prior_sd,
                     .tolerance = 1e-4};
  struct dl_nls_result result;
  gsl_matrix *cov = gsl_matrix_alloc(w->p, w->p);
  enum dl_status status =
      cov ? dl_nls_solve(&q, w->theta, cov, &result, d) : dl_fail_memory(d);
  for (size_t i = 0; i < DL_N_PHYSICS && status == DL_OK; i++) {
    s->theta[i] = w->theta[i];
    s->error[i] = sqrt(gsl_matrix_get(cov, i, i));
  }
  if (status == DL_OK && !keep_effects(s, w))
    status = dl_fail_memory(d);
  if (status == DL_OK)
    status = dl_joint_keep(s, cov, d);
  gsl_matrix_free(cov);
  if (status == DL_OK)
    status = fit_near(s, w, d);
  return status;
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
