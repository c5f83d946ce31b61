/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Follows single cycles by dynamic programming (Ellis 2007).
 *
 *   D(p) = M(p) - floor + max(0, max_d D(p - d) - prior log(d / P)^2)
 *
 * M(p) is the correlation of the bins from p on with the mean cycle. The best
 * chain starts and ends where it pays. Mean cycle and chain are found by
 * turns. */

#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/signal/cycle_parameters.h"
#include "math/signal/cycles_private.h"

/* A cycle has less than 2 LAG_LOW bins of its level. */
enum { TURNS = 4, SEED_CYCLES = 8, N_COSTS = 3 * DL_LAG_LOW, WINDOW = 5 };

struct cycle_tracker {
  const struct dl_grid_level *l;
  size_t channels, length; /* of the mean cycle, bins of the level */
  size_t start, end;       /* bins of the level: the segment */
  size_t low, high;        /* to look in */
  double **y;              /* channels x n: detrended, weighted */
  double **mean;           /* channels x length */
  double *energy;          /* n + 1: running sum of y^2 over channels */
  double *match, *value;   /* n */
  size_t *from;            /* n: place before in the best chain, or itself */
  size_t *at, n_at;        /* the chain */
  double match_mean;
  double match_good; /* upper quartile */
  size_t n_weak;
};

static void tracker_free(struct cycle_tracker *t) {
  free(t->y);
  free(t->mean);
  free(t->energy);
  free(t->from);
}

static void tracker_alloc(struct cycle_tracker *t) {
  size_t n = t->l->n;
  t->y = dl_channel_rows(t->channels, n);
  t->mean = dl_channel_rows(t->channels, t->length);
  t->energy = dl_calloc(3 * (n + 1), sizeof *t->energy);
  t->from = dl_calloc(2 * n, sizeof *t->from);
  t->match = t->energy + n + 1;
  t->value = t->match + n + 1;
  t->at = t->from + n;
}

/* Detrends and weighs the channels by their correlation over the segment. */
static void weigh(struct cycle_tracker *t, size_t a, size_t b) {
  size_t n = t->l->n, lag = t->length;
  for (size_t c = 0; c < t->channels; c++) {
    double *y = t->y[c], product = 0, square = 0;
    dl_detrend(t->l, c, lag, 0, n, y);
    for (size_t i = a; i + lag < b; i++) {
      product += y[i] * y[i + lag];
      square += 0.5 * (y[i] * y[i] + y[i + lag] * y[i + lag]);
    }
    double r = square > 0 ? fmax(0, product / square) : 0;
    double factor = r > 0 ? r / sqrt(square / (double)(b - a)) : 0;
    for (size_t i = 0; i < n; i++)
      y[i] *= factor;
  }
  for (size_t i = 0; i < n; i++) {
    t->energy[i + 1] = t->energy[i];
    for (size_t c = 0; c < t->channels; c++)
      t->energy[i + 1] += t->y[c][i] * t->y[c][i];
  }
}

static double dot(const struct cycle_tracker *t, size_t at) {
  double sum = 0;
  for (size_t c = 0; c < t->channels; c++)
    for (size_t j = 0; j < t->length; j++)
      sum += t->mean[c][j] * t->y[c][at + j];
  return sum;
}

static void add_cycle(struct cycle_tracker *t, size_t at) {
  for (size_t c = 0; c < t->channels; c++)
    for (size_t j = 0; j < t->length; j++)
      t->mean[c][j] += t->y[c][at + j];
}

static void clear_mean(struct cycle_tracker *t) {
  memset(t->mean[0], 0, t->channels * t->length * sizeof(double));
}

/* A first mean cycle: some in the middle of the segment, each moved by up to
 * two bins to fit the sum so far. */
static void seed(struct cycle_tracker *t, size_t a, size_t b) {
  size_t length = t->length, cycles = (b - a) / length;
  size_t use = GSL_MIN(cycles, SEED_CYCLES);
  size_t at = a + (cycles - use) / 2 * length;
  clear_mean(t);
  for (size_t i = 0; i < use && at + length <= b; i++, at += length) {
    size_t best = at;
    double most = -INFINITY;
    for (size_t p = at > a + 2 ? at - 2 : a; i > 0 && p <= at + 2; p++)
      if (p + length <= t->l->n && dot(t, p) > most) {
        most = dot(t, p);
        best = p;
      }
    at = best;
    add_cycle(t, at);
  }
}

