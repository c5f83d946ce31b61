/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/dual.h"

#include <math.h>
#include <string.h>

#include "physics/power_limit.h"

/* f(a, b) by its derivatives. */
static struct dl_dual chain(double x, const struct dl_dual *a, double by_a,
                            const struct dl_dual *b, double by_b) {
  struct dl_dual y = dl_dual_of(x);
  y.varies = a->varies || b->varies;
  if (a->varies && b->varies)
    for (size_t i = 0; i < DL_N_DUAL; i++)
      y.d[i] = by_a * a->d[i] + by_b * b->d[i];
  else if (y.varies)
    for (size_t i = 0; i < DL_N_DUAL; i++)
      y.d[i] = a->varies ? by_a * a->d[i] : by_b * b->d[i];
  return y;
}

static void vary(struct dl_dual *a) {
  if (!a->varies)
    memset(a->d, 0, sizeof a->d);
  a->varies = true;
}

double dl_dual_power(double c, double n) {
  bool one = fabs(n) <= 1 && fabs(n) >= 1;
  return !one ? pow(c, n) : n > 0 ? c : 1 / c;
}

void dl_dual_times(struct dl_dual *a, size_t i, double c, double n) {
  *a = dl_dual_scaled(a, dl_dual_power(c, n));
  vary(a);
  a->d[i] += n * a->x;
}

struct dl_dual dl_dual_exponential(double base, size_t i, double c, double n) {
  struct dl_dual y = dl_dual_of(pow(base, n * c));
  vary(&y);
  y.d[i] = y.x * log(base) * n * c;
  return y;
}

struct dl_dual dl_dual_function(const struct dl_dual *a, double y,
                                double slope) {
  return chain(y, a, slope, a, 0);
}

struct dl_dual dl_dual_sum(const struct dl_dual *a, const struct dl_dual *b) {
  return chain(a->x + b->x, a, 1, b, 1);
}

struct dl_dual dl_dual_scaled(const struct dl_dual *a, double by) {
  return dl_dual_function(a, a->x * by, by);
}

struct dl_dual dl_dual_product(const struct dl_dual *a,
                               const struct dl_dual *b) {
  return chain(a->x * b->x, a, b->x, b, a->x);
}

struct dl_dual dl_dual_ratio(const struct dl_dual *a, const struct dl_dual *b) {
  double x = a->x / b->x;
  return chain(x, a, 1 / b->x, b, -x / b->x);
}

struct dl_dual dl_dual_overlap(const struct dl_dual *a,
                               const struct dl_dual *b) {
  double most = fmax(a->x, b->x), p = a->x / most, q = b->x / most;
  double p3 = p * p * p, q3 = q * q * q;
  double y = sqrt(sqrt(p3 * p + q3 * q));
  return chain(y * most, a, p3 / (y * y * y), b, q3 / (y * y * y));
}

void dl_dual_limit(struct dl_limited *out, const struct dl_dual *wanted,
                   const struct dl_dual *limit, const struct dl_dual *kappa,
                   const struct dl_dual *base) {
  struct dl_power_limit l = {.kappa = kappa->x,
                             .wanted = wanted->x,
                             .limit = limit->x,
                             .lowest = DL_LOWEST_CLOCK_SHARE * base->x};
  dl_power_limit_apply(&l);
  out->power = dl_dual_of(l.power);
  out->slow = dl_dual_of(l.slow);
  for (int side = 0; side < 2 && wanted->varies; side++) {
    struct dl_dual *to = side ? &out->slow : &out->power;
    to->varies = true;
    struct dl_power_limit by;
    dl_power_limit_gradient(&l, side, !side, &by);
    for (size_t i = 0; i < DL_N_DUAL; i++)
      to->d[i] = by.kappa * kappa->d[i] / kappa->x +
                 by.wanted * wanted->d[i] / wanted->x +
                 by.limit * limit->d[i] / limit->x +
                 by.lowest * base->d[i] / base->x;
  }
}

void dl_dual_gradient(const struct dl_dual *a, const struct dl_physics *physics,
                      struct dl_gradient *g) {
  for (size_t i = 0; i < physics->n_constants; i++)
    g->c[i] = a->d[i] / a->x;
  for (size_t i = 0; i < physics->n_effects; i++)
    g->fx[i] = a->d[physics->n_constants + i] / a->x;
}
