/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The front and the groups of the picture `pareto`. */

#include "plot/pareto_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sort.h"
#include "math/numeric/pareto.h"

/* If there are more groups than MOST_GROUPS, only COLOURED_GROUPS have a
 * colour; the others are grey. */
enum { MOST_GROUPS = 16, COLOURED_GROUPS = 5 };

static int by_time(const void *a, const void *b, void *ctx) {
  const struct dl_pareto_drawing *w = ctx;
  size_t i = *(const size_t *)a, k = *(const size_t *)b;
  double x = dl_pareto_time(w, i), y = dl_pareto_time(w, k);
  if (x != y)
    return x > y ? 1 : -1;
  return i > k ? 1 : -1;
}

static void find_places(const struct dl_pareto_drawing *w,
                        struct dl_pareto_place *place) {
  DL_FREED struct dl_pareto_point *p = dl_calloc(w->t.n, sizeof *p);
  for (size_t i = 0; i < w->t.n; i++)
    p[i] = (struct dl_pareto_point){.energy = dl_pareto_energy(w, i),
                                    .low = NAN,
                                    .high = NAN,
                                    .time = dl_pareto_time(w, i)};
  dl_pareto(p, w->t.n, place);
}

void dl_pareto_front(struct dl_pareto_drawing *w) {
  DL_FREED struct dl_pareto_place *place = dl_calloc(w->t.n, sizeof *place);
  w->front = dl_calloc(w->t.n, sizeof *w->front);
  w->on_front = dl_calloc(w->t.n, sizeof *w->on_front);
  bool has_column = w->t.there[COL_FRONT];
  if (!has_column)
    find_places(w, place);
  for (size_t i = 0; i < w->t.n; i++) {
    w->on_front[i] =
        has_column ? dl_plot_number(&w->t, i, COL_FRONT) > 0 : place[i].front;
    if (w->on_front[i])
      w->front[w->n_front++] = i;
  }
  dl_sort_with(w->front, w->n_front, sizeof *w->front, by_time, w);
}

/* A group, and the counts by which groups are ranked for a colour. */
struct colour_claim {
  size_t group, on_front, rows;
};

static int by_claim(const void *a, const void *b) {
  const struct colour_claim *x = a, *y = b;
  if (x->on_front != y->on_front)
    return x->on_front > y->on_front ? -1 : 1;
  if (x->rows != y->rows)
    return x->rows > y->rows ? -1 : 1;
  return (x->group > y->group) - (x->group < y->group);
}

/* Chooses the groups that have a colour: all, or those with the most rows on
 * the front, then with the most rows. */
static void choose_groups(struct dl_pareto_drawing *w,
                          struct colour_claim *claim) {
  size_t n = w->groups.n, *drawn = dl_calloc(n, sizeof *drawn);
  w->coloured = dl_calloc(n, sizeof *w->coloured);
  for (size_t i = 0; i < w->t.n; i++)
    claim[w->group[i]].rows++;
  for (size_t i = 0; i < w->n_front; i++)
    claim[w->group[w->front[i]]].on_front++;
  w->n_coloured = n <= MOST_GROUPS ? n : COLOURED_GROUPS;
  if (n > MOST_GROUPS)
    qsort(claim, n, sizeof *claim, by_claim);
  for (size_t i = 0; i < n; i++) {
    drawn[claim[i].group] = i < w->n_coloured ? i : w->n_coloured;
    w->coloured[i] = claim[i].group;
  }
  for (size_t i = 0; i < w->t.n; i++)
    w->group[i] = drawn[w->group[i]];
  free(drawn);
}

void dl_pareto_groups(struct dl_pareto_drawing *w, bool chosen) {
  w->by = !chosen && *dl_plot_text(&w->t, 0, COL_NODE) ? COL_NODE : COL_BY;
  w->group = dl_calloc(w->t.n, sizeof *w->group);
  w->shape = dl_calloc(w->t.n, sizeof *w->shape);
  for (size_t i = 0; i < w->t.n; i++) {
    w->group[i] = (size_t)dl_intern(&w->groups, dl_plot_text(&w->t, i, w->by));
    w->shape[i] =
        (size_t)dl_intern(&w->shapes, dl_plot_text(&w->t, i, COL_SHAPE));
  }
  w->shaped &=
      w->shapes.n > 1 && w->shapes.n <= DL_SHAPES && w->groups.n <= DL_SHADES;
  DL_FREED struct colour_claim *claim = dl_calloc(w->groups.n, sizeof *claim);
  for (size_t g = 0; g < w->groups.n; g++)
    claim[g].group = g;
  choose_groups(w, claim);
}
