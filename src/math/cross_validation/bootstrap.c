/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/cross_validation/bootstrap.h"

#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/cross_validation/metrics.h"

/* How often a group may be drawn, for as many resamples as fit. */
#define BLOCK_COUNTS ((size_t)1 << 20)
/* A spread of y that is nothing but rounding. */
#define NO_SPREAD 1e-12

enum { RMSE, MAE, MAPE, MEDIAN, R2, BIAS, N_SCORES };

/* Sums over the rows of a group that a method predicts. */
struct sums {
  double n, squares, absolute, relative, error;
  double y, yy; /* about the mean of y */
};

/* A relative error and its group. */
struct relative {
  double x;
  size_t group;
};

struct method {
  struct sums *of;      /* n_groups */
  struct relative *ape; /* n, by size */
  size_t n;             /* rows */
  bool has_relative;    /* no y is 0 */
  double *score;        /* N_SCORES x B */
  struct dl_scores all; /* without resampling */
};

/* Differences of relative errors, where two methods predict other rows. */
struct pair {
  double *n, *sum;    /* n_groups, or NULL: the same rows */
  double *difference; /* B, of MAPE: first minus second */
  double all;         /* without resampling */
};

struct work {
  const struct dl_boot *b;
  struct method *method;
  struct pair *pair; /* n_methods x n_methods, first < second */
  unsigned *count;   /* block x n_groups */
  size_t block;
};

static int by_size(const void *a, const void *b) {
  const struct relative *p = a, *q = b;
  return (p->x > q->x) - (p->x < q->x);
}

static bool counts(const struct dl_boot *b, size_t m, size_t i) {
  return !isnan(b->f[m * b->n + i]) && !isnan(b->y[m * b->n + i]);
}

static double relative_error(const struct dl_boot *b, size_t m, size_t i) {
  double y = b->y[m * b->n + i];
  return fabs(y - b->f[m * b->n + i]) / fabs(y);
}

/* The scores of all rows, and the mean of y. */
static void score_all(const struct dl_boot *b, size_t m, struct method *w,
                      double *mean) {
  double *y = dl_calloc(2 * b->n, sizeof *y);
  double *f = y + b->n;
  *mean = 0;
  for (size_t i = 0; i < b->n; i++) {
    if (!counts(b, m, i))
      continue;
    y[w->n] = b->y[m * b->n + i];
    f[w->n] = b->f[m * b->n + i];
    *mean += y[w->n++];
  }
  *mean /= (double)w->n;
  dl_score(&w->all, y, f, NULL, w->n);
  free(y);
}

static void prepare_method(const struct dl_boot *b, size_t m,
                           struct method *w) {
  double mean;
  w->of = dl_calloc(b->n_groups, sizeof *w->of);
  w->ape = dl_calloc(b->n, sizeof *w->ape);
  w->score = dl_calloc(N_SCORES * b->resamples, sizeof *w->score);
  score_all(b, m, w, &mean);
  size_t k = 0;
  for (size_t i = 0; i < b->n; i++) {
    if (!counts(b, m, i))
      continue;
    struct sums *s = &w->of[b->group[i]];
    double y = b->y[m * b->n + i], e = b->f[m * b->n + i] - y;
    w->ape[k] = (struct relative){relative_error(b, m, i), b->group[i]};
    s->n++;
    s->squares += e * e;
    s->absolute += fabs(e);
    s->relative += w->ape[k++].x;
    s->error += e;
    s->y += y - mean;
    s->yy += (y - mean) * (y - mean);
  }
  w->has_relative = !isnan(w->all.mape);
  if (w->has_relative)
    qsort(w->ape, w->n, sizeof *w->ape, by_size);
}

static bool same_rows(const struct dl_boot *b, size_t i, size_t j) {
  for (size_t r = 0; r < b->n; r++)
    if (counts(b, i, r) != counts(b, j, r))
      return false;
  return true;
}

