/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/scoring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_scoring_free(struct dl_scoring *s) {
  free(s->table);
  free(s->group);
  for (size_t c = 0; c < DL_N_CLUSTERINGS; c++) {
    free(s->cluster[c]);
    dl_intern_free(&s->clusters[c]);
  }
  for (size_t m = 0; m < s->n_methods; m++) {
    free(s->measured[m]);
    free(s->estimated[m]);
    free(s->inside[m]);
  }
  free(s->measured);
  free(s->estimated);
  free(s->inside);
  free(s->column);
  free(s->before);
  dl_intern_free(&s->groups);
  *s = (struct dl_scoring){0};
}

static void begin(struct dl_scoring *s, size_t n_methods) {
  s->n_methods = n_methods;
  s->n_columns = 1;
  s->measured = dl_calloc(n_methods, sizeof *s->measured);
  s->estimated = dl_calloc(n_methods, sizeof *s->estimated);
  s->inside = dl_calloc(n_methods, sizeof *s->inside);
  s->column = dl_calloc(n_methods, sizeof *s->column);
  s->before = dl_calloc(n_methods, sizeof *s->before);
}

/* Room for a quarter more runs: doubling would hold as much again. */
static void make_room(struct dl_scoring *s) {
  size_t room = s->room = s->n + s->n / 4 + 64;
  s->table = dl_reallocarray(s->table, room, sizeof *s->table);
  s->group = dl_reallocarray(s->group, room, sizeof *s->group);
  for (size_t c = 0; c < DL_N_CLUSTERINGS; c++)
    s->cluster[c] = dl_reallocarray(s->cluster[c], room, sizeof *s->cluster[c]);
  for (size_t k = 0; k < s->n_columns; k++)
    s->measured[k] =
        dl_reallocarray(s->measured[k], room, sizeof *s->measured[k]);
  for (size_t m = 0; m < s->n_methods; m++) {
    s->estimated[m] =
        dl_reallocarray(s->estimated[m], room, sizeof *s->estimated[m]);
    s->inside[m] = dl_reallocarray(s->inside[m], room, sizeof *s->inside[m]);
  }
}

/* Unknown values are equal. */
static bool same(double a, double b) {
  return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : !(a < b) && !(a > b);
}

/* A column that begins like another. */
static size_t copy_column(struct dl_scoring *s, size_t from) {
  double *copy = dl_calloc(s->room, sizeof *copy);
  memcpy(copy, s->measured[from], s->n * sizeof *copy);
  s->measured[s->n_columns] = copy;
  return s->n_columns++;
}

/* Enters what was measured for each candidate. Candidates that were equal in
 * all runs so far, and are not in this one, part. */
static void add_measured(struct dl_scoring *s, const double *measured) {
  size_t *before = s->before;
  memcpy(before, s->column, s->n_methods * sizeof *before);
  for (size_t m = 0; m < s->n_methods; m++) {
    size_t first = m, equal = m;
    for (size_t i = m; i-- > 0;)
      if (before[i] == before[m]) {
        first = i;
        equal = same(measured[i], measured[m]) ? i : equal;
      }
    if (equal < m)
      s->column[m] = s->column[equal];
    else if (first < m)
      s->column[m] = copy_column(s, before[m]);
    s->measured[s->column[m]][s->n] = measured[m];
  }
}

static int8_t is_inside(const struct dl_estimate *est, double y) {
  if (isnan(est->energy_j.low) || isnan(est->energy_j.x) || isnan(y))
    return -1;
  return y >= est->energy_j.low && y <= est->energy_j.high;
}

void dl_scoring_add(struct dl_scoring *s, const struct dl_scored *run) {
  char own[32];
  /* A name that no label has: it would hold no line end. */
  snprintf(own, sizeof own, "\n%zu", s->n);
  long g = dl_intern(&s->groups, run->group);
  if (s->n_methods == 0)
    begin(s, run->n);
  if (s->n == s->room)
    make_room(s);
  s->table[s->n] = (uint32_t)run->table;
  s->group[s->n] = (uint32_t)g;
  for (size_t c = 0; c < DL_N_CLUSTERINGS; c++) {
    const char *other = c == DL_CLUSTER_OWN ? own : "";
    const char *name = run->cluster[c] ? run->cluster[c] : other;
    s->cluster[c][s->n] = (uint32_t)dl_intern(&s->clusters[c], name);
  }
  add_measured(s, run->measured);
  for (size_t m = 0; m < s->n_methods; m++) {
    s->estimated[m][s->n] = run->est[m].energy_j.x;
    s->inside[m][s->n] = is_inside(&run->est[m], run->measured[m]);
  }
  s->n++;
}

bool dl_scoring_same(const struct dl_scoring *s, size_t a, size_t b) {
  const double *y = s->measured[s->column[a]], *z = s->measured[s->column[b]];
  for (size_t r = 0; r < s->n; r++)
    if (!same(y[r], z[r]) || !same(s->estimated[a][r], s->estimated[b][r]) ||
        s->inside[a][r] != s->inside[b][r])
      return false;
  return true;
}

/* The runs of a scope as the numerical core takes them. */
struct scoring_part {
  size_t n;
  size_t n_groups[DL_N_CLUSTERINGS];
  size_t *run;           /* n, or NULL: all runs */
  uint32_t *group;       /* DL_N_CLUSTERINGS x n, or NULL: the clusters */
  double *copy;          /* of the columns; NULL for all runs */
  const double **y, **f; /* columns of each candidate */
};

static void free_part(struct scoring_part *p) {
  free(p->run);
  free(p->group);
  free(p->copy);
  free((void *)p->y);
}

