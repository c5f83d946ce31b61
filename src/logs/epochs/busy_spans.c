/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/epochs/busy_spans.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/timestamp.h"

#define LOW_RANK 0.02
#define HIGH_RANK 0.95
#define IDLE_SHARE 0.25 /* of the range between them */
#define LEAST_RANGE 1.5 /* the higher is so many times the lower, or more */

/* Mean power since the point before: of the node, else of its parts. */
static double power_at(const struct dl_energy_curve *c, size_t i) {
  enum { NODE = DL_N_METER_KINDS - 1 };
  const struct dl_energy_point *a = &c->point[i - 1], *b = &c->point[i];
  double s = (double)(b->ns - a->ns) / 1e9, j = 0;
  for (int k = 0; k < NODE; k++)
    j += b->energy_j[k] - a->energy_j[k];
  double node = b->energy_j[NODE] - a->energy_j[NODE];
  const double all = node > 0 ? node : j;
  return s > 0 ? all / s : NAN;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Returns the power below which the devices are idle; 0 where it hardly
 * varies. */
static double idle_below(const struct dl_energy_curve *c) {
  DL_FREED double *sorted = dl_calloc(c->n, sizeof *sorted);
  size_t n = 0;
  for (size_t i = 1; i < c->n; i++) {
    double w = power_at(c, i);
    if (!isnan(w))
      sorted[n++] = w;
  }
  if (n == 0)
    return 0;
  qsort(sorted, n, sizeof *sorted, ascending);
  double low = sorted[(size_t)(LOW_RANK * (double)n)];
  double high = sorted[(size_t)(HIGH_RANK * (double)n)];
  return high < LEAST_RANGE * low ? 0 : low + IDLE_SHARE * (high - low);
}

size_t dl_busy_spans(const struct dl_energy_curve *c, double idle_s,
                     struct dl_time_span **spans) {
  const double below = idle_below(c);
  size_t n = 0, cap = 0;
  *spans = NULL;
  for (size_t i = 1; i < c->n; i++) {
    int64_t from = c->point[i - 1].ns, to = c->point[i].ns;
    const double idle_ns = idle_s * (double)DL_SECOND;
    if (power_at(c, i) < below || (double)(to - from) >= idle_ns)
      continue;
    if (n > 0 && (double)(from - (*spans)[n - 1].to_ns) < idle_ns) {
      (*spans)[n - 1].to_ns = to;
      continue;
    }
    DL_GROW(*spans, cap, n + 1);
    (*spans)[n++] = (struct dl_time_span){from, to};
  }
  return n;
}
