/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "model/cross_validation/auxiliary_residuals.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/cross_validation/fold_residuals.h"
#include "model/residual_interval.h"
#include "model/training/training_columns.h"

/* Up to MOST_ALONE groups are held out one by one, more in SETS sets. */
enum { MOST_ALONE = 40, SETS = 20 };

/* The logarithm of a target in auxiliary row i, NaN where it was not measured
 * or is not compared with predictions. */
static double measured(const struct dl_design *g, size_t i, size_t target) {
  return dl_held_out_value(g, g->y->size + i, target);
}

void dl_mark_other_software(bool *apart, const struct dl_training *t,
                            const struct dl_design *g) {
  const char *last = NULL; /* software of the table's own rows */
  size_t n_own = g->y->size, n = t->auxiliary->n;
  for (size_t i = 0; i < n; i++)
    apart[i] = dl_software_of(g, n_own + i);
  for (size_t k = 0; k < n_own; k++) {
    const char *its = dl_software_of(g, k);
    for (size_t i = 0; its && its != last && i < n; i++)
      apart[i] = apart[i] && strcmp(dl_software_of(g, n_own + i), its) != 0;
    last = its;
  }
}

/* Marks the auxiliary rows that the table's own rows do not inform: of groups
 * that these do not have, or of software that none of these used, which has
 * effects of its own. */
static void mark_apart(bool *apart, const struct dl_training *t,
                       const struct dl_design *g, const char *column) {
  const struct dl_labels *by = dl_training_labels(t->auxiliary, column);
  const struct dl_labels *own = dl_training_labels(t, column);
  dl_mark_other_software(apart, t, g);
  for (size_t i = 0; i < t->auxiliary->n; i++)
    apart[i] =
        apart[i] || dl_intern_find(&own->names, by->names.s[by->id[i]]) < 0;
}

/* Numbers the groups of the auxiliary rows that stand apart and in which a
 * target was measured, in folds; of_row of others is SIZE_MAX. */
static void make_folds(struct dl_folds *folds, const struct dl_training *t,
                       const struct dl_design *g, const char *column) {
  const struct dl_labels *by = dl_training_labels(t->auxiliary, column);
  DL_FREED size_t *number = dl_calloc(by->names.n, sizeof *number);
  DL_FREED bool *apart = dl_calloc(t->auxiliary->n, sizeof *apart);
  *folds = (struct dl_folds){
      .n = t->auxiliary->n,
      .of_row = dl_calloc(t->auxiliary->n, sizeof *folds->of_row),
      .name = dl_calloc(by->names.n, sizeof *folds->name)};
  mark_apart(apart, t, g, column);
  for (size_t i = 0; i < folds->n; i++)
    for (size_t k = 0; k < g->physics->n_targets; k++)
      number[by->id[i]] |= apart[i] && isfinite(measured(g, i, k));
  for (size_t i = 0; i < by->names.n; i++) {
    bool use = number[i];
    number[i] = use ? folds->k : SIZE_MAX;
    if (use)
      folds->name[folds->k++] = dl_strdup(by->names.s[i]);
  }
  for (size_t i = 0; i < folds->n; i++)
    folds->of_row[i] = apart[i] ? number[by->id[i]] : SIZE_MAX;
}

/* Groups beyond a number are held out in sets: as many fits would take too
 * long. */
static void make_sets(struct dl_folds *sets, const struct dl_folds *folds) {
  *sets =
      (struct dl_folds){.n = folds->n,
                        .k = folds->k > MOST_ALONE ? SETS : folds->k,
                        .of_row = dl_calloc(folds->n, sizeof *sets->of_row)};
  for (size_t i = 0; i < folds->n; i++)
    sets->of_row[i] =
        folds->of_row[i] < SIZE_MAX ? folds->of_row[i] % sets->k : SIZE_MAX;
}

enum dl_status dl_auxiliary_residuals(struct dl_fit *fit,
                                      enum dl_held_out_group left,
                                      const struct dl_training *t,
                                      const struct dl_design *g,
                                      struct dl_diag *d) {
  const char *column = dl_held_out_group_name(left);
  DL_SCOPED(dl_folds_free) struct dl_folds folds = {0};
  DL_SCOPED(dl_folds_free) struct dl_folds sets = {0};
  struct dl_fold_rows rows = {
      .g = g, .left = left, .first = g->y->size, .folds = &folds};
  if (!g->rows || g->rows->n_auxiliary == 0 ||
      !dl_training_labels(t->auxiliary, column))
    return DL_OK;
  make_folds(&folds, t, g, column);
  make_sets(&sets, &folds);
  DL_TRY(dl_fold_predictions_get(&rows.h, g, &sets, true, d));
  dl_add_target_residuals(fit, &rows);
  dl_add_time_residuals(fit, &rows);
  return DL_OK;
}
