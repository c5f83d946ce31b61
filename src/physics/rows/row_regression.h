/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A physics as a regression (regression.h): rows of a design matrix become its
 * inputs. */

#ifndef DL_PHYSICS_ROWS_ROW_REGRESSION_H
#define DL_PHYSICS_ROWS_ROW_REGRESSION_H

#include "math/regression/regression.h"
#include "physics/hierarchical_fit.h"

struct dl_row_physics {
  const struct dl_physics *physics;
  size_t n_columns;
  size_t target_column; /* target + 1 */
  /* Inputs of a row, and logarithms of what was measured; NaN: it was not. */
  void (*read)(const double *row, void *inputs, double *value);
  enum dl_status (*check)(const double *row, size_t i, struct dl_diag *d);
};

enum dl_status dl_row_fit(void **state, const struct dl_row_physics *p,
                          const struct dl_sample *data, struct dl_diag *d);
enum dl_status dl_row_adapt(void **state, const void *from,
                            const struct dl_row_physics *p, const gsl_matrix *X,
                            const gsl_vector *y, struct dl_diag *d);
enum dl_status dl_row_predict(const void *state, const struct dl_row_physics *p,
                              const gsl_matrix *X, gsl_vector *out,
                              struct dl_diag *d);
enum dl_status dl_row_save(const void *state, struct dl_arrays *to,
                           struct dl_diag *d);
enum dl_status dl_row_restore(void **state, const struct dl_row_physics *p,
                              const struct dl_arrays *from, size_t columns,
                              struct dl_diag *d);
void dl_row_free(void *state);

#endif
