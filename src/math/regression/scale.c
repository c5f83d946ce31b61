/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standardisation of columns.
 *
 *   mean_j = x_0j + sum_i w_i (x_ij - x_0j) / sum_i w_i
 *   sd_j   = sqrt(sum_i w_i (x_ij - mean_j)^2 / sum_i w_i)
 *
 * The shift by the first row makes both exact for a constant column, whose
 * standard deviation is then 0 and is replaced by 1, and keeps the digits of
 * columns with a large mean (Chan, Golub, LeVeque, "Algorithms for computing
 * the sample variance", The American Statistician 37, 1983). */

#include "math/regression/scale.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* Rows that are summed as one. Changing it changes results by rounding. */
#define CHUNK ((size_t)32768)

static double weight(const gsl_vector *w, size_t i) {
  return w ? gsl_vector_get(w, i) : 1;
}

/* Sums over the rows of one chunk: to[j] of w (x - x_0), or of w (x - mean)^2
 * with a mean; to[p] of w. */
static void sum_chunk(double *to, size_t chunk, const gsl_vector *mean,
                      const gsl_matrix *X, const gsl_vector *w) {
  size_t p = X->size2, end = (chunk + 1) * CHUNK;
  const double *from = mean ? mean->data : X->data;
  if (end > X->size1)
    end = X->size1;
  for (size_t i = chunk * CHUNK; i < end; i++) {
    const double *x = X->data + i * X->tda;
    double wi = weight(w, i);
    for (size_t j = 0; j < p; j++) {
      double e = x[j] - from[j];
      to[j] += mean ? wi * e * e : wi * e;
    }
    to[p] += wi;
  }
}

/* The sums over all rows divided by the sum of w, into out (zeros). Returns the
 * sum of w. The chunks have a fixed size and are added in order: the result is
 * equal for any number of threads. */
static double average(gsl_vector *out, const gsl_vector *mean,
                      const gsl_matrix *X, const gsl_vector *w) {
  size_t p = X->size2, n = (X->size1 + CHUNK - 1) / CHUNK;
  DL_FREED double *part = dl_calloc(n * (p + 1), sizeof *part);
  double total = 0;
#pragma omp parallel for schedule(dynamic) if (n > 1)
  for (size_t chunk = 0; chunk < n; chunk++)
    sum_chunk(part + chunk * (p + 1), chunk, mean, X, w);
  for (size_t chunk = 0; chunk < n; chunk++) {
    for (size_t j = 0; j < p; j++)
      out->data[j] += part[chunk * (p + 1) + j];
    total += part[chunk * (p + 1) + p];
  }
  for (size_t j = 0; n > 0 && j < p; j++)
    out->data[j] /= total;
  return total;
}

double dl_column_means(gsl_vector *mean, const gsl_matrix *X,
                       const gsl_vector *w) {
  gsl_vector_set_zero(mean);
  double total = average(mean, NULL, X, w);
  for (size_t j = 0; X->size1 > 0 && j < X->size2; j++)
    mean->data[j] += X->data[j];
  return total;
}

void dl_scale_fit(struct dl_scale *s, const gsl_matrix *X,
                  const gsl_vector *w) {
  s->mean = gsl_vector_alloc(X->size2);
  s->sd = gsl_vector_calloc(X->size2);
  dl_column_means(s->mean, X, w);
  average(s->sd, s->mean, X, w);
  for (size_t j = 0; j < X->size2; j++) {
    double sd = sqrt(s->sd->data[j]);
    s->sd->data[j] = sd > 0 ? sd : 1;
  }
}

void dl_scale_apply(const struct dl_scale *s, gsl_matrix *X) {
  for (size_t i = 0; i < X->size1; i++) {
    double *x = X->data + i * X->tda;
    for (size_t j = 0; j < X->size2; j++)
      x[j] = dl_scaled(s, j, x[j]);
  }
}

void dl_scale_free(struct dl_scale *s) {
  if (!s)
    return;
  gsl_vector_free(s->mean);
  gsl_vector_free(s->sd);
  *s = (struct dl_scale){0};
}
