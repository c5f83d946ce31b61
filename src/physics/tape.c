/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "physics/tape.h"

#include <math.h>
#include <string.h>

#include "physics/power_limit.h"

/* c^n, mostly for n = 1 or -1. */
static double power(double c, double n) {
  bool one = fabs(n) <= 1 && fabs(n) >= 1;
  if (!one)
    return pow(c, n);
  return n > 0 ? c : 1 / c;
}

struct dl_taped dl_taped_times(struct dl_tape *tape, struct dl_taped a,
                               size_t i, double c, double n) {
  double by = power(c, n), x = a.x * by;
  return dl_taped_step(x, a, by, (struct dl_taped){c, tape, (unsigned)i},
                       n * x);
}

struct dl_taped dl_taped_exponential(struct dl_tape *tape, double base,
                                     size_t i, double c, double n) {
  double x = pow(base, n * c);
  return dl_taped_function((struct dl_taped){c, tape, (unsigned)i}, x,
                           x * log(base) * n * c);
}

struct dl_taped dl_taped_overlap(struct dl_taped a, struct dl_taped b) {
  double most = fmax(a.x, b.x), p = a.x / most, q = b.x / most;
  double p3 = p * p * p, q3 = q * q * q;
  double y = sqrt(sqrt(p3 * p + q3 * q));
  return dl_taped_step(y * most, a, p3 / (y * y * y), b, q3 / (y * y * y));
}

struct dl_taped dl_taped_limit(struct dl_taped wanted, struct dl_taped limit,
                               struct dl_taped kappa, struct dl_taped base,
                               struct dl_taped *slow) {
  struct dl_power_limit l = {.kappa = kappa.x,
                             .wanted = wanted.x,
                             .limit = limit.x,
                             .lowest = DL_LOWEST_CLOCK_SHARE * base.x};
  struct dl_taped y[2];
  dl_power_limit_apply(&l);
  for (int k = 0; k < 2; k++) { /* the power, then the factor */
    struct dl_power_limit by = {0};
    if (wanted.tape)
      dl_power_limit_gradient(&l, k, !k, &by);
    y[k] = dl_taped_step(k ? l.slow : l.power, kappa, by.kappa / kappa.x,
                         wanted, by.wanted / wanted.x);
    y[k] = dl_taped_step(y[k].x, y[k], 1, limit, by.limit / limit.x);
    y[k] = dl_taped_step(y[k].x, y[k], 1, base, by.lowest / base.x);
  }
  *slow = y[1];
  return y[0];
}

void dl_taped_gradient(struct dl_taped a, const struct dl_physics *physics,
                       struct dl_gradient *g) {
  double by[DL_TAPE_STEPS];
  size_t n = a.tape ? a.at + 1 : DL_TAPE_PARAMETERS;
  memset(by, 0, n * sizeof *by);
  by[n - 1] = a.tape ? 1 / a.x : 0;
  for (size_t i = n - 1; i >= DL_TAPE_PARAMETERS; i--) {
    by[a.tape->of[i][0]] += by[i] * a.tape->by[i][0];
    by[a.tape->of[i][1]] += by[i] * a.tape->by[i][1];
  }
  memcpy(g->c, by, physics->n_constants * sizeof *g->c);
  memcpy(g->fx, by + physics->n_constants, physics->n_effects * sizeof *g->fx);
}
