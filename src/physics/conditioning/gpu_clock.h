/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A GPU whose clock is locked below its boost clock (nvidia-smi
 * --lock-gpu-clocks, --applications-clocks).
 *
 * Beyond its static power S a GPU demands D(x) times what it demands at the
 * boost clock, at x of this clock:
 *
 *   D(x) = x max(.8, x)^2
 *
 * as the voltage falls with the clock, to .8 at least. Under its power limit C
 * it draws P of W (power_limit.h), which is its power at the clock y with D(y)
 * = (P - S) / (W - S). A lower clock x takes 1 - c + c y / x of the time, c the
 * share of the time that the core's clock bounds, and draws S + (P - S) D(x) /
 * D(y) while it does.
 *
 * The constants are those of forward and backward passes of GPT-3 and Bloom on
 * A100 and A40 at 38 and 60 clocks (Chung et al., Perseus, SOSP 2024): root
 * mean squares of the errors of time and power are 5 and 12 % on A100, 10 and 6
 * % on A40; constants of one GPU alone give 8 and 21 %, or 21 and 34 %, on the
 * other. */

#ifndef DL_PHYSICS_CONDITIONING_GPU_CLOCK_H
#define DL_PHYSICS_CONDITIONING_GPU_CLOCK_H

/* Half-width of the logarithm of an interval of 90 % by which time and power at
 * a lower clock are less certain. */
#define DL_CLOCK_DOUBT 0.2

struct dl_gpu_clock {
  double x;              /* relative to the boost clock */
  double power, lowest;  /* P and S of a GPU, W */
  double limit;          /* W */
  double bound;          /* c */
  double time, at_power; /* results: factors of time and of P */
};

void dl_gpu_clock_apply(struct dl_gpu_clock *l);

#endif
