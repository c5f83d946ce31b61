/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Segments of one period: the phases of the path, each with its period and
 * evidence from the whole of it, and those too faint for the tempogram. */

#include <gsl/gsl_math.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/signal/cycle_parameters.h"
#include "math/signal/cycles_private.h"

/* A scan needs that many cycles; a longer lag must exceed a shorter one by
 * that factor. */

enum { TRIM_STEPS = 5 };

/* State of the correlations: bins a ... b of a level. */
struct lagged {
  double *y;   /* room for a detrended channel */
  double hint; /* expected period, bins; 0: unknown */
  const struct dl_grid_level *l;
  size_t a, b;
};

/* Takes the time from `start` to `end`, finest bins, at the level for a period.
 */
static void take_stretch(struct lagged *w, const struct dl_signal_grid *g,
                         double start, double end, double period) {
  w->l = dl_grid_level_for(g, period);
  double scale = (double)w->l->scale;
  size_t b = (size_t)(end / scale);
  w->a = (size_t)(start / scale);
  w->b = GSL_MIN(b, w->l->n);
}

/* Correlation of a channel with itself `lag` bins later within a stretch.
 * *nats, unless NULL, is raised to its evidence. */
static double one_channel(const struct lagged *w, size_t channel, size_t lag,
                          double *nats) {
  size_t a = w->a, b = w->b;
  dl_detrend(w->l, channel, lag, a, b, w->y);
  const double *y = w->y;
  double product = 0, first = 0, second = 0;
  for (size_t s = a; s + lag < b; s++) {
    product += y[s] * y[s + lag];
    first += y[s] * y[s];
    second += y[s + lag] * y[s + lag];
  }
  if (!(first > 0 && second > 0))
    return 0;
  double least = (double)(b - a) * tuned.noise, tau = 1;
  double r = product / sqrt((first + least) * (second + least));
  for (size_t k = 1; nats && k <= lag / 2; k++) {
    double near = 0;
    for (size_t s = a; s + k < b; s++)
      near += y[s] * y[s + k];
    near /= 0.5 * (first + second);
    tau += 2 * near * near;
  }
  if (r > 0 && nats)
    *nats = fmax(*nats, -0.5 * (double)(b - a - lag) / tau *
                            log1p(-GSL_MIN(r * r, 0.999)));
  return r;
}

/* Correlation over all channels. */
static double at_lag(const struct dl_signal_grid *g, const struct lagged *w,
                     size_t lag, double *nats) {
  double square = 0, sum = 0;
  if (lag < DL_LAG_MIN || w->a + lag + 2 > w->b)
    return 0;
  for (size_t c = 0; c < g->n_channels; c++) {
    double r = one_channel(w, c, lag, nats);
    if (r > 0) {
      square += r * r;
      sum += r;
    }
  }
  return sum > 0 ? square / sum : 0;
}

/* The best correlation over a segment at lags near `period`, which is set to
 * the best. */
static double near_lag(const struct dl_signal_grid *g, double start, double end,
                       double *period, struct lagged *w, double *nats) {
  take_stretch(w, g, start, end, *period);
  double scale = (double)w->l->scale, best = 0;
  size_t lag = (size_t)lround(*period / scale), found = lag;
  size_t reach = GSL_MAX(1, (size_t)lround(0.03 * (double)lag));
  *nats = 0;
  for (size_t j = lag > reach ? lag - reach : 1; j <= lag + reach; j++) {
    double r = at_lag(g, w, j, NULL);
    if (r > best) {
      best = r;
      found = j;
    }
  }
  if (best > 0)
    at_lag(g, w, found, nats);
  *period = (double)found * scale;
  return best;
}

/* Makes the period of s a k-th of what it is, and returns the least
 * correlation at multiples of that shorter than the old one. */
static double part_of(struct dl_period_segment *s,
                      const struct dl_signal_grid *g, int k, struct lagged *w) {
  double whole = s->period, least = INFINITY;
  for (int i = 1; i < k; i++) {
    double period = whole * i / k, nats;
    double r = near_lag(g, s->start, s->end, &period, w, &nats);
    least = fmin(least, r);
    if (i > 1)
      continue;
    s->period = period;
    s->r = r;
    s->nats = nats;
  }
  return least;
}

/* Shortens a segment at either end where that leaves more
 * evidence. */
static void trim(struct dl_period_segment *s, const struct dl_signal_grid *g,
                 struct lagged *w) {
  struct dl_period_segment best = *s;
  double length = s->end - s->start;
  double step = length < 6 * s->period ? 0.25 * s->period : s->period;
  step = fmax(step, length / (2 * TRIM_STEPS + 2));
  for (int i = 0; i <= TRIM_STEPS; i++)
    for (int j = 0; j <= TRIM_STEPS; j++) {
      struct dl_period_segment t = *s;
      t.start += i * step;
      t.end -= j * step;
      if (t.end - t.start < (DL_MIN_CYCLES - 0.2) * s->period)
        break;
      t.r = near_lag(g, t.start, t.end, &t.period, w, &t.nats);
      if (t.nats > best.nats)
        best = t;
    }
  *s = best;
}

/* Sets period, r and evidence, and divides the period where that explains
 * the segment as well. */
