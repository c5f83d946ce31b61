/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a run's energy grew: cumulated energies at points in time, of which at
 * most a bounded number is kept. When there are more, each two become one:
 * times and energies stay exact, power and utilisation are averaged.
 *
 * Energies are whole multiples of 2^-20 J (1 uJ) below 8.6 GJ, so that
 * differences between points add up exactly. */

#ifndef DL_LOGS_READINGS_ENERGY_CURVE_H
#define DL_LOGS_READINGS_ENERGY_CURVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DL_N_METER_KINDS = 4 }; /* GPU, CPU, RAM, node */

struct dl_energy_point {
  int64_t ns;
  double energy_j[DL_N_METER_KINDS]; /* since the first point; 0 unmeasured */
  float power_w, util, memory_util;  /* of the GPUs since the point before */
  float first_w;                     /* power of the first GPU alone */
};

struct dl_energy_curve {
  struct dl_energy_point *point; /* owned */
  size_t n, cap;
  size_t stride, n_open; /* readings a point, and those in the last one */
};

/* Start from {0}. */
void dl_energy_curve_free(struct dl_energy_curve *c);
void dl_energy_curve_add(struct dl_energy_curve *c,
                         const struct dl_energy_point *p);

/* Nearest multiple of 2^-20 J. */
double dl_energy_curve_round(double energy_j);

/* The last point at or before `ns`; 0 where none is. */
size_t dl_energy_curve_at(const struct dl_energy_curve *c, int64_t ns);

#endif
