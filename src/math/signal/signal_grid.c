/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Uneven samples onto even grids of several resolutions. A bin of the finest
 * grid is the mean over the bin of the line through the samples. */

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/signal/cycle_parameters.h"
#include "math/signal/cycles_private.h"

double **dl_channel_rows(size_t channels, size_t n) {
  size_t head = channels * sizeof(double *);
  double **rows = dl_calloc(1, head + channels * n * sizeof(double));
  double *data = (double *)(void *)((char *)rows + head);
  for (size_t c = 0; c < channels; c++)
    rows[c] = data + c * n;
  return rows;
}

void dl_signal_grid_free(struct dl_signal_grid *g) {
  free(g->x);
  for (size_t k = 0; k < g->n_levels; k++) {
    free(g->level[k].s);
    free(g->level[k].w);
    free(g->level[k].sum);
    free(g->level[k].weight);
  }
  *g = (struct dl_signal_grid){0};
}

/* The integral of the line through samples i and i + 1 from a to b. */
static double area(const double *t, const double *x, size_t i, double a,
                   double b) {
  double dt = t[i + 1] - t[i], slope = (x[i + 1] - x[i]) / dt;
  double mid = 0.5 * (a + b) - t[i];
  return (x[i] + slope * mid) * (b - a);
}

/* Means over the bins of a signal whose samples are all known into x, known
 * shares into w. */
static void fill_bins(const struct dl_signal_grid *g,
                      const struct dl_signals *s, double gap, double *x,
                      double *w) {
  size_t i = 0;
  const double *known_x = s->value[0];
  double last = known_x[0];
  for (size_t b = 0; b < g->n; b++) {
    double low = g->start_s + (double)b * g->step_s, high = low + g->step_s;
    double sum = 0, known = 0;
    while (i + 1 < s->n && s->t[i + 1] <= low)
      i++;
    for (size_t j = i; j + 1 < s->n && s->t[j] < high; j++) {
      double from = fmax(low, s->t[j]), to = fmin(high, s->t[j + 1]);
      if (to <= from || s->t[j + 1] - s->t[j] > gap)
        continue;
      sum += area(s->t, known_x, j, from, to);
      known += to - from;
    }
    if (known > 0)
      last = sum / known;
    x[b] = last;
    w[b] = fmin(1, known / g->step_s);
  }
}

/* Median of n numbers, which are put in order. */
static double median(double *x, size_t n) {
  gsl_sort(x, 1, n);
  return gsl_stats_median_from_sorted_data(x, 1, n);
}

/* Centre and scale of the known bins; the scale is 0 for a constant. */
static void centre_and_scale(const double *x, const double *w, size_t n,
                             double *work, double *centre, double *scale) {
  size_t m = 0;
  for (size_t i = 0; i < n; i++)
    if (w[i] > 0)
      work[m++] = x[i];
  *centre = *scale = 0;
  if (m == 0)
    return;
  *centre = median(work, m);
  double span = work[m - 1] - work[0];
  if (!(span > 1e-9 * (fabs(work[0]) + fabs(work[m - 1]))))
    return;
  double sum = 0;
  for (size_t i = 0; i < m; i++) {
    work[i] = fabs(work[i] - *centre);
    sum += work[i];
  }
  *scale = fmax(1.4826 * median(work, m), 0.1 * sum / (double)m);
}

static void alloc_level(struct dl_grid_level *l, size_t channels, size_t n,
                        size_t scale) {
  l->n = n;
  l->scale = scale;
  l->s = dl_channel_rows(channels, n);
  l->w = dl_channel_rows(channels, n);
  l->sum = dl_channel_rows(channels, n + 1);
  l->weight = dl_channel_rows(channels, n + 1);
}

/* Halves the resolution. */
static void decimate(const struct dl_grid_level *fine,
                     struct dl_grid_level *half, size_t channels) {
  for (size_t c = 0; c < channels; c++)
    for (size_t i = 0; i < half->n; i++) {
      double w0 = fine->w[c][2 * i], w1 = fine->w[c][2 * i + 1];
      double s = w0 * fine->s[c][2 * i] + w1 * fine->s[c][2 * i + 1];
      half->s[c][i] = w0 + w1 > 0 ? s / (w0 + w1) : 0;
      half->w[c][i] = 0.5 * (w0 + w1);
    }
}

/* Weights 1, 2, 1 over known bins. */
static void smooth(double *s, const double *w, size_t n) {
  double before = 0, w_before = 0;
  for (size_t i = 0; i < n; i++) {
    double w_after = i + 1 < n ? w[i + 1] : 0;
    double after = i + 1 < n ? s[i + 1] : 0;
    double sum = w_before * before + 2 * w[i] * s[i] + w_after * after;
    double total = w_before + 2 * w[i] + w_after;
    before = s[i];
    w_before = w[i];
    s[i] = total > 0 ? sum / total : 0;
  }
}

