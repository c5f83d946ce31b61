/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/numeric/pareto.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* The least of what some points have. Of low ends two, since a point is not
 * to be compared with its own. */
struct least {
  double energy, high, low, low2;
};

static const struct least nothing = {INFINITY, INFINITY, INFINITY, INFINITY};

static struct least both(struct least a, struct least b) {
  return (struct least){fmin(a.energy, b.energy), fmin(a.high, b.high),
                        fmin(a.low, b.low),
                        fmin(fmax(a.low, b.low), fmin(a.low2, b.low2))};
}

struct ranked_point {
  struct dl_pareto_point p; /* with its interval, known or not */
  size_t index;             /* of the caller */
  size_t rank;              /* of its time, from 1; equal for equal times */
};

/* Puts a point into a Fenwick tree of n elements, 1 .. n. */
static void put(struct least *tree, size_t n, const struct ranked_point *x) {
  const struct least own = {x->p.energy, x->p.high, x->p.low, INFINITY};
  for (size_t i = x->rank; i <= n; i += i & -i)
    tree[i] = both(tree[i], own);
}

/* The least over the ranks 1 .. rank of a tree. */
static struct least upto(const struct least *tree, size_t rank) {
  struct least l = nothing;
  for (size_t i = rank; i > 0; i -= i & -i)
    l = both(l, tree[i]);
  return l;
}

static int by_time(const void *a, const void *b) {
  double x = ((const struct ranked_point *)a)->p.time;
  double y = ((const struct ranked_point *)b)->p.time;
  return (x > y) - (x < y);
}

static int by_merit(const void *a, const void *b) {
  double x = ((const struct ranked_point *)a)->p.merit;
  double y = ((const struct ranked_point *)b)->p.merit;
  return (x < y) - (x > y);
}

/* The points that can be compared; returns their number. */
static size_t gather(const struct dl_pareto_point *p, size_t n,
                     struct ranked_point *item) {
  size_t m = 0;
  for (size_t i = 0; i < n; i++) {
    if (isnan(p[i].energy) || isnan(p[i].time) || isnan(p[i].merit))
      continue;
    item[m] = (struct ranked_point){.p = p[i], .index = i};
    if (isnan(p[i].low) || isnan(p[i].high))
      item[m].p.low = item[m].p.high = p[i].energy;
    m++;
  }
  return m;
}

static void rank_times(struct ranked_point *item, size_t n) {
  qsort(item, n, sizeof *item, by_time);
  for (size_t i = 0; i < n; i++) {
    bool same = i > 0 && !(item[i].p.time > item[i - 1].p.time);
    item[i].rank = same ? item[i - 1].rank : i + 1;
  }
}

/* The points of one merit, when all of a better one are in the tree. */
static void place_equals(struct least *t, size_t size,
                         const struct ranked_point *x, size_t n,
                         struct dl_pareto_place *place) {
  for (size_t i = 0; i < n; i++) /* beaten by one of a better merit? */
    place[x[i].index].front = upto(t, x[i].rank).energy > x[i].p.energy;
  for (size_t i = 0; i < n; i++)
    put(t, size, &x[i]);
  for (size_t i = 0; i < n; i++) {
    const struct dl_pareto_point *p = &x[i].p;
    struct least as_good = upto(t, x[i].rank);
    bool beaten = as_good.energy < p->energy ||
                  upto(t, x[i].rank - 1).energy <= p->energy;
    double others = as_good.low < p->low ? as_good.low : as_good.low2;
    place[x[i].index].front &= !beaten;
    place[x[i].index].open = as_good.high >= p->low && others <= p->high;
  }
}

void dl_pareto(const struct dl_pareto_point *p, size_t n,
               struct dl_pareto_place *place) {
  DL_FREED struct ranked_point *item = dl_calloc(n, sizeof *item);
  DL_FREED struct least *tree = dl_calloc(n + 1, sizeof *tree);
  for (size_t i = 0; i < n; i++)
    place[i] = (struct dl_pareto_place){false, false};
  size_t m = gather(p, n, item);
  for (size_t i = 0; i <= m; i++)
    tree[i] = nothing;
  rank_times(item, m);
  qsort(item, m, sizeof *item, by_merit);
  for (size_t i = 0, end; i < m; i = end) {
    for (end = i + 1; end < m && !(item[end].p.merit < item[i].p.merit);)
      end++;
    place_equals(tree, m, item + i, end - i, place);
  }
}
