/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/signal/cycles.h"

#include <gsl/gsl_math.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/signal/cycle_parameters.h"
#include "math/signal/cycles_private.h"

/* Fewer samples than this never show a cycle. */
enum { MIN_SAMPLES = DL_LAG_MIN * DL_MIN_CYCLES };

void dl_cycles_free(struct dl_cycles *c) {
  if (!c)
    return;
  free(c->boundary);
  *c = (struct dl_cycles){0};
}

/* All that a search holds. */
struct cycle_search {
  struct dl_signal_grid grid;
  struct dl_tempogram tempo;
  struct dl_period_segments segments;
  struct dl_cycle_chain *chain; /* in order of time */
  size_t n_chains;
  bool *idle;   /* of each bin */
  bool goes_on; /* the last cycle has not ended */
  bool split;   /* cycles were split where the hint says so */
  bool thin;    /* the evidence would not do for more cycles */
  /* Flank at which cycles of about this period were cut. */
  double flank_period;
  double *flank; /* of each channel */
  struct dl_cycle_sequence sequence;
};

static void forget_chains(struct cycle_search *s) {
  dl_tempogram_free(&s->tempo);
  free(s->segments.at);
  for (size_t i = 0; i < s->n_chains; i++)
    free(s->chain[i].at);
  free(s->chain);
  free(s->idle);
  s->tempo = (struct dl_tempogram){0};
  s->segments = (struct dl_period_segments){0};
  s->chain = NULL;
  s->n_chains = 0;
  s->idle = NULL;
  s->thin = false;
}

static void search_free(struct cycle_search *s) {
  dl_signal_grid_free(&s->grid);
  forget_chains(s);
  free(s->sequence.at);
}

static double length(const struct dl_period_segment *g) {
  return g->end - g->start;
}

/* Whether g lies beside the segment h and is no longer than one and a half of
 * its cycles: then it is what goes on within a cycle. */
static bool within_cycle(const struct dl_period_segment *g,
                         const struct dl_period_segment *h) {
  double apart = fmax(g->start - h->end, h->start - g->end);
  double longest = g->period < h->period / 3 ? 2.2 : 1.6;
  return length(g) < longest * h->period && h->score > g->score &&
         apart < h->period;
}

/* The best of the segments that stand out by themselves, or NULL. */
static const struct dl_period_segment *stands_out(struct cycle_search *s) {
  const struct dl_period_segment *best = NULL;
  for (size_t i = 0; i < s->segments.n; i++) {
    const struct dl_period_segment *g = &s->segments.at[i];
    double places = fmax(1, (double)s->grid.n / g->period);
    double trials = (double)s->tempo.n_lags / tuned.lags_alike * places;
    double beyond_chance = g->nats - log(trials);
    bool fills = length(g) < tuned.few_cycles * g->period &&
                 length(g) > tuned.few_fill * (double)s->grid.n;
    double least = fills ? tuned.alone_nats_few : tuned.alone_nats;
    if (s->goes_on)
      least = tuned.alone_nats_known;
    if (beyond_chance >= least && g->r_again >= tuned.repeat * g->r &&
        (!best || g->score > best->score)) {
      best = g;
      s->thin = beyond_chance < tuned.alone_nats;
    }
  }
  return best;
}

/* Nats a further phase needs, the more its period differs from the best one's.
 */
static double nats_needed(const struct dl_period_segment *g,
                          const struct dl_period_segment *best) {
  double off = fabs(log(g->period / best->period)) - log(3);
  return tuned.further_nats + 6 * fmax(0, off);
}

static bool enough_evidence(const struct dl_period_segment *g,
                            const struct dl_period_segment *best) {
  double share =
      g->period < best->period / 4 ? tuned.repeat_short : tuned.repeat;
  return g->nats >= nats_needed(g, best) && g->r_again >= share * g->r &&
         length(g) > (DL_MIN_CYCLES - 0.5) * g->period;
}

/* Keeps the segments whose evidence suffices: one must stand out by itself,
 * the others then need less. */