static void add_up(struct dl_grid_level *l, size_t channel) {
  const double *s = l->s[channel], *w = l->w[channel];
  double *sum = l->sum[channel], *weight = l->weight[channel];
  for (size_t i = 0; i < l->n; i++) {
    sum[i + 1] = sum[i] + w[i] * s[i];
    weight[i + 1] = weight[i] + w[i];
  }
}

static void make_levels(struct dl_signal_grid *g) {
  size_t n = g->n;
  for (size_t k = 1; k < DL_GRID_MAX_LEVELS; k++) {
    n /= 2;
    if (n < 2 * DL_LAG_LOW)
      break;
    g->n_levels++;
    alloc_level(&g->level[k], g->n_channels, n, g->level[k - 1].scale * 2);
    decimate(&g->level[k - 1], &g->level[k], g->n_channels);
  }
  for (size_t k = 0; k < g->n_levels; k++)
    for (size_t c = 0; c < g->n_channels; c++) {
      smooth(g->level[k].s[c], g->level[k].w[c], g->level[k].n);
      add_up(&g->level[k], c);
    }
}

/* Takes one signal onto the grid unless it holds nothing. */
static void add_channel(struct dl_signal_grid *g, const double *t,
                        const double *signal, size_t n, double spacing,
                        double *work) {
  DL_FREED double *known_t = dl_calloc(n, sizeof *known_t);
  DL_FREED double *known_x = dl_calloc(n, sizeof *known_x);
  const double *const value[] = {known_x};
  struct dl_signals known = {.t = known_t, .value = value, .n_signals = 1};
  for (size_t i = 0; i < n; i++)
    if (isfinite(signal[i])) {
      known_t[known.n] = t[i];
      known_x[known.n++] = signal[i];
    }
  if (known.n < 2)
    return;
  double *x = g->x[g->n_channels], *w = g->level[0].w[g->n_channels];
  double *z = g->level[0].s[g->n_channels], centre, scale;
  fill_bins(g, &known, tuned.gap_spacings * spacing, x, w);
  centre_and_scale(x, w, g->n, work, &centre, &scale);
  if (!(scale > 0))
    return;
  for (size_t i = 0; i < g->n; i++)
    z[i] = w[i] > 0 ? asinh((x[i] - centre) / scale) : 0;
  g->n_channels++;
}

void dl_signal_grid_make(struct dl_signal_grid *g,
                         const struct dl_signals *signals) {
  const double *t = signals->t;
  size_t n = signals->n, n_signals = signals->n_signals;
  *g = (struct dl_signal_grid){0};
  if (n < 2)
    return;
  size_t room = n > DL_GRID_MAX_BINS ? n : DL_GRID_MAX_BINS;
  DL_FREED double *work = dl_calloc(room, sizeof *work);
  for (size_t i = 0; i + 1 < n; i++)
    work[i] = t[i + 1] - t[i];
  double spacing = median(work, n - 1), span = t[n - 1] - t[0];
  double bins = fmin(floor(span / spacing), DL_GRID_MAX_BINS);
  g->n = (size_t)bins;
  g->start_s = t[0];
  g->step_s = bins > 0 ? span / bins : 0;
  g->x = dl_channel_rows(n_signals, g->n);
  g->n_levels = 1;
  alloc_level(&g->level[0], n_signals, g->n, 1);
  for (size_t c = 0; g->n > 0 && c < n_signals; c++)
    add_channel(g, t, signals->value[c], n, spacing, work);
  make_levels(g);
}

void dl_detrend(const struct dl_grid_level *l, size_t channel, size_t length,
                size_t from, size_t to, double *y) {
  const double *s = l->s[channel], *w = l->w[channel];
  const double *sum = l->sum[channel], *weight = l->weight[channel];
  /* Two windows of that length, one bin apart if it is even: symmetric, so
   * that a trend leaves nothing, and no less constant over a cycle. At the ends
   * the windows are moved, not shortened. */
  size_t half = length / 2, last = l->n > length ? l->n - length : 0;
  for (size_t i = from; i < to; i++) {
    size_t a = i > half ? i - half : 0;
    a = a < last ? a : last;
    size_t a2 = length % 2 == 0 && a < last ? a + 1 : a;
    size_t b = a + length < l->n ? a + length : l->n;
    size_t b2 = a2 + length < l->n ? a2 + length : l->n;
    double known = weight[b] - weight[a] + weight[b2] - weight[a2];
    double mean = sum[b] - sum[a] + sum[b2] - sum[a2];
    y[i] = known > 0 ? w[i] * (s[i] - mean / known) : 0;
  }
}

const struct dl_grid_level *dl_grid_level_for(const struct dl_signal_grid *g,
                                              double period) {
  size_t k = 0;
  while (k + 1 < g->n_levels &&
         period / (double)g->level[k + 1].scale >= DL_LAG_LOW)
    k++;
  return &g->level[k];
}
