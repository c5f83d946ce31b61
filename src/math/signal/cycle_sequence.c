/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Joins chains of tracked cycles into one sequence, and decides about what is
 * left between and beside them. */

#include <gsl/gsl_math.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/signal/cycle_parameters.h"
#include "math/signal/cycles_private.h"

/* Cycles that a rest at the end may hold. */
enum { MAX_TAIL = 2 };

bool *dl_find_idle(const struct dl_signal_grid *g,
                   const struct dl_period_segments *segments) {
  DL_FREED double *work = dl_calloc(g->n, sizeof *work);
  bool *idle = dl_calloc(g->n, sizeof *idle);
  for (size_t c = 0; c < g->n_channels; c++) {
    size_t m = 0;
    for (size_t k = 0; k < segments->n; k++)
      for (size_t i = (size_t)segments->at[k].start;
           i < g->n && (double)i < segments->at[k].end; i++)
        if (m < g->n)
          work[m++] = g->x[c][i];
    if (m == 0)
      continue;
    gsl_sort(work, 1, m);
    double low =
        gsl_stats_quantile_from_sorted_data(work, 1, m, tuned.idle_quantile);
    size_t run = 0;
    for (size_t i = 0; i <= g->n; i++) {
      if (i < g->n && g->x[c][i] < tuned.idle_share * low) {
        run++;
        continue;
      }
      for (size_t j = i - run; run >= tuned.idle_bins && j < i; j++)
        idle[j] = true;
      run = 0;
    }
  }
  return idle;
}

double dl_idle_start(const bool *idle, double from, double to) {
  for (size_t i = (size_t)from; (double)i < to; i++)
    if (idle[i])
      return fmax(from, (double)i);
  return to;
}

double dl_idle_end(const bool *idle, double to) {
  for (size_t i = (size_t)to; i > 0; i--)
    if (idle[i - 1])
      return fmin(to, (double)i);
  return 0;
}

static double busy(const bool *idle, double from, double to) {
  double sum = 0;
  for (size_t i = (size_t)from; (double)i < to; i++)
    sum += !idle[i];
  return sum;
}

static void push(struct dl_cycle_sequence *s, double at) {
  DL_GROW(s->at, s->cap, s->n_at + 1);
  if (s->n_at == 0 || at > s->at[s->n_at - 1])
    s->at[s->n_at++] = at;
}

/* Cuts from ... to into `cycles`, of which the end of the last is pushed. */
static void push_even(struct dl_cycle_sequence *s, double from, double to,
                      size_t cycles) {
  for (size_t i = 1; i <= cycles; i++)
    push(s, from + (to - from) * (double)i / (double)cycles);
}

/* Notes that a stretch that would hold `would` cycles was given `cycles`. */
static void note(struct dl_cycle_sequence *s, double would, size_t cycles) {
  double more = would - (double)cycles;
  s->n_filled += tuned.filled_doubt * (double)cycles + fmax(0, -more);
  s->n_unseen += fmax(0, more);
}

static bool similar(const struct dl_cycle_chain *a,
                    const struct dl_cycle_chain *b) {
  return fabs(log(a->period / b->period)) < tuned.same_period;
}

static size_t cycles_in(double length, double period) {
  double n = length / period;
  if (n < tuned.rest)
    return 0;
  return n < tuned.rest_one ? 1 : (size_t)lround(n);
}

/* The start of the first chain. */
static void push_head(struct dl_cycle_sequence *s,
                      const struct dl_cycle_chain *c, const bool *idle) {
  double from = dl_idle_end(idle, c->at[0]), length = c->at[0] - from;
  size_t cycles = GSL_MIN(1, cycles_in(length, c->period));
  if (c->mid_start &&
      length > tuned.rest_one * c->period) { /* a slow first one */
    s->n_filled += tuned.filled_doubt;
    push(s, from);
    return;
  }
  s->n_unseen += busy(idle, 0, from) / c->period;
  note(s, length / c->period, cycles);
  if (length > tuned.rest_one * c->period)
    from = c->at[0] - c->period;
  if (cycles > 0)
    push(s, from);
  push(s, c->at[0]);
}

