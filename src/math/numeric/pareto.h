/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Pareto front of choices that each cost energy and time and have a merit
 * (accuracy, say), and how sure it is.
 *
 * x beats y if it is at least as good in energy, time and merit and better in
 * one. The front is what nothing beats. Choices that are alike in all three
 * beat each other not.
 *
 * Energies are known within intervals. Among the choices that are at least as
 * good as x in time and merit, one whose interval lies below that of x beats x
 * for sure. Where there is none, but the interval of one overlaps that of x,
 * it is open whether x is on the front: its energies may be in the other order.
 * Time and merit are taken as they are.
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
  double merit;     /* more is better; the same for all where it is no matter */
};

struct dl_pareto_place {
  bool front; /* nothing beats it */
  bool open;  /* but for intervals that overlap */
};

/* place (n) for each of n points. A point with a NaN for energy, time or merit
 * is on no front and beats nothing. */
enum dl_status dl_pareto(const struct dl_pareto_point *p, size_t n,
                         struct dl_pareto_place *place, struct dl_diag *d);

#endif
