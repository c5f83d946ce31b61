/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cross-validation of a choice on a training table. */

#ifndef DL_MODEL_FITTING_HELD_OUT_H
#define DL_MODEL_FITTING_HELD_OUT_H

#include "model/fitting/train.h"
#include "physics/hierarchical_problem.h"

/* Predictions of a physics for rows held out in folds: of all its targets, as
 * one fit gives them all. A training table keeps them, so that what a choice of
 * methods, the scores, the intervals and each target need is fitted once. */
struct dl_held_out {
  const struct dl_physics *physics;
  bool auxiliary; /* rows: the auxiliary ones, else the table's own */
  size_t n, k;    /* rows, folds */
  size_t *of_row; /* n: fold of each, owned */
  double *y;      /* n x n_targets: logarithms, owned */
  struct dl_held_out *next;
};

/* What the fits of a training table share. */
struct dl_fit_cache {
  struct dl_held_out *held_out;                  /* owned */
  struct dl_full_solution full[DL_MOST_PHYSICS]; /* by physics of the table */
};

struct dl_fit_cache *dl_fit_cache_new(void);
void dl_fit_cache_free(struct dl_fit_cache *cache); /* or NULL */

/* Predictions that a caller uses: h is borrowed from the training table, or
 * is `own`, which the caller frees. */
struct dl_held_out_use {
  const struct dl_held_out *h;
  struct dl_held_out *own; /* NULL: borrowed */
};

/* Predictions of own or auxiliary rows of a design for all targets, held out by
 * folds of them. Owned where weights make them differ by target. */
enum dl_status dl_held_out_get(struct dl_held_out_use *use,
                               const struct dl_training *t,
                               const struct dl_design *g,
                               const struct dl_folds *folds, bool auxiliary,
                               struct dl_diag *d);
void dl_held_out_free(struct dl_held_out *h); /* and those after it */

/* Cross-validates by groups or other folds. Many of them are held out in sets
 * (dl_folds_in_sets) and scored one by one. */
enum dl_status
dl_cross_validate_design(struct dl_cv *cv, const struct dl_training *t,
                         const struct dl_design *g, const double *hyper,
                         const struct dl_folds *folds, struct dl_diag *d);

#endif
