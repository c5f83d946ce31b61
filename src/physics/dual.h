/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values with their derivatives by the logarithms of the parameters (automatic
 * differentiation, forward mode): what the formulas of a physics are computed
 * in, so that their derivatives need no code of their own. */

#ifndef DL_PHYSICS_DUAL_H
#define DL_PHYSICS_DUAL_H

#include "physics/physics.h"

/* Parameters: constants, then effects; of the physics with the most. */
enum { DL_N_DUAL = 36 };

struct dl_dual {
  double x;
  bool varies; /* with a parameter; else d is not set */
  double d[DL_N_DUAL];
};

/* A number that no parameter changes. */
static inline struct dl_dual dl_dual_of(double x) {
  struct dl_dual y;
  y.x = x;
  y.varies = false;
  return y;
}

/* c^n, mostly for n = 1 or -1. */
double dl_dual_power(double c, double n);

/* *a by parameter i, whose value is c, to the power of n. */
void dl_dual_times(struct dl_dual *a, size_t i, double c, double n);

/* base^(n c): parameter i, whose value is c, is in the exponent. */
struct dl_dual dl_dual_exponential(double base, size_t i, double c, double n);

/* y = f(a) by its value and its slope. */
struct dl_dual dl_dual_function(const struct dl_dual *a, double y,
                                double slope);

struct dl_dual dl_dual_sum(const struct dl_dual *a, const struct dl_dual *b);
struct dl_dual dl_dual_scaled(const struct dl_dual *a, double by);
struct dl_dual dl_dual_product(const struct dl_dual *a,
                               const struct dl_dual *b);
struct dl_dual dl_dual_ratio(const struct dl_dual *a, const struct dl_dual *b);

/* (a^4 + b^4)^(1/4): work that overlaps. Not both 0. */
struct dl_dual dl_dual_overlap(const struct dl_dual *a,
                               const struct dl_dual *b);

/* A board at its power limit (power_limit.h), which demands `wanted`: what it
 * draws, and the factor by which the time on the GPU grows. base: static
 * power. */
struct dl_limited {
  struct dl_dual power, slow;
};
void dl_dual_limit(struct dl_limited *out, const struct dl_dual *wanted,
                   const struct dl_dual *limit, const struct dl_dual *kappa,
                   const struct dl_dual *base);

/* Derivatives of the logarithm of a. */
void dl_dual_gradient(const struct dl_dual *a, const struct dl_physics *physics,
                      struct dl_gradient *g);

#endif
