/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-validation of a choice on a training table. */

#ifndef DL_MODEL_FITTING_HELD_OUT_H
#define DL_MODEL_FITTING_HELD_OUT_H

#include "model/fitting/train.h"
#include "physics/hierarchical_problem.h"

/* Predictions of a physics for rows held out in folds: of all its targets, as
 * one fit gives them all. */
struct dl_held_out {
  bool auxiliary; /* rows: the auxiliary ones, else the table's own */
  size_t n, k;    /* rows, folds */
  size_t *of_row; /* n: fold of each, owned */
  double *y;      /* n x n_targets: logarithms, owned */
  struct dl_held_out *next;
};

/* A training table as one problem of a physics, which all targets share, the
 * choice of methods, the scores and the intervals: rows, the fit of all of
 * them, and what was predicted of those held out. */
struct dl_table_problem {
  const struct dl_physics *physics;
  bool auxiliary;  /* the auxiliary rows are among them */
  size_t weighted; /* the target that weights are of; DL_MAX_TARGETS: all */
  size_t *input;   /* numbers of the rows' distinct inputs, owned */
  size_t n_inputs;
  struct dl_observed *row;          /* owned */
  gsl_vector *weight;               /* owned; or NULL */
  struct dl_observations rows;      /* those; their target: any */
  struct dl_hierarchical_problem q; /* by dl_table_problem_make */
  struct dl_held_out *held_out;     /* owned */
  struct dl_table_problem *next;
};
struct dl_table_problems {
  struct dl_table_problem *first; /* owned */
};
void dl_table_problems_free(struct dl_table_problems *problems); /* or NULL */

/* That of own rows and auxiliary ones (or NULL) with weights of the own rows
 * (or NULL), which are of target `weighted` (DL_MAX_TARGETS: of all). Belongs
 * to the problems of a table, whose weights are the same for all fits. */
struct dl_table_problem *dl_table_problem_of(struct dl_table_problems *of,
                                             const struct dl_physics_rows *own,
                                             const struct dl_physics_rows *more,
                                             const gsl_vector *w,
                                             size_t weighted);

/* Sets its q, once. Error (DL_EINPUT): a row that lacks what the physics cannot
 * do without. */
enum dl_status dl_table_problem_make(struct dl_table_problem *p,
                                     struct dl_diag *d);

/* Predictions of own or auxiliary rows of a design for all targets, held out by
 * folds of them; they belong to its problem. */
enum dl_status dl_held_out_get(const struct dl_held_out **h,
                               const struct dl_design *g,
                               const struct dl_folds *folds, bool auxiliary,
                               struct dl_diag *d);

/* Cross-validates by groups or other folds. Many of them are held out in sets
 * (dl_folds_in_sets) and scored one by one. */
enum dl_status dl_cross_validate_design(struct dl_cv *cv,
                                        const struct dl_design *g,
                                        const double *hyper,
                                        const struct dl_folds *folds,
                                        struct dl_diag *d);

#endif
