/* SPDX-License-Identifier: GPL-3.0-or-later */
/* FLUSS: where a series changes its regime.
 *
 * Gharghabi et al., "Matrix Profile VIII: Domain agnostic online semantic
 * segmentation", ICDM 2017, doi 10.1109/ICDM.2017.21, for two regimes, on the
 * matrix profile index (Yeh et al., ICDM 2016) by diagonals (Zhu et al.,
 * "Matrix Profile XI: SCRIMP++", ICDM 2018).
 *
 * For the k = n - m + 1 subsequences of m values,
 *
 *   r_ij = (m Sxy - Sx Sy) / sqrt((m Sxx - Sx^2) (m Syy - Sy^2)),
 *
 * 1 if both are constant, 0.5 if one is, rounded to 9 decimals. The nearest
 * neighbour of i is the j of the largest r with |i - j| > ceil(m / 4), the
 * lowest j on ties. An arc joins each i to its neighbour; A(i) is the number
 * of arcs over i, and the corrected arc curve
 *
 *   CAC(i) = min(1, A(i) / (2 i (k - i) / k)),
 *
 * 1 for the first and last 3 L positions. The regime is at the lowest value,
 * the lowest index on ties. Integers below 2^20 are summed exactly, so that
 * the result does not depend on the order of sums. */

#ifndef DL_MATH_SIGNAL_FLUSS_H
#define DL_MATH_SIGNAL_FLUSS_H

#include <stddef.h>

#include "base/diag.h"

struct dl_fluss {
  size_t regime; /* sample at which the second regime starts, from 0 */
  double cac;    /* the corrected arc curve there; 1: no position is below */
};

/* x: n values. m: length of a subsequence, at least 3; L: the exclusion is
 * 3 L. Needs 12 n doubles and O(n^2) time. Where n is so small that all is
 * excluded, regime is 0 and cac 1. Errors (DL_EINPUT): n < m, m < 3, a value
 * that is not finite. */
enum dl_status dl_fluss(const double *x, size_t n, size_t m, size_t L,
                        struct dl_fluss *f, struct dl_diag *d);

/* The nearest neighbour of each of the n - m + 1 subsequences, as above, and
 * r there (may be NULL); index SIZE_MAX and r -1 without one. */
enum dl_status dl_matrix_profile(const double *x, size_t n, size_t m,
                                 size_t *neighbour, double *r,
                                 struct dl_diag *d);

#endif
