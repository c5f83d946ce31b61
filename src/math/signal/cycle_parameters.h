/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tuned numbers of the search for cycles, by stage (cycles.h).
 *
 * Chosen on every other of the 249 nvidia-smi traces of del Rey et al. 2023
 * (doi 10.5281/zenodo.7828518), checked on the others (docs/lab/epochs.md);
 * numbers for an unfinished training (`late`) on these traces cut off early
 * (docs/lab/step-traces.md). Evidence is in nats, correlations are 0 ... 1, and
 * lengths are shares or multiples of a period unless a comment says otherwise.
 * Included by the stages only. */

#ifndef DL_MATH_SIGNAL_CYCLE_PARAMETERS_H
#define DL_MATH_SIGNAL_CYCLE_PARAMETERS_H

#include <stddef.h>

struct dl_cycle_parameters {
  double gap_spacings, hinted, noise;
  double chance_base, chance_spread;
  float multiple;
  double phase_cost, drift_cost, drift_most, hint_cost;
  double fraction, fraction_doubt, scan_cycles, scan_longer;
  double extend_nats, extend_share, trim_nats;
  double alone_nats, alone_nats_few, alone_nats_known, few_cycles, few_fill;
  double lags_alike, further_nats, repeat, repeat_short;
  double follow, sure_strength;
  double length_prior, length_least, length_most, weak, irregular;
  double flank_steep, flank_end, flank_alike;
  double match_quantile, match_within, match_outside;
  double idle_share, idle_quantile;
  size_t idle_bins;
  double rest, rest_one, pause, filled_doubt, fill_cost, same_period, ended;
  double coarse_s, narrow;
  double rest_level, rest_cycles, start_share, start_unlike, start_least;
  double part_own, part_alike, part_least, part_contrast, part_cycles,
      part_split;
  double late_shortest, late_longest, late_cycles, late_before, late_longer;
  double late_score, late_planned, late_dip, late_change;
};

static const struct dl_cycle_parameters tuned = {
    /* Grid. */
    .gap_spacings = 8, /* samples further apart, in spacings, are a gap */
    .hinted = 0.2,     /* |log| of a period over the hint: as hinted */
    .noise = 1e-4,     /* mean square of compressed values that is noise */

    /* Tempogram: correlation by chance is base + spread / sqrt(bins of lag). */
    .chance_base = 0.10,
    .chance_spread = 0.9,
    .multiple = 0.6F, /* share of r at a fraction of a lag that begins to
                         explain r at the lag */

    /* Path: costs in cycles. */
    .phase_cost = 1.2,
    .drift_cost = 0.4,  /* of a step to the next lag */
    .drift_most = 0.05, /* |log| of a drift within one phase */
    .hint_cost = 3,     /* of a factor e from the hint */

    /* Segments. */
    .fraction = 0.62, /* share of r at which 1 / k of the period is taken */
    .fraction_doubt = 0.45, /* and at which it makes the period doubtful */
    .scan_cycles = 6,       /* that a scan for faint cycles needs */
    .scan_longer = 1.15,    /* factor by which a longer lag must be better */
    .extend_nats = 2,       /* beside a segment, to lengthen it */
    .extend_share = 0.4,    /* of its correlation there */
    .trim_nats = 20,        /* a segment with less is trimmed */

    /* Evidence beyond log(lags and places tried). */
    .alone_nats = 5.5,
    .alone_nats_few = 0.5,  /* for few cycles that fill most of the time */
    .alone_nats_known = -2, /* where cycles are known to be there */
    .few_cycles = 12,
    .few_fill = 0.6,   /* share of the time */
    .lags_alike = 3,   /* neighbouring lags that are one trial */
    .further_nats = 5, /* for a further phase where one stands out */
    .repeat = 0.35,    /* share of r at two to four times the period */
    .follow = 4,       /* cycles are tracked so far beyond a segment */
    .sure_strength = 0.45,

    /* Tracking. */
    .length_prior = 25, /* 0.06 off in length costs 0.09 */
    .length_least = 0.75,
    .length_most = 1.34,
    .weak = 0.6,            /* share of the mean match */
    .irregular = 0.2,       /* |log| of a length over the period */
    .flank_steep = 0.3,     /* share of the steepest that counts */
    .flank_end = 0.08,      /* distance from the end that counts */
    .flank_alike = 1.2,     /* weight of being like other cycles' flank */
    .match_quantile = 0.75, /* a good match */
    .match_within = 0.35,   /* share of a good match, within the segment */
    .match_outside = 0.6,   /* and outside */

    /* Sequence. */
    .idle_share = 0.5,    /* of the low level at work */
    .idle_quantile = 0.1, /* which is this quantile */
    .idle_bins = 3,
    .rest = 0.55,        /* a rest this long is a cycle */
    .rest_one = 1.6,     /* and up to this one only */
    .pause = 0.15,       /* idle run that is a pause */
    .filled_doubt = 0.2, /* uncertainty, per cycle filled in */
    .fill_cost = 0.1,    /* of a cycle more */
    .same_period = 0.1,  /* |log| of a ratio of periods */
    .ended = 0.05,       /* the last cycle has ended if no more is missing */

    .coarse_s = 10,     /* samples further apart, s, may miss a pause; */
    .narrow = 0.8,      /* share of a cycle's squares in three bins */
    .rest_level = 0.3,  /* share of the median that is no work; */
    .rest_cycles = 1.5, /* where it lasts so many cycles */

    /* A slow start that was taken for cycles. */
    .start_share = 0.8,  /* of a cycle that is compared */
    .start_unlike = 8,   /* difference from the mean, relative to others' */
    .start_least = 0.25, /* which counts as so much, at least */

    /* Parts of a cycle that begin alike. */
    .part_own = 0.8,       /* share of the bounds that are alike */
    .part_alike = 1.5,     /* difference of a part by theirs */
    .part_least = 0.10,    /* which is so much of the usual one, at least; */
    .part_contrast = 0.25, /* and by the usual one, at most */
    .part_split = 1.6,     /* factor where they are known to be cycles */
    .part_cycles = 0.7,    /* share of the cycles with that number of parts */

    /* The phase an unfinished training is in. */
    .late_shortest = 0.95, /* its period, in periods of the first phase */
    .late_longest = 3.2,
    .late_cycles = 2.2,  /* that it must have */
    .late_before = 3,    /* that the first phase must have */
    .late_longer = 1.05, /* factor by which a longer period must be better */
    .late_score = 0.08,  /* least correlation */
    .late_planned = 2,   /* cycles around a planned change */
    .late_dip = 0.9,     /* share of the usual level at which a dip ends */
    .late_change = 1.5   /* change of level, in spreads */
};

#endif
