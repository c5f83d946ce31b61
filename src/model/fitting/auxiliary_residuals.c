/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of GPUs and architectures that other laboratories measured: three
 * GPUs say little of how far off a new one may be, seven say more. */

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "model/fitting/group_cv_residuals.h"
#include "physics/training/physical.h"

struct leaving {
  const struct dl_problem *p;
  const struct dl_labels *by; /* of the rows to learn from */
  enum dl_physical_target target;
};

static double measured(const struct leaving *w, size_t row) {
  const double *x = gsl_matrix_const_ptr(w->p->more_X, row, 0);
  return x[DL_PC_FACTS_DOUBT] > DL_FACTS_DOUBT
             ? NAN
             : dl_physical_measured(x, w->target);
}

/* Rows in a group, or out of it; those that count are measured too. */
static size_t count(const struct leaving *w, size_t group, bool in) {
  size_t n = 0;
  for (size_t i = 0; i < w->p->more_X->size1; i++)
    n += in ? w->by->id[i] == group && isfinite(measured(w, i))
            : w->by->id[i] != group;
  return n;
}

/* The problem's own rows and those to learn from outside a group. */
static bool rows_without(const struct leaving *w, size_t group, gsl_matrix **X,
                         gsl_vector **y) {
  const struct dl_problem *p = w->p;
  size_t n = p->X->size1, m = count(w, group, false);
  *X = gsl_matrix_alloc(n + m, p->X->size2);
  *y = gsl_vector_alloc(n + m);
  if (!*X || !*y)
    return false;
  for (size_t i = 0; i < n; i++) {
    gsl_vector_const_view row = gsl_matrix_const_row(p->X, i);
    gsl_matrix_set_row(*X, i, &row.vector);
    gsl_vector_set(*y, i, log(gsl_vector_get(p->y, i)));
  }
  for (size_t i = 0; i < p->more_X->size1; i++) {
    if (w->by->id[i] == group)
      continue;
    gsl_vector_const_view row = gsl_matrix_const_row(p->more_X, i);
    gsl_matrix_set_row(*X, n, &row.vector);
    gsl_vector_set(*y, n++, gsl_vector_get(p->more_t, i));
  }
  return true;
}

/* The measured rows of a group, asked for the target, and its logarithm. */
static bool rows_of(const struct leaving *w, size_t group, gsl_matrix **X,
                    gsl_vector **y) {
  const gsl_matrix *more = w->p->more_X;
  size_t m = count(w, group, true), n = 0;
  *X = gsl_matrix_alloc(m, more->size2);
  *y = gsl_vector_alloc(m);
  if (!*X || !*y)
    return false;
  for (size_t i = 0; i < more->size1; i++) {
    double x = measured(w, i);
    if (w->by->id[i] != group || !isfinite(x))
      continue;
    gsl_vector_const_view row = gsl_matrix_const_row(more, i);
    gsl_matrix_set_row(*X, n, &row.vector);
    gsl_matrix_set(*X, n, DL_PC_TARGET, (double)w->target + 1);
    gsl_vector_set(*y, n++, log(x));
  }
  return true;
}

static enum dl_status leave_group_out(struct dl_group_residuals *g,
                                      const struct leaving *w, size_t group,
                                      const struct dl_choice *c,
                                      struct dl_diag *d) {
  gsl_matrix *X = NULL, *test = NULL;
  gsl_vector *y = NULL, *r = NULL, *predicted = NULL;
  void *state = NULL;
  double hyper[DL_MAX_HYPER];
  for (size_t i = 0; i < DL_MAX_HYPER; i++)
    hyper[i] = c->hyper[i];
  bool ok = rows_without(w, group, &X, &y) && rows_of(w, group, &test, &r);
  if (ok)
    predicted = gsl_vector_alloc(r->size);
  enum dl_status status = predicted ? DL_OK : dl_fail_memory(d);
  if (status == DL_OK)
    status = c->method->fit(
        &state, &(struct dl_sample){X, y, NULL, w->p->names}, hyper, d);
  if (status == DL_OK)
    status = c->method->predict(state, test, predicted, d);
  if (status == DL_OK) {
    gsl_vector_sub(r, predicted);
    dl_keep_quantiles(g, r->data, r->size);
    if (!(g->name = dl_strdup(w->by->names.s[group])))
      status = dl_fail_memory(d);
  }
  c->method->free(state);
  gsl_matrix_free(X);
  gsl_matrix_free(test);
  gsl_vector_free(y);
  gsl_vector_free(r);
  gsl_vector_free(predicted);
  return status;
}

enum dl_status dl_leave_more_out(struct dl_fit *fit, enum dl_left_out left,
                                 const struct dl_training *t,
                                 const struct dl_choice *c,
                                 const struct dl_problem *p,
                                 struct dl_diag *d) {
  const char *column = dl_left_out_name(left);
  struct dl_residuals *r = &fit->left_out[left];
  const struct dl_labels *mine = dl_training_labels(t, column);
  struct leaving w = {.p = p};
  if (!p->more_X || !(w.by = dl_training_labels(t->more, column)))
    return DL_OK;
  w.target =
      (enum dl_physical_target)(gsl_matrix_get(p->X, 0, DL_PC_TARGET) - 1);
  struct dl_group_residuals *g =
      realloc(r->g, (r->n + w.by->names.n) * sizeof *g);
  if (!g)
    return dl_fail_memory(d);
  r->g = g;
  enum dl_status status = DL_OK;
  for (size_t k = 0; k < w.by->names.n && status == DL_OK; k++) {
    if (dl_intern_find(&mine->names, w.by->names.s[k]) >= 0 ||
        count(&w, k, true) == 0)
      continue;
    g[r->n] = (struct dl_group_residuals){0};
    status = leave_group_out(&g[r->n], &w, k, c, d);
    r->n += status == DL_OK || g[r->n].name;
  }
  return status;
}
