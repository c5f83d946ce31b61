/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Values with their derivatives by the logarithms of the parameters (automatic
 * differentiation, forward mode): what the formula of language_cost.h is
 * computed in, so that its derivatives need no code of their own. */

#ifndef DL_PHYSICS_LANGUAGE_DUAL_H
#define DL_PHYSICS_LANGUAGE_DUAL_H

#include "physics/language/language_cost.h"

/* Constants, then effects. */
enum { DL_N_DUAL = DL_N_LANGUAGE + DL_N_LANGUAGE_EFFECTS };

struct dl_dual {
  double x;
  double d[DL_N_DUAL];
};

/* A number that no parameter changes. */
struct dl_dual dl_dual_of(double x);

/* *a by parameter i, whose value is c, to the power of n. */
void dl_dual_times(struct dl_dual *a, size_t i, double c, double n);

/* base^(n c): parameter i, whose value is c, is in the exponent. */
struct dl_dual dl_dual_exponential(double base, size_t i, double c, double n);

struct dl_dual dl_dual_sum(const struct dl_dual *a, const struct dl_dual *b);
struct dl_dual dl_dual_scaled(const struct dl_dual *a, double by);
struct dl_dual dl_dual_product(const struct dl_dual *a,
                               const struct dl_dual *b);
struct dl_dual dl_dual_ratio(const struct dl_dual *a, const struct dl_dual *b);

/* (a^4 + b^4)^(1/4): work that overlaps. Not both 0. */
struct dl_dual dl_dual_overlap(const struct dl_dual *a,
                               const struct dl_dual *b);

#endif
