/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Standardisation: z = (x - mean) / sd, with the population standard
 * deviation (divisor n), as scikit-learn's StandardScaler does. A constant
 * column gets sd = 1. */

#ifndef DL_MATH_REGRESSION_SCALE_H
#define DL_MATH_REGRESSION_SCALE_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <stdbool.h>

struct dl_scale {
  gsl_vector *mean; /* p, owned */
  gsl_vector *sd;   /* p, owned */
};

/* Means of the columns into mean (p), weighted when w is not NULL. Returns the
 * sum of the weights. */
double dl_column_means(gsl_vector *mean, const gsl_matrix *X,
                       const gsl_vector *w);

/* Weighted when w is not NULL. */
void dl_scale_fit(struct dl_scale *s, const gsl_matrix *X, const gsl_vector *w);
/* In place. */
void dl_scale_apply(const struct dl_scale *s, gsl_matrix *X);
/* The scaled value x of feature j. */
static inline double dl_scaled(const struct dl_scale *s, size_t j, double x) {
  return (x - s->mean->data[j]) / s->sd->data[j];
}

void dl_scale_free(struct dl_scale *s);

#endif
