/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows i of the matrix of pairs (i, i + d) are computed one after the other, so
 * that Sxy of a pair follows from Sxy of (i - 1, i - 1 + d). The inner loop
 * over d has no dependency and no branch, so that compilers vectorise it. Rows
 * ascend and only a larger r replaces a candidate, which gives the lowest index
 * among ties. */
#include "math/signal/fluss.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"

/* Correlations are integers in units of 1e-9. */
static const double UNITS = 1e9;
/* x + ROUND - ROUND is x rounded to an integer, halves to even. */
static const double ROUND = 0x1.8p52;

/* n values x and their k subsequences of m values. */
struct series {
  size_t m, k;
  double *x;      /* n: the values less their mean rounded to an integer */
  double *sum;    /* k: Sx */
  double *scale;  /* k: 1 / sqrt(m Sxx - Sx^2); 0 if constant */
  double *half;   /* k: 0.5 if constant, else 0 */
  double *lower;  /* k: largest r with a neighbour of lower index, UNITS */
  double *higher; /* k: largest r with a neighbour of higher index */
  double *lower_at, *higher_at; /* k: these neighbours' indices */
  double *sxy;                  /* k: Sxy of (i, i + d), by d, of the row */
  double *r;                    /* k: r of these */
  double *all;                  /* owns the above */
};

static void series_make(struct series *s, const double *x, size_t n, size_t m) {
  size_t k = n - m + 1;
  *s = (struct series){.m = m, .k = k};
  double **array[] = {&s->x,        &s->sum,      &s->scale, &s->half,
                      &s->lower,    &s->higher,   &s->sxy,   &s->r,
                      &s->lower_at, &s->higher_at};
  size_t n_arrays = sizeof array / sizeof *array;
  s->all = dl_calloc(n_arrays * n, sizeof *s->all);
  for (size_t i = 0; i < n_arrays; i++)
    *array[i] = s->all + i * n;
  double mean = 0;
  for (size_t i = 0; i < n; i++)
    mean += x[i] / (double)n;
  for (size_t i = 0; i < n; i++)
    s->x[i] = x[i] - nearbyint(mean);
  for (size_t i = 0; i < k; i++) {
    double sum = 0, square = 0;
    bool constant = true;
    for (size_t j = i; j < i + m; j++) {
      sum += s->x[j];
      square += s->x[j] * s->x[j];
      constant = constant && s->x[j] == s->x[i];
    }
    double spread = (double)m * square - sum * sum;
    constant = constant || !(spread > 0);
    s->sum[i] = sum;
    s->scale[i] = constant ? 0 : 1 / sqrt(spread);
    s->half[i] = constant ? 0.5 : 0;
    s->lower[i] = s->higher[i] = -INFINITY;
  }
}

/* Updates Sxy and r of the pairs (i, i + d), d = first ... k - i - 1, and the
 * neighbours of i and of each i + d. */
static void join_row(struct series *s, size_t i, size_t first) {
  size_t n = s->k - i;
  const double *x = s->x + i, *sum = s->sum + i, *scale = s->scale + i;
  const double *half = s->half + i;
  double *lower = s->lower + i, *lower_at = s->lower_at + i;
  double *restrict sxy = s->sxy, *restrict r = s->r;
  double m = (double)s->m, entering = 0, leaving = 0, best = -INFINITY;
  if (i > 0) {
    entering = x[s->m - 1];
    leaving = x[-1];
  }
  const double *ahead = x + s->m - 1, *behind = x - 1;
#pragma omp simd reduction(max : best)
  for (size_t d = first; d < n; d++) {
    sxy[d] += entering * ahead[d] - leaving * behind[d];
    double value = (m * sxy[d] - sum[0] * sum[d]) * scale[0];
    value = value * scale[d] + (half[0] + half[d]);
    value = (value * UNITS + ROUND) - ROUND;
    r[d] = value;
    best = value > best ? value : best;
    bool better = value > lower[d];
    lower_at[d] = better ? (double)i : lower_at[d];
    lower[d] = better ? value : lower[d];
  }
  size_t d = first;
  while (r[d] < best)
    d++;
  s->higher[i] = best;
  s->higher_at[i] = (double)(i + d);
}

/* Finds the neighbours of all subsequences. */
static void join(struct series *s) {
  size_t first = (s->m + 3) / 4 + 1;
  for (size_t d = first; d < s->k; d++)
    for (size_t j = 0; j < s->m; j++)
      s->sxy[d] += s->x[j] * s->x[d + j];
  for (size_t i = 0; i + first < s->k; i++)
    join_row(s, i, first);
}

enum dl_status dl_matrix_profile(const double *x, size_t n, size_t m,
                                 size_t *neighbour, double *r,
                                 struct dl_diag *d) {
  struct series s;
  if (m < 3 || n < m)
    return dl_fail(d, DL_EINPUT,
                   "matrix profile: window of %zu samples in a series of %zu",
                   m, n);
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i]))
      return dl_fail(d, DL_EINPUT, "matrix profile: sample %zu is not a number",
                     i);
  series_make(&s, x, n, m);
  join(&s);
  for (size_t i = 0; i < s.k; i++) {
    bool lower = s.lower[i] >= s.higher[i];
    double best = lower ? s.lower[i] : s.higher[i];
    double at = lower ? s.lower_at[i] : s.higher_at[i];
    neighbour[i] = isfinite(best) ? (size_t)at : SIZE_MAX;
    if (r)
      r[i] = isfinite(best) ? best / UNITS : -1;
  }
  free(s.all);
  return DL_OK;
}

enum dl_status dl_fluss(const double *x, size_t n, size_t m, size_t L,
                        struct dl_fluss *f, struct dl_diag *d) {
  size_t k = n - m + 1, *neighbour = dl_calloc(n, sizeof *neighbour);
  DL_FREED double *arcs = dl_calloc(n, sizeof *arcs); /* 0 ... k - 1 */
  *f = (struct dl_fluss){0, 1};
  enum dl_status status = dl_matrix_profile(x, n, m, neighbour, NULL, d);
  for (size_t i = 0; status == DL_OK && i < k; i++) {
    size_t j = neighbour[i];
    if (j == SIZE_MAX)
      continue;
    arcs[i < j ? i : j]++;
    arcs[i < j ? j : i]--;
  }
  for (size_t i = 1; status == DL_OK && i < k; i++)
    arcs[i] += arcs[i - 1];
  for (size_t i = 3 * L; status == DL_OK && i + 3 * L < k; i++) {
    double ideal = 2 * (double)i * (double)(k - i) / (double)k;
    double cac = ideal > 0 ? fmin(1, arcs[i] / ideal) : 1;
    if (cac < f->cac)
      *f = (struct dl_fluss){i, cac};
  }
  free(neighbour);
  return status;
}
