/* A choice laid out as matrices for the numerical core. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/train.h"

void dl_design_free(struct dl_design *g) {
  gsl_matrix_free(g->X);
  gsl_vector_free(g->y);
  gsl_vector_free(g->w);
  gsl_vector_free(g->offset);
  *g = (struct dl_design){0};
}

/* A copy of the training column of a formula. */
static enum dl_status column(gsl_vector **v, const struct dl_training *t,
                             const char *formula, struct dl_diag *d) {
  long j = dl_training_column(t, formula);
  if (j < 0)
    return dl_fail(d, DL_EFAILED, "formula '%s' was not read", formula);
  *v = gsl_vector_alloc(t->n);
  if (!*v)
    return dl_fail_memory(d);
  for (size_t i = 0; i < t->n; i++)
    gsl_vector_set(*v, i, gsl_matrix_get(t->x, i, (size_t)j));
  return DL_OK;
}

static enum dl_status all_positive(const gsl_vector *v, const char *what,
                                   const char *name, struct dl_diag *d) {
  if (gsl_vector_min(v) > 0)
    return DL_OK;
  return dl_fail(d, DL_EINPUT,
                 "%s '%s' must be positive in every row%s", what, name,
                 strcmp(what, "target") == 0 ? "; fit it with --no-log" : "");
}

static enum dl_status make_offset(struct dl_design *g,
                                  const struct dl_training *t,
                                  const struct dl_choice *c,
                                  struct dl_diag *d) {
  if (!c->offset)
    return DL_OK;
  enum dl_status status = column(&g->offset, t, c->offset, d);
  if (status != DL_OK || !c->log_target)
    return status;
  status = all_positive(g->offset, "offset", c->offset, d);
  for (size_t i = 0; status == DL_OK && i < t->n; i++)
    gsl_vector_set(g->offset, i, log(gsl_vector_get(g->offset, i)));
  return status;
}

static enum dl_status make_features(struct dl_design *g,
                                    const struct dl_training *t,
                                    const struct dl_choice *c,
                                    struct dl_diag *d) {
  g->X = gsl_matrix_alloc(t->n, c->features.n);
  if (!g->X)
    return dl_fail_memory(d);
  for (size_t k = 0; k < c->features.n; k++) {
    long j = dl_training_column(t, c->features.s[k]);
    if (j < 0)
      return dl_fail(d, DL_EFAILED, "feature '%s' was not read",
                     c->features.s[k]);
    for (size_t i = 0; i < t->n; i++)
      gsl_matrix_set(g->X, i, k, gsl_matrix_get(t->x, i, (size_t)j));
  }
  return DL_OK;
}

enum dl_status dl_design_make(struct dl_design *g, const struct dl_training *t,
                              const struct dl_choice *c, struct dl_diag *d) {
  *g = (struct dl_design){0};
  if (t->n < 2)
    return dl_fail_at(d, DL_EINPUT, t->source, 0,
                      "%zu usable row%s; a fit needs at least 2", t->n,
                      t->n == 1 ? "" : "s");
  enum dl_status status = make_features(g, t, c, d);
  if (status == DL_OK)
    status = column(&g->y, t, c->target, d);
  if (status == DL_OK && c->log_target)
    status = all_positive(g->y, "target", c->target, d);
  if (status == DL_OK && c->weight)
    status = column(&g->w, t, c->weight, d);
  if (status == DL_OK && c->weight)
    status = all_positive(g->w, "weight", c->weight, d);
  if (status == DL_OK)
    status = make_offset(g, t, c, d);
  g->problem = (struct dl_problem){
      .X = g->X,
      .y = g->y,
      .w = g->w,
      .offset = g->offset,
      .names = (const char *const *)c->features.s,
      .log_target = c->log_target,
      .scale = c->scale,
  };
  if (status != DL_OK)
    dl_design_free(g);
  return status;
}
