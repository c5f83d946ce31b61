/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ways to split rows into folds for cross-validation. */

#ifndef DL_MATH_CROSS_VALIDATION_FOLDS_H
#define DL_MATH_CROSS_VALIDATION_FOLDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

enum dl_scheme {
  DL_KFOLD,          /* k consecutive blocks; the first n % k have one more */
  DL_KFOLD_SHUFFLED, /* the same after a seeded Fisher-Yates shuffle */
  DL_GROUP           /* one fold for each distinct label */
};

struct dl_folds {
  size_t n;       /* rows */
  size_t k;       /* folds */
  size_t *of_row; /* n: fold of each row, owned */
  char **name;    /* k: label of each fold for DL_GROUP, else NULL; owned */
};

/* `labels` (n strings) only for DL_GROUP, where k is ignored; groups are
 * numbered by first appearance. Errors (DL_EINPUT): k < 2, k > n, fewer than
 * two groups. The generator is fixed (gsl_rng_mt19937), so a seed gives the
 * same folds everywhere. */
enum dl_status dl_folds_make(struct dl_folds *f, enum dl_scheme scheme,
                             size_t n, size_t k, const char *const *labels,
                             unsigned long seed, struct dl_diag *d);
void dl_folds_free(struct dl_folds *f);

#endif
