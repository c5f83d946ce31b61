/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/cross_validation/bootstrap.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "math/cross_validation/metrics.h"
#include "math/numeric/scoped_gsl.h"

/* How often a group may be drawn, for as many resamples as fit. */
#define BLOCK_COUNTS ((size_t)1 << 20)
/* A spread of y that is nothing but rounding. */
#define NO_SPREAD 1e-12

enum { RMSE, MAE, MAPE, MEDIAN, R2, BIAS, N_SCORES };

/* Sums over the rows of a group that a method predicts. */
struct row_sums {
  double n, squares, absolute, relative, error;
  double y, yy; /* about the mean of y */
};

struct scored_method {
  struct row_sums *of; /* n_groups */
  uint32_t *order;     /* n rows, by their relative errors */
  uint32_t *before;    /* n_blocks x n_groups: rows of a group before each
                          block of `order` */
  size_t n, n_blocks, block;
  bool has_relative;    /* no y is 0 */
  double *score;        /* N_SCORES x B */
  struct dl_scores all; /* without resampling */
};

/* Differences of relative errors, where two methods predict other rows. */
struct method_pair {
  double *n, *sum;    /* n_groups, or NULL: equal rows */
  double *difference; /* B, of MAPE: first minus second */
  double all;         /* without resampling */
};

/* One way to group the rows. */
struct resampling {
  const struct dl_boot *b;
  size_t n_groups;       /* G */
  const uint32_t *group; /* of each row */
  struct scored_method *method;
  struct method_pair *pair; /* n_methods x n_methods, first < second */
  unsigned *count;          /* block x n_groups */
  size_t block;
};

static int by_error(const void *a, const void *b, void *errors) {
  const double *x = errors;
  uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
  int order = (x[i] > x[k]) - (x[i] < x[k]);
  return order ? order : (i > k) - (i < k);
}

static bool counts(const struct dl_boot *b, size_t m, size_t i) {
  return !isnan(b->f[m][i]) && !isnan(b->y[m][i]);
}

static double relative_error(const struct dl_boot *b, size_t m, size_t i) {
  double y = b->y[m][i];
  return fabs(y - b->f[m][i]) / fabs(y);
}

/* The scores of all rows, and the mean of y. */
static void score_all(const struct dl_boot *b, size_t m,
                      struct scored_method *w, double *mean) {
  const double *y = b->y[m], *f = b->f[m];
  DL_FREED double *some = NULL;
  *mean = 0;
  for (size_t i = 0; i < b->n; i++)
    if (counts(b, m, i)) {
      *mean += y[i];
      w->n++;
    }
  *mean /= (double)w->n;
  if (w->n < b->n) {
    some = dl_calloc(2 * w->n, sizeof *some);
    for (size_t i = 0, k = 0; i < b->n; i++)
      if (counts(b, m, i)) {
        some[k] = y[i];
        some[w->n + k++] = f[i];
      }
    y = some;
    f = some + w->n;
  }
  dl_score(&w->all, y, f, NULL, w->n);
}

/* Orders the rows by their relative errors, and counts the rows of each group
 * before each block: half as many counts as rows. */
