/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GSL's objects as locals that are freed where they are declared:
 * DL_SCOPED(gsl_matrix_free_local) gsl_matrix *A = gsl_matrix_alloc(m, n); */

#ifndef DL_MATH_NUMERIC_SCOPED_GSL_H
#define DL_MATH_NUMERIC_SCOPED_GSL_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_vector.h>

#include "base/memory.h" /* DL_SCOPED */

static inline void gsl_matrix_free_local(gsl_matrix **at) {
  gsl_matrix_free(*at);
}

static inline void gsl_vector_free_local(gsl_vector **at) {
  gsl_vector_free(*at);
}

static inline void gsl_rng_free_local(gsl_rng **at) {
  gsl_rng_free(*at);
}

#endif
