/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of the GPUs and architectures of the auxiliary training data: three
 * GPUs say little of how far off a new one may be, seven say more. */

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/fitting/group_cv_residuals.h"
#include "model/interval.h"
#include "physics/training/training_cost.h"

/* What is held out, and from what. */
struct holding {
  const struct dl_problem *p;
  const struct dl_labels *by; /* of the auxiliary rows */
  size_t target;
};

/* The logarithm of the target in an auxiliary row, NaN where it was not
 * measured or the facts of its network are uncertain. */
static double measured(const struct holding *w, size_t i) {
  const struct dl_observed *row = w->p->auxiliary[i];
  return dl_training_target(row->inputs, row->value, w->target);
}

/* Rows of a group with a value for the target. */
static size_t count(const struct holding *w, size_t group) {
  size_t n = 0;
  for (size_t i = 0; i < w->p->n_auxiliary; i++)
    n += w->by->id[i] == group && isfinite(measured(w, i));
  return n;
}

/* The problem's own rows, and the auxiliary ones outside a group. */
static const void **rows_without(const struct holding *w, size_t group,
                                 size_t *n) {
  const struct dl_problem *p = w->p;
  const void **rows = dl_calloc(p->y->size + p->n_auxiliary, sizeof *rows);
  for (*n = 0; rows && *n < p->y->size; ++*n)
    rows[*n] = p->rows[*n];
  for (size_t i = 0; rows && i < p->n_auxiliary; i++)
    if (w->by->id[i] != group)
      rows[(*n)++] = p->auxiliary[i];
  return rows;
}

/* The residuals of a group's rows under a fit. */
static enum dl_status keep_residuals(struct dl_group_residuals *g,
                                     const struct holding *w, size_t group,
                                     const struct dl_regression *method,
                                     const void *state, struct dl_diag *d) {
  size_t n = 0;
  double *r = dl_calloc(count(w, group), sizeof *r);
  enum dl_status status = r ? DL_OK : dl_fail_memory(d);
  for (size_t i = 0; i < w->p->n_auxiliary && status == DL_OK; i++) {
    struct dl_observed row = *(const struct dl_observed *)w->p->auxiliary[i];
    const void *rows[] = {&row};
    double y;
    gsl_vector_view out = gsl_vector_view_array(&y, 1);
    if (w->by->id[i] != group || !isfinite(measured(w, i)))
      continue;
    row.target = w->target;
    status = method->predict_rows(state, rows, &out.vector, d);
    r[n++] = measured(w, i) - y;
  }
  if (status == DL_OK) {
    dl_residual_quantiles(g, r, n);
    if (!(g->name = dl_strdup(w->by->names.s[group])))
      status = dl_fail_memory(d);
  }
  free(r);
  return status;
}

static enum dl_status hold_out(struct dl_group_residuals *g,
                               const struct holding *w, size_t group,
                               const struct dl_choice *c, struct dl_diag *d) {
  void *state = NULL;
  double hyper[DL_MAX_HYPER];
  struct dl_sample s = {0};
  for (size_t i = 0; i < DL_MAX_HYPER; i++)
    hyper[i] = c->hyper[i];
  const void **rows = rows_without(w, group, &s.n_rows);
  s.rows = rows;
  enum dl_status status =
      rows ? c->method->fit(&state, &s, hyper, d) : dl_fail_memory(d);
  if (status == DL_OK)
    status = keep_residuals(g, w, group, c->method, state, d);
  c->method->free(state);
  free((void *)rows);
  return status;
}

enum dl_status dl_auxiliary_residuals(struct dl_fit *fit, enum dl_left_out left,
                                      const struct dl_training *t,
                                      const struct dl_choice *c,
                                      const struct dl_problem *p,
                                      struct dl_diag *d) {
  const char *column = dl_left_out_name(left);
  struct dl_residuals *r = &fit->left_out[left];
  const struct dl_labels *own = dl_training_labels(t, column);
  struct holding w = {.p = p};
  if (p->n_auxiliary == 0 || !(w.by = dl_training_labels(t->auxiliary, column)))
    return DL_OK;
  w.target = ((const struct dl_observed *)p->rows[0])->target;
  struct dl_group_residuals *g =
      realloc(r->g, (r->n + w.by->names.n) * sizeof *g);
  if (!g)
    return dl_fail_memory(d);
  r->g = g;
  enum dl_status status = DL_OK;
  for (size_t k = 0; k < w.by->names.n && status == DL_OK; k++) {
    if (dl_intern_find(&own->names, w.by->names.s[k]) >= 0 || count(&w, k) == 0)
      continue;
    g[r->n] = (struct dl_group_residuals){0};
    status = hold_out(&g[r->n], &w, k, c, d);
    r->n += status == DL_OK || g[r->n].name;
  }
  return status;
}