static void refine(struct dl_period_segment *s, const struct dl_signal_grid *g,
                   double shortest, struct lagged *w) {
  /* A block's pairs reach half a period beyond it. */
  double whole_start = fmax(0, s->start - 0.5 * s->period);
  double whole_end = fmin((double)g->n, s->end + 0.5 * s->period);
  s->start = whole_start;
  s->end = whole_end;
  s->r = near_lag(g, s->start, s->end, &s->period, w, &s->nats);
  if (s->nats < tuned.trim_nats)
    trim(s, g, w);
  s->r_again = 0;
  int times = 0;
  for (int i = 2; i <= 4 && s->end - s->start > (i + 1) * s->period; i++) {
    double multiple = i * s->period, nats;
    s->r_again += near_lag(g, s->start, s->end, &multiple, w, &nats);
    times++;
  }
  s->r_again = times > 0 ? s->r_again / times : s->r;
  if (w->hint > 0 && fabs(log(s->period / w->hint)) < tuned.hinted)
    return;
  double whole = s->period, r_whole = s->r;
  for (int k = 8; k >= 2; k--) {
    if (whole / k < shortest)
      continue;
    struct dl_period_segment part = *s;
    double least = part_of(&part, g, k, w);
    if (least >= tuned.fraction * r_whole) {
      s->period = part.period;
      s->r = part.r;
      s->nats = part.nats;
      break;
    }
    if (least >= tuned.fraction_doubt * r_whole)
      s->halved = true;
  }
}

/* The greatest of r at the lags nearest to a period. */
static double nearest(const struct dl_tempogram *m, const double *r,
                      double period) {
  size_t i = 0;
  while (i + 1 < m->n_lags && m->period[i + 1] <= period)
    i++;
  return i + 1 < m->n_lags ? fmax(r[i], r[i + 1]) : r[i];
}

/* Looks for one period in a stretch by its correlation as a whole at that lag,
 * twice and three times it, which shows cycles too faint for the tempogram. */
static bool scan(const struct dl_tempogram *m, const struct dl_signal_grid *g,
                 double start, double end, struct lagged *w,
                 struct dl_period_segment *found) {
  double best = 0, *r = dl_calloc(m->n_lags, sizeof *r);
  *found = (struct dl_period_segment){.start = start, .end = end};
  for (size_t i = 0; i < m->n_lags && end - start > 2 * m->period[i]; i++) {
    take_stretch(w, g, start, end, m->period[i]);
    size_t lag = (size_t)lround(m->period[i] / (double)w->l->scale);
    r[i] = at_lag(g, w, lag, NULL);
  }
  for (size_t i = 0; i < m->n_lags; i++) {
    double period = m->period[i];
    if (end - start < tuned.scan_cycles * period)
      break;
    double comb =
        (r[i] + nearest(m, r, 2 * period) + nearest(m, r, 3 * period)) / 3;
    if (comb > best * tuned.scan_longer) {
      best = comb;
      found->period = period;
    }
  }
  free(r);
  if (!(best > 0))
    return false;
  refine(found, g, m->period[0], w);
  found->score = (found->r - 0.1) * (end - start);
  return found->score > 0;
}

/* Whether the period of a segment shows in a stretch beside it. */
static bool goes_on(const struct dl_period_segment *s,
                    const struct dl_signal_grid *g, double start, double end,
                    struct lagged *w) {
  double period = s->period, nats;
  if (end - start < 1.5 * period)
    return false;
  double r = near_lag(g, start, end, &period, w, &nats);
  return nats >= tuned.extend_nats && r > tuned.extend_share * s->r;
}

/* Lengthens segments into stretches without one. */
static void extend(const struct dl_period_segments *found,
                   const struct dl_signal_grid *g, struct lagged *w) {
  struct dl_period_segment *segment = found->at;
  size_t n = found->n;
  for (size_t i = 0; i <= n; i++) {
    double from = i > 0 ? segment[i - 1].end : 0;
    double to = i < n ? segment[i].start : (double)g->n;
    if (to <= from)
      continue;
    if (i > 0 && goes_on(&segment[i - 1], g, from, to, w))
      segment[i - 1].end = to;
    else if (i < n && goes_on(&segment[i], g, from, to, w))
      segment[i].start = from;
  }
}

/* Adds what a scan of the stretches without a segment finds. */
static void scan_gaps(const struct dl_tempogram *m,
                      const struct dl_signal_grid *g, struct lagged *w,
                      struct dl_period_segments *found) {
  size_t n = found->n, kept = 0;
  struct dl_period_segment *all = dl_calloc(2 * n + 1, sizeof *all);
  double from = 0;
  for (size_t i = 0; i <= n; i++) {
    double to = i < n ? found->at[i].start : (double)g->n;
    if (to - from >= tuned.scan_cycles * m->period[0] &&
        scan(m, g, from, to, w, &all[kept]))
      kept++;
    if (i < n) {
      from = found->at[i].end;
      all[kept++] = found->at[i];
    }
  }
  free(found->at);
  *found = (struct dl_period_segments){all, kept};
}

void dl_find_period_segments(struct dl_period_segments *found,
                             const struct dl_tempogram *m,
                             const struct dl_signal_grid *g, double hint) {
  struct lagged w = {.y = dl_calloc(g->n + 1, sizeof *w.y), .hint = hint};
  dl_viterbi_path(found, m, hint);
  for (size_t i = 0; i < found->n; i++)
    refine(&found->at[i], g, m->period[0], &w);
  extend(found, g, &w);
  scan_gaps(m, g, &w, found);
  free(w.y);
}