static void prepare_pair(struct work *w, size_t i, size_t j) {
  const struct dl_boot *b = w->b;
  struct pair *p = &w->pair[i * b->n_methods + j];
  p->difference = dl_calloc(b->resamples, sizeof *p->difference);
  if (same_rows(b, i, j)) {
    p->all = w->method[i].all.mape - w->method[j].all.mape;
    return;
  }
  p->n = dl_calloc(2 * b->n_groups, sizeof *p->n);
  p->sum = p->n + b->n_groups;
  double n = 0, sum = 0;
  for (size_t r = 0; r < b->n; r++) {
    if (!counts(b, i, r) || !counts(b, j, r))
      continue;
    double x = relative_error(b, i, r) - relative_error(b, j, r);
    p->n[b->group[r]]++;
    p->sum[b->group[r]] += x;
    n++;
    sum += x;
  }
  p->all = sum / n;
}

/* As that of the repeated values: the value in the middle, or the mean of the
 * two there. */
static double median(const struct method *m, const unsigned *count, double n) {
  double below = 0, low = NAN;
  for (size_t i = 0; i < m->n; i++) {
    unsigned w = count[m->ape[i].group];
    if (w == 0)
      continue;
    if (!isnan(low))
      return low + (m->ape[i].x - low) / 2;
    below += w;
    if (2 * below > n)
      return m->ape[i].x;
    if (2 * below == n)
      low = m->ape[i].x;
  }
  return low;
}

/* The scores of one resample. */
static void score(const struct work *w, const struct method *m,
                  const unsigned *count, size_t at) {
  size_t B = w->b->resamples;
  struct sums s = {0};
  for (size_t g = 0; g < w->b->n_groups; g++) {
    const struct sums *of = &m->of[g];
    double c = count[g];
    if (count[g] == 0)
      continue;
    s.n += c * of->n;
    s.squares += c * of->squares;
    s.absolute += c * of->absolute;
    s.relative += c * of->relative;
    s.error += c * of->error;
    s.y += c * of->y;
    s.yy += c * of->yy;
  }
  double spread = s.yy - s.y * s.y / s.n;
  bool any = s.n > 0;
  m->score[RMSE * B + at] = any ? sqrt(s.squares / s.n) : NAN;
  m->score[MAE * B + at] = any ? s.absolute / s.n : NAN;
  m->score[BIAS * B + at] = any ? s.error / s.n : NAN;
  m->score[R2 * B + at] =
      spread > NO_SPREAD * s.yy ? 1 - s.squares / spread : NAN;
  any = any && m->has_relative;
  m->score[MAPE * B + at] = any ? s.relative / s.n : NAN;
  m->score[MEDIAN * B + at] = any ? median(m, count, s.n) : NAN;
}

static void differ(const struct work *w, size_t i, size_t j,
                   const unsigned *count, size_t at) {
  const struct dl_boot *b = w->b;
  const struct pair *p = &w->pair[i * b->n_methods + j];
  double n = 0, sum = 0;
  if (!p->n) {
    p->difference[at] = w->method[i].score[MAPE * b->resamples + at] -
                        w->method[j].score[MAPE * b->resamples + at];
    return;
  }
  for (size_t g = 0; g < b->n_groups; g++) {
    n += count[g] * p->n[g];
    sum += count[g] * p->sum[g];
  }
  p->difference[at] = n > 0 ? sum / n : NAN;
}

