/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Predictions of a fitted physics for rows. */

#ifndef DL_TEST_PREDICT_ROWS_H
#define DL_TEST_PREDICT_ROWS_H

#include "physics/fit_row.h"

/* Logarithms of a target into out (n). */
static inline void predict_rows(const void *fit, const struct dl_observed *row,
                                size_t n, size_t target, double *out) {
  for (size_t i = 0; i < n; i++) {
    struct dl_fit_row of;
    dl_fit_row_make(&of, fit, row[i].inputs);
    out[i] = dl_fit_row_value(&of, target);
  }
}

#endif
