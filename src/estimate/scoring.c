/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/scoring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void dl_scoring_free(struct dl_scoring *s) {
  free(s->run);
  free(s->measured);
  free(s->estimated);
  free(s->inside);
  dl_intern_free(&s->groups);
  dl_intern_free(&s->clusters);
  *s = (struct dl_scoring){0};
}

static bool room(struct dl_scoring *s) {
  void *run = s->run, *measured = s->measured;
  void *estimated = s->estimated, *inside = s->inside;
  size_t want = s->n + 1, cells = want * s->n_methods;
  bool ok =
      dl_grow(&run, &s->cap_run, want, sizeof *s->run) &&
      dl_grow(&measured, &s->cap_measured, cells, sizeof *s->measured) &&
      dl_grow(&estimated, &s->cap_estimated, cells, sizeof *s->estimated) &&
      dl_grow(&inside, &s->cap_inside, cells, sizeof *s->inside);
  s->run = run;
  s->measured = measured;
  s->estimated = estimated;
  s->inside = inside;
  return ok;
}

static int8_t is_inside(const struct dl_estimate *est, double y) {
  if (isnan(est->low_j) || isnan(est->energy_j) || isnan(y))
    return -1;
  return y >= est->low_j && y <= est->high_j;
}

enum dl_status dl_scoring_add(struct dl_scoring *s, const struct dl_scored *run,
                              struct dl_diag *d) {
  char own[32];
  size_t n = s->n_methods = run->n;
  /* A name that no label has: it would hold no line end. */
  snprintf(own, sizeof own, "\n%zu", s->n);
  long g = dl_intern(&s->groups, run->group);
  long c = dl_intern(&s->clusters, run->cluster ? run->cluster : own);
  if (g < 0 || c < 0 || !room(s))
    return dl_fail_memory(d);
  s->run[s->n] = (struct dl_scored_run){run->table, (size_t)g, (size_t)c};
  for (size_t i = 0; i < n; i++) {
    s->measured[s->n * n + i] = run->measured[i];
    s->estimated[s->n * n + i] = run->est[i].energy_j;
    s->inside[s->n * n + i] = is_inside(&run->est[i], run->measured[i]);
  }
  s->n++;
  return DL_OK;
}

/* Unknown values are the same. */
static bool same(double a, double b) {
  return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : !(a < b) && !(a > b);
}

bool dl_scoring_same(const struct dl_scoring *s, size_t a, size_t b) {
  for (size_t r = 0; r < s->n; r++) {
    const double *y = s->measured + r * s->n_methods;
    const double *f = s->estimated + r * s->n_methods;
    const int8_t *in = s->inside + r * s->n_methods;
    if (!same(y[a], y[b]) || !same(f[a], f[b]) || in[a] != in[b])
      return false;
  }
  return true;
}

/* The runs of a scope laid out for the numerical core, candidate by
 * candidate. */
struct part {
  size_t n;
  size_t *run, *group;
  size_t *number; /* of each cluster in the part, + 1; 0: not in it */
  double *y, *f;
  double *y_one, *f_one; /* of one candidate, what counts */
};

static void free_part(struct part *p) {
  free(p->run);
  free(p->group);
  free(p->number);
  free(p->y);
  free(p->f);
  free(p->y_one);
}

static bool in_scope(const struct dl_scored_run *r,
                     const struct dl_scoring_scope *scope) {
  return (scope->table == DL_ALL || scope->table == r->table) &&
         (scope->group == DL_ALL || scope->group == r->group);
}

/* Clusters are numbered by first appearance. */
static bool take_part(struct part *p, const struct dl_scoring *s,
                      const struct dl_scoring_scope *scope, struct dl_boot *b) {
  size_t n = scope->n;
  for (size_t r = 0; r < s->n; r++)
    p->n += in_scope(&s->run[r], scope);
  p->run = dl_calloc(p->n, sizeof *p->run);
  p->group = dl_calloc(p->n, sizeof *p->group);
  p->number = dl_calloc(s->clusters.n, sizeof *p->number);
  p->y = dl_calloc(n * p->n, sizeof *p->y);
  p->f = dl_calloc(n * p->n, sizeof *p->f);
  p->y_one = dl_calloc(2 * p->n, sizeof *p->y_one);
  if (!p->run || !p->group || !p->number || !p->y || !p->f || !p->y_one)
    return false;
  p->f_one = p->y_one + p->n;
  b->n_groups = 0;
  for (size_t r = 0, k = 0; r < s->n; r++) {
    if (!in_scope(&s->run[r], scope))
      continue;
    size_t *number = &p->number[s->run[r].cluster];
    if (*number == 0)
      *number = ++b->n_groups;
    p->group[k] = *number - 1;
    for (size_t m = 0; m < n; m++) {
      p->y[m * p->n + k] = s->measured[r * s->n_methods + scope->which[m]];
      p->f[m * p->n + k] = s->estimated[r * s->n_methods + scope->which[m]];
    }
    p->run[k++] = r;
  }
  b->n = p->n;
  b->n_methods = n;
  b->group = p->group;
  b->y = p->y;
  b->f = p->f;
  return true;
}

/* The scores of one candidate without resampling. */
static bool score_one(const struct dl_scoring *s, const struct part *p,
                      size_t candidate, size_t m, struct dl_method_score *out) {
  size_t n = 0, with = 0, inside = 0;
  for (size_t k = 0; k < p->n; k++) {
    double y = p->y[m * p->n + k], f = p->f[m * p->n + k];
    if (isnan(y) || isnan(f))
      continue;
    p->y_one[n] = y;
    p->f_one[n++] = f;
    int8_t in = s->inside[p->run[k] * s->n_methods + candidate];
    with += in >= 0;
    inside += in > 0;
  }
  out->covered = with > 0 ? (double)inside / (double)with : (double)NAN;
  dl_score(&out->of, p->y_one, p->f_one, NULL, n);
  return true;
}

enum dl_status dl_scoring_of(const struct dl_scoring *s,
                             const struct dl_scoring_scope *scope,
                             const struct dl_resampling *how,
                             struct dl_method_score *out, struct dl_diag *d) {
  size_t n = scope->n;
  struct part p = {0};
  struct dl_boot b = {.resamples = how->resamples,
                      .confidence = how->confidence,
                      .seed = how->seed,
                      .progress = d->progress};
  struct dl_boot_scores *boot = dl_calloc(n, sizeof *boot);
  bool ok = boot && take_part(&p, s, scope, &b);
  if (ok)
    dl_bootstrap(&b, boot);
  for (size_t m = 0; m < n && ok; m++) {
    out[m].boot = boot[m];
    out[m].clusters = b.n_groups;
    ok = score_one(s, &p, scope->which[m], m, &out[m]);
  }
  free(boot);
  free_part(&p);
  return ok ? DL_OK : dl_fail_memory(d);
}
