/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GSL's objects as locals that are freed where they are declared:
 * DL_SCOPED(gsl_matrix_free_local) gsl_matrix *A = gsl_matrix_alloc(m, n); */

#ifndef DL_MATH_NUMERIC_SCOPED_GSL_H
#define DL_MATH_NUMERIC_SCOPED_GSL_H

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_vector.h>

#include "base/memory.h"

DL_FREES(gsl_matrix_free, gsl_matrix)
DL_FREES(gsl_vector_free, gsl_vector)
DL_FREES(gsl_rng_free, gsl_rng)

#endif
