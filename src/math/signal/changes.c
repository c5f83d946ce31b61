/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/signal/changes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

static const double least_share = 1e-3;

struct pelt {
  size_t n, signals, min;
  double per, penalty; /* 1 / (2 q) */
  double *sum;         /* signals x 2 (n + 1): running sums of x and x^2 */
  double *least;       /* signals: least variance */
  double *best;        /* n + 1: least cost of the first t samples */
  size_t *from;        /* n + 1: where the last segment starts */
  size_t *candidate;   /* n + 1 */
  size_t *until;       /* n + 1: the candidate is ruled out from there on */
};

void dl_changes_free(struct dl_changes *c) {
  if (!c)
    return;
  free(c->at);
  free(c->gain);
  *c = (struct dl_changes){0};
}

static void pelt_free(struct pelt *p) {
  free(p->sum);
  free(p->least);
  free(p->best);
  free(p->from);
}

static bool pelt_alloc(struct pelt *p) {
  p->sum = dl_calloc(2 * p->signals * (p->n + 1), sizeof *p->sum);
  p->least = dl_calloc(p->signals, sizeof *p->least);
  p->best = dl_calloc(p->n + 1, sizeof *p->best);
  p->from = dl_calloc(3 * (p->n + 1), sizeof *p->from);
  if (!p->sum || !p->least || !p->best || !p->from)
    return false;
  p->candidate = p->from + p->n + 1;
  p->until = p->candidate + p->n + 1;
  return true;
}

/* Running sums of a signal less its mean, and its least variance. */
static void prepare(struct pelt *p, size_t k, const double *x,
                    const double *least) {
  double *sum = p->sum + 2 * k * (p->n + 1), *square = sum + p->n + 1;
  double mean = 0;
  for (size_t i = 0; i < p->n; i++)
    mean += x[i] / (double)p->n;
  for (size_t i = 0; i < p->n; i++) {
    double y = x[i] - mean;
    sum[i + 1] = sum[i] + y;
    square[i + 1] = square[i] + y * y;
  }
  double spread = sqrt(square[p->n] / (double)p->n);
  double floor = least && least[k] > 0 ? least[k] : least_share * spread;
  p->least[k] = floor > 0 ? floor * floor : 1;
}

/* Cost of the samples a ... b - 1 as one segment. */
static double cost(const struct pelt *p, size_t a, size_t b) {
  double n = (double)(b - a), total = 0;
  for (size_t k = 0; k < p->signals; k++) {
    const double *sum = p->sum + 2 * k * (p->n + 1);
    const double *square = sum + p->n + 1;
    double mean = (sum[b] - sum[a]) / n;
    double s = fmax(0, (square[b] - square[a]) / n - mean * mean);
    double v = fmax(s, p->least[k]);
    total += log(v) + s / v;
  }
  return n * p->per * total;
}

static void solve(struct pelt *p) {
  size_t kept = 0;
  p->best[0] = -p->penalty;
  for (size_t t = 1; t <= p->n; t++) {
    p->best[t] = INFINITY;
    if (t < p->min)
      continue;
    /* The start of a segment must itself be the end of one, or 0. */
    size_t start = t - p->min;
    if (start == 0 || start >= p->min) {
      p->candidate[kept] = start;
      p->until[kept++] = SIZE_MAX;
    }
    size_t left = 0;
    for (size_t i = 0; i < kept; i++) {
      if (p->until[i] <= t)
        continue;
      size_t s = p->candidate[i];
      double sum = p->best[s] + cost(p, s, t);
      if (sum + p->penalty < p->best[t]) {
        p->best[t] = sum + p->penalty;
        p->from[t] = s;
      }
      p->candidate[left] = s;
      p->until[left++] = p->until[i];
    }
    kept = left;
    for (size_t i = 0; i < kept; i++) {
      size_t s = p->candidate[i];
      if (p->until[i] == SIZE_MAX && p->best[s] + cost(p, s, t) > p->best[t])
        p->until[i] = t + p->min;
    }
  }
}

static bool take(const struct pelt *p, struct dl_changes *c) {
  c->cost = p->best[p->n];
  c->penalty = p->penalty;
  for (size_t t = p->from[p->n]; t > 0; t = p->from[t])
    c->n++;
  c->at = dl_calloc(c->n, sizeof *c->at);
  c->gain = dl_calloc(c->n, sizeof *c->gain);
  if (!c->at || !c->gain) {
    dl_changes_free(c);
    return false;
  }
  size_t i = c->n;
  for (size_t t = p->from[p->n]; t > 0; t = p->from[t])
    c->at[--i] = t;
  for (i = 0; i < c->n; i++) {
    size_t a = i > 0 ? c->at[i - 1] : 0;
    size_t b = i + 1 < c->n ? c->at[i + 1] : p->n;
    c->gain[i] = cost(p, a, b) - cost(p, a, c->at[i]) - cost(p, c->at[i], b);
  }
  return true;
}

static bool number_ok(double x) {
  return isfinite(x) && x >= 0;
}

static enum dl_status check(const double *const *signal, size_t n_signals,
                            size_t n, const struct dl_changes_options *o,
                            struct dl_diag *d) {
  if (n_signals == 0)
    return dl_fail(d, DL_EINPUT, "change points: no signal");
  if (!number_ok(o->dependence) || !number_ok(o->penalty))
    return dl_fail(d, DL_EINPUT, "change points: no such penalty: %g, %g",
                   o->penalty, o->dependence);
  for (size_t k = 0; k < n_signals; k++)
    for (size_t i = 0; i < n; i++)
      if (!isfinite(signal[k][i]))
        return dl_fail(d, DL_EINPUT,
                       "change points: sample %zu is not a number", i);
  return DL_OK;
}

enum dl_status dl_changes_find(const double *const *signal, size_t n_signals,
                               size_t n, const struct dl_changes_options *o,
                               struct dl_changes *c, struct dl_diag *d) {
  static const struct dl_changes_options any = {0};
  *c = (struct dl_changes){0};
  if (!o)
    o = &any;
  enum dl_status status = check(signal, n_signals, n, o, d);
  if (status != DL_OK)
    return status;
  double q = fmax(1, o->dependence);
  struct pelt p = {.n = n, .signals = n_signals, .per = 0.5 / q};
  p.min = o->min_length > 0 ? o->min_length : 2;
  double bic = ((double)n_signals + 0.5) * log(fmax(2, (double)n / q));
  p.penalty = o->penalty > 0 ? o->penalty : bic;
  if (n < 2 * p.min)
    return DL_OK;
  bool done = pelt_alloc(&p);
  for (size_t k = 0; done && k < n_signals; k++)
    prepare(&p, k, signal[k], o->least);
  if (done)
    solve(&p);
  done = done && take(&p, c);
  pelt_free(&p);
  return done ? DL_OK : dl_fail_memory(d);
}
