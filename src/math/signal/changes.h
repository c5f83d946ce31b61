/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Change points in the level and spread of signals.
 *
 * The series is cut into segments, each with its own mean and variance, so
 * that
 *
 *   sum over segments (C(segment) + penalty)
 *   C = sum over signals N / (2 q) (log v + S / v),  v = max(S, least^2),
 *
 * is least, where N is the segment's number of samples, S their variance
 * (divided by N) and q the samples that tell as much as one independent one.
 * The minimum is exact and found by PELT (Killick, Fearnhead, Eckley, "Optimal
 * detection of changepoints with a linear computational cost", JASA 107 (2012)
 * 1590): unlike binary segmentation it does not miss a short segment between
 * two alike, and unlike CUSUM it needs no level to start from. Segments have
 * at least min_length samples; a candidate is pruned only once a segment from
 * the place that rules it out is long enough, so pruning stays exact. */

#ifndef DL_MATH_SIGNAL_CHANGES_H
#define DL_MATH_SIGNAL_CHANGES_H

#include <stddef.h>

#include "base/diag.h"

struct dl_changes_options {
  size_t min_length;   /* samples; 0: 2 */
  double dependence;   /* q, at least 1; 0: 1 */
  double penalty;      /* nats a change; 0: (n_signals + 0.5) log(n / q) nats,
                        * which is BIC */
  const double *least; /* n_signals: least spread; NULL: 1e-3 of each signal's
                        * own */
};

struct dl_changes {
  size_t n;       /* changes */
  size_t *at;     /* n: first sample of each segment but the first; owned */
  double *gain;   /* n: nats more that the two segments beside it cost as one,
                   * without the penalty; owned */
  double cost;    /* least sum, nats, with the penalty of each change */
  double penalty; /* that was used */
};

/* Signals of n samples each, none of them NaN. Fewer than two times
 * min_length samples, or a signal that never changes, give no change. Time is
 * O(n) where changes come at some rate, O(n^2) without any; memory O(n).
 * Errors (DL_EINPUT): a value or option that is not finite or is negative,
 * no signal. */
enum dl_status dl_changes_find(const double *const *signal, size_t n_signals,
                               size_t n, const struct dl_changes_options *o,
                               struct dl_changes *c, struct dl_diag *d);
void dl_changes_free(struct dl_changes *c);

#endif
