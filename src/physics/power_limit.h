/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A board at its power limit: what it draws, and how much slower it is. */

#ifndef DL_PHYSICS_POWER_LIMIT_H
#define DL_PHYSICS_POWER_LIMIT_H

/* Power at which clocks are lowest, as a share of the static power, the
 * memory's by its chips. */
#define DL_LOWEST_CLOCK_SHARE 0.6

/* Powers in W. */
struct dl_power_limit {
  double kappa;  /* how much a step slows down */
  double wanted; /* demanded without a limit */
  double limit;
  double lowest; /* at the lowest clocks */
  double power;  /* drawn */
  double slow;   /* factor by which the time on the GPU grows */
};

/* Sets power = (wanted^-8 + limit^-8)^(-1/8), a smooth minimum, and slow =
 * exp(kappa ln(r)^2) with r the share of the demanded power above `lowest` that
 * is drawn, within [0.02, 1]. */
void dl_power_limit_apply(struct dl_power_limit *l);

/* The derivatives of slow_weight slow + power_weight power by the logarithms
 * of kappa, wanted, limit and lowest, in these members of *by. */
void dl_power_limit_gradient(const struct dl_power_limit *l, double slow_weight,
                             double power_weight, struct dl_power_limit *by);

#endif
