/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/scoring.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

void dl_scoring_free(struct dl_scoring *s) {
  for (size_t i = 0; i < s->n_cells; i++) {
    free(s->cell[i].measured);
    free(s->cell[i].estimated);
  }
  free(s->cell);
  dl_intern_free(&s->groups);
  *s = (struct dl_scoring){0};
}

static bool add(struct dl_score_cell *c, double measured, double estimated) {
  void *m = c->measured, *e = c->estimated;
  size_t cap = c->cap;
  bool ok = dl_grow(&m, &cap, c->n + 1, sizeof(double));
  c->measured = m;
  ok = ok && dl_grow(&e, &c->cap, c->n + 1, sizeof(double));
  c->estimated = e;
  if (!ok)
    return false;
  c->measured[c->n] = measured;
  c->estimated[c->n++] = estimated;
  return true;
}

/* Cells of a group, made when it is new; NULL when memory is out. */
static struct dl_score_cell *cells_of(struct dl_scoring *s, const char *group) {
  long g = dl_intern(&s->groups, group);
  void *list = s->cell;
  size_t want = s->groups.n * s->n_methods;
  if (g < 0 || !dl_grow(&list, &s->cap_cells, want, sizeof *s->cell))
    return NULL;
  s->cell = list;
  while (s->n_cells < want)
    s->cell[s->n_cells++] = (struct dl_score_cell){0};
  return &s->cell[(size_t)g * s->n_methods];
}

enum dl_status dl_scoring_add(struct dl_scoring *s, const char *group,
                              const struct dl_estimate *est, size_t n,
                              const double *measured, struct dl_diag *d) {
  s->n_methods = n;
  struct dl_score_cell *cells = cells_of(s, group);
  if (!cells)
    return dl_fail_memory(d);
  for (size_t i = 0; i < n; i++) {
    double y = measured[i];
    if (isnan(est[i].energy_j) || isnan(y))
      continue;
    if (!add(&cells[i], y, est[i].energy_j))
      return dl_fail_memory(d);
    if (isnan(est[i].low_j))
      continue;
    cells[i].with_interval++;
    cells[i].inside += y >= est[i].low_j && y <= est[i].high_j;
  }
  return DL_OK;
}
