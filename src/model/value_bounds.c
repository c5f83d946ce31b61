/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/value_bounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/number.h"
#include "model/residual_interval.h"

/* From this number of values with others on both sides on they speak for values
 * in between. */
enum { LEAST_INNER = 2 };

/* Half-widths by all values, or by the inner ones. */
static bool bounds_of_values(const struct dl_range *range,
                             struct dl_value_bounds *v, bool inner,
                             double coverage) {
  struct dl_residuals r = {.n = 0};
  DL_FREED struct dl_group_residuals *g = dl_calloc(v->n, sizeof *g);
  r.g = g;
  for (size_t k = 0; k < v->n; k++)
    if (!inner || (v->value[k] > range->low && v->value[k] < range->high))
      r.g[r.n++] = range->held_out.g[k];
  return r.n >= (inner ? LEAST_INNER : 2) &&
         dl_residual_shift(&r, coverage, &v->shift[inner], &v->all[inner]);
}

void dl_value_bounds_find(struct dl_value_bounds *v,
                          const struct dl_range *range, double coverage) {
  v->n = range->held_out.n;
  v->value = dl_calloc(v->n, sizeof *v->value);
  for (size_t k = 0; k < v->n; k++)
    if (!dl_parse_double(range->held_out.g[k].name, &v->value[k]))
      v->value[k] = NAN;
  v->known = bounds_of_values(range, v, false, coverage);
  if (!bounds_of_values(range, v, true, coverage)) {
    v->shift[1] = v->shift[0];
    v->all[1] = v->all[0];
  }
}

bool dl_value_is_new(const struct dl_value_bounds *v, double x) {
  for (size_t k = 0; k < v->n; k++)
    if (!(v->value[k] < x) && !(v->value[k] > x))
      return false;
  return v->known && !isnan(x);
}
