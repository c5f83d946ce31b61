/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cycles of unknown length in signals over time: the epochs of a training in
 * its power and utilisation.
 *
 *   1. The signals are brought onto an even grid of at most 2^14 bins, and
 *      each is compressed, z = asinh((x - median) / (1.4826 MAD)), so that a
 *      rare deep dip counts little more than an ordinary one.
 *   2. Tempogram (Grosche, Mueller, "Extracting predominant local pulse
 *      information from music recordings", IEEE TASLP 19 (2011) 1688): for
 *      each lag L the local autocorrelation of z less its moving mean over L.
 *      That mean is constant over a cycle of length L, so nothing of the cycle
 *      is lost, while steps and trends go. Longer lags are taken on a pyramid
 *      of halved resolutions, which makes the cost O(n log n).
 *   3. A Viterbi path (Viterbi, IEEE TIT 13 (1967) 260) over the lags and
 *      "none" cuts the time into phases of one period each; entering a phase
 *      costs some cycles' worth of evidence.
 *   4. A phase's period is divided where its fractions explain it as well.
 *   5. In each phase the single cycles are tracked by dynamic programming with
 *      a soft prior on their length (Ellis, "Beat tracking by dynamic
 *      programming", J. New Music Research 36 (2007) 51); onset strength is
 *      the correlation with the phase's mean cycle, which is found by turns
 *      with the cycles (as in epoch folding: Leahy et al., ApJ 266 (1983) 160).
 *   6. Boundaries go to the steepest flank of the mean cycle, in each cycle to
 *      the steepest flank nearby.
 *   7. The evidence is -N/2 log(1 - r^2) nats, r the mean correlation at the
 *      period and N the length over the correlation time sum rho_k^2
 *      (Bartlett, JRSS suppl. 8 (1946) 27); it must exceed the logarithm of
 *      the number of lags and places tried by a margin. */

#ifndef DL_MATH_SIGNAL_CYCLES_H
#define DL_MATH_SIGNAL_CYCLES_H

#include <stddef.h>

#include "base/diag.h"

struct dl_cycles_options {
  double hint_s; /* expected length of a cycle, s; 0: unknown */
  /* Cycles of the whole training if it goes on; 0: it has ended, or it is
   * unknown whether there are cycles. Then the last cycle has not ended, no
   * rest at the end is taken for one, and a new phase of few, faint cycles is
   * looked for after a change of level (final_phase.c); such an answer is never
   * sure. */
  double n_total;
  double n_first; /* a change is planned after so many cycles; 0: unknown */
};

enum dl_cycles_verdict {
  DL_CYCLES_NONE,   /* no cycle found; n is 0 */
  DL_CYCLES_UNSURE, /* cycles found, but the number may be wrong */
  DL_CYCLES_SURE    /* the number is right but for two cycles or 2 % */
};

struct dl_cycles {
  enum dl_cycles_verdict verdict;
  size_t n;         /* cycles found */
  double n_low;     /* the number of cycles lies in n_low ... n_high if the */
  double n_high;    /* periods are right; so in 97 % of measured traces */
  double *boundary; /* n + 1 times, ascending, owned: cycle i is
                     * (boundary[i], boundary[i + 1]]; NULL without cycles */
  double strength;  /* 0 ... 1, how clearly the cycles show */
  /* The beginning of a cycle recurs in it: each may be so many cycles, of which
   * the shortest takes that long; 1 or 0 and NaN: no sign of it. Such an answer
   * is not sure; hint_s about the one or the other decides. */
  size_t parts;
  double part_s, whole_s; /* whole_s: the period of such cycles */
  /* The longest idle times, s, within the cycles and after them: far below the
   * level at work; 0 where shorter than one and a half cycles. */
  double idle_within_s, idle_after_s, idle_from_s; /* where the first begins */
  const char *reason; /* why none or unsure; static; NULL when sure */
};

/* Signals over time; all borrowed. */
struct dl_signals {
  const double *t; /* n: times, s, strictly ascending, may be uneven */
  size_t n;
  const double *const *value; /* n_signals x n: NaN where unknown */
  size_t n_signals;
};

/* Finds the cycles common to the signals. Time before the first boundary
 * (set-up) and after the last (final evaluation) is no part of a cycle. Too few
 * samples or no cycle is a verdict, not an error. Errors (DL_EINPUT): a time is
 * not finite or not ascending, an option is negative or not finite. On error c
 * is empty. The result is free of chance and of threads. `o` may be NULL. */
enum dl_status dl_cycles_find(const struct dl_signals *signals,
                              const struct dl_cycles_options *o,
                              struct dl_cycles *c, struct dl_diag *d);
void dl_cycles_free(struct dl_cycles *c);

#endif
