/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Interval of a run with a value of a setting that no training run had. */

#ifndef DL_MODEL_VALUE_BOUNDS_H
#define DL_MODEL_VALUE_BOUNDS_H

#include "model/model.h"

/* Half-widths for a new value of a setting (dl_residual_shift); [1]: between
 * its values, of those that have others on both sides. */
struct dl_value_bounds {
  double *value; /* n, owned */
  size_t n;
  bool known;
  double shift[2], all[2];
};

/* Fills v for a range, whose residuals may be none: nothing is known then. */
void dl_value_bounds_find(struct dl_value_bounds *v,
                          const struct dl_range *range, double coverage);

/* Whether x is none of the values; false where nothing is known. */
bool dl_value_is_new(const struct dl_value_bounds *v, double x);

#endif
