/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether something in a cycle recurs within it: then each may be several
 * cycles, one of which takes longer (every third epoch with a validation).
 *
 * The places to look at are the bounds of the cycles and the steepest flanks
 * of their mean. B is the mean of the signals from a few bins before such a
 * place in each cycle to a tenth of a cycle after it. D(p), the mean square of
 * their difference from B around bin p, is `own` at most in four of five
 * cycles; another bin of a cycle where D is about as small is another
 * beginning. Where D is hardly less at the places than elsewhere, nothing can
 * be said. */

#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/signal/cycle_parameters.h"
#include "math/signal/cycles_private.h"

enum { BEFORE = 3, LEAST_AFTER = 5, MOST_AFTER = 24, MOST_FLANKS = 6 };

/* First cycles that may be none. */
enum { MOST_DROPPED = 3 };

struct part_search {
  const struct dl_signal_grid *g;
  size_t after;  /* bins of B from a place on; BEFORE before it */
  size_t apart;  /* least distance of two beginnings, bins */
  size_t n;      /* places, one in each cycle */
  size_t *place; /* room for a cycle more */
  double **mean; /* B: channels x (BEFORE + after) */
  double *off;   /* D of each bin; INFINITY where it has no room */
  double *work;  /* room for the bins */
  double own;    /* D up to which a bin is a beginning; 0: none known */
};

static bool has_room(const struct part_search *b, size_t p) {
  return p >= BEFORE && p + b->after <= b->g->n;
}

static double difference(const struct part_search *b, size_t p) {
  size_t length = BEFORE + b->after;
  double sum = 0;
  if (!has_room(b, p))
    return INFINITY;
  for (size_t c = 0; c < b->g->n_channels; c++) {
    const double *s = b->g->level[0].s[c] + p - BEFORE;
    for (size_t k = 0; k < length; k++)
      sum += (s[k] - b->mean[c][k]) * (s[k] - b->mean[c][k]);
  }
  return sum / (double)(length * b->g->n_channels);
}

/* Sets B from the places. */
static void find_mean(struct part_search *b) {
  size_t length = BEFORE + b->after;
  for (size_t c = 0; c < b->g->n_channels; c++)
    for (size_t k = 0; k < length; k++) {
      double sum = 0;
      for (size_t i = 0; i < b->n; i++)
        sum += b->g->level[0].s[c][b->place[i] - BEFORE + k];
      b->mean[c][k] = sum / (double)b->n;
    }
}

/* Puts the places at an offset from the bounds, those with room, and moves
 * each to where it is most like the others. */
static void put_places(struct part_search *b,
                       const struct dl_cycle_chain *chain, size_t offset) {
  size_t reach = offset ? BEFORE : 1;
  b->n = 0;
  for (size_t i = 0; i <= chain->n; i++)
    if (has_room(b, (size_t)chain->at[i] + offset))
      b->place[b->n++] = (size_t)chain->at[i] + offset;
  if (b->n == 0)
    return;
  find_mean(b);
  for (size_t i = 0; i < b->n; i++) {
    size_t mid = b->place[i];
    double least = difference(b, mid);
    for (size_t p = mid > reach ? mid - reach : 0; p <= mid + reach; p++)
      if (difference(b, p) < least) {
        least = difference(b, p);
        b->place[i] = p;
      }
  }
  find_mean(b);
}

/* Sets `own`. False: D is no different from that elsewhere. */
static bool find_own(struct part_search *b) {
  size_t n = 0;
  for (size_t i = 0; i < b->n; i++)
    b->work[i] = b->off[b->place[i]];
  gsl_sort(b->work, 1, b->n);
  double own =
      gsl_stats_quantile_from_sorted_data(b->work, 1, b->n, tuned.part_own);
  for (size_t p = b->place[0]; p < b->place[b->n - 1]; p++)
    b->work[n++] = b->off[p];
  if (n == 0)
    return false;
  gsl_sort(b->work, 1, n);
  double usual = gsl_stats_median_from_sorted_data(b->work, 1, n);
  b->own = tuned.part_alike * fmax(own, tuned.part_least * usual);
  if (b->own < tuned.part_contrast * usual)
    return true;
  b->own = 0;
  return false;
}

/* Puts the beginnings between two places into `at`; returns how many. */
static size_t find_between(const struct part_search *b, size_t from, size_t to,
                           double *at) {
  size_t n = 0;
  for (size_t p = from + b->apart; p + b->apart <= to; p++) {
    if (!(b->off[p] <= b->own))
      continue;
    size_t best = p;
    for (size_t q = p; q < p + b->apart; q++)
      if (b->off[q] < b->off[best])
        best = q;
    at[n++] = (double)best;
    p = best + b->apart - 1;
  }
  return n;
}

