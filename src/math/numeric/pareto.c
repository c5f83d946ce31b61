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

struct item {
  struct dl_pareto_point p; /* with its interval, known or not */
  size_t index;             /* of the caller */
  size_t rank;              /* of its time, from 1; the same for the same */
};

struct tree {
  struct least *at; /* 1 .. n */
  size_t n;
};

static void put(struct tree *t, const struct item *x) {
  const struct least own = {x->p.energy, x->p.high, x->p.low, INFINITY};
  for (size_t i = x->rank; i <= t->n; i += i & -i)
    t->at[i] = both(t->at[i], own);
}

/* Over the ranks 1 .. rank. */
static struct least upto(const struct tree *t, size_t rank) {
  struct least l = nothing;
  for (size_t i = rank; i > 0; i -= i & -i)
    l = both(l, t->at[i]);
  return l;
}

static int by_time(const void *a, const void *b) {
  double x = ((const struct item *)a)->p.time;
  double y = ((const struct item *)b)->p.time;
  return (x > y) - (x < y);
}

static int by_merit(const void *a, const void *b) {
  double x = ((const struct item *)a)->p.merit;
  double y = ((const struct item *)b)->p.merit;
  return (x < y) - (x > y);
}

/* The points that can be compared; returns their number. */
static size_t gather(const struct dl_pareto_point *p, size_t n,
                     struct item *item) {
  size_t m = 0;
  for (size_t i = 0; i < n; i++) {
    if (isnan(p[i].energy) || isnan(p[i].time) || isnan(p[i].merit))
      continue;
    item[m] = (struct item){.p = p[i], .index = i};
    if (isnan(p[i].low) || isnan(p[i].high))
      item[m].p.low = item[m].p.high = p[i].energy;
    m++;
  }
  return m;
}

static void rank_times(struct item *item, size_t n) {
  qsort(item, n, sizeof *item, by_time);
  for (size_t i = 0; i < n; i++) {
    bool same = i > 0 && !(item[i].p.time > item[i - 1].p.time);
    item[i].rank = same ? item[i - 1].rank : i + 1;
  }
}

/* The points of one merit, when all of a better one are in the tree. */
static void place_equals(struct tree *t, const struct item *x, size_t n,
                         struct dl_pareto_place *place) {
  for (size_t i = 0; i < n; i++) /* beaten by one of a better merit? */
    place[x[i].index].front = upto(t, x[i].rank).energy > x[i].p.energy;
  for (size_t i = 0; i < n; i++)
    put(t, &x[i]);
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
  DL_FREED struct item *item = dl_calloc(n, sizeof *item);
  struct tree t = {.at = dl_calloc(n + 1, sizeof *t.at)};
  for (size_t i = 0; i < n; i++)
    place[i] = (struct dl_pareto_place){false, false};
  t.n = gather(p, n, item);
  for (size_t i = 0; i <= t.n; i++)
    t.at[i] = nothing;
  rank_times(item, t.n);
  qsort(item, t.n, sizeof *item, by_merit);
  for (size_t i = 0, end; i < t.n; i = end) {
    for (end = i + 1; end < t.n && !(item[end].p.merit < item[i].p.merit);)
      end++;
    place_equals(&t, item + i, end - i, place);
  }
  free(t.at);
}
