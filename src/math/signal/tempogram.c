/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tempogram: local correlation of the signals with themselves a lag later.
 *
 *   r_c(t, L) = sum y(s) y(s + L) / sqrt(sum y(s)^2 sum y(s + L)^2)
 *
 * over the pairs (s, s + L) whose middle is within L of t, y the channel less
 * its moving mean over L. Channels are combined as sum r^2 / sum r over those
 * with r > 0, which follows the clearest. */

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/signal/cycle_parameters.h"
#include "math/signal/cycles_private.h"

/* Blocks of at least this many bins, and at most that many blocks. */
enum { BLOCK_BINS = 2, MAX_BLOCKS = 1 << 12 };
/* Fractions of a lag that are looked at: a half, a third, a quarter. */
enum { PARTS = 3 };

void dl_tempogram_free(struct dl_tempogram *m) {
  free(m->period);
  free(m->chance);
  free(m->r);
  *m = (struct dl_tempogram){0};
}

/* Room for the work on one level. */
struct lag_sums {
  double *y, *product, *first, *second, *r, *weight;
};

static void work_alloc(struct lag_sums *w, size_t n) {
  double *block = dl_calloc(6 * (n + 2), sizeof *block);
  double **part[6] = {&w->y,      &w->product, &w->first,
                      &w->second, &w->r,       &w->weight};
  for (size_t i = 0; i < 6; i++)
    *part[i] = block + i * (n + 2);
}

/* Running sums of y(s) y(s + L), y(s)^2 and y(s + L)^2. */
static void pair_sums(struct lag_sums *w, const double *known, size_t n,
                      size_t lag) {
  const double *y = w->y;
  w->product[0] = w->first[0] = w->second[0] = 0;
  for (size_t s = 0; s + lag < n; s++) {
    double a = y[s] * known[s + lag], b = y[s + lag] * known[s];
    w->product[s + 1] = w->product[s] + y[s] * y[s + lag];
    w->first[s + 1] = w->first[s] + a * a;
    w->second[s + 1] = w->second[s] + b * b;
  }
}

/* Adds a channel's correlation at one lag: r to `weight`, r^2 to `r`. */
static void add_channel(struct lag_sums *w, const struct dl_grid_level *l,
                        size_t channel, size_t lag) {
  size_t pairs = l->n - lag;
  dl_detrend(l, channel, lag, 0, l->n, w->y);
  pair_sums(w, l->w[channel], l->n, lag);
  /* Rounding in the running sums must not look like a signal. */
  double floor = 1e-9 * (w->first[pairs] + w->second[pairs]);
  for (size_t i = lag / 2; i + lag - lag / 2 < l->n; i++) {
    size_t s = i - lag / 2;
    size_t a = s > lag ? s - lag : 0, b = GSL_MIN(s + lag + 1, pairs);
    double first = w->first[b] - w->first[a];
    double second = w->second[b] - w->second[a];
    if (first <= floor || second <= floor)
      continue;
    double least = (double)(b - a) * tuned.noise;
    double r = (w->product[b] - w->product[a]) /
               sqrt((first + least) * (second + least));
    if (r > 0) {
      w->r[i] += r * r;
      w->weight[i] += r;
    }
  }
}

/* Fills column `column` of the tempogram from one lag at one level. */
static void fill(struct dl_tempogram *m, const struct dl_signal_grid *g,
                 const struct dl_grid_level *l, size_t lag, size_t column,
                 struct lag_sums *w) {
  memset(w->r, 0, l->n * sizeof *w->r);
  memset(w->weight, 0, l->n * sizeof *w->weight);
  for (size_t c = 0; c < g->n_channels; c++)
    add_channel(w, l, c, lag);
  for (size_t i = 0; i < l->n; i++)
    if (w->weight[i] > 0)
      w->r[i] /= w->weight[i];
  for (size_t b = 0; b < m->n_blocks; b++) {
    double at = ((double)b + 0.5) * m->block / (double)l->scale;
    size_t i = GSL_MIN((size_t)at, l->n - 1);
    m->r[b * m->n_lags + column] = (float)w->r[i];
  }
}