/* The number of parts of most cycles; 1 if no number is common to most. */
static size_t count_parts(struct part_search *b, double *shortest) {
  size_t cycles[DL_MOST_PARTS + 1] = {0};
  *shortest = INFINITY;
  b->own = 0;
  for (size_t p = 0; p < b->g->n; p++)
    b->off[p] = difference(b, p);
  if (b->n < 2 || !find_own(b))
    return 1;
  for (size_t i = 0; i + 1 < b->n; i++) {
    double *at = b->work, from = (double)b->place[i];
    size_t k = find_between(b, b->place[i], b->place[i + 1], at);
    cycles[GSL_MIN(k + 1, DL_MOST_PARTS)]++;
    for (size_t j = 0; j < k; from = at[j++])
      *shortest = fmin(*shortest, at[j] - from);
    *shortest = k ? fmin(*shortest, (double)b->place[i + 1] - from) : *shortest;
  }
  for (size_t k = 2; k < DL_MOST_PARTS; k++)
    if ((double)cycles[k] >= tuned.part_cycles * (double)(b->n - 1))
      return k;
  return 1;
}

/* The offsets of the steepest flanks of the mean cycle; returns how many. */
static size_t find_flanks(const struct part_search *b,
                          const struct dl_cycle_chain *chain, size_t *flank) {
  size_t length = (size_t)chain->period, n = 0;
  double steepest = 0, *steep = b->work;
  for (size_t j = 0; j < length; j++) {
    steep[j] = 0;
    for (size_t c = 0; c < b->g->n_channels; c++) {
      double sum = 0;
      for (size_t i = 0; i < chain->n; i++) {
        size_t p = (size_t)chain->at[i] + j;
        if (p > 0 && p + 1 < b->g->n)
          sum += b->g->level[0].s[c][p + 1] - b->g->level[0].s[c][p - 1];
      }
      steep[j] += fabs(sum);
    }
    steepest = fmax(steepest, steep[j]);
  }
  while (n < MOST_FLANKS) {
    size_t best = 0;
    for (size_t j = 0; j < length; j++)
      if (steep[j] > steep[best])
        best = j;
    if (!(steep[best] > tuned.flank_steep * steepest))
      break;
    flank[n++] = best;
    for (size_t j = best > b->apart ? best - b->apart : 0;
         j < length && j <= best + b->apart; j++)
      steep[j] = 0;
  }
  return n;
}

static void search_make(struct part_search *b, const struct dl_signal_grid *g,
                        const struct dl_cycle_chain *chain) {
  double period = chain->period;
  *b = (struct part_search){
      .g = g,
      .after = (size_t)fmax(LEAST_AFTER, fmin(period / 10, MOST_AFTER)),
      .apart = (size_t)fmax(LEAST_AFTER, period / 8)};
  b->mean = dl_channel_rows(g->n_channels, BEFORE + b->after);
  b->off = dl_calloc(3 * g->n + 1, sizeof *b->off);
  b->work = b->off + g->n;
  b->place = dl_calloc(chain->n + 1, sizeof *b->place);
}

static void search_free(struct part_search *b) {
  free(b->mean);
  free(b->off);
  free(b->place);
}

/* Mean square of the difference of a cycle from the mean of others. */
static double unlike(const struct dl_signal_grid *g, size_t from, size_t length,
                     double *const *mean) {
  double sum = 0;
  for (size_t c = 0; c < g->n_channels; c++)
    for (size_t k = 0; k < length; k++) {
      double off = g->level[0].s[c][from + k] - mean[c][k];
      sum += off * off;
    }
  return sum / (double)(length * g->n_channels);
}

/* The mean of the cycles after the first MOST_DROPPED. */
static void mean_cycle(const struct dl_signal_grid *g,
                       const struct dl_cycle_chain *chain, size_t length,
                       double **mean) {
  double n = (double)(chain->n - MOST_DROPPED);
  for (size_t i = MOST_DROPPED; i < chain->n; i++)
    for (size_t c = 0; c < g->n_channels; c++)
      for (size_t k = 0; k < length; k++)
        mean[c][k] += g->level[0].s[c][(size_t)chain->at[i] + k] / n;
}

