/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/training/training_columns.h"

#include <math.h>
#include <string.h>

enum dl_status dl_training_folds(struct dl_folds *folds,
                                 const struct dl_training *t,
                                 const struct dl_cv_spec *spec,
                                 unsigned long seed, struct dl_diag *d) {
  *folds = (struct dl_folds){0};
  if (spec->scheme != DL_GROUP)
    return dl_folds_make(folds, spec->scheme, t->n, spec->k, seed, d);
  const struct dl_labels *l = dl_training_labels(t, spec->column);
  if (!l)
    return dl_fail(d, DL_EUSAGE, "no column '%s' to group by", spec->column);
  return dl_folds_by_group(folds, l->id, t->n, (const char *const *)l->names.s,
                           l->names.n, d);
}

long dl_training_column(const struct dl_training *t, const char *formula) {
  return dl_strlist_find(&t->formula, formula);
}

const struct dl_labels *dl_training_labels(const struct dl_training *t,
                                           const char *column) {
  for (size_t i = 0; i < t->n_labels; i++)
    if (strcmp(t->labels[i].column, column) == 0)
      return &t->labels[i];
  return NULL;
}

const struct dl_physics_rows *
dl_training_physics_rows(const struct dl_training *t,
                         const struct dl_physics *physics) {
  for (size_t k = 0; k < t->n_physics; k++)
    if (t->physics[k].physics == physics && !t->physics[k].lacking)
      return &t->physics[k];
  return NULL;
}

size_t dl_label_count(const struct dl_training *t, const char *column) {
  const struct dl_labels *l = dl_training_labels(t, column);
  return l ? l->names.n : 0;
}

void dl_training_values(const struct dl_training *t, const char *formula,
                        double *values) {
  size_t col = (size_t)dl_training_column(t, formula);
  for (size_t i = 0; i < t->n; i++)
    values[i] = gsl_matrix_get(t->x, i, col);
}

static double sum_column(const struct dl_training *t, const char *formula) {
  long j = dl_training_column(t, formula);
  double sum = 0;
  for (size_t i = 0; j >= 0 && i < t->n; i++)
    sum += gsl_matrix_get(t->x, i, (size_t)j);
  return sum;
}

size_t dl_training_runs(const struct dl_training *t) {
  return t->means ? (size_t)llround(sum_column(t, "n")) : t->n;
}

double dl_training_within(const struct dl_training *t, const char *target) {
  char name[128];
  snprintf(name, sizeof name, "%s_within", target);
  return t->means ? sum_column(t, name) : 0;
}
