/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways to split rows into folds for cross-validation. */

#ifndef DL_MATH_CROSS_VALIDATION_FOLDS_H
#define DL_MATH_CROSS_VALIDATION_FOLDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

enum dl_scheme {
  DL_KFOLD,          /* k consecutive blocks; the first n % k have one more */
  DL_KFOLD_SHUFFLED, /* blocks after a seeded Fisher-Yates shuffle */
  DL_GROUP           /* one fold for each distinct label */
};

struct dl_folds {
  size_t n;       /* rows */
  size_t k;       /* folds */
  size_t *of_row; /* n: fold of each row, owned */
  char **name;    /* k: label of each fold for DL_GROUP, else NULL; owned */
};

/* k folds of n rows; `scheme` is not DL_GROUP, `seed` starts the shuffle. The
 * generator is fixed (gsl_rng_mt19937), so that a seed gives equal folds
 * everywhere. DL_EINPUT: k < 2 or k > n. */
enum dl_status dl_folds_make(struct dl_folds *f, enum dl_scheme scheme,
                             size_t n, size_t k, unsigned long seed,
                             struct dl_diag *d);

/* A fold for each group of n rows, numbered by first appearance. group: the
 * number of each row's, below n_labels. DL_EINPUT: fewer than two. */
enum dl_status dl_folds_by_group(struct dl_folds *f, const size_t *group,
                                 size_t n, const char *const *labels,
                                 size_t n_labels, struct dl_diag *d);

/* Lists the n rows by their groups, of which there are k: *row ascending within
 * each, *first (k + 1) where each begins there. Rows of other groups are left
 * out. Both are the caller's, by one free(*row). */
void dl_list_by_group(const size_t *of_row, size_t n, size_t k, size_t **row,
                      size_t **first);

/* Work on one fold with a diag of its own. Called for several folds at once. */
typedef enum dl_status dl_fold_fn(void *ctx, size_t fold, struct dl_diag *d);

/* Runs work for each fold in parallel and collects what it reports in the
 * order of the folds; the first error in that order is the result. */
enum dl_status dl_each_fold(const struct dl_folds *folds, dl_fold_fn *work,
                            void *ctx, struct dl_diag *d);

void dl_folds_free(struct dl_folds *f);

/* Folds to hold out in place of f: 50 sets of its folds where it has more than
 * 200, since as many fits would take hours and no group is predicted better by
 * one more of its like; else f again. *of_row is owned by the caller; the rest
 * is borrowed from f, and there are no names. */
struct dl_folds dl_folds_in_sets(const struct dl_folds *f, size_t **of_row);

#endif