void dl_drop_false_start(const struct dl_signal_grid *g, const bool *idle,
                         struct dl_cycle_chain *chain) {
  size_t length = (size_t)(tuned.start_share * chain->period), drop = 0;
  if (chain->n < MOST_DROPPED + DL_MIN_CYCLES ||
      (size_t)chain->at[chain->n - 1] + length > g->n)
    return;
  double **mean = dl_channel_rows(g->n_channels, length);
  DL_FREED double *off = dl_calloc(chain->n, sizeof *off);
  mean_cycle(g, chain, length, mean);
  for (size_t i = 0; i < chain->n; i++)
    off[i] = unlike(g, (size_t)chain->at[i], length, mean);
  size_t n = chain->n - MOST_DROPPED;
  gsl_sort(off + MOST_DROPPED, 1, n);
  double own = gsl_stats_quantile_from_sorted_data(off + MOST_DROPPED, 1, n,
                                                   tuned.part_own);
  for (size_t i = 0; i < MOST_DROPPED; i++)
    if (off[i] > tuned.start_unlike * fmax(own, tuned.start_least))
      drop = i + 1;
  /* A first cycle that is a little slow is one. */
  double head = chain->at[drop] - dl_idle_end(idle, chain->at[drop]);
  if (head < tuned.rest_one * chain->period)
    drop = 0;
  chain->n -= drop;
  memmove(chain->at, chain->at + drop, (chain->n + 1) * sizeof *chain->at);
  free(mean);
}

/* The largest share that a bin and its neighbours have in the squares of the
 * mean cycle about its median, over the channels. */
static double narrowness(const struct dl_signal_grid *g,
                         const struct dl_cycle_chain *chain, double *work) {
  size_t length = (size_t)chain->period;
  double least = 1, *sorted = work + length;
  for (size_t c = 0; c < g->n_channels; c++) {
    double most = 0, all = 0;
    for (size_t k = 0; k < length; k++) {
      work[k] = 0;
      for (size_t i = 0; i < chain->n; i++)
        if ((size_t)chain->at[i] + k < g->n)
          work[k] += g->x[c][(size_t)chain->at[i] + k];
      sorted[k] = work[k];
    }
    double median = gsl_stats_median(sorted, 1, length);
    for (size_t k = 0; k < length; k++)
      all += work[k] = (work[k] - median) * (work[k] - median);
    for (size_t k = 0; k < length; k++)
      most = fmax(most, work[k] + work[(k + 1) % length] +
                            work[(k + length - 1) % length]);
    least = fmin(least, all > 0 ? most / all : 1);
  }
  return least;
}

void dl_find_cycle_parts(const struct dl_signal_grid *g,
                         struct dl_cycle_chain *chain) {
  double shortest;
  size_t flank[MOST_FLANKS + 1] = {0};
  struct part_search b;
  search_make(&b, g, chain);
  chain->parts = 1;
  chain->part = chain->period;
  chain->narrow = g->step_s >= tuned.coarse_s &&
                  narrowness(g, chain, b.work) > tuned.narrow;
  size_t n = 1 + find_flanks(&b, chain, flank + 1);
  for (size_t i = 0; i < n; i++) {
    put_places(&b, chain, flank[i]);
    size_t parts = count_parts(&b, &shortest);
    if (i == 0)
      chain->uneven = b.own == 0;
    if (i == 0 && b.own > 0 && has_room(&b, (size_t)chain->at[0]))
      chain->mid_start = b.off[b.place[0]] > b.own;
    if (parts > chain->parts) {
      chain->parts = parts;
      chain->part = shortest;
      chain->part_from = flank[i];
    }
  }
  search_free(&b);
}

void dl_split_cycles(const struct dl_signal_grid *g,
                     struct dl_cycle_chain *chain) {
  struct part_search b;
  double shortest, *at = dl_calloc(g->n + 1, sizeof *at);
  size_t n = 0;
  search_make(&b, g, chain);
  put_places(&b, chain, chain->part_from);
  count_parts(&b, &shortest);
  b.own *= tuned.part_split;
  for (size_t i = 0; i <= b.n; i++) {
    size_t from = i ? b.place[i - 1] : 0, to = i < b.n ? b.place[i] : g->n;
    if (i)
      at[n++] = (double)from;
    n += find_between(&b, from, to, at + n);
  }
  search_free(&b);
  free(chain->at);
  chain->at = at;
  chain->n = n - 1;
  chain->period = chain->part;
  chain->parts = 1;
  chain->longest = 0;
  for (size_t i = 0; i + 1 < n; i++)
    chain->longest = fmax(chain->longest, at[i + 1] - at[i]);
}
