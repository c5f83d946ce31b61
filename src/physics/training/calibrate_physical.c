/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bringing a physical fit up to date by a few runs.
 *
 * With theta = m + L z, where m and L L' are mean and covariance of what was
 * known, z is standard normal before the runs. Its posterior mode minimises
 *
 *   |R^-1 (f(m + L z) - y)|^2 + |z|^2,   R R' = covariance of the residuals
 *
 * (nls.h), and L times the Cholesky factor of the covariance of z there is
 * what is known next (Laplace's approximation). What of the residuals is left
 * goes by their covariance to runs like these (kriging). */

#include "physics/training/calibrate_physical.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/equal_rows.h"
#include "math/numeric/nls.h"

/* The mean of a target over the runs of a configuration. */
struct seen {
  size_t row; /* of the distinct rows */
  enum dl_physical_target target;
  double log_value, n;
};

struct work {
  const struct dl_physical *from;
  struct dl_physical *s; /* holds theta while it is looked for */
  struct dl_distinct rows;
  struct dl_load *load; /* of the distinct rows */
  struct seen *seen;
  size_t n, p;
  double *mean, *theta, *z, *zero, *one;
  double **in_state;  /* p */
  double *known;      /* n: what is known to be left over */
  double *at, *moved; /* n: predictions */
  gsl_matrix *L;      /* p x p */
  gsl_matrix *R;      /* n x n */
  gsl_matrix *J;      /* n x p, by theta */
  gsl_matrix *places; /* n x DL_NEAR */
};

static void work_free(struct work *w) {
  dl_distinct_free(&w->rows);
  free(w->load);
  free(w->seen);
  free(w->mean);
  free(w->in_state);
  free(w->theta);
  free(w->z);
  free(w->zero);
  free(w->one);
  free(w->known);
  free(w->at);
  free(w->moved);
  gsl_matrix_free(w->L);
  gsl_matrix_free(w->R);
  gsl_matrix_free(w->J);
  gsl_matrix_free(w->places);
}

static const double *row_of(const struct work *w, size_t i) {
  return gsl_matrix_const_ptr(w->rows.X, i, 0);
}

/* --- what was measured */

static const size_t column_of[] = {[DL_PT_POWER] = DL_PC_POWER,
                                   [DL_PT_ENERGY] = DL_PC_ENERGY,
                                   [DL_PT_TIME] = DL_PC_TIME};

/* Rows that differ in what was measured alone are one configuration. */
static bool collapse(struct work *w, const gsl_matrix *X) {
  gsl_matrix *plain = gsl_matrix_alloc(X->size1, X->size2);
  if (!plain)
    return false;
  gsl_matrix_memcpy(plain, X);
  for (size_t t = DL_PT_POWER; t <= DL_PT_TIME; t++) {
    gsl_vector_view column = gsl_matrix_column(plain, column_of[t]);
    gsl_vector_set_zero(&column.vector);
  }
  bool ok = dl_distinct_make(&w->rows, plain);
  gsl_matrix_free(plain);
  return ok;
}

/* Logarithm of what row i says of a target, or NaN. */
static double measured(const gsl_matrix *X, const gsl_vector *y, size_t i,
                       size_t target) {
  if ((size_t)gsl_matrix_get(X, i, DL_PC_TARGET) == target)
    return gsl_vector_get(y, i);
  double x = gsl_matrix_get(X, i, column_of[target]);
  return x > 0 ? log(x) : NAN;
}

static bool list_seen(struct work *w, const gsl_matrix *X,
                      const gsl_vector *y) {
  if (!collapse(w, X))
    return false;
  size_t m = w->rows.X->size1;
  struct seen *all = dl_calloc(m * DL_PT_TIME, sizeof *all);
  w->load = dl_calloc(m, sizeof *w->load);
  w->seen = all;
  if (!all || !w->load)
    return false;
  for (size_t i = 0; i < X->size1; i++)
    for (size_t t = DL_PT_POWER; t <= DL_PT_TIME; t++) {
      double x = measured(X, y, i, t);
      struct seen *s = &all[w->rows.of_row[i] * DL_PT_TIME + t - 1];
      if (isfinite(x)) {
        s->log_value += x;
        s->n += 1;
      }
    }
  for (size_t i = 0; i < m; i++)
    dl_physical_load(row_of(w, i), &w->load[i]);
  for (size_t i = 0; i < m * DL_PT_TIME; i++)
    if (all[i].n > 0)
      w->seen[w->n++] = (struct seen){
          i / DL_PT_TIME, (enum dl_physical_target)(i % DL_PT_TIME + 1),
          all[i].log_value / all[i].n, all[i].n};
  return true;
}

/* --- who bears effects */

/* by->n where it is not among them. */
static size_t find_bearer(const struct dl_bearers *by, double key) {
  size_t b = 0;
  while (b < by->n && (by->b[b].key < key || by->b[b].key > key))
    b++;
  return b;
}

static void enter(struct dl_bearers *by, double key) {
  if (key > 0 && find_bearer(by, key) == by->n)
    by->b[by->n++].key = key;
}

/* The only host among the runs on this row's GPU; 0 where there are more. */
static double only_host(const struct work *w, const double *row) {
  double host = dl_physical_key(DL_BY_HOST, row);
  for (size_t i = 0; i < w->rows.X->size1; i++) {
    double key = dl_physical_key(DL_BY_HOST, row_of(w, i));
    bool same_gpu = !(row_of(w, i)[DL_PC_GPU] < row[DL_PC_GPU]) &&
                    !(row_of(w, i)[DL_PC_GPU] > row[DL_PC_GPU]);
    if (same_gpu && (key < host || key > host))
      return 0;
  }
  return host;
}

/* Key under which a machine is found where neither it nor a source is named. */
static double nameless(const double *row) {
  double plain[DL_PC_N];
  memcpy(plain, row, sizeof plain);
  plain[DL_PC_HOST] = plain[DL_PC_SOURCE] = 0;
  return dl_physical_key(DL_BY_HOST, plain);
}

static bool list_bearers(struct work *w) {
  size_t m = w->rows.X->size1;
  for (size_t k = 0; k < DL_N_BEARERS; k++) {
    const struct dl_bearers *old = &w->from->by[k];
    struct dl_bearers *by = &w->s->by[k];
    by->b = dl_calloc(old->n + 2 * m, sizeof *by->b);
    if (!by->b)
      return false;
    for (; by->n < old->n; by->n++)
      by->b[by->n] = old->b[by->n];
    for (size_t i = 0; k != DL_BY_FACTS && i < m; i++)
      enter(by, dl_physical_key((enum dl_bearer)k, row_of(w, i)));
    for (size_t i = 0; k == DL_BY_HOST && i < m; i++)
      if (only_host(w, row_of(w, i)) > 0)
        enter(by, nameless(row_of(w, i)));
  }
  return true;
}

/* --- what is known */

/* Rows of the factor for the effects of bearer b, which is new. */
static void new_bearer(struct work *w, enum dl_bearer kind, size_t b) {
  const struct dl_bearers *by = &w->s->by[kind];
  size_t width = dl_joint_effects(kind);
  size_t first = dl_joint_first(w->s, kind), to = first + b * width;
  /* A host without a name is the one that has one. */
  for (size_t i = 0; kind == DL_BY_HOST && i < w->rows.X->size1; i++) {
    const double *row = row_of(w, i);
    double host = only_host(w, row), key = nameless(row);
    if (host > 0 && (host < key || host > key) && !(by->b[b].key < key) &&
        !(by->b[b].key > key)) {
      size_t of = find_bearer(by, host);
      by->b[b] = by->b[of];
      by->b[b].key = key;
      for (size_t e = 0; e < width; e++) {
        gsl_vector_const_view from =
            gsl_matrix_const_row(w->L, first + of * width + e);
        gsl_matrix_set_row(w->L, to + e, &from.vector);
      }
      return;
    }
  }
  for (size_t i = 0; i < DL_N_EFFECTS; i++)
    if (dl_effect_info((enum dl_effect)i)->by == kind) {
      gsl_matrix_set(w->L, to, to, dl_effect_info((enum dl_effect)i)->sd);
      to++;
    }
}

/* The factor of what was known, with room for new bearers between. */
static bool spread_out(struct work *w) {
  size_t old = dl_joint_size(w->from);
  size_t *place = dl_calloc(old, sizeof *place);
  if (!place)
    return false;
  for (size_t i = 0; i < old; i++)
    place[i] = i;
  for (size_t k = 0; k < DL_BY_FACTS; k++) {
    size_t first = dl_joint_first(w->from, (enum dl_bearer)k);
    size_t n = w->from->by[k].n * dl_joint_effects((enum dl_bearer)k);
    for (size_t i = 0; i < n; i++)
      place[first + i] = dl_joint_first(w->s, (enum dl_bearer)k) + i;
  }
  for (size_t i = 0; i < old; i++)
    for (size_t j = 0; j <= i; j++)
      gsl_matrix_set(w->L, place[i], place[j],
                     dl_joint_at(&w->from->joint, i, j));
  free(place);
  for (size_t k = 0; k < DL_BY_FACTS; k++)
    for (size_t b = w->from->by[k].n; b < w->s->by[k].n; b++)
      new_bearer(w, (enum dl_bearer)k, b);
  return true;
}

/* A GPU that was seen, in a machine that was not: its board and software may
 * differ by this share of what GPUs do. */
#define ANOTHER_BOARD 0.5

static bool is_another_board(const struct work *w, double gpu) {
  for (size_t i = 0; i < w->rows.X->size1; i++) {
    const double *row = row_of(w, i);
    const struct dl_bearers *hosts = &w->from->by[DL_BY_HOST];
    double key = dl_physical_key(DL_BY_GPU, row);
    if (!(key < gpu) && !(key > gpu) &&
        find_bearer(hosts, dl_physical_key(DL_BY_HOST, row)) == hosts->n)
      return true;
  }
  return false;
}

/* Adds the doubt about these to the factor. */
static bool doubt_boards(struct work *w) {
  const struct dl_bearers *gpus = &w->from->by[DL_BY_GPU];
  size_t at = dl_joint_first(w->s, DL_BY_GPU);
  gsl_matrix *cov = gsl_matrix_alloc(w->p, w->p);
  bool any = false;
  if (!cov)
    return false;
  gsl_blas_dsyrk(CblasLower, CblasNoTrans, 1, w->L, 0, cov);
  for (size_t b = 0; b < gpus->n; b++) {
    bool another = is_another_board(w, gpus->b[b].key);
    any |= another;
    for (size_t i = 0; i < DL_N_EFFECTS; i++) {
      const struct dl_effect_info *info = dl_effect_info((enum dl_effect)i);
      if (info->by != DL_BY_GPU)
        continue;
      double more = another ? ANOTHER_BOARD * info->sd : 0;
      *gsl_matrix_ptr(cov, at, at) += more * more;
      at++;
    }
  }
  if (any)
    dl_joint_factorise(w->L, cov);
  gsl_matrix_free(cov);
  return true;
}

/* Where in the state each parameter is. */
static void point(struct work *w) {
  size_t j = 0;
  for (size_t i = 0; i < DL_N_PHYSICS; i++)
    w->in_state[j++] = &w->s->theta[i];
  for (size_t k = 0; k < DL_BY_FACTS; k++)
    for (size_t b = 0; b < w->s->by[k].n; b++)
      for (size_t i = 0; i < DL_N_EFFECTS; i++)
        if (dl_effect_info((enum dl_effect)i)->by == (enum dl_bearer)k)
          w->in_state[j++] = &w->s->by[k].b[b].fx[i];
}

static bool make_prior(struct work *w) {
  w->p = dl_joint_size(w->s);
  w->mean = dl_calloc(w->p, sizeof *w->mean);
  w->theta = dl_calloc(w->p, sizeof *w->theta);
  w->z = dl_calloc(w->p, sizeof *w->z);
  w->zero = dl_calloc(w->p, sizeof *w->zero);
  w->one = dl_calloc(w->p, sizeof *w->one);
  w->L = gsl_matrix_calloc(w->p, w->p);
  w->J = gsl_matrix_alloc(w->n, w->p);
  w->in_state = dl_calloc(w->p, sizeof *w->in_state);
  if (!w->in_state || !w->mean || !w->theta || !w->z || !w->zero || !w->one ||
      !w->L || !w->J || !spread_out(w) || !doubt_boards(w))
    return false;
  memcpy(w->s->theta, w->from->theta, sizeof w->s->theta);
  point(w);
  for (size_t i = 0; i < w->p; i++) {
    w->mean[i] = *w->in_state[i];
    w->one[i] = 1;
  }
  return true;
}

/* --- what the runs say */

static void predict(struct work *w, const double *theta, double *out) {
  double c[DL_N_PHYSICS], fx[DL_N_EFFECTS], target[DL_PT_TIME + 1];
  for (size_t i = 0; i < w->p; i++)
    *w->in_state[i] = theta[i];
  dl_physical_constants_of(w->s->theta, c);
  for (size_t i = 0; i < w->n; i++) {
    const struct seen *s = &w->seen[i];
    if (i == 0 || s->row != s[-1].row) {
      const double *row = row_of(w, s->row);
      dl_physical_effects(w->s, row, fx);
      dl_physical_targets(c, fx, &w->load[s->row], row[DL_PC_RAM_W], target);
    }
    out[i] = target[s->target];
  }
}

/* theta = mean + L z */
static void move(struct work *w, const double *z) {
  gsl_vector_view theta = gsl_vector_view_array(w->theta, w->p);
  memcpy(w->theta, z, w->p * sizeof *z);
  gsl_blas_dtrmv(CblasLower, CblasNoTrans, CblasNonUnit, w->L, &theta.vector);
  for (size_t i = 0; i < w->p; i++)
    w->theta[i] += w->mean[i];
}

/* What is left of the runs at theta. */
static void leave(struct work *w, double *r) {
  predict(w, w->theta, r);
  for (size_t i = 0; i < w->n; i++)
    r[i] += w->known[i] - w->seen[i].log_value;
}

static void residuals(const double *z, double *r, void *ctx) {
  struct work *w = ctx;
  gsl_vector_view out = gsl_vector_view_array(r, w->n);
  move(w, z);
  leave(w, r);
  gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, w->R, &out.vector);
}

