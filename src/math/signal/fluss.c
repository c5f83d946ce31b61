/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pairs (i, i + d) are taken by tiles of diagonals d, each from its first pair
 * to its last, so that Sxy follows from that of the pair before and a tile's
 * sums stay in the first cache. Tiles go from far to near: then a later
 * candidate of lower neighbours is the higher index, and one of higher
 * neighbours the lower index, which is what ties ask for. */
#include "math/signal/fluss.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 4, TILE = 1024 };
static const double decimals = 1e9;
/* Adding it rounds to an integer, halves to even. */
static const double rounder = 0x1.8p52;

/* Vectors of GCC and Clang; `loose` lies anywhere in an array of double. */
typedef double vec __attribute__((vector_size(8 * LANES)));
typedef int64_t bits __attribute__((vector_size(8 * LANES)));
typedef double loose
    __attribute__((vector_size(8 * LANES), aligned(8), may_alias));

/* Values x and the subsequences, k of them. */
struct series {
  size_t m, k;
  double *x;     /* n */
  double *sum;   /* Sx */
  double *scale; /* 1 / sqrt(m Sxx - Sx^2); 0: constant */
  double *half;  /* 0.5 if constant, else 0 */
  double *lower; /* best r of neighbours with a lower index, in 1e-9 */
  double *lower_at;
  double *higher; /* the same with a higher index */
  double *higher_at;
  double *all; /* owns the above */
};

static bool series_make(struct series *s, const double *x, size_t n, size_t m) {
  size_t k = n - m + 1, room = n + 2 * LANES;
  *s = (struct series){.m = m, .k = k};
  s->all = dl_calloc(8 * room, sizeof *s->all);
  if (!s->all)
    return false;
  double **row[] = {&s->x,     &s->sum,      &s->scale,  &s->half,
                    &s->lower, &s->lower_at, &s->higher, &s->higher_at};
  for (size_t i = 0; i < 8; i++)
    *row[i] = s->all + i * room;
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
  return true;
}

/* No functions: a vector as parameter has no one ABI. */
#define PICK(where, a, b)                                                      \
  ((vec)(((where) & (bits)(a)) | (~(where) & (bits)(b))))
#define LOAD(p) (*(const loose *)(p))
#define STORE(p, v) (*(loose *)(p) = (v))

/* The best of a row's vectors becomes the candidate of i. */
INLINE void keep_higher(struct series *s, size_t i, const vec *top,
                        const vec *top_at) {
  double best = -INFINITY, at = 0;
  for (int l = 0; l < LANES; l++)
    if ((*top)[l] > best || ((*top)[l] >= best && (*top_at)[l] < at)) {
      best = (*top)[l];
      at = (*top_at)[l];
    }
  if (best >= s->higher[i]) {
    s->higher[i] = best;
    s->higher_at[i] = at;
  }
}

/* Pairs (i, i + d) for d in first ... first + n - 1, whose products are in p.
 * Room behind the arrays lets the last vector run over: there scale is 0, and
 * what comes out is masked. */
INLINE void one_row(struct series *s, size_t i, size_t first, size_t n,
                    double *p) {
  static const vec lane = {0, 1, 2, 3};
  const double *x = s->x + i + first;
  const vec m = lane * 0 + (double)s->m, row = lane * 0 + (double)i;
  const vec sum = lane * 0 + s->sum[i], scale = lane * 0 + s->scale[i];
  const vec half = lane * 0 + s->half[i], unit = lane * 0 + decimals;
  const vec shift = lane * 0 + rounder, none = lane * 0 - INFINITY;
  vec in = lane * 0, out = in, top = none, top_at = in;
  if (i > 0) {
    in += s->x[i + s->m - 1];
    out += s->x[i - 1];
  }
  vec at = lane + (double)(i + first);
  for (size_t d = 0; d < n; d += LANES, at += (double)LANES) {
    size_t j = i + first + d;
    vec product = LOAD(p + d);
    if (i > 0) {
      product += in * LOAD(x + d + s->m - 1) - out * LOAD(x + d - 1);
      STORE(p + d, product);
    }
    vec r = (m * product - sum * LOAD(s->sum + j)) * scale;
    r = r * LOAD(s->scale + j) + (half + LOAD(s->half + j));
    r = (r * unit + shift) - shift;
    if (d + LANES > n)
      r = PICK(lane < (double)(n - d), r, none);
    vec best = LOAD(s->lower + j);
    bits more = r > best;
    STORE(s->lower + j, PICK(more, r, best));
    STORE(s->lower_at + j, PICK(more, row, LOAD(s->lower_at + j)));
    more = r > top;
    top = PICK(more, r, top);
    top_at = PICK(more, at, top_at);
  }
  keep_higher(s, i, &top, &top_at);
}