static void sift(struct cycle_search *s) {
  const struct dl_period_segment *best = stands_out(s);
  for (size_t i = 0; i < s->segments.n; i++) {
    struct dl_period_segment *g = &s->segments.at[i];
    g->kept = best && enough_evidence(g, best);
    for (size_t j = 0; g->kept && j < s->segments.n; j++)
      g->kept = j == i || !within_cycle(g, &s->segments.at[j]);
  }
  size_t kept = 0;
  for (size_t i = 0; i < s->segments.n; i++)
    if (s->segments.at[i].kept)
      s->segments.at[kept++] = s->segments.at[i];
  s->segments.n = kept;
  /* The ends of a segment are as uncertain as its period is long. */
  for (size_t i = 1; i < s->segments.n; i++) {
    struct dl_period_segment *g = &s->segments.at[i - 1];
    double over = g->end - g[1].start;
    if (over > 0)
      g->end = g[1].start =
          g->end - over * g->period / (g->period + g[1].period);
  }
}

/* Sets where the cycles of a segment may lie around it. The shorter cycles
 * are followed first, and up to one cycle into a segment of longer ones, since
 * the long match two or three of the short. */
static void set_range(const struct cycle_search *s,
                      struct dl_period_segment *g) {
  double mid = 0.5 * (g->start + g->end), low, high;
  low = fmax(0, g->start - tuned.follow * g->period);
  high = fmin((double)s->grid.n, g->end + tuned.follow * g->period);
  if (g > s->segments.at)
    low = fmax(low, g[-1].end - (g->period < g[-1].period ? g[-1].period : 0));
  if (g + 1 < s->segments.at + s->segments.n)
    high = fmin(high, g[1].start + (g->period < g[1].period ? g[1].period : 0));
  for (size_t i = 0; i < s->n_chains; i++) {
    const struct dl_cycle_chain *c = &s->chain[i];
    double a = c->at[0], b = c->at[c->n];
    if (0.5 * (a + b) < mid)
      low = fmax(low, b);
    else
      high = fmin(high, a);
  }
  g->low = low;
  g->high = high;
  g->training_end = NAN;
}

/* Follows the cycles of one segment, and puts them among the chains. */
static void track_one(struct cycle_search *s, struct dl_period_segment *g) {
  struct dl_cycle_chain c;
  set_range(s, g);
  g->start = fmax(g->start, g->low);
  g->end = fmin(g->end, g->high);
  if (g->end - g->start < (DL_MIN_CYCLES - 0.5) * g->period)
    return;
  bool alike =
      s->flank_period > 0 && fabs(log(g->period / s->flank_period)) < 0.1;
  for (size_t i = 0; !alike && i < s->grid.n_channels; i++)
    s->flank[i] = 0;
  double late = fmax(g->start, g->end - g->period);
  double until = fmin((double)s->grid.n, g->end + 1.5 * g->period);
  double end = dl_idle_start(s->idle, late, until);
  bool seen = end < until || (g->high >= (double)s->grid.n && !s->goes_on);
  g->training_end = seen ? end : NAN;
  dl_track_cycles(&c, &s->grid, g, s->flank);
  if (c.n == 0) {
    free(c.at);
    return;
  }
  s->flank_period = c.period;
  size_t at = s->n_chains++;
  for (; at > 0 && s->chain[at - 1].at[0] > c.at[0]; at--)
    s->chain[at] = s->chain[at - 1];
  s->chain[at] = c;
}

/* Follows the cycles of all segments, the shortest first. */
static void track_all(struct cycle_search *s) {
  s->chain = dl_calloc(s->segments.n + 1, sizeof *s->chain);
  DL_FREED bool *done = dl_calloc(s->segments.n, sizeof *done);
  s->flank_period = 0;
  s->flank = dl_calloc(s->grid.n_channels, sizeof *s->flank);
  for (size_t turn = 0; turn < s->segments.n; turn++) {
    size_t best = s->segments.n;
    for (size_t i = 0; i < s->segments.n; i++)
      if (!done[i] && (best == s->segments.n ||
                       s->segments.at[i].period < s->segments.at[best].period))
        best = i;
    done[best] = true;
    track_one(s, &s->segments.at[best]);
  }
  free(s->flank);
}

/* Whether one period is three or more times the other: then one of the two may
 * be mistaken. Twice is common, as training a classifier on a frozen backbone
 * takes half the time of training all. */