static void order_rows(const struct resampling *of, size_t m,
                       struct scored_method *w) {
  const struct dl_boot *b = of->b;
  size_t G = of->n_groups, k = 0;
  DL_FREED double *x = dl_calloc(b->n, sizeof *x);
  w->order = dl_calloc(w->n, sizeof *w->order);
  for (size_t i = 0; i < b->n; i++)
    if (counts(b, m, i)) {
      x[i] = relative_error(b, m, i);
      w->order[k++] = (uint32_t)i;
    }
  dl_sort_with(w->order, w->n, sizeof *w->order, by_error, x);
  /* There are groups. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
  w->n_blocks = w->n / (2 * G) > 1 ? w->n / (2 * G) : 1;
  w->block = (w->n + w->n_blocks - 1) / w->n_blocks;
  w->before = dl_calloc(w->n_blocks * G, sizeof *w->before);
  for (size_t i = 1; i < w->n_blocks; i++) {
    uint32_t *here = w->before + i * G;
    size_t first = (i - 1) * w->block, end = i * w->block;
    memcpy(here, here - G, G * sizeof *here);
    for (k = first; k < end && k < w->n; k++)
      here[of->group[w->order[k]]]++;
  }
}

static void prepare_method(const struct resampling *of, size_t m,
                           struct scored_method *w) {
  const struct dl_boot *b = of->b;
  double mean;
  w->of = dl_calloc(of->n_groups, sizeof *w->of);
  w->score = dl_calloc(N_SCORES * b->resamples, sizeof *w->score);
  score_all(b, m, w, &mean);
  for (size_t i = 0; i < b->n; i++) {
    if (!counts(b, m, i))
      continue;
    struct row_sums *s = &w->of[of->group[i]];
    double y = b->y[m][i], e = b->f[m][i] - y;
    s->n++;
    s->squares += e * e;
    s->absolute += fabs(e);
    s->relative += relative_error(b, m, i);
    s->error += e;
    s->y += y - mean;
    s->yy += (y - mean) * (y - mean);
  }
  w->has_relative = !isnan(w->all.mape);
  if (w->has_relative && b->resamples > 0)
    order_rows(of, m, w);
}

static bool same_rows(const struct dl_boot *b, size_t i, size_t j) {
  for (size_t r = 0; r < b->n; r++)
    if (counts(b, i, r) != counts(b, j, r))
      return false;
  return true;
}

static void prepare_pair(struct resampling *w, size_t i, size_t j) {
  const struct dl_boot *b = w->b;
  struct method_pair *p = &w->pair[i * b->n_methods + j];
  p->difference = dl_calloc(b->resamples, sizeof *p->difference);
  if (same_rows(b, i, j)) {
    p->all = w->method[i].all.mape - w->method[j].all.mape;
    return;
  }
  p->n = dl_calloc(2 * w->n_groups, sizeof *p->n);
  p->sum = p->n + w->n_groups;
  double n = 0, sum = 0;
  for (size_t r = 0; r < b->n; r++) {
    if (!counts(b, i, r) || !counts(b, j, r))
      continue;
    double x = relative_error(b, i, r) - relative_error(b, j, r);
    p->n[w->group[r]]++;
    p->sum[w->group[r]] += x;
    n++;
    sum += x;
  }
  p->all = sum / n;
}

/* How often rows before a block are drawn. */
static double drawn_before(const struct scored_method *m, const unsigned *count,
                           size_t G, size_t block) {
  double sum = 0;
  for (size_t g = 0; g < G; g++)
    sum += (double)count[g] * m->before[block * G + g];
  return sum;
}

/* The median of the repeated values: the value in the middle of n, or the mean
 * of the two there. The last block with less than half before it has it, or
 * begins with the lower of the two. */
static double median(const struct resampling *w, size_t method,
                     const unsigned *count, double n) {
  const struct scored_method *m = &w->method[method];
  size_t first = 0, end = m->n_blocks, G = w->n_groups;
  while (end - first > 1) {
    size_t middle = first + (end - first) / 2;
    if (2 * drawn_before(m, count, G, middle) < n)
      first = middle;
    else
      end = middle;
  }
  double below = drawn_before(m, count, G, first), low = NAN;
  for (size_t i = first * m->block; i < m->n; i++) {
    unsigned drawn = count[w->group[m->order[i]]];
    if (drawn == 0)
      continue;
    double x = relative_error(w->b, method, m->order[i]);
    if (!isnan(low))
      return low + (x - low) / 2;
    below += drawn;
    if (2 * below > n)
      return x;
    if (2 * below == n)
      low = x;
  }
  return low;
}

/* The scores of one resample. */
static void score(const struct resampling *w, size_t method,
                  const unsigned *count, size_t at) {
  const struct scored_method *m = &w->method[method];
  size_t B = w->b->resamples;
  struct row_sums s = {0};
  for (size_t g = 0; g < w->n_groups; g++) {
    const struct row_sums *of = &m->of[g];
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
  m->score[MEDIAN * B + at] = any ? median(w, method, count, s.n) : NAN;
}

static void differ(const struct resampling *w, size_t i, size_t j,
                   const unsigned *count, size_t at) {
  const struct dl_boot *b = w->b;
  const struct method_pair *p = &w->pair[i * b->n_methods + j];
  double n = 0, sum = 0;
  if (!p->n) {
    p->difference[at] = w->method[i].score[MAPE * b->resamples + at] -
                        w->method[j].score[MAPE * b->resamples + at];
    return;
  }
  for (size_t g = 0; g < w->n_groups; g++) {
    n += count[g] * p->n[g];
    sum += count[g] * p->sum[g];
  }
  p->difference[at] = n > 0 ? sum / n : NAN;
}

/* One stream of draws; their scores in parallel, block by block. */
static void resample(struct resampling *w, gsl_rng *rng) {
  const struct dl_boot *b = w->b;
  size_t G = w->n_groups, M = b->n_methods;
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
        score(w, m, count, done + r);
      for (size_t i = 0; i < M; i++)
        for (size_t j = i + 1; j < M; j++)
          differ(w, i, j, count, done + r);
    }
  }
}

