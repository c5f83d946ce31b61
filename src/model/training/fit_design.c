/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/training/fit_design.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/training/training_columns.h"

void dl_design_free(struct dl_design *g) {
  gsl_matrix_free((gsl_matrix *)g->X);
  gsl_vector_free((gsl_vector *)g->y);
  gsl_vector_free((gsl_vector *)g->w);
  gsl_vector_free((gsl_vector *)g->offset);
  *g = (struct dl_design){0};
}

/* The training column of a formula, seen as a vector where it lies: GSL
 * frees no data that it does not own. */
static enum dl_status column(const gsl_vector **v, const struct dl_training *t,
                             const char *formula, struct dl_diag *d) {
  long j = dl_training_column(t, formula);
  if (j < 0)
    return dl_fail(d, DL_EFAILED, "formula '%s' was not read", formula);
  gsl_vector *new = dl_malloc(sizeof *new);
  *new =
      (gsl_vector){.size = t->n, .stride = t->x->tda, .data = t->x->data + j};
  *v = new;
  return DL_OK;
}

static enum dl_status all_positive(const gsl_vector *v, const char *what,
                                   const char *name, struct dl_diag *d) {
  if (gsl_vector_min(v) > 0)
    return DL_OK;
  return dl_fail(d, DL_EINPUT, "%s '%s' must be positive in every row%s", what,
                 name,
                 strcmp(what, "target") == 0 ? "; fit it with --no-log" : "");
}

static enum dl_status make_offset(struct dl_design *g,
                                  const struct dl_training *t,
                                  const struct dl_choice *c,
                                  struct dl_diag *d) {
  if (!c->offset)
    return DL_OK;
  DL_TRY(column(&g->offset, t, c->offset, d));
  if (!c->log_target)
    return DL_OK;
  DL_TRY(all_positive(g->offset, "offset", c->offset, d));
  gsl_vector *logs = gsl_vector_alloc(t->n);
  for (size_t i = 0; i < t->n; i++)
    gsl_vector_set(logs, i, log(gsl_vector_get(g->offset, i)));
  gsl_vector_free((gsl_vector *)g->offset);
  g->offset = logs;
  return DL_OK;
}

/* The columns that follow each other from column `first` of the table, seen
 * as a matrix. */
static gsl_matrix *see_columns(const struct dl_training *t, size_t first,
                               size_t n) {
  gsl_matrix *X = dl_malloc(sizeof *X);
  *X = (gsl_matrix){
      .size1 = t->n, .size2 = n, .tda = t->x->tda, .data = t->x->data + first};
  return X;
}

static gsl_matrix *copy_columns(const struct dl_training *t, const size_t *from,
                                size_t n) {
  gsl_matrix *X = gsl_matrix_alloc(t->n, n);
  for (size_t i = 0; i < t->n; i++)
    for (size_t k = 0; k < n; k++)
      gsl_matrix_set(X, i, k, gsl_matrix_get(t->x, i, from[k]));
  return X;
}

/* A large table is not copied where its columns lie as they are needed. */
static enum dl_status make_features(struct dl_design *g,
                                    const struct dl_training *t,
                                    const struct dl_choice *c,
                                    struct dl_diag *d) {
  size_t n = c->features.n;
  bool in_order = true;
  DL_FREED size_t *from = dl_calloc(n, sizeof *from);
  for (size_t k = 0; k < n; k++) {
    long j = dl_training_column(t, c->features.s[k]);
    if (j < 0) {
      return dl_fail(d, DL_EFAILED, "feature '%s' was not read",
                     c->features.s[k]);
    }
    from[k] = (size_t)j;
    in_order = in_order && from[k] == from[0] + k;
  }
  g->X =
      in_order && n > 0 ? see_columns(t, from[0], n) : copy_columns(t, from, n);
  return DL_OK;
}

/* The rows of a physics. */
static enum dl_status make_rows(struct dl_design *g,
                                const struct dl_training *t,
                                const struct dl_choice *c, struct dl_diag *d) {
  const struct dl_physics *physics = c->method->physics;
  const struct dl_physics_rows *own = dl_training_physics_rows(t, physics);
  bool for_all = !g->w || t->means; /* targets */
  long target = dl_physics_target(physics, c->target);
  if (!own || target < 0 || c->features.n > 0)
    return dl_fail(d, DL_EUSAGE,
                   "the %s method takes its own features; leave --features out",
                   physics->name);
  g->physics = physics;
  g->target = (size_t)target;
  const struct dl_physics_rows *more =
      t->auxiliary && for_all && c->log_target
          ? dl_training_physics_rows(t->auxiliary, physics)
          : NULL;
  g->problem = dl_table_problem(t->problems, own, more, g->w,
                                for_all ? DL_MAX_TARGETS : g->target);
  g->rows = &g->problem->rows;
  return DL_OK;
}

static enum dl_status lay_out(struct dl_design *g, const struct dl_training *t,
                              const struct dl_choice *c, struct dl_diag *d) {
  if (t->n < 2)
    return dl_fail_at(d, DL_EINPUT, t->source, 0,
                      "%zu usable row%s; a fit needs at least 2", t->n,
                      t->n == 1 ? "" : "s");
  if (!c->method->physics)
    DL_TRY(make_features(g, t, c, d));
  DL_TRY(column(&g->y, t, c->target, d));
  if (c->log_target)
    DL_TRY(all_positive(g->y, "target", c->target, d));
  if (c->weight) {
    DL_TRY(column(&g->w, t, c->weight, d));
    DL_TRY(all_positive(g->w, "weight", c->weight, d));
  }
  DL_TRY(make_offset(g, t, c, d));
  g->names = (const char *const *)c->features.s;
  g->log_target = c->log_target;
  g->scale = c->scale;
  g->means = t->means;
  g->within = dl_training_within(t, c->target);
  return c->method->physics ? make_rows(g, t, c, d) : DL_OK;
}

enum dl_status dl_design_make(struct dl_design *g, const struct dl_training *t,
                              const struct dl_choice *c, struct dl_diag *d) {
  *g = (struct dl_design){0};
  enum dl_status status = lay_out(g, t, c, d);
  if (status != DL_OK)
    dl_design_free(g);
  return status;
}