#define STEP 1e-6

static void jacobian(const double *z, double *J, void *ctx) {
  struct work *w = ctx;
  move(w, z);
  predict(w, w->theta, w->at);
  for (size_t j = 0; j < w->p; j++) {
    double was = w->theta[j];
    w->theta[j] += STEP;
    predict(w, w->theta, w->moved);
    w->theta[j] = was;
    for (size_t i = 0; i < w->n; i++)
      gsl_matrix_set(w->J, i, j, (w->moved[i] - w->at[i]) / STEP);
  }
  gsl_blas_dtrmm(CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, 1, w->L,
                 w->J);
  gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, w->R,
                 w->J);
  memcpy(J, w->J->data, w->n * w->p * sizeof *J);
}

/* Where the runs are, what is known to be left over there, and the factor of
 * the covariance of the rest. */
static enum dl_status place_runs(struct work *w, struct dl_diag *d) {
  w->places = gsl_matrix_alloc(w->n, DL_NEAR);
  w->R = gsl_matrix_alloc(w->n, w->n);
  w->known = dl_calloc(w->n, sizeof *w->known);
  w->at = dl_calloc(w->n, sizeof *w->at);
  w->moved = dl_calloc(w->n, sizeof *w->moved);
  if (!w->places || !w->R || !w->known || !w->at || !w->moved)
    return dl_fail_memory(d);
  for (size_t i = 0; i < w->n; i++) {
    double row[DL_PC_N];
    memcpy(row, row_of(w, w->seen[i].row), sizeof row);
    row[DL_PC_TARGET] = (double)w->seen[i].target;
    dl_near_place(row, gsl_matrix_ptr(w->places, i, 0));
    w->known[i] =
        dl_near_at(&w->from->near, row) + dl_near_at(&w->from->runs, row);
    for (size_t j = 0; j <= i; j++)
      gsl_matrix_set(w->R, i, j,
                     dl_runs_covariance(gsl_matrix_ptr(w->places, i, 0),
                                        gsl_matrix_ptr(w->places, j, 0)));
    double doubt = hypot(row[DL_PC_DOUBT], row[DL_PC_FACTS_DOUBT]);
    *gsl_matrix_ptr(w->R, i, i) += dl_runs_noise(w->seen[i].n) + doubt * doubt;
  }
  int gsl = gsl_linalg_cholesky_decomp1(w->R);
  return gsl ? dl_fail(d, DL_EINPUT, "covariance of the runs: %s",
                       gsl_strerror(gsl))
             : DL_OK;
}