INLINE void one_tile(struct series *s, size_t first, size_t n, double *p) {
  memset(p, 0, (TILE + LANES) * sizeof *p);
  for (size_t d = 0; d < n; d++)
    for (size_t j = 0; j < s->m; j++)
      p[d] += s->x[j] * s->x[first + d + j];
  for (size_t i = 0; i + first < s->k; i++) {
    size_t left = s->k - i - first;
    one_row(s, i, first, left < n ? left : n, p);
  }
}

static void plain_tile(struct series *s, size_t first, size_t n, double *p) {
  one_tile(s, first, n, p);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* Without fused operations, so that all processors give the same. */
__attribute__((target("avx2"))) static void
avx2_tile(struct series *s, size_t first, size_t n, double *p) {
  one_tile(s, first, n, p);
}
#define TILE_FUNCTION (__builtin_cpu_supports("avx2") ? avx2_tile : plain_tile)
#else
#define TILE_FUNCTION plain_tile
#endif

/* Finds all neighbours. */
static bool join(struct series *s) {
  void (*tile)(struct series *, size_t, size_t, double *) = TILE_FUNCTION;
  size_t nearest = (s->m + 3) / 4 + 1;
  double *p = dl_calloc(TILE + LANES, sizeof *p);
  if (!p)
    return false;
  size_t tiles = s->k > nearest ? (s->k - nearest + TILE - 1) / TILE : 0;
  while (tiles-- > 0) {
    size_t first = nearest + tiles * TILE, left = s->k - first;
    tile(s, first, left < TILE ? left : TILE, p);
  }
  free(p);
  return true;
}

static size_t neighbour_of(const struct series *s, size_t i) {
  if (s->lower[i] >= s->higher[i] && isfinite(s->lower[i]))
    return (size_t)s->lower_at[i];
  return isfinite(s->higher[i]) ? (size_t)s->higher_at[i] : SIZE_MAX;
}

static enum dl_status make_and_join(struct series *s, const double *x, size_t n,
                                    size_t m, struct dl_diag *d) {
  *s = (struct series){0};
  if (m < 3 || n < m)
    return dl_fail(d, DL_EINPUT,
                   "matrix profile: window of %zu samples in a series of %zu",
                   m, n);
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i]))
      return dl_fail(d, DL_EINPUT, "matrix profile: sample %zu is not a number",
                     i);
  return series_make(s, x, n, m) && join(s) ? DL_OK : dl_fail_memory(d);
}

enum dl_status dl_matrix_profile(const double *x, size_t n, size_t m,
                                 size_t *neighbour, double *r,
                                 struct dl_diag *d) {
  struct series s;
  enum dl_status status = make_and_join(&s, x, n, m, d);
  for (size_t i = 0; status == DL_OK && i < s.k; i++) {
    neighbour[i] = neighbour_of(&s, i);
    if (r)
      r[i] = neighbour[i] == SIZE_MAX
                 ? -1
                 : fmax(s.lower[i], s.higher[i]) / decimals;
  }
  free(s.all);
  return status;
}

/* arcs: k + 1 zeros. */
static void lowest(const struct series *s, size_t L, double *arcs,
                   struct dl_fluss *f) {
  size_t k = s->k;
  for (size_t i = 0; i < k; i++) {
    size_t j = neighbour_of(s, i);
    if (j == SIZE_MAX)
      continue;
    arcs[i < j ? i : j]++;
    arcs[i < j ? j : i]--;
  }
  *f = (struct dl_fluss){0, 1};
  for (size_t i = 1; i < k; i++)
    arcs[i] += arcs[i - 1];
  for (size_t i = 3 * L; i + 3 * L < k; i++) {
    double ideal = 2 * (double)i * (double)(k - i) / (double)k;
    double cac = ideal > 0 ? fmin(1, arcs[i] / ideal) : 1;
    if (cac < f->cac)
      *f = (struct dl_fluss){i, cac};
  }
}

enum dl_status dl_fluss(const double *x, size_t n, size_t m, size_t L,
                        struct dl_fluss *f, struct dl_diag *d) {
  struct series s;
  *f = (struct dl_fluss){0, 1};
  enum dl_status status = make_and_join(&s, x, n, m, d);
  if (status == DL_OK) {
    double *arcs = dl_calloc(s.k + 1, sizeof *arcs);
    if (arcs)
      lowest(&s, L, arcs, f);
    else
      status = dl_fail_memory(d);
    free(arcs);
  }
  free(s.all);
  return status;
}
