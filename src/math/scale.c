/* Standardisation of columns.
 *
 *   mean_j = x_0j + sum_i w_i (x_ij - x_0j) / sum_i w_i
 *   sd_j   = sqrt(sum_i w_i (x_ij - mean_j)^2 / sum_i w_i)
 *
 * The shift by the first row makes both exact for a constant column, whose
 * standard deviation is then 0 and is replaced by 1, and keeps the digits of
 * columns with a large mean (Chan, Golub, LeVeque, "Algorithms for computing
 * the sample variance", The American Statistician 37, 1983). */

#include "math/scale.h"

#include <math.h>

/* Below this number of rows starting threads costs more than it saves. */
#define MANY_ROWS 20000

static double weight(const gsl_vector *w, size_t i) {
  return w ? gsl_vector_get(w, i) : 1;
}

static void means(gsl_vector *mean, const gsl_matrix *X, const gsl_vector *w) {
  double total = 0;
  for (size_t i = 0; i < X->size1; i++) {
    double wi = weight(w, i);
    total += wi;
    const double *x = X->data + i * X->tda;
    for (size_t j = 0; j < X->size2; j++)
      mean->data[j] += wi * (x[j] - X->data[j]);
  }
  for (size_t j = 0; X->size1 > 0 && j < X->size2; j++)
    mean->data[j] = gsl_matrix_get(X, 0, j) + mean->data[j] / total;
}

static void deviations(gsl_vector *sd, const gsl_vector *mean,
                       const gsl_matrix *X, const gsl_vector *w) {
  double total = 0;
  for (size_t i = 0; i < X->size1; i++) {
    double wi = weight(w, i);
    total += wi;
    const double *x = X->data + i * X->tda;
    for (size_t j = 0; j < X->size2; j++) {
      double e = x[j] - mean->data[j];
      sd->data[j] += wi * e * e;
    }
  }
  for (size_t j = 0; j < X->size2; j++) {
    double s = sqrt(sd->data[j] / total);
    sd->data[j] = s > 0 ? s : 1;
  }
}

bool dl_scale_fit(struct dl_scale *s, const gsl_matrix *X,
                  const gsl_vector *w) {
  s->mean = gsl_vector_calloc(X->size2);
  s->sd = gsl_vector_calloc(X->size2);
  if (!s->mean || !s->sd) {
    dl_scale_free(s);
    return false;
  }
  means(s->mean, X, w);
  deviations(s->sd, s->mean, X, w);
  return true;
}

void dl_scale_apply(const struct dl_scale *s, gsl_matrix *X) {
#pragma omp parallel for schedule(static) if (X->size1 > MANY_ROWS)
  for (size_t i = 0; i < X->size1; i++) {
    double *x = X->data + i * X->tda;
    for (size_t j = 0; j < X->size2; j++)
      x[j] = (x[j] - s->mean->data[j]) / s->sd->data[j];
  }
}

void dl_scale_free(struct dl_scale *s) {
  if (!s)
    return;
  gsl_vector_free(s->mean);
  gsl_vector_free(s->sd);
  *s = (struct dl_scale){0};
}
