/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weighted least squares with an intercept.
 *
 *   minimise  sum_i w_i (y_i - b0 - x_i'b)^2
 *
 * The problem is centred and reduced to p rows by QR (reduce.c). The columns
 * of the triangle R are scaled to unit length, R D^-1 = U diag(s) V', and
 *
 *   b = D^-1 V diag(1 / s_k) U'c      over the s_k > tolerance * s_1.
 *
 * Singular values below the tolerance count as zero: the design is then rank
 * deficient, and of all the solutions this one has the smallest |D b|
 * (Golub and Van Loan, Matrix Computations, 4th ed., 5.5).
 *
 * The tolerance is eps max(64 p, 4 max_j |mean_j| / sd_j), with the rounding
 * unit eps. The first term is for rounding in the reduction, which leaves an
 * exact dependence at a few units; the second for the data themselves, which
 * are known to eps |mean| only. NIST's Filip, a polynomial of degree ten and
 * as hard as is meant to be solved, has 2.6e-10 against 1.4e-13. */

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "math/numeric/scoped_gsl.h"
#include "math/regression/linear.h"
#include "math/regression/regression_methods.h"

/* Two columns take part in one dependence when the projector on the null
 * space couples them by more than rounding does. */
#define COUPLED 1e-8

/* The lengths of R's columns into length, and R with columns of length 1
 * into scaled. A constant column has length 0 and stays 0. */
static void scale_columns(gsl_matrix *scaled, gsl_vector *length,
                          const gsl_matrix *R) {
  for (size_t j = 0; j < R->size2; j++) {
    double norm = 0;
    for (size_t i = 0; i <= j; i++)
      norm = hypot(norm, gsl_matrix_get(R, i, j));
    gsl_vector_set(length, j, norm);
    for (size_t i = 0; i < R->size1; i++)
      gsl_matrix_set(scaled, i, j,
                     norm > 0 ? gsl_matrix_get(R, i, j) / norm : 0);
  }
}

static double find_tolerance(const struct dl_reduced *r,
                             const gsl_vector *length) {
  double units = 64 * (double)length->size;
  for (size_t j = 0; j < length->size; j++) {
    double sd = gsl_vector_get(length, j) / sqrt(r->weight);
    if (sd > 0)
      units = fmax(units, 4 * fabs(gsl_vector_get(r->mean, j)) / sd);
  }
  return units * DBL_EPSILON;
}

static size_t find_rank(const gsl_vector *s, double tolerance) {
  size_t rank = 0;
  while (rank < s->size && gsl_vector_get(s, rank) > 0 &&
         gsl_vector_get(s, rank) > tolerance * gsl_vector_get(s, 0))
    rank++;
  return rank;
}

static void solve(gsl_vector *coef, const struct dl_reduced *v,
                  const gsl_vector *length, size_t rank) {
  for (size_t j = 0; j < coef->size; j++) {
    double b = 0;
    for (size_t k = 0; k < rank; k++)
      b += gsl_matrix_get(v->V, j, k) * gsl_vector_get(v->uc, k) /
           gsl_vector_get(v->s, k);
    double norm = gsl_vector_get(length, j);
    gsl_vector_set(coef, j, norm > 0 ? b / norm : 0);
  }
}

/* Element i, j of the projector on the null space. */
static double coupling(const gsl_matrix *V, size_t rank, size_t i, size_t j) {
  double sum = 0;
  for (size_t k = rank; k < V->size2; k++)
    sum += gsl_matrix_get(V, i, k) * gsl_matrix_get(V, j, k);
  return fabs(sum);
}

static void add_name(struct dl_text *t, const char *const *names, size_t j) {
  if (names)
    dl_text_printf(t, "'%s'", names[j]);
  else
    dl_text_printf(t, "%zu", j + 1);
}

/* Collects the columns coupled with column j, directly or through others, in
 * ascending order of first discovery; seen marks those already reported. */
static size_t collect(size_t *group, bool *seen, size_t j, const gsl_matrix *V,
                      size_t rank) {
  size_t n = 0;
  group[n++] = j;
  seen[j] = true;
  for (size_t next = 0; next < n; next++)
    for (size_t i = 0; i < V->size1; i++)
      if (!seen[i] && coupling(V, rank, group[next], i) > COUPLED) {
        seen[i] = true;
        group[n++] = i;
      }
  return n;
}

static int ascending(const void *a, const void *b) {
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

static void describe(struct dl_text *t, size_t *group, size_t n,
                     const char *const *names) {
  qsort(group, n, sizeof *group, ascending);
  dl_text_add(t, t->len > 0 ? "; " : "");
  dl_text_add(t, n > 1 ? "columns " : "column ");
  for (size_t i = 0; i < n; i++) {
    dl_text_add(t, i > 0 ? ", " : "");
    add_name(t, names, group[i]);
  }
  dl_text_add(t, n > 1 ? " are linear combinations of each other"
                       : " is constant");
}

/* Warns, naming each set of dependent columns by itself. */
static void report_rank(const struct dl_reduced *v, size_t rank,
                        const char *const *names, struct dl_diag *d) {
  size_t p = v->s->size;
  DL_FREED size_t *group = dl_calloc(p, sizeof *group);
  DL_FREED bool *seen = dl_calloc(p, sizeof *seen);
  DL_TEXT(text);
  for (size_t j = 0; j < p; j++)
    if (!seen[j] && coupling(v->V, rank, j, j) > COUPLED)
      describe(&text, group, collect(group, seen, j, v->V, rank), names);
  dl_warn(d, "design is rank deficient (rank %zu of %zu): %s", rank, p,
          dl_text_str(&text));
}

/* The coefficients of the reduced problem. */
static enum dl_status fit_reduced(struct dl_linear *s, struct dl_reduced *r,
                                  const char *const *names, struct dl_diag *d) {
  size_t p = s->coef->size;
  DL_SCOPED(gsl_matrix_free_local) gsl_matrix *scaled = gsl_matrix_alloc(p, p);
  DL_SCOPED(gsl_vector_free_local) gsl_vector *length = gsl_vector_alloc(p);
  scale_columns(scaled, length, r->R);
  DL_TRY(dl_reduced_decompose(r, scaled, d));
  size_t rank = find_rank(r->s, find_tolerance(r, length));
  solve(s->coef, r, length, rank);
  dl_linear_centre(s, r);
  if (rank < p)
    report_rank(r, rank, names, d);
  return DL_OK;
}

static enum dl_status fit(const struct dl_regression *self, void **state,
                          const struct dl_design *data, double *hyper,
                          struct dl_diag *d) {
  (void)self;
  (void)hyper;
  DL_TRY(dl_check_fit(data, d));
  DL_SCOPED(dl_reduced_free) struct dl_reduced r = {0};
  DL_TRY(dl_reduce(&r, data, d));
  struct dl_linear *s = dl_linear_new(data->X->size2);
  enum dl_status status = fit_reduced(s, &r, data->names, d);
  if (status)
    dl_linear_free(s);
  else
    *state = s;
  return status;
}

const struct dl_regression dl_ols = {
    .name = "ols",
    .summary = "least squares with an intercept",
    .fit = fit,
    .predict = dl_linear_predict,
    .save = dl_linear_save,
    .restore = dl_linear_restore,
    .coefficient = dl_linear_coefficient,
    .intercept = dl_linear_intercept,
    .free = dl_linear_free,
};
