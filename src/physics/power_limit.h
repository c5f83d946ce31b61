/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A board at its power limit: what it draws, and how much slower it is. */

#ifndef DL_PHYSICS_POWER_LIMIT_H
#define DL_PHYSICS_POWER_LIMIT_H

/* Power at which clocks are lowest, as a share of the static power. */
#define DL_LOWEST_CLOCK_SHARE 0.6

/* Power (W) drawn where `wanted` is demanded and `limit` the most:
 * (wanted^-8 + limit^-8)^(-1/8), a smooth minimum. */
double dl_capped_power(double wanted, double limit);

/* Factor by which the time on the GPU grows as clocks fall to keep the limit:
 * exp(kappa ln(r)^2) with r the share of the demanded power above `lowest` that
 * is drawn, within [0.02, 1]. All in W but kappa. */
double dl_clock_slowdown(double kappa, double lowest, double wanted,
                         double drawn);

#endif
