/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitting servers: constants and effects by nonlinear least squares on the
 * logarithms of time and power, with priors (nls.h). */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/nls.h"
#include "physics/serving/serving_private.h"

/* Standard deviations of what is left over, in logarithms, by target: what
 * priors are weighed against. */
static const double sigma[] = {
    [DL_ST_TIME] = 0.15, [DL_ST_ENERGY] = 0.15, [DL_ST_POWER] = 0.08};

struct seen {
  size_t row;
  enum dl_serving_target target;
  double log_value, scale;
};

struct bearer {
  double key, sd; /* sd: the largest doubt of its rows */
  size_t first;   /* its parameters in theta */
};

struct work {
  const gsl_matrix *X;
  struct dl_serving_load *load; /* of the rows */
  struct seen *seen;
  size_t n_seen;
  struct bearer *bearer[DL_N_SERVING_BEARERS];
  size_t n_bearers[DL_N_SERVING_BEARERS];
  size_t *of_row[DL_N_SERVING_BEARERS]; /* +1; 0: none */
  size_t p;
  double *theta, *mean, *sd, *moved, *at;
  size_t *kind, *whose; /* of each parameter */
};

static void work_free(struct work *w) {
  for (size_t k = 0; k < DL_N_SERVING_BEARERS; k++) {
    free(w->bearer[k]);
    free(w->of_row[k]);
  }
  free(w->load);
  free(w->seen);
  free(w->theta);
  free(w->mean);
  free(w->sd);
  free(w->moved);
  free(w->at);
  free(w->kind);
  free(w->whose);
}

static void see(struct work *w, size_t row, enum dl_serving_target target,
                double log_value, double weight) {
  w->seen[w->n_seen++] =
      (struct seen){row, target, log_value, sigma[target] / sqrt(weight)};
}

static bool list_seen(struct work *w, const gsl_vector *y,
                      const gsl_vector *weight) {
  size_t n = w->X->size1;
  w->load = dl_calloc(n, sizeof *w->load);
  w->seen = dl_calloc(2 * n, sizeof *w->seen);
  if (!w->load || !w->seen)
    return false;
  for (size_t i = 0; i < n; i++) {
    const double *row = gsl_matrix_const_ptr(w->X, i, 0);
    double k = weight ? gsl_vector_get(weight, i) : 1;
    dl_serving_load_of(row, &w->load[i]);
    if (row[DL_SC_TIME] > 0 && row[DL_SC_POWER] > 0) {
      see(w, i, DL_ST_TIME, log(row[DL_SC_TIME]), k);
      see(w, i, DL_ST_POWER, log(row[DL_SC_POWER]), k);
    } else {
      see(w, i, (enum dl_serving_target)row[DL_SC_TARGET], gsl_vector_get(y, i),
          k);
    }
  }
  return true;
}

static bool same(double a, double b) {
  return !(a < b) && !(a > b);
}

static size_t bearer_of(struct work *w, size_t k, double key) {
  for (size_t b = 0; b < w->n_bearers[k]; b++)
    if (same(w->bearer[k][b].key, key))
      return b;
  w->bearer[k][w->n_bearers[k]].key = key;
  return w->n_bearers[k]++;
}

static size_t effects_of(size_t kind) {
  size_t n = 0;
  for (size_t i = 0; i < DL_N_SERVING_EFFECTS; i++)
    n += dl_serving_effect_info((enum dl_serving_effect)i)->by == kind;
  return n;
}

