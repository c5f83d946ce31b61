/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Pareto front of choices with energy, time and a merit (such as accuracy),
 * and its uncertainty.
 *
 * x beats y if it is at least as good in energy, time and merit and better in
 * one. The front has the choices that no other beats. Choices that are equal
 * in all three do not beat each other.
 *
 * Energies have intervals. Among the choices that are at least as good as x in
 * time and merit, one whose interval is below the interval of x certainly beats
 * x. If there is none, but two intervals overlap, it is uncertain whether x is
 * on the front: the true energies may be in the other order. Time and merit
 * have no intervals.
 *
 * In O(n log n): merits from the best down, in a Fenwick tree (doi
 * 10.1002/spe.4380240306) over the ranks of the times that holds the least of
 * what came so far. */

#ifndef DL_MATH_NUMERIC_PARETO_H
#define DL_MATH_NUMERIC_PARETO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

struct dl_pareto_point {
  double energy;    /* less is better */
  double low, high; /* its interval; NaN: known exactly */
  double time;      /* less is better */
  double merit;     /* more is better; equal for all where it is no matter */
};

struct dl_pareto_place {
  bool front; /* nothing beats it */
  bool open;  /* but for intervals that overlap */
};

/* place (n) for each of n points. A point with a NaN for energy, time or merit
 * is on no front and beats nothing. */
void dl_pareto(const struct dl_pareto_point *p, size_t n,
               struct dl_pareto_place *place);

#endif
