/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/language/dual.h"

#include <math.h>

/* f(a, b) by its derivatives. */
static struct dl_dual chain(double x, const struct dl_dual *a, double by_a,
                            const struct dl_dual *b, double by_b) {
  struct dl_dual y;
  y.x = x;
  for (size_t i = 0; i < DL_N_DUAL; i++)
    y.d[i] = by_a * a->d[i] + by_b * b->d[i];
  return y;
}

struct dl_dual dl_dual_of(double x) {
  return (struct dl_dual){.x = x};
}

void dl_dual_times(struct dl_dual *a, size_t i, double c, double n) {
  double by = n > 0 ? c : 1 / c;
  if (!(fabs(n) <= 1 && fabs(n) >= 1))
    by = pow(c, n);
  *a = dl_dual_scaled(a, by);
  a->d[i] += n * a->x;
}

struct dl_dual dl_dual_exponential(double base, size_t i, double c, double n) {
  struct dl_dual y = dl_dual_of(pow(base, n * c));
  y.d[i] = y.x * log(base) * n * c;
  return y;
}

struct dl_dual dl_dual_sum(const struct dl_dual *a, const struct dl_dual *b) {
  return chain(a->x + b->x, a, 1, b, 1);
}

struct dl_dual dl_dual_scaled(const struct dl_dual *a, double by) {
  return chain(a->x * by, a, by, a, 0);
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