static void correlate(struct cycle_tracker *t) {
  double own = 0, typical = t->energy[t->end] - t->energy[t->start];
  for (size_t c = 0; c < t->channels; c++)
    for (size_t j = 0; j < t->length; j++)
      own += t->mean[c][j] * t->mean[c][j];
  /* A quiet stretch must not match by its rounding. */
  typical *= 0.1 * (double)t->length / (double)(t->end - t->start);
  for (size_t p = t->low; p + t->length <= t->high; p++) {
    double there = t->energy[p + t->length] - t->energy[p];
    double scale = sqrt(own * fmax(there, typical));
    t->match[p] = scale > 0 ? dot(t, p) / scale : 0;
  }
}

/* Puts the best chain into at, in order. */
static void chain(struct cycle_tracker *t) {
  double within = tuned.match_within * t->match_good;
  double outside = tuned.match_outside * t->match_good;
  size_t half = t->length / 2;
  size_t end = t->high - t->length + 1, top = t->low;
  size_t near = (size_t)ceil(tuned.length_least * (double)t->length);
  size_t far = (size_t)floor(tuned.length_most * (double)t->length);
  double cost[N_COSTS] = {0};
  far = GSL_MIN(far, N_COSTS - 1);
  for (size_t d = near; d <= far; d++) {
    double off = log((double)d / (double)t->length);
    cost[d] = tuned.length_prior * off * off;
  }
  for (size_t p = t->low; p < end; p++) {
    double best = 0;
    t->from[p] = p;
    for (size_t d = near; d <= far && p >= t->low + d; d++)
      if (t->value[p - d] - cost[d] > best) {
        best = t->value[p - d] - cost[d];
        t->from[p] = p - d;
      }
    bool inside = p + half >= t->start && p + half < t->end;
    t->value[p] = best + t->match[p] - (inside ? within : outside);
    if (t->value[p] > t->value[top])
      top = p;
  }
  t->n_at = 0;
  t->match_mean = 0;
  if (!(t->value[top] > 0))
    return;
  for (size_t p = top;; p = t->from[p]) {
    t->match_mean += t->match[p];
    t->at[t->n_at++] = p;
    if (t->from[p] == p)
      break;
  }
  t->match_mean /= (double)t->n_at;
  for (size_t i = 0; i < t->n_at; i++)
    t->value[i] = t->match[t->at[t->n_at - 1 - i]];
  t->n_weak = 0; /* value holds the matches from here on */
  for (size_t i = 0; i + WINDOW <= t->n_at; i += WINDOW)
    if (gsl_stats_mean(t->value + i, 1, WINDOW) < tuned.weak * t->match_mean)
      t->n_weak += WINDOW;
  gsl_sort(t->value, 1, t->n_at);
  t->match_good = gsl_stats_quantile_from_sorted_data(t->value, 1, t->n_at,
                                                      tuned.match_quantile);
  for (size_t i = 0; i < t->n_at / 2; i++) {
    size_t kept = t->at[i];
    t->at[i] = t->at[t->n_at - 1 - i];
    t->at[t->n_at - 1 - i] = kept;
  }
}

/* The step of the mean cycle at its bin j, of each channel, and its size. */
static double step_at(const struct cycle_tracker *t, size_t j, double *step) {
  double square = 0;
  for (size_t c = 0; c < t->channels; c++) {
    step[c] = 0;
    for (size_t i = 0; i < t->n_at; i++) {
      size_t p = t->at[i] + j;
      if (p > 0 && p + 1 < t->l->n)
        step[c] += t->y[c][p] - t->y[c][p - 1];
    }
    square += step[c] * step[c];
  }
  return sqrt(square);
}

/* Finds the place to cut: a steep flank of the mean cycle. Preferred are one
 * that agrees with `end`, where the last cycle seems to end, and one in the
 * direction of `like`, the flank of other cycles, if that is not 0. `step`
 * holds the flank on return. */
static size_t flank(const struct cycle_tracker *t, double end,
                    const double *like, double *step) {
  size_t best = 0;
  double most = -1, steepest = 0, size = 0;
  for (size_t j = 0; j < t->length; j++)
    steepest = fmax(steepest, step_at(t, j, step));
  for (size_t c = 0; c < t->channels; c++)
    size += like[c] * like[c];
  for (size_t j = 0; steepest > 0 && j < t->length; j++) {
    double steep = step_at(t, j, step), score = steep / steepest, along = 0;
    double off = (end - (double)(t->at[t->n_at - 1] + j)) / (double)t->length;
    off = (off - round(off)) / tuned.flank_end;
    if (score > tuned.flank_steep && isfinite(end))
      score += exp(-0.5 * off * off);
    for (size_t c = 0; c < t->channels; c++)
      along += like[c] * step[c];
    if (along > 0)
      score += tuned.flank_alike * along / (sqrt(size) * steep);
    if (score > most) {
      most = score;
      best = j;
    }
  }
  step_at(t, best, step);
  return best;
}