static bool list_bearers(struct work *w) {
  size_t n = w->X->size1;
  w->p = DL_N_SERVING;
  for (size_t k = 0; k < DL_N_SERVING_BEARERS; k++) {
    w->bearer[k] = dl_calloc(n, sizeof *w->bearer[k]);
    w->of_row[k] = dl_calloc(n, sizeof *w->of_row[k]);
    if (!w->bearer[k] || !w->of_row[k])
      return false;
    for (size_t i = 0; i < n; i++) {
      const double *row = gsl_matrix_const_ptr(w->X, i, 0);
      double key = dl_serving_key((enum dl_serving_bearer)k, row);
      if (!(key > 0))
        continue;
      size_t b = bearer_of(w, k, key);
      w->of_row[k][i] = b + 1;
      w->bearer[k][b].sd = fmax(w->bearer[k][b].sd, row[DL_SC_PROMPT_DOUBT]);
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
  w->mean = dl_calloc(w->p, sizeof *w->mean);
  w->sd = dl_calloc(w->p, sizeof *w->sd);
  w->moved = dl_calloc(w->p, sizeof *w->moved);
  w->at = dl_calloc(w->n_seen, sizeof *w->at);
  w->kind = dl_calloc(w->p, sizeof *w->kind);
  w->whose = dl_calloc(w->p, sizeof *w->whose);
  if (!w->theta || !w->mean || !w->sd || !w->moved || !w->at || !w->kind ||
      !w->whose)
    return false;
  for (size_t i = 0; i < DL_N_SERVING; i++) {
    const struct dl_serving_info *c =
        dl_serving_info((enum dl_serving_constant)i);
    w->theta[i] = w->mean[i] = log(c->median);
    w->sd[i] = c->sd;
    w->kind[i] = DL_N_SERVING_BEARERS;
  }
  for (size_t k = 0; k < DL_N_SERVING_BEARERS; k++)
    for (size_t b = 0; b < w->n_bearers[k]; b++) {
      size_t at = w->bearer[k][b].first;
      for (size_t i = 0; i < DL_N_SERVING_EFFECTS; i++) {
        const struct dl_serving_effect_info *fx =
            dl_serving_effect_info((enum dl_serving_effect)i);
        if (fx->by != k)
          continue;
        w->sd[at] = fx->sd > 0 ? fx->sd : w->bearer[k][b].sd;
        w->kind[at] = k;
        w->whose[at++] = b;
      }
    }
  return true;
}

static void take_effects(size_t kind, const double *from,
                         double fx[DL_N_SERVING_EFFECTS]) {
  for (size_t i = 0; i < DL_N_SERVING_EFFECTS; i++)
    if (dl_serving_effect_info((enum dl_serving_effect)i)->by == kind)
      fx[i] = *from++;
}

static void expect(const struct work *w, const double *c, const double *theta,
                   size_t row, double out[DL_ST_POWER + 1]) {
  double fx[DL_N_SERVING_EFFECTS] = {0};
  for (size_t k = 0; k < DL_N_SERVING_BEARERS; k++)
    if (w->of_row[k][row])
      take_effects(k, theta + w->bearer[k][w->of_row[k][row] - 1].first, fx);
  dl_serving_targets(c, fx, &w->load[row], out);
}

static void constants_of(const double *theta, double c[DL_N_SERVING]) {
  for (size_t i = 0; i < DL_N_SERVING; i++)
    c[i] = exp(theta[i]);
}

static void residuals(const double *theta, double *r, void *ctx) {
  const struct work *w = ctx;
  double c[DL_N_SERVING], out[DL_ST_POWER + 1];
  constants_of(theta, c);
  for (size_t i = 0; i < w->n_seen; i++) {
    const struct seen *s = &w->seen[i];
    if (i == 0 || s->row != s[-1].row)
      expect(w, c, theta, s->row, out);
    r[i] = (out[s->target] - s->log_value) / s->scale;
  }
}

#define STEP 1e-6

/* Column j of the Jacobian by forward differences; rows without the bearer
 * that the parameter belongs to do not change. */
static void differentiate(const struct work *w, size_t j, double *J) {
  double c[DL_N_SERVING], out[DL_ST_POWER + 1];
  size_t k = w->kind[j];
  constants_of(w->moved, c);
  for (size_t i = 0; i < w->n_seen; i++) {
    const struct seen *s = &w->seen[i];
    double *to = &J[i * w->p + j];
    *to = 0;
    if (k < DL_N_SERVING_BEARERS && w->of_row[k][s->row] != w->whose[j] + 1)
      continue;
    if (i == 0 || s->row != s[-1].row)
      expect(w, c, w->moved, s->row, out);
    *to = ((out[s->target] - s->log_value) / s->scale - w->at[i]) / STEP;
  }
}

static void jacobian(const double *theta, double *J, void *ctx) {
  struct work *w = ctx;
  memcpy(w->moved, theta, w->p * sizeof *theta);
  residuals(theta, w->at, ctx);
  for (size_t j = 0; j < w->p; j++) {
    w->moved[j] += STEP;
    differentiate(w, j, J);
    w->moved[j] = theta[j];
  }
}

static bool keep_effects(struct dl_serving *s, const struct work *w) {
  for (size_t k = 0; k < DL_N_SERVING_BEARERS; k++) {
    s->by[k].k = dl_calloc(w->n_bearers[k], sizeof *s->by[k].k);
    if (!s->by[k].k)
      return false;
    s->by[k].n = w->n_bearers[k];
    for (size_t b = 0; b < s->by[k].n; b++) {
      s->by[k].k[b].key = w->bearer[k][b].key;
      take_effects(k, w->theta + w->bearer[k][b].first, s->by[k].k[b].fx);
    }
  }
  return true;
}

static enum dl_status solve(struct dl_serving *s, struct work *w,
                            struct dl_diag *d) {
  struct dl_nls q = {.n = w->n_seen,
                     .p = w->p,
                     .residuals = residuals,
                     .jacobian = jacobian,
                     .ctx = w,
                     .mean = w->mean,
                     .sd = w->sd,
                     .tolerance = 1e-4};
  struct dl_nls_result result;
  gsl_matrix *cov = gsl_matrix_alloc(w->p, w->p);
  enum dl_status status =
      cov ? dl_nls_solve(&q, w->theta, cov, &result, d) : dl_fail_memory(d);
  for (size_t i = 0; i < DL_N_SERVING && status == DL_OK; i++) {
    s->theta[i] = w->theta[i];
    s->error[i] = sqrt(gsl_matrix_get(cov, i, i));
  }
  gsl_matrix_free(cov);
  if (status == DL_OK && !keep_effects(s, w))
    status = dl_fail_memory(d);
  return status;
}

enum dl_status dl_serving_solve(struct dl_serving *s, const gsl_matrix *X,
                                const gsl_vector *y, const gsl_vector *w,
                                struct dl_diag *d) {
  struct work work = {.X = X};
  enum dl_status status =
      list_seen(&work, y, w) && list_bearers(&work) && set_priors(&work)
          ? solve(s, &work, d)
          : dl_fail_memory(d);
  work_free(&work);
  return status;
}