/* --- what is known then */

/* K^-1 residuals, and what was known of other runs. */
static bool keep_runs(struct work *w) {
  struct dl_near *runs = &w->s->runs;
  runs->at = w->places;
  w->places = NULL;
  runs->weight = gsl_vector_alloc(w->n);
  if (!runs->weight)
    return false;
  move(w, w->z);
  leave(w, runs->weight->data);
  gsl_vector_scale(runs->weight, -1);
  gsl_linalg_cholesky_svx(w->R, runs->weight);
  return dl_near_append(runs, &w->from->runs) &&
         dl_near_append(&w->s->near, &w->from->near);
}

static enum dl_status keep(struct work *w, gsl_matrix *cov, struct dl_diag *d) {
  if (gsl_linalg_cholesky_decomp1(cov))
    return dl_fail(d, DL_EINPUT, "the runs have no finite fit");
  for (size_t i = 0; i < w->p; i++)
    for (size_t j = i + 1; j < w->p; j++)
      gsl_matrix_set(cov, i, j, 0);
  gsl_blas_dtrmm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, w->L,
                 cov);
  for (size_t i = 0; i < DL_N_PHYSICS; i++) {
    gsl_vector_const_view row = gsl_matrix_const_row(cov, i);
    w->s->error[i] = gsl_blas_dnrm2(&row.vector);
  }
  return keep_runs(w) && dl_joint_keep_factor(w->s, cov) ? DL_OK
                                                         : dl_fail_memory(d);
}

