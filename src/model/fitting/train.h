/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fitting one target on a training table. */

#ifndef DL_MODEL_FITTING_TRAIN_H
#define DL_MODEL_FITTING_TRAIN_H

#include "math/cross_validation/cross_validate.h"
#include "model/fitting/recipe.h"
#include "model/fitting/training_table.h"
#include "physics/observations.h"

/* How to cross-validate. */
struct dl_cv_spec {
  bool none;
  enum dl_scheme scheme;
  size_t k;
  char column[64]; /* DL_GROUP */
};

/* "none", "kfold:5", "kfold-shuffled:5", "group:COLUMN". Error: DL_EUSAGE. */
enum dl_status dl_cv_parse(struct dl_cv_spec *spec, const char *text,
                           struct dl_diag *d);

/* Writes that text to buf, cut off at size bytes. */
void dl_cv_name(const struct dl_cv_spec *spec, char *buf, size_t size);

/* What to fit. Texts are formulas that the training table holds. */
struct dl_choice {
  const char *target;
  struct dl_strlist features;
  const char *offset; /* or NULL */
  const char *weight; /* or NULL */
  bool log_target;
  bool scale;
  const struct dl_regression *method;
  double hyper[DL_MAX_HYPER]; /* NaN: to be found */
  bool search;                /* by cross-validation rather than by method */
  enum dl_search_kind search_kind;
  size_t search_count;
  unsigned long seed;
  struct dl_cv_spec cv;
};

/* "grid", "grid:N" or "random:N" into the search of c; NULL: none. Error:
 * DL_EUSAGE. */
enum dl_status dl_search_parse(struct dl_choice *c, const char *text,
                               struct dl_diag *d);

/* Folds of a training table. Error: DL_EUSAGE for a column without labels. */
enum dl_status dl_training_folds(struct dl_folds *folds,
                                 const struct dl_training *t,
                                 const struct dl_cv_spec *spec,
                                 unsigned long seed, struct dl_diag *d);

/* Distinct labels in a column; 0 without it. */
size_t dl_label_count(const struct dl_training *t, const char *column);

/* The choice laid out for the numerical core. Owned, but the numbers may be
 * those of the training table, which must outlive it. */
struct dl_design {
  struct dl_problem problem;
  const struct dl_regression *method;
  gsl_matrix *X;
  gsl_vector *y, *w, *offset;
  /* Of a physics, in place of X: */
  const struct dl_physics *physics; /* or NULL */
  size_t target;                    /* its number */
  struct dl_table_problem *table;   /* of the training table (held_out.h) */
  struct dl_observations rows;      /* own, then auxiliary ones; of `table` */
};

enum dl_status dl_design_make(struct dl_design *g, const struct dl_training *t,
                              const struct dl_choice *c, struct dl_diag *d);
void dl_design_free(struct dl_design *g);

/* Finds what is open in c->hyper, fits, cross-validates (cv->k is 0 with
 * c->cv.none) and keeps residuals of held-out groups. *fit is owned by the
 * caller. */
enum dl_status dl_train(struct dl_fit *fit, struct dl_cv *cv,
                        const struct dl_training *t, struct dl_choice *c,
                        struct dl_diag *d);

/* Adds the residuals of held-out groups to a fit made with c->cv.none. Bit
 * 1 << DL_HELD_OUT_GPU of `needed` and so on says which; those of
 * configurations are added where the others give no interval. */
enum dl_status dl_train_residuals(struct dl_fit *fit,
                                  const struct dl_training *t,
                                  const struct dl_choice *c, unsigned needed,
                                  struct dl_diag *d);

/* Has t read the target and what the recipes for it need, as far as the plan
 * can give it; with a method, those for it alone (a row without a size of
 * images is no fault of a recipe that has no use for it). *any: there is a
 * recipe; false also where the plan lacks the target. */
enum dl_status dl_recipe_formulas(struct dl_training *t,
                                  const struct dl_row_plan *f,
                                  const char *target, const char *method,
                                  bool *any, struct dl_diag *d);

/* One way to fit, and how well it did. */
struct dl_candidate {
  struct dl_recipe recipe;
  const struct dl_regression *method;
  double hyper[DL_MAX_HYPER];
  double error[DL_HELD_OUT_ROWS + 1]; /* by protocol; NaN: not possible */
  double score;                       /* their mean */
};

/* Candidates, best first; free(list) frees them. */
struct dl_trials {
  struct dl_candidate *list;
  size_t n;
};

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