/* Adds what the resamples of one way say to the squared standard errors of all:
 * scores (n_methods x N_SCORES) and differences (n_methods x n_methods, first <
 * second). */
static void add_squares(double *scores, double *differences,
                        const struct resampling *w) {
  size_t B = w->b->resamples, M = w->b->n_methods;
  double groups = (double)w->n_groups, grown = groups / (groups - 1);
  for (size_t m = 0; m < M; m++)
    for (size_t s = 0; s < N_SCORES; s++)
      scores[m * N_SCORES + s] +=
          grown * gsl_stats_variance(w->method[m].score + s * B, 1, B);
  for (size_t i = 0; i < M; i++)
    for (size_t j = i + 1; j < M; j++)
      differences[i * M + j] +=
          grown * gsl_stats_variance(w->pair[i * M + j].difference, 1, B);
}

/* The range of a positive score x, whose logarithm is nearly normal. */
static struct dl_span positive(double x, double half) {
  if (!(x > 0))
    return (struct dl_span){fmax(x - half, 0), x + half};
  return (struct dl_span){x * exp(-half / x), x * exp(half / x)};
}

/* The intervals of a method, `half` t standard errors wide to either side. */
static void find_ranges(struct dl_boot_scores *out, const struct dl_scores *x,
                        const double half[N_SCORES]) {
  struct dl_span unexplained = positive(1 - x->r2, half[R2]);
  out->rmse = positive(x->rmse, half[RMSE]);
  out->mae = positive(x->mae, half[MAE]);
  out->mape = positive(x->mape, half[MAPE]);
  out->median_ape = positive(x->median_ape, half[MEDIAN]);
  out->r2 = (struct dl_span){1 - unexplained.high, 1 - unexplained.low};
  out->bias = (struct dl_span){x->bias - half[BIAS], x->bias + half[BIAS]};
}

/* Whether the first is better (-1) or worse (1) than the second, or neither is
 * known (0), where differences of `half` may be chance. */
static int verdict(const struct method_pair *p, double half) {
  if (isnan(p->all) || isnan(half))
    return 0;
  return (p->all > half) - (p->all < -half);
}

