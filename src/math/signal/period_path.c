/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases from the tempogram.
 *
 * A path visits one state in each block: a lag L, or none. It maximises
 *
 *   sum (r(t, L) - chance(L)) dt - entry * L for each phase entered
 *
 * Neighbouring lags may follow each other at a cost (drift). */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "math/signal/cycle_parameters.h"
#include "math/signal/cycles_private.h"

/* How a state was reached. */
enum { STAYED, SHORTER, LONGER, ENTERED };

struct viterbi {
  const struct dl_tempogram *m;
  double *rows;         /* room for the following three */
  double *value, *next; /* n_lags: best sum so far in each state */
  double *cost;         /* n_lags: of entering it */
  uint8_t *how;         /* n_blocks x n_lags */
  uint32_t *where;      /* n_blocks: state of the best path at the block's end;
                         * n_lags is none */
};

static void viterbi_alloc(struct viterbi *v, const struct dl_tempogram *m) {
  *v = (struct viterbi){.m = m};
  v->rows = dl_calloc(3 * m->n_lags, sizeof *v->rows);
  v->how = dl_calloc(m->n_blocks * m->n_lags, 1);
  v->where = dl_calloc(m->n_blocks, sizeof *v->where);
  v->value = v->rows;
  v->next = v->value + m->n_lags;
  v->cost = v->next + m->n_lags;
}

static void viterbi_free(struct viterbi *v) {
  free(v->rows);
  free(v->how);
  free(v->where);
}

static void set_costs(struct viterbi *v, double hint) {
  for (size_t l = 0; l < v->m->n_lags; l++) {
    double period = v->m->period[l];
    v->cost[l] = tuned.phase_cost * period;
    if (hint > 0)
      v->cost[l] += tuned.hint_cost * period * fabs(log(period / hint));
    v->value[l] = -INFINITY;
  }
}

/* One block: `none` is the best sum before it, of any state. Returns the
 * best state after it. */
static size_t step(struct viterbi *v, size_t b, double none, double *best) {
  const struct dl_tempogram *m = v->m;
  const float *r = m->r + b * m->n_lags;
  uint8_t *how = v->how + b * m->n_lags;
  size_t top = m->n_lags;
  *best = none;
  for (size_t l = 0; l < m->n_lags; l++) {
    double from = v->value[l], slip = tuned.drift_cost * m->period[l];
    how[l] = STAYED;
    if (l > 0 && v->value[l - 1] - slip > from) {
      from = v->value[l - 1] - slip;
      how[l] = SHORTER;
    }
    if (l + 1 < m->n_lags && v->value[l + 1] - slip > from) {
      from = v->value[l + 1] - slip;
      how[l] = LONGER;
    }
    if (none - v->cost[l] > from) {
      from = none - v->cost[l];
      how[l] = ENTERED;
    }
    v->next[l] = from + ((double)r[l] - v->m->chance[l]) * m->block;
    if (v->next[l] > *best) {
      *best = v->next[l];
      top = l;
    }
  }
  double *swap = v->value;
  v->value = v->next;
  v->next = swap;
  return top;
}

/* Walks the best path back and adds its phases, last first. */
static void walk(const struct viterbi *v, struct dl_period_segments *found) {
  const struct dl_tempogram *m = v->m;
  size_t cap = 0;
  for (size_t b = m->n_blocks; b-- > 0;) {
    size_t l = v->where[b];
    if (l == m->n_lags)
      continue;
    DL_GROW(found->at, cap, found->n + 1);
    struct dl_period_segment *s = &found->at[found->n++];
    *s = (struct dl_period_segment){.end = (double)(b + 1) * m->block};
    double sum = 0;
    size_t blocks = 0, last = l;
    for (;; b--) {
      size_t at = b * m->n_lags + l;
      s->score += ((double)m->r[at] - v->m->chance[l]) * m->block;
      sum += m->period[l];
      blocks++;
      if (v->how[at] == ENTERED || b == 0 ||
          fabs(log(m->period[l] / m->period[last])) > tuned.drift_most)
        break;
      if (v->how[at] == SHORTER)
        l--;
      else if (v->how[at] == LONGER)
        l++;
    }
    s->start = (double)b * m->block;
    s->period = sum / (double)blocks;
  }
}

void dl_viterbi_path(struct dl_period_segments *found,
                     const struct dl_tempogram *m, double hint) {
  struct viterbi v;
  double none = 0;
  *found = (struct dl_period_segments){0};
  viterbi_alloc(&v, m);
  set_costs(&v, hint);
  for (size_t b = 0; b < m->n_blocks; b++)
    v.where[b] = (uint32_t)step(&v, b, none, &none);
  walk(&v, found);
  viterbi_free(&v);
  for (size_t i = 0, j = found->n; i + 1 < j--; i++) {
    struct dl_period_segment kept = found->at[i];
    found->at[i] = found->at[j];
    found->at[j] = kept;
  }
}