static enum dl_status solve(struct work *w, struct dl_diag *d) {
  struct dl_nls q = {.n = w->n,
                     .p = w->p,
                     .residuals = residuals,
                     .jacobian = jacobian,
                     .ctx = w,
                     .mean = w->zero,
                     .sd = w->one,
                     .tolerance = 1e-4};
  struct dl_nls_result result;
  gsl_matrix *cov = gsl_matrix_alloc(w->p, w->p);
  enum dl_status status =
      cov ? dl_nls_solve(&q, w->z, cov, &result, d) : dl_fail_memory(d);
  if (status == DL_OK)
    status = keep(w, cov, d);
  gsl_matrix_free(cov);
  return status;
}

enum dl_status dl_physical_update(struct dl_physical *s,
                                  const struct dl_physical *from,
                                  const gsl_matrix *X, const gsl_vector *y,
                                  struct dl_diag *d) {
  struct work w = {.from = from, .s = s};
  if (!from->joint.factor)
    return dl_fail(d, DL_EINPUT,
                   "the model does not say how sure it is of its constants; "
                   "fit it again");
  enum dl_status status = list_seen(&w, X, y) ? DL_OK : dl_fail_memory(d);
  if (status == DL_OK && w.n == 0)
    status = dl_fail(d, DL_EINPUT, "no run has a power, an energy or a time");
  if (status == DL_OK && !(list_bearers(&w) && make_prior(&w)))
    status = dl_fail_memory(d);
  if (status == DL_OK)
    status = place_runs(&w, d);
  if (status == DL_OK)
    status = solve(&w, d);
  work_free(&w);
  return status;
}