static bool multiples(const struct dl_cycle_chain *a,
                      const struct dl_cycle_chain *b) {
  double ratio = fmax(a->period, b->period) / fmin(a->period, b->period);
  return round(ratio) >= 3 && fabs(ratio / round(ratio) - 1) < 0.03;
}

/* The verdict on a sequence. */
static void judge(const struct cycle_search *s, struct dl_cycles *c) {
  const struct dl_cycle_sequence *q = &s->sequence;
  double total = 0, match = 0, weak = 0, brief = 0, n = (double)c->n;
  bool doubtful = false, narrow = false, uneven = false;
  c->parts = 1;
  c->part_s = c->whole_s = NAN;
  for (size_t i = 0; i < s->n_chains; i++) {
    match += s->chain[i].match * (double)s->chain[i].n;
    total += (double)s->chain[i].n;
    doubtful = doubtful || s->chain[i].doubtful;
    narrow = narrow || s->chain[i].narrow;
    uneven = uneven || s->chain[i].uneven;
    if (s->chain[i].parts > c->parts) {
      c->parts = s->chain[i].parts;
      c->part_s = s->chain[i].part * s->grid.step_s;
      c->whole_s = s->chain[i].period * s->grid.step_s;
    }
    weak += (double)s->chain[i].n_weak;
    if (s->chain[i].period < 2 * DL_LAG_MIN)
      brief += (double)s->chain[i].n;
  }
  bool multiple = false;
  for (size_t i = 1; i < s->n_chains; i++)
    multiple = multiple || multiples(&s->chain[i - 1], &s->chain[i]);
  c->strength = GSL_MAX(0, GSL_MIN(1, match / total));
  c->n_low = fmax(0, n - ceil(q->n_filled + 0.5 * weak));
  c->n_high = n * (double)c->parts + ceil(q->n_unseen + 0.5 * weak);
  double slack = fmax(2, 0.02 * n);
  c->verdict = DL_CYCLES_UNSURE;
  if (doubtful)
    c->reason = "a cycle half as long explains nearly as much";
  else if (c->parts > 1)
    c->reason = "what begins a cycle recurs within it";
  else if (multiple)
    c->reason = "one phase's cycle is a multiple of the next one's";
  else if (brief > 0.5 * total)
    c->reason = "cycles of few samples may be several in one";
  else if (narrow)
    c->reason = "samples are so far apart that some ends may be missing";
  else if (c->strength < tuned.sure_strength)
    c->reason = "the cycles are faint";
  else if (s->thin || (uneven && n < tuned.few_cycles))
    c->reason = "the cycles are few and may be chance";
  else if (c->n_high - n > slack)
    c->reason = "parts of the time show no cycle";
  else if (n - c->n_low > slack)
    c->reason = "too many cycles are not seen but filled in";
  else
    c->verdict = DL_CYCLES_SURE;
}

/* Finds the longest idle times between the first bound and the end, and at the
 * end: also those that the level at work, an idle one for a part of the time,
 * does not show. */
static void find_rests(const struct cycle_search *s, struct dl_cycles *c) {
  double period = INFINITY, step = s->grid.step_s;
  size_t run = 0;
  for (size_t i = 0; i < s->n_chains; i++)
    period = fmin(period, tuned.rest_cycles * s->chain[i].period);
  DL_FREED double *x = dl_calloc(s->grid.n, sizeof *x);
  memcpy(x, s->grid.x[0], s->grid.n * sizeof *x);
  double low = tuned.rest_level * gsl_stats_median(x, 1, s->grid.n);
  for (size_t i = (size_t)s->sequence.at[0]; i <= s->grid.n; i++) {
    if (i < s->grid.n && (s->idle[i] || s->grid.x[0][i] < low)) {
      run++;
      continue;
    }
    double length = (double)run;
    if (i == s->grid.n && length >= period)
      c->idle_after_s = length * step;
    else if (length >= period && length * step > c->idle_within_s) {
      c->idle_within_s = length * step;
      c->idle_from_s = s->grid.start_s + (double)(i - run) * step;
    }
    run = 0;
  }
}

/* Puts the sequence, in bins, into c, in seconds. */
static void deliver(const struct cycle_search *s, struct dl_cycles *c) {
  const struct dl_cycle_sequence *q = &s->sequence;
  c->boundary = dl_calloc(q->n_at, sizeof *c->boundary);
  c->n = q->n_at - 1;
  for (size_t i = 0; i < q->n_at; i++)
    c->boundary[i] = s->grid.start_s + q->at[i] * s->grid.step_s;
  judge(s, c);
  find_rests(s, c);
}