/* n^2 / sum n_g^2: groups of equal size that say as much. */
static double effective_groups(const struct dl_boot *b, size_t way) {
  DL_FREED double *rows = dl_calloc(b->n_groups[way], sizeof *rows);
  double squares = 0, n = (double)b->n;
  for (size_t i = 0; i < b->n; i++)
    rows[b->group[way][i]]++;
  for (size_t g = 0; g < b->n_groups[way]; g++)
    squares += rows[g] * rows[g];
  return squares > 0 ? n * n / squares : 0;
}

double dl_boot_groups(const struct dl_boot *b) {
  double fewest = INFINITY;
  for (size_t k = 0; k < b->n_ways; k++)
    fewest = fmin(fewest, effective_groups(b, k));
  return fewest;
}

/* w: of any way. */
static void conclude(const struct resampling *w, const double *scores,
                     const double *differences, struct dl_boot_scores *out) {
  const struct dl_boot *b = w->b;
  size_t B = b->resamples, M = b->n_methods;
  double groups = dl_boot_groups(b);
  bool known = groups > 1 || B == 0, ranged = groups >= DL_BOOT_LEAST && B > 0;
  double t = B > 0 && known
                 ? gsl_cdf_tdist_Pinv((1 + b->confidence) / 2, groups - 1)
                 : 0;
  for (size_t m = 0; m < M; m++) {
    double half[N_SCORES];
    for (size_t s = 0; s < N_SCORES; s++)
      half[s] = ranged ? t * sqrt(scores[m * N_SCORES + s]) : (double)NAN;
    find_ranges(&out[m], &w->method[m].all, half);
    out[m].rank = known && !isnan(w->method[m].all.mape);
  }
  for (size_t i = 0; i < M && known; i++)
    for (size_t j = i + 1; j < M; j++) {
      int v = verdict(&w->pair[i * M + j], t * sqrt(differences[i * M + j]));
      out[i].rank += v > 0;
      out[j].rank += v < 0;
    }
}

static void free_work(struct resampling *w) {
  size_t M = w->b->n_methods;
  for (size_t m = 0; w->method && m < M; m++) {
    free(w->method[m].of);
    free(w->method[m].order);
    free(w->method[m].before);
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

/* Prepares the methods and their pairs for one way, and resamples it. */
static void work_on(struct resampling *w, gsl_rng *rng) {
  const struct dl_boot *b = w->b;
  size_t M = b->n_methods, G = w->n_groups;
  w->block = G > 0 && G < BLOCK_COUNTS ? BLOCK_COUNTS / G : 1;
  if (w->block > b->resamples)
    w->block = b->resamples > 0 ? b->resamples : 1;
  w->method = dl_calloc(M, sizeof *w->method);
  w->pair = dl_calloc(M * M, sizeof *w->pair);
  w->count = dl_calloc(w->block * G, sizeof *w->count);
  for (size_t m = 0; m < M; m++)
    prepare_method(w, m, &w->method[m]);
  for (size_t i = 0; i < M; i++)
    for (size_t j = i + 1; j < M; j++)
      prepare_pair(w, i, j);
  gsl_rng_set(rng, b->seed);
  if (G > 1)
    resample(w, rng);
}

void dl_bootstrap(const struct dl_boot *b, struct dl_boot_scores *out) {
  size_t M = b->n_methods;
  DL_SCOPED(gsl_rng_free_local) gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
  DL_FREED double *scores = dl_calloc(M * N_SCORES, sizeof *scores);
  DL_FREED double *differences = dl_calloc(M * M, sizeof *differences);
  for (size_t k = 0; k < b->n_ways; k++) {
    DL_SCOPED(free_work)
    struct resampling w = {
        .b = b, .n_groups = b->n_groups[k], .group = b->group[k]};
    struct dl_progress_span outer =
        dl_progress_enter(b->progress, k, b->n_ways);
    work_on(&w, rng);
    dl_progress_leave(b->progress, outer);
    if (w.n_groups > 1 && b->resamples > 0)
      add_squares(scores, differences, &w);
    if (k + 1 == b->n_ways)
      conclude(&w, scores, differences, out);
  }
}
