/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "logs/readings/energy_curve.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* 6 MB; a day and a half at one sample a second. */
enum { POINTS_MAX = 1 << 17 };

void dl_energy_curve_free(struct dl_energy_curve *c) {
  free(c->point);
  *c = (struct dl_energy_curve){0};
}

double dl_energy_curve_round(double energy_j) {
  return ldexp(nearbyint(ldexp(energy_j, 20)), -20);
}

/* b takes the place of a and b; the first point of all stays. */
static struct dl_energy_point merged(const struct dl_energy_point *a,
                                     const struct dl_energy_point *b) {
  struct dl_energy_point p = *b;
  p.power_w = (a->power_w + b->power_w) / 2;
  p.first_w = (a->first_w + b->first_w) / 2;
  p.util = (a->util + b->util) / 2;
  p.memory_util = (a->memory_util + b->memory_util) / 2;
  return p;
}

static void halve(struct dl_energy_curve *c) {
  size_t n = 1;
  for (size_t i = 1; i + 1 < c->n; i += 2)
    c->point[n++] = merged(&c->point[i], &c->point[i + 1]);
  if (c->n % 2 == 0)
    c->point[n++] = c->point[c->n - 1];
  c->n = n;
  c->stride *= 2;
  c->n_open = 0;
}

void dl_energy_curve_add(struct dl_energy_curve *c,
                         const struct dl_energy_point *p) {
  struct dl_energy_point q = *p;
  for (size_t k = 0; k < DL_N_METER_KINDS; k++)
    q.energy_j[k] = dl_energy_curve_round(q.energy_j[k]);
  if (c->stride == 0)
    c->stride = 1;
  if (c->n_open > 0) { /* the last point is not full yet */
    struct dl_energy_point *last = &c->point[c->n - 1];
    float share = 1 / (float)(c->n_open + 1);
    q.power_w = last->power_w + (q.power_w - last->power_w) * share;
    q.first_w = last->first_w + (q.first_w - last->first_w) * share;
    q.util = last->util + (q.util - last->util) * share;
    q.memory_util =
        last->memory_util + (q.memory_util - last->memory_util) * share;
    *last = q;
    c->n_open = (c->n_open + 1) % c->stride;
    return;
  }
  if (c->n == POINTS_MAX)
    halve(c);
  DL_GROW(c->point, c->cap, c->n + 1);
  c->point[c->n++] = q;
  c->n_open = c->n > 1 && c->stride > 1 ? 1 : 0;
}

size_t dl_energy_curve_at(const struct dl_energy_curve *c, int64_t ns) {
  size_t low = 0, high = c->n; /* point[low] <= ns < point[high] */
  while (high - low > 1 && low < high) {
    size_t mid = low + (high - low) / 2;
    if (c->point[mid].ns <= ns)
      low = mid;
    else
      high = mid;
  }
  return low;
}