static void none(struct dl_cycles *c, const char *reason) {
  c->verdict = DL_CYCLES_NONE;
  c->reason = reason;
}

/* Follows the cycles with a period near the hint, bins; 0: any. */
static void track(struct cycle_search *s, double low, double high,
                  double hint) {
  const struct dl_signal_grid *g = &s->grid;
  dl_tempogram_make(&s->tempo, g, low, high, hint);
  if (s->tempo.n_lags == 0)
    return;
  dl_find_period_segments(&s->segments, &s->tempo, g, hint);
  sift(s);
  s->idle = dl_find_idle(g, &s->segments);
  track_all(s);
  if (s->n_chains > 0)
    dl_drop_false_start(g, s->idle, &s->chain[0]);
  for (size_t i = 0; i < s->n_chains; i++)
    dl_find_cycle_parts(g, &s->chain[i]);
}

static bool is_near(double period, double hint) {
  return fabs(log(period / hint)) < tuned.hinted;
}

/* If cycles have parts of the hinted length, the parts are the cycles. Else
 * cycles of that length are followed. */
static void track_hinted(struct cycle_search *s, double low, double high,
                         double hint) {
  track(s, low, high, 0);
  for (size_t i = 0; i < s->n_chains; i++)
    if (s->chain[i].parts > 1 && is_near(s->chain[i].part, hint)) {
      dl_split_cycles(&s->grid, &s->chain[i]);
      s->split = true;
    }
  if (s->split)
    return;
  forget_chains(s);
  track(s, low, high, hint);
  for (size_t i = 0; i < s->n_chains; i++)
    if (is_near(s->chain[i].period, hint))
      s->chain[i].parts = 1;
}

static void find(struct cycle_search *s, const struct dl_cycles_options *o,
                 struct dl_cycles *c) {
  const struct dl_signal_grid *g = &s->grid;
  if (g->n < MIN_SAMPLES) {
    none(c, "too few samples");
    return;
  }
  if (g->n_channels == 0) {
    none(c, "the signals do not change");
    return;
  }
  double low = DL_LAG_MIN, high = (double)g->n / (DL_MIN_CYCLES - 0.2);
  none(c, "no cycle stands out");
  if (low > high)
    return;
  s->goes_on = o->n_total > 0;
  if (o->hint_s > 0)
    track_hinted(s, low, high, o->hint_s / g->step_s);
  else
    track(s, low, high, 0);
  if (s->n_chains == 0)
    return;
  bool added = false;
  if (s->goes_on && !s->split)
    dl_find_final_phase(g, o->n_first, s->chain, &s->n_chains, &added);
  s->thin = s->thin || added;
  c->reason = NULL;
  dl_join_chains(s->chain, s->n_chains, s->idle, (double)g->n, s->goes_on,
                 &s->sequence);
  deliver(s, c);
}

static bool is_possible(double x) {
  return isfinite(x) && x >= 0;
}

enum dl_status dl_cycles_find(const struct dl_signals *signals,
                              const struct dl_cycles_options *o,
                              struct dl_cycles *c, struct dl_diag *d) {
  static const struct dl_cycles_options any = {0};
  struct cycle_search s = {0};
  *c = (struct dl_cycles){0};
  if (!o)
    o = &any;
  if (!is_possible(o->hint_s))
    return dl_fail(d, DL_EINPUT, "no such length of a cycle: %g s", o->hint_s);
  if (!is_possible(o->n_total) || !is_possible(o->n_first))
    return dl_fail(d, DL_EINPUT, "no such number of cycles: %g, first %g",
                   o->n_total, o->n_first);
  const double *t = signals->t;
  for (size_t i = 0; i < signals->n; i++)
    if (!isfinite(t[i]) || (i > 0 && t[i] <= t[i - 1]))
      return dl_fail(d, DL_EINPUT,
                     "sample %zu: its time does not follow the one before", i);
  dl_signal_grid_make(&s.grid, signals);
  find(&s, o, c);
  search_free(&s);
  return DL_OK;
}