/* The lags of a level: from *first to before *end. */
static void lags_of(const struct dl_grid_level *l, double low, double high,
                    size_t *first, size_t *end) {
  size_t from = l->scale == 1 ? DL_LAG_MIN : DL_LAG_LOW;
  double scale = (double)l->scale;
  *first = GSL_MAX(from, (size_t)ceil(low / scale - 1e-9));
  *end = GSL_MIN(2 * DL_LAG_LOW, (size_t)floor(high / scale + 1e-9) + 1);
  *end = GSL_MIN(*end, l->n / 2);
}

/* The column whose lag is nearest to a period, from `below` downwards. */
static size_t column_for(const struct dl_tempogram *m, size_t below,
                         double period) {
  size_t j = below;
  while (j > 0 && m->period[j] > period)
    j--;
  if (j < below && m->period[j + 1] - period < period - m->period[j])
    j++;
  return j;
}

/* Takes from r at column l what r near column `at` explains, where that is the
 * lag of a fraction of l's. */
static void damp(const struct dl_tempogram *m, float *r, size_t l, size_t at) {
  float over = r[l] - (float)m->chance[l];
  if (over <= 0)
    return;
  float part = r[at];
  if (at > 0)
    part = fmaxf(part, r[at - 1]);
  if (at + 1 < l)
    part = fmaxf(part, r[at + 1]);
  float share = (part - (float)m->chance[at]) / over;
  if (share > tuned.multiple)
    r[l] -= over * fminf(1, (share - tuned.multiple) / (1 - tuned.multiple));
}

/* A cycle also repeats at multiples of its length: takes from r at each lag
 * what r at half, a third, a quarter of it explains, unless it is hinted at. */
static void damp_multiples(struct dl_tempogram *m, double hint) {
  DL_FREED size_t *part = dl_calloc(m->n_lags * PARTS, sizeof *part);
  for (size_t l = 0; l < m->n_lags; l++)
    for (size_t k = 0; k < PARTS; k++) {
      double period = m->period[l] / (double)(k + 2);
      bool hinted = hint > 0 && fabs(log(m->period[l] / hint)) < tuned.hinted;
      bool none = l == 0 || hinted || period < m->period[0];
      part[l * PARTS + k] = none ? l : column_for(m, l, period);
    }
  for (size_t b = 0; b < m->n_blocks; b++)
    for (size_t l = m->n_lags; l-- > 0;)
      for (size_t k = 0; k < PARTS && part[l * PARTS + k] < l; k++)
        damp(m, m->r + b * m->n_lags, l, part[l * PARTS + k]);
}

void dl_tempogram_make(struct dl_tempogram *m, const struct dl_signal_grid *g,
                       double min_period, double max_period, double hint) {
  struct lag_sums w;
  size_t first, end;
  *m = (struct dl_tempogram){.block = BLOCK_BINS};
  if (g->n > (size_t)BLOCK_BINS * MAX_BLOCKS)
    m->block = (double)g->n / MAX_BLOCKS;
  m->n_blocks = (size_t)((double)g->n / m->block);
  for (size_t k = 0; k < g->n_levels; k++) {
    lags_of(&g->level[k], min_period, max_period, &first, &end);
    m->n_lags += end > first ? end - first : 0;
  }
  m->period = dl_calloc(m->n_lags, sizeof *m->period);
  m->chance = dl_calloc(m->n_lags, sizeof *m->chance);
  m->r = dl_calloc(m->n_blocks * m->n_lags, sizeof *m->r);
  work_alloc(&w, g->n);
  size_t column = 0;
  for (size_t k = 0; k < g->n_levels; k++) {
    lags_of(&g->level[k], min_period, max_period, &first, &end);
    for (size_t lag = first; lag < end; lag++) {
      m->period[column] = (double)(lag * g->level[k].scale);
      fill(m, g, &g->level[k], lag, column++, &w);
    }
  }
  free(w.y);
  for (size_t l = 0; l < m->n_lags; l++) {
    double bins = m->period[l];
    while (bins >= 2 * DL_LAG_LOW)
      bins /= 2;
    m->chance[l] = tuned.chance_base + tuned.chance_spread / sqrt(bins);
  }
  damp_multiples(m, hint);
}