/* The steepest such flank within a bin and a half, on ever finer levels. */
static double settle(const struct dl_signal_grid *g,
                     const struct dl_grid_level *l, const double *weight,
                     double at) {
  for (;; l--) {
    double scale = (double)l->scale, most = -INFINITY;
    ptrdiff_t mid = (ptrdiff_t)lround(at / scale), best = mid;
    for (ptrdiff_t p = mid - 2; p <= mid + 2; p++) {
      if (p < 1 || (size_t)p >= l->n)
        continue;
      double steep = -1e-9 * fabs((double)(p - mid));
      for (size_t c = 0; c < g->n_channels; c++)
        steep += weight[c] * (l->s[c][p] - l->s[c][p - 1]);
      if (steep > most) {
        most = steep;
        best = p;
      }
    }
    at = (double)best * scale;
    if (l->scale == 1)
      return at;
  }
}

/* Cycles in stretches where more than one has an odd length. */
static size_t count_irregular(const struct dl_cycle_chain *c) {
  size_t sum = 0;
  for (size_t i = 0; i + WINDOW <= c->n; i += WINDOW) {
    int odd = 0;
    for (size_t j = i; j < i + WINDOW; j++)
      odd += fabs(log((c->at[j + 1] - c->at[j]) / c->period)) > tuned.irregular;
    sum += odd > 1 ? WINDOW : 0;
  }
  return sum;
}

/* Turns the chain into bounds on the finest grid. */
static void bounds(const struct dl_signal_grid *g,
                   const struct cycle_tracker *t, double end, double *like,
                   struct dl_cycle_chain *c) {
  DL_FREED double *step = dl_calloc(g->n_channels, sizeof *step);
  DL_FREED double *gap = dl_calloc(t->n_at, sizeof *gap);
  c->at = dl_calloc(t->n_at, sizeof *c->at);
  double scale = (double)t->l->scale;
  size_t phase = flank(t, end / scale, like, step);
  c->n = t->n_at - 1;
  for (size_t i = 0; i < t->n_at; i++) {
    c->at[i] = (double)(t->at[i] + phase) * scale;
    c->at[i] = settle(g, t->l, step, c->at[i]);
    if (i > 0 && c->at[i] <= c->at[i - 1])
      c->at[i] = (double)(t->at[i] + phase) * scale;
  }
  for (size_t i = 0; i < c->n; i++)
    gap[i] = c->at[i + 1] - c->at[i];
  gsl_sort(gap, 1, c->n);
  c->period = c->n > 2 ? (c->at[c->n] - c->at[0]) / (double)c->n : 0;
  double typical = gsl_stats_median_from_sorted_data(gap, 1, c->n);
  if (fabs(typical - c->period) > 0.05 * c->period)
    c->period = typical;
  c->match = t->match_mean;
  c->n_weak = t->n_weak + count_irregular(c);
  for (size_t i = 0; i < g->n_channels; i++)
    like[i] = step[i];
}

void dl_track_cycles(struct dl_cycle_chain *c, const struct dl_signal_grid *g,
                     const struct dl_period_segment *s, double *flank_found) {
  struct cycle_tracker t = {.l = dl_grid_level_for(g, s->period),
                            .channels = g->n_channels};
  double scale = (double)t.l->scale;
  *c = (struct dl_cycle_chain){.r = s->r, .doubtful = s->halved};
  t.length = (size_t)lround(s->period / scale);
  t.low = (size_t)(s->low / scale);
  t.high = GSL_MIN((size_t)(s->high / scale), t.l->n);
  size_t a = (size_t)(s->start / scale), b = (size_t)(s->end / scale);
  a = GSL_MAX(a, t.low);
  b = GSL_MIN(b, t.high);
  if (b < a + 2 * t.length)
    return;
  t.start = a;
  t.end = b;
  tracker_alloc(&t);
  weigh(&t, a, b);
  seed(&t, a, b);
  t.match_good = 0.6;
  for (int turn = 0; turn < TURNS; turn++) {
    correlate(&t);
    chain(&t);
    if (t.n_at < 2 || turn + 1 == TURNS)
      break;
    clear_mean(&t);
    for (size_t i = 0; i < t.n_at; i++)
      add_cycle(&t, t.at[i]);
  }
  if (t.n_at >= DL_MIN_CYCLES)
    bounds(g, &t, s->training_end, flank_found, c);
  tracker_free(&t);
}