static void push_tail(struct dl_cycle_sequence *s,
                      const struct dl_cycle_chain *c, const bool *idle,
                      double end, bool goes_on) {
  double from = c->at[c->n], to = dl_idle_start(idle, from, end);
  double would = (to - from) / c->period;
  if (c->longest > 0) { /* whether it is a longer one is unknown */
    double least = goes_on ? c->longest : tuned.rest * c->period;
    if (to - from >= least * (1 - tuned.ended))
      push(s, goes_on ? fmin(end, from + c->longest) : to);
    return;
  }
  if (goes_on) {
    size_t whole = (size_t)floor((end - from) / c->period + tuned.ended);
    whole = whole <= MAX_TAIL ? whole : 0;
    note(s, floor((end - from) / c->period), whole);
    push_even(s, from, fmin(end, from + (double)whole * c->period), whole);
    return;
  }
  size_t cycles = would < tuned.rest ? 0 : (size_t)lround(would);
  s->n_unseen += busy(idle, to, end) / c->period;
  cycles = cycles <= MAX_TAIL ? cycles : 0;
  note(s, would, cycles);
  push_even(s, from, to, cycles);
}

/* The next pause in from ... to: an idle run of some length. False without
 * one. */
static bool next_pause(const bool *idle, double from, double to, double least,
                       double *start, double *end) {
  for (*start = dl_idle_start(idle, from, to); *start < to;
       *start = dl_idle_start(idle, *end, to)) {
    *end = *start;
    while (*end < to && idle[(size_t)*end])
      *end = floor(*end) + 1;
    *end = fmin(*end, to);
    if (*end - *start >= least)
      return true;
  }
  return false;
}

/* Cycles for from ... to, which lies between phases without a pause and which
 * neither matched: at most one of the shorter kind and some of the longer, as
 * fits best. */
static void push_rest(struct dl_cycle_sequence *s,
                      const struct dl_cycle_chain *a,
                      const struct dl_cycle_chain *b, double from, double to) {
  double length = to - from;
  if (similar(a, b)) {
    double would = 2 * length / (a->period + b->period);
    size_t cycles = (size_t)lround(would);
    note(s, would, cycles);
    push_even(s, from, to, cycles);
    return;
  }
  double shorter = fmin(a->period, b->period);
  double longer = fmax(a->period, b->period);
  size_t few = 0, many = 0;
  double least = INFINITY, would = 0;
  for (size_t i = 0; i <= 1; i++) {
    double left = length - (double)i * shorter;
    size_t j = (size_t)lround(fmax(0, left) / longer);
    double off = fabs(left - (double)j * longer);
    off += tuned.fill_cost * shorter * (double)(i + j);
    if (off < least) {
      least = off;
      few = i;
      many = j;
      would = (double)i + left / longer;
    }
  }
  note(s, would, few + many);
  bool rising = a->period < b->period;
  size_t first = rising ? few : many, second = rising ? many : few;
  double mid = from + (double)first * a->period;
  if (second == 0)
    mid = to;
  else if (first == 0 || mid > to)
    mid = first == 0 ? from : 0.5 * (from + to);
  push_even(s, from, mid, first);
  push_even(s, mid, to, second);
}

/* Pushes the bounds between two chains, from the last bound of the first to the
 * first bound of the second. The time before the first pause belongs to the
 * first chain; the rest, which neither matched, is counted in cycles of the
 * longer period. */
static void push_between(struct dl_cycle_sequence *s,
                         const struct dl_cycle_chain *a,
                         const struct dl_cycle_chain *b, const bool *idle) {
  double from = a->at[a->n], to = b->at[0], start = from, end = from;
  double least = tuned.pause * fmin(a->period, b->period), period = a->period;
  if (!next_pause(idle, from, to, least, &start, &end)) {
    push_rest(s, a, b, from, to);
    return;
  }
  for (bool more = true; more;) {
    size_t cycles = cycles_in(start - from, period);
    double begin = s->at[s->n_at - 1];
    note(s, (start - from) / period, cycles);
    if (from > a->at[a->n] && b->period < period)
      s->n_unseen += (start - from) / b->period - (start - from) / period;
    if (cycles > 0)
      push_even(s, begin > from ? begin : from, start, cycles);
    from = end;
    period = fmax(a->period, b->period);
    more = from < to;
    if (!next_pause(idle, from, to, least, &start, &end))
      start = end = to;
  }
}

void dl_join_chains(const struct dl_cycle_chain *chain, size_t n_chains,
                    const bool *idle, double end, bool goes_on,
                    struct dl_cycle_sequence *s) {
  for (size_t k = 0; k < n_chains; k++) {
    const struct dl_cycle_chain *c = &chain[k];
    if (k == 0)
      push_head(s, c, idle);
    else
      push_between(s, &chain[k - 1], c, idle);
    for (size_t i = 1; i <= c->n; i++) {
      /* A cycle that is a pause for the most part belongs to the next. */
      double from = c->at[i - 1], length = c->at[i] - from;
      if (i < c->n && busy(idle, from, c->at[i]) < 0.5 * length)
        continue;
      push(s, c->at[i]);
    }
  }
  push_tail(s, &chain[n_chains - 1], idle, end, goes_on);
}