/* One stream of draws; their scores in parallel, block by block. */
static void resample(struct work *w, gsl_rng *rng) {
  const struct dl_boot *b = w->b;
  size_t G = b->n_groups, M = b->n_methods;
  for (size_t done = 0; done < b->resamples; done += w->block) {
    size_t left = b->resamples - done;
    size_t n = left < w->block ? left : w->block;
    for (size_t r = 0; r < n; r++) {
      unsigned *count = w->count + r * G;
      for (size_t g = 0; g < G; g++)
        count[g] = 0;
      for (size_t g = 0; g < G; g++)
        count[gsl_rng_uniform_int(rng, G)]++;
    }
#pragma omp parallel for schedule(static) if (n * b->n * M > 100000)
    for (size_t r = 0; r < n; r++) {
      const unsigned *count = w->count + r * G;
      dl_progress_step(b->progress, (double)(done + r) / (double)b->resamples);
      for (size_t m = 0; m < M; m++)
        score(w, &w->method[m], count, done + r);
      for (size_t i = 0; i < M; i++)
        for (size_t j = i + 1; j < M; j++)
          differ(w, i, j, count, done + r);
    }
  }
}

static struct dl_boot_range range(const struct dl_boot *b, double *x) {
  size_t n = b->resamples;
  struct dl_boot_range r = {dl_quantile(x, n, (1 - b->confidence) / 2), NAN};
  r.high = dl_quantile(x, n, (1 + b->confidence) / 2);
  return r;
}

/* Whether the first is better (-1) or worse (1) than the second, or neither
 * is known (0). */
static int verdict(const struct dl_boot *b, struct pair *p) {
  if (isnan(p->all))
    return 0;
  if (b->resamples == 0)
    return (p->all > 0) - (p->all < 0);
  struct dl_boot_range r = range(b, p->difference);
  return (r.low > 0) - (r.high < 0);
}

static void conclude(struct work *w, struct dl_boot_scores *out) {
  const struct dl_boot *b = w->b;
  size_t B = b->resamples, M = b->n_methods;
  bool known = b->n_groups > 1 || B == 0;
  for (size_t m = 0; m < M; m++) {
    double *x = w->method[m].score;
    struct dl_boot_range *to[N_SCORES] = {&out[m].rmse, &out[m].mae,
                                          &out[m].mape, &out[m].median_ape,
                                          &out[m].r2,   &out[m].bias};
    for (size_t s = 0; s < N_SCORES; s++)
      *to[s] = b->n_groups > 1 ? range(b, x + s * B)
                               : (struct dl_boot_range){NAN, NAN};
    out[m].rank = known && !isnan(w->method[m].all.mape);
  }
  for (size_t i = 0; i < M && known; i++)
    for (size_t j = i + 1; j < M; j++) {
      int v = verdict(b, &w->pair[i * M + j]);
      out[i].rank += v > 0;
      out[j].rank += v < 0;
    }
}

static void free_work(struct work *w) {
  size_t M = w->b->n_methods;
  for (size_t m = 0; w->method && m < M; m++) {
    free(w->method[m].of);
    free(w->method[m].ape);
    free(w->method[m].score);
  }
  for (size_t i = 0; w->pair && i < M * M; i++) {
    free(w->pair[i].n);
    free(w->pair[i].difference);
  }
  free(w->method);
  free(w->pair);
  free(w->count);
}

void dl_bootstrap(const struct dl_boot *b, struct dl_boot_scores *out) {
  size_t M = b->n_methods, G = b->n_groups;
  struct work w = {.b = b};
  w.block = G > 0 && G < BLOCK_COUNTS ? BLOCK_COUNTS / G : 1;
  if (w.block > b->resamples)
    w.block = b->resamples > 0 ? b->resamples : 1;
  w.method = dl_calloc(M, sizeof *w.method);
  w.pair = dl_calloc(M * M, sizeof *w.pair);
  w.count = dl_calloc(w.block * G, sizeof *w.count);
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
  for (size_t m = 0; m < M; m++)
    prepare_method(b, m, &w.method[m]);
  for (size_t i = 0; i < M; i++)
    for (size_t j = i + 1; j < M; j++)
      prepare_pair(&w, i, j);
  gsl_rng_set(rng, b->seed);
  if (G > 1)
    resample(&w, rng);
  conclude(&w, out);
  gsl_rng_free(rng);
  free_work(&w);
}
