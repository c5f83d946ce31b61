/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data and stages of the search for cycles (cycles.h). Times are in bins of the
 * finest grid unless a name ends in _s. */

#ifndef DL_MATH_SIGNAL_CYCLES_PRIVATE_H
#define DL_MATH_SIGNAL_CYCLES_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "math/signal/cycles.h"

enum {
  DL_GRID_MAX_BINS = 1 << 14,
  DL_GRID_MAX_LEVELS = 12,
  DL_LAG_MIN = 5,  /* shortest cycle, bins */
  DL_LAG_LOW = 32, /* each coarser level has the lags LOW ... 2 LOW - 1 */
  DL_MIN_CYCLES = 3,
  DL_MOST_PARTS = 10
};

/* The signals at one resolution, smoothed lightly. */
struct dl_grid_level {
  size_t n;               /* bins */
  size_t scale;           /* finest bins in one */
  double **s;             /* channels x n: compressed values, 0 where unknown */
  double **w;             /* channels x n: known share, 0 ... 1 */
  double **sum, **weight; /* channels x (n + 1): running sums of w s and w */
};

/* The signals on even grids. */
struct dl_signal_grid {
  size_t n, n_channels;
  double start_s, step_s;
  double **x; /* channels x n: the values; the last one where unknown */
  struct dl_grid_level level[DL_GRID_MAX_LEVELS];
  size_t n_levels;
};

/* Channels that hold less than a few values or never
 * change are skipped, so n_channels may be 0. */
void dl_signal_grid_make(struct dl_signal_grid *g,
                         const struct dl_signals *signals);
void dl_signal_grid_free(struct dl_signal_grid *g);

/* channels x n zeros in one block, freed by free() of the result. */
double **dl_channel_rows(size_t channels, size_t n);

/* y[i] = w (s - moving mean of s over `length` bins) of one channel for i in
 * from ... to - 1. */
void dl_detrend(const struct dl_grid_level *l, size_t channel, size_t length,
                size_t from, size_t to, double *y);

/* The coarsest level whose bins divide a period into at least LOW. */
const struct dl_grid_level *dl_grid_level_for(const struct dl_signal_grid *g,
                                              double period);

/* A stretch of one period. */
struct dl_period_segment {
  double start, end; /* bins */
  double period;     /* bins */
  double r;          /* mean correlation at the period */
  double r_again;    /* mean correlation at two to four times the period */
  double score;      /* correlation above the threshold x bins */
  double nats;       /* evidence */
  bool halved;       /* a fraction of the period explains nearly as much */
  bool kept;
  double low, high;    /* its cycles lie within these bins */
  double training_end; /* where the training seems to end; NaN: unknown */
};

/* Segments in order of time. */
struct dl_period_segments {
  struct dl_period_segment *at; /* n, owned */
  size_t n;
};

/* The local correlation at each lag. */
struct dl_tempogram {
  size_t n_blocks, n_lags;
  double block;   /* bins in a block */
  double *period; /* n_lags: bins, ascending */
  double *chance; /* n_lags: correlation that counts for nothing */
  float *r;       /* n_blocks x n_lags */
};

void dl_tempogram_make(struct dl_tempogram *m, const struct dl_signal_grid *g,
                       double min_period, double max_period, double hint);
void dl_tempogram_free(struct dl_tempogram *m);

/* The phases of the best path through the tempogram, each with start, end,
 * period and score. hint: expected period in bins, 0 without. */
void dl_viterbi_path(struct dl_period_segments *found,
                     const struct dl_tempogram *m, double hint);

/* The segments into which the time is cut; owned by the caller. */
void dl_find_period_segments(struct dl_period_segments *found,
                             const struct dl_tempogram *m,
                             const struct dl_signal_grid *g, double hint);

/* Cycles that follow each other, from tracking. */
struct dl_cycle_chain {
  double *at;    /* n + 1: bounds, bins; owned */
  size_t n;      /* cycles */
  double period; /* median length, bins */
  double match;  /* mean correlation of a cycle with the mean cycle */
  double r;      /* of the segment */
  size_t n_weak; /* cycles in stretches that match little */
  bool doubtful; /* the period may be a multiple or fraction of the true one */
  size_t parts;  /* that begin alike in each cycle; 1: none are seen */
  double part;   /* the shortest of them, bins */
  size_t part_from; /* where the first begins, bins from a bound on */
  bool uneven;      /* its bounds are hardly alike */
  bool narrow;      /* samples far apart show it at one place only */
  bool mid_start;   /* the first bound is unlike the others: it lies in the
                     * first cycle */
  double longest;   /* of cycles that were split; else 0 */
};

/* Follows the cycles of a segment, and beyond its ends as far as they match,
 * within its range. A boundary near its end is preferred, and a flank like
 * `flank` (n_channels numbers, 0 at first), which is set to the one found. The
 * chain's n may be 0. */
void dl_track_cycles(struct dl_cycle_chain *c, const struct dl_signal_grid *g,
                     const struct dl_period_segment *s, double *flank_found);

/* For each bin, whether it is one of several on end in which a signal lies far
 * below its level in the segments. g->n values, owned by the caller. */
bool *dl_find_idle(const struct dl_signal_grid *g,
                   const struct dl_period_segments *segments);

/* The first idle bin in from ... to, or `to`. */
double dl_idle_start(const bool *idle, double from, double to);

/* The end of the last idle bin before `to`, or 0. */
double dl_idle_end(const bool *idle, double to);

/* All cycles. Start from {0}; at is owned by the caller. */
struct dl_cycle_sequence {
  double *at; /* n_at bounds, bins */
  size_t n_at, cap;
  double n_filled; /* cycles not tracked, but for which there is room */
  double n_unseen; /* cycles that the time without any would hold */
};

/* `end` is the number of bins. goes_on: the last cycle has not ended. */
void dl_join_chains(const struct dl_cycle_chain *chain, size_t n_chains,
                    const bool *idle, double end, bool goes_on,
                    struct dl_cycle_sequence *s);

/* Drops the first cycles of a chain that differ from the others far more than
 * these do among themselves: a slow start was taken for cycles. */
void dl_drop_false_start(const struct dl_signal_grid *g, const bool *idle,
                         struct dl_cycle_chain *chain);

/* Sets the parts of a chain with cycles. */
void dl_find_cycle_parts(const struct dl_signal_grid *g,
                         struct dl_cycle_chain *chain);

/* Makes a cycle of each part of a chain that has some. */
void dl_split_cycles(const struct dl_signal_grid *g,
                     struct dl_cycle_chain *chain);

/* Replaces all chains but the first by the phase that a training is in, unless
 * the chains reach it; there is room for two. n_first: as in
 * cycles.h. */
void dl_find_final_phase(const struct dl_signal_grid *g, double n_first,
                         struct dl_cycle_chain *chain, size_t *n_chains,
                         bool *added);

#endif
