/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing recipe, method and hyper-parameters by leaving groups out. */

#ifndef DL_MODEL_FITTING_MODEL_SELECTION_H
#define DL_MODEL_FITTING_MODEL_SELECTION_H

#include "model/fitting/recipe.h"
#include "model/model.h"
#include "model/training/choice.h"
#include "model/training/training_table.h"

/* Has t read the target and what the recipes for it need, as far as the frame
 * can give it; with a method, those for it alone (a row without a size of
 * images is no fault of a recipe that has no use for it). *any: there is a
 * recipe; false also where the frame lacks the target. */
enum dl_status dl_recipe_formulas(struct dl_training *t,
                                  const struct dl_row_plan *f,
                                  const char *target, const char *method,
                                  bool *any, struct dl_diag *d);

/* One way to fit, and how well it did. */
struct dl_fit_candidate {
  struct dl_recipe recipe;
  const struct dl_regression *method;
  double hyper[DL_MAX_HYPER];
  double error[DL_HELD_OUT_ROWS + 1]; /* by protocol; NaN: not possible */
  double score;                       /* their mean */
};

/* Candidates, best first. */
struct dl_trials {
  struct dl_fit_candidate *list; /* owned */
  size_t n;

  /* The choice and the table that they are tried for, borrowed. */
  struct dl_choice *c;
  const struct dl_training *t;
  const struct dl_regression *only; /* or NULL */
  double hyper[DL_MAX_HYPER];       /* the given ones for `only`, else NaN */
  /* Folds of every protocol that the table allows; owned. */
  struct dl_folds folds[DL_HELD_OUT_ROWS + 1];
  bool there[DL_HELD_OUT_ROWS + 1];
};
void dl_trials_free(struct dl_trials *trials);

/* Fills method, hyper-parameters and recipe (features, offset) of c for its
 * target by trying all recipes the table allows with all methods (or `only`
 * that one, if it is not NULL, with the hyper-parameters that are given in c);
 * c->scale and the search of c hold. The score
 * is the mean over groups held out of the mean absolute error of log(y), by
 * configuration, architecture and GPU where there are two. `tried` gets all
 * candidates. */
enum dl_status dl_choose(struct dl_choice *c, const struct dl_training *t,
                         const struct dl_regression *only,
                         struct dl_trials *tried, struct dl_diag *d);

#endif
