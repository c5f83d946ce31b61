/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/cross_validation/folds.h"

#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "math/numeric/scoped_gsl.h"

enum { MOST_FOLDS = 200, SETS = 50 };

void dl_folds_free(struct dl_folds *f) {
  if (!f)
    return;
  for (size_t i = 0; f->name && i < f->k; i++)
    free(f->name[i]);
  free(f->name);
  free(f->of_row);
  *f = (struct dl_folds){0};
}

/* Row order[i] goes to the block that place i belongs to. */
static void deal(struct dl_folds *f, const size_t *order) {
  size_t base = f->n / f->k, longer = f->n % f->k;
  size_t place = 0;
  for (size_t fold = 0; fold < f->k; fold++) {
    size_t end = place + base + (fold < longer);
    for (; place < end; place++)
      f->of_row[order ? order[place] : place] = fold;
  }
}

static void shuffle(size_t *order, size_t n, unsigned long seed) {
  DL_SCOPED(gsl_rng_free_local) gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
  gsl_rng_set(rng, seed);
  for (size_t i = 0; i < n; i++)
    order[i] = i;
  for (size_t i = n; i > 1; i--) {
    size_t j = gsl_rng_uniform_int(rng, i);
    size_t kept = order[i - 1];
    order[i - 1] = order[j];
    order[j] = kept;
  }
}

static enum dl_status blocks(struct dl_folds *f, size_t k, bool shuffled,
                             unsigned long seed, struct dl_diag *d) {
  if (f->n < 2)
    return dl_fail(d, DL_EINPUT,
                   "cross-validation needs at least 2 rows, found %zu", f->n);
  if (k < 2)
    return dl_fail(d, DL_EINPUT, "cross-validation needs at least 2 folds");
  if (k > f->n)
    return dl_fail(d, DL_EINPUT, "cannot make %zu folds of %zu rows", k, f->n);
  f->k = k;
  DL_FREED size_t *order = NULL;
  if (shuffled) {
    order = dl_calloc(f->n, sizeof *order);
    shuffle(order, f->n, seed);
  }
  deal(f, order);
  return DL_OK;
}

/* Numbers the groups by first appearance; fold: n_labels zeros, 1 + the number
 * of each group's fold. */
static enum dl_status groups(struct dl_folds *f, const size_t *group,
                             const char *const *labels, size_t *fold,
                             struct dl_diag *d) {
  for (size_t i = 0; i < f->n; i++) {
    if (fold[group[i]] == 0) {
      f->name[f->k] = dl_strdup(labels[group[i]]);
      fold[group[i]] = ++f->k;
    }
    f->of_row[i] = fold[group[i]] - 1;
  }
  if (f->k < 2)
    return dl_fail(d, DL_EINPUT,
                   "cross-validation by group needs at least 2 groups, found "
                   "%zu",
                   f->k);
  return DL_OK;
}

enum dl_status dl_folds_make(struct dl_folds *f, enum dl_scheme scheme,
                             size_t n, size_t k, unsigned long seed,
                             struct dl_diag *d) {
  *f = (struct dl_folds){.n = n, .of_row = dl_calloc(n, sizeof *f->of_row)};
  enum dl_status status = blocks(f, k, scheme == DL_KFOLD_SHUFFLED, seed, d);
  if (status)
    dl_folds_free(f);
  return status;
}

enum dl_status dl_folds_by_group(struct dl_folds *f, const size_t *group,
                                 size_t n, const char *const *labels,
                                 size_t n_labels, struct dl_diag *d) {
  *f = (struct dl_folds){.n = n,
                         .of_row = dl_calloc(n, sizeof *f->of_row),
                         .name = dl_calloc(n_labels, sizeof *f->name)};
  DL_FREED size_t *fold = dl_calloc(n_labels, sizeof *fold);
  enum dl_status status = groups(f, group, labels, fold, d);
  if (status)
    dl_folds_free(f);
  return status;
}

void dl_list_by_group(const size_t *of_row, size_t n, size_t k, size_t **row,
                      size_t **first) {
  *row = dl_calloc(n + k + 2, sizeof **row);
  *first = *row + n;
  size_t *end = *first + 1; /* of each group's rows so far */
  for (size_t i = 0; i < n; i++)
    if (of_row[i] < k)
      end[of_row[i] + 1]++;
  for (size_t g = 1; g <= k; g++)
    end[g] += end[g - 1];
  for (size_t i = 0; i < n; i++)
    if (of_row[i] < k)
      (*row)[end[of_row[i]]++] = i;
}

struct dl_folds dl_folds_in_sets(const struct dl_folds *f, size_t **of_row) {
  struct dl_folds sets = *f;
  *of_row = dl_calloc(f->n, sizeof **of_row);
  if (f->k > MOST_FOLDS) {
    sets.k = SETS;
    sets.name = NULL;
  }
  sets.of_row = *of_row;
  for (size_t i = 0; i < f->n; i++)
    sets.of_row[i] = f->of_row[i] % sets.k;
  return sets;
}

/* Hands over what fold reported. Warnings go without the fold's number, so
 * that one which comes in every fold is shown once. */
static void merge(struct dl_diag *d, const struct dl_diag *from,
                  enum dl_status status, const struct dl_folds *folds,
                  size_t fold) {
  dl_diag_take_warnings(d, from);
  if (!status)
    return;
  const char *reason = from->error ? from->error : "failed";
  if (folds->name)
    dl_fail(d, status, "fold '%s': %s", folds->name[fold], reason);
  else
    dl_fail(d, status, "fold %zu: %s", fold + 1, reason);
}

enum dl_status dl_each_fold(const struct dl_folds *folds, dl_fold_fn *work,
                            void *ctx, struct dl_diag *d) {
  DL_FREED struct dl_diag *own = dl_calloc(folds->k, sizeof *own);
  DL_FREED enum dl_status *status = dl_calloc(folds->k, sizeof *status);
  enum dl_status result = DL_OK;
  size_t done = 0;
#pragma omp parallel for schedule(dynamic)
  for (size_t fold = 0; fold < folds->k; fold++) {
    size_t so_far;
    status[fold] = work(ctx, fold, &own[fold]);
#pragma omp atomic capture
    so_far = ++done;
    dl_progress_step(d->progress, (double)so_far / (double)folds->k);
  }
  for (size_t fold = 0; fold < folds->k; fold++) {
    merge(d, &own[fold], status[fold], folds, fold);
    if (!result)
      result = status[fold];
    dl_diag_free(&own[fold]);
  }
  return result;
}