/* Whether a run is in the scope. */
static bool in_scope(const struct dl_scoring *s, size_t run,
                     const struct dl_scoring_scope *scope) {
  return (scope->table == DL_ALL || scope->table == s->table[run]) &&
         (scope->group == DL_ALL || scope->group == s->group[run]);
}

/* Numbers the clusters of the part by first appearance. */
static void number_clusters(struct scoring_part *p, const struct dl_scoring *s,
                            enum dl_clustering c) {
  DL_FREED size_t *number = dl_calloc(s->clusters[c].n, sizeof *number);
  uint32_t *group = p->group + (size_t)c * p->n;
  for (size_t k = 0; k < p->n; k++) {
    size_t *of = &number[s->cluster[c][p->run[k]]];
    if (*of == 0)
      *of = ++p->n_groups[c];
    group[k] = (uint32_t)(*of - 1);
  }
}

/* Copies the columns of a part of the runs. */
static void take_some(struct scoring_part *p, const struct dl_scoring *s,
                      const struct dl_scoring_scope *scope) {
  size_t k = 0;
  p->run = dl_calloc(p->n, sizeof *p->run);
  p->group = dl_calloc(DL_N_CLUSTERINGS * p->n, sizeof *p->group);
  p->copy = dl_calloc(2 * scope->n * p->n, sizeof *p->copy);
  for (size_t r = 0; r < s->n; r++)
    if (in_scope(s, r, scope))
      p->run[k++] = r;
  for (size_t c = 0; c < DL_N_CLUSTERINGS; c++)
    number_clusters(p, s, (enum dl_clustering)c);
  for (size_t m = 0; m < scope->n; m++) {
    double *y = p->copy + 2 * m * p->n, *f = y + p->n;
    for (size_t i = 0; i < p->n; i++) {
      y[i] = p->y[m][p->run[i]];
      f[i] = p->f[m][p->run[i]];
    }
    p->y[m] = y;
    p->f[m] = f;
  }
}

static void take_part(struct scoring_part *p, const struct dl_scoring *s,
                      const struct dl_scoring_scope *scope) {
  for (size_t r = 0; r < s->n; r++)
    p->n += in_scope(s, r, scope);
  p->y = dl_calloc(2 * scope->n, sizeof *p->y);
  p->f = p->y + scope->n;
  for (size_t m = 0; m < scope->n; m++) {
    p->y[m] = s->measured[s->column[scope->which[m]]];
    p->f[m] = s->estimated[scope->which[m]];
  }
  if (p->n < s->n)
    take_some(p, s, scope);
  else
    for (size_t c = 0; c < DL_N_CLUSTERINGS; c++)
      p->n_groups[c] = s->clusters[c].n;
}

static void add_way(struct dl_boot *b, const struct scoring_part *p,
                    const struct dl_scoring *s, enum dl_clustering c) {
  b->n_groups[b->n_ways] = p->n_groups[c];
  b->group[b->n_ways++] =
      p->group ? p->group + (size_t)c * p->n : s->cluster[c];
}

/* Runs on a GPU, or of an architecture, have errors in common beyond their
 * configuration's: where several of them were measured, these are drawn. A
 * single one is part of what the scores are about. */
static void choose_ways(struct dl_boot *b, const struct scoring_part *p,
                        const struct dl_scoring *s) {
  for (size_t c = DL_CLUSTER_GPU; c < DL_N_CLUSTERINGS; c++)
    if (p->n_groups[c] > 1)
      add_way(b, p, s, (enum dl_clustering)c);
  if (b->n_ways == 0)
    add_way(b, p, s, DL_CLUSTER_OWN);
}

/* The scores of one candidate without resampling. */
static void score_one(const struct dl_scoring *s, const struct scoring_part *p,
                      size_t candidate, size_t m, struct dl_method_score *out) {
  const double *y = p->y[m], *f = p->f[m];
  DL_FREED double *some = NULL;
  size_t n = 0, with = 0, inside = 0;
  for (size_t k = 0; k < p->n; k++) {
    if (isnan(y[k]) || isnan(f[k]))
      continue;
    int8_t in = s->inside[candidate][p->run ? p->run[k] : k];
    with += in >= 0;
    inside += in > 0;
    n++;
  }
  if (n < p->n) {
    some = dl_calloc(2 * n, sizeof *some);
    for (size_t k = 0, i = 0; k < p->n; k++)
      if (!isnan(y[k]) && !isnan(f[k])) {
        some[i] = y[k];
        some[n + i++] = f[k];
      }
    y = some;
    f = some + n;
  }
  out->covered = with > 0 ? (double)inside / (double)with : (double)NAN;
  dl_score(&out->of, y, f, NULL, n);
}

enum dl_status dl_scoring_of(const struct dl_scoring *s,
                             const struct dl_scoring_scope *scope,
                             const struct dl_resampling *how,
                             struct dl_method_score *out, struct dl_diag *d) {
  size_t n = scope->n;
  DL_SCOPED(free_part) struct scoring_part p = {0};
  take_part(&p, s, scope);
  struct dl_boot b = {.n = p.n,
                      .n_methods = n,
                      .y = p.y,
                      .f = p.f,
                      .resamples = how->resamples,
                      .confidence = how->confidence,
                      .seed = how->seed,
                      .progress = d->progress};
  DL_FREED struct dl_boot_scores *boot = dl_calloc(n, sizeof *boot);
  choose_ways(&b, &p, s);
  dl_bootstrap(&b, boot);
  for (size_t m = 0; m < n; m++) {
    out[m].boot = boot[m];
    memcpy(out[m].groups, p.n_groups, sizeof out[m].groups);
    out[m].effective_groups = dl_boot_groups(&b);
    score_one(s, &p, scope->which[m], m, &out[m]);
  }
  return DL_OK;
}
