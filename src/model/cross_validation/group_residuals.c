/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of held-out groups. */

#include "model/cross_validation/group_residuals.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/cross_validation/auxiliary_residuals.h"
#include "model/cross_validation/fold_residuals.h"
#include "model/residual_interval.h"
#include "model/training/training_columns.h"
#include "physics/fold_fit.h"
#include "physics/rows/table_problem.h"

static double residual(const struct dl_design *p, const struct dl_cv *cv,
                       size_t i) {
  double y = gsl_vector_get(p->y, i);
  return p->log_target ? log(y / cv->prediction[i]) : y - cv->prediction[i];
}

/* Groups the out-of-fold residuals by fold. */
static void keep_residuals(struct dl_residuals *r, const struct dl_fit *fit,
                           const struct dl_fold_rows *rows,
                           const struct dl_cv *cv) {
  size_t n = rows->folds->n;
  DL_FREED double *x = dl_calloc(n, sizeof *x);
  r->pooled = cv->pooled;
  for (size_t i = 0; i < n; i++)
    x[i] = residual(rows->g, cv, i);
  dl_add_fold_residuals(r, fit, rows, rows->g->target, x, false);
}

/* Keeps residuals of rows without groups: each of up to 199 evenly spaced order
 * statistics stands for a group. */
static void keep_row_residuals(struct dl_residuals *r,
                               const struct dl_design *p,
                               const struct dl_cv *cv, size_t n) {
  enum { MOST = 199 };
  DL_FREED double *x = dl_calloc(n, sizeof *x);
  size_t groups = n < MOST ? n : MOST;
  r->pooled = cv->pooled;
  for (size_t i = 0; i < n; i++)
    x[i] = residual(p, cv, i);
  gsl_sort(x, 1, n);
  for (size_t k = 0; k < groups; k++) {
    double *one = &x[k * (n - 1) / (groups > 1 ? groups - 1 : 1)];
    dl_add_group_residuals(r, "", one, NULL, 1);
  }
}

/* Keeps residuals of times in these folds, which are predicted already. */
static enum dl_status keep_times(struct dl_fit *fit, struct dl_fold_rows *rows,
                                 struct dl_diag *d) {
  DL_FREED size_t *of_row = NULL;
  const struct dl_folds sets = dl_folds_in_sets(rows->folds, &of_row);
  DL_TRY(dl_fold_predictions_get(&rows->h, rows->g, &sets, false, d));
  dl_add_time_residuals(fit, rows);
  return DL_OK;
}

static enum dl_status leave_out(struct dl_fit *fit, enum dl_held_out_group left,
                                const struct dl_training *t,
                                const struct dl_choice *c,
                                const struct dl_design *g, struct dl_diag *d) {
  struct dl_cv_spec spec = {.scheme = DL_GROUP};
  bool rows = left == DL_HELD_OUT_ROWS;
  if (rows)
    spec = (struct dl_cv_spec){.scheme = DL_KFOLD_SHUFFLED,
                               .k = t->n < 10 ? t->n : 10};
  snprintf(spec.column, sizeof spec.column, "%s", dl_held_out_group_name(left));
  DL_SCOPED(dl_folds_free) struct dl_folds folds = {0};
  DL_SCOPED(dl_cv_free) struct dl_cv cv = {0};
  DL_TRY(dl_training_folds(&folds, t, &spec, c->seed, d));
  DL_TRY(dl_cross_validate_design(&cv, g, c->method, c->hyper, &folds, d));
  struct dl_fold_rows held = {.g = g, .left = left, .folds = &folds};
  if (dl_keeps_times(g) && !rows)
    DL_TRY(keep_times(fit, &held, d));
  if (rows)
    keep_row_residuals(&fit->held_out_residuals[left], g, &cv, t->n);
  else
    keep_residuals(&fit->held_out_residuals[left], fit, &held, &cv);
  return DL_OK;
}

/* Holds out the values of a setting, one after the other, where configurations
 * share them: a run with a new value has no neighbours that say what it does,
 * as a configuration that is held out has. */
static enum dl_status hold_out_values(struct dl_fit *fit, size_t range,
                                      const struct dl_training *t,
                                      const struct dl_choice *c,
                                      const struct dl_design *g,
                                      struct dl_diag *d) {
  struct dl_range *its = &fit->range[range];
  const struct dl_labels *l = dl_training_labels(t, its->name);
  size_t configs = dl_label_count(t, "config");
  if (!l || l->n_values == 0 || l->n_values == SIZE_MAX || l->names.n < 2 ||
      l->names.n >= (configs > 0 ? configs : t->n))
    return DL_OK;
  DL_SCOPED(dl_folds_free) struct dl_folds folds = {0};
  DL_SCOPED(dl_cv_free) struct dl_cv cv = {0};
  DL_TRY(dl_folds_by_group(&folds, l->id, t->n, (const char *const *)l->names.s,
                           l->names.n, d));
  DL_TRY(dl_cross_validate_design(&cv, g, c->method, c->hyper, &folds, d));
  const struct dl_fold_rows held = {
      .g = g, .left = DL_HELD_OUT_SETTING, .folds = &folds};
  keep_residuals(&its->held_out, fit, &held, &cv);
  return DL_OK;
}

/* Whether intervals of these columns would fall back on the one of
 * configurations (find_bounds in model/predictor.c). */
static bool falls_back(const struct dl_fit *fit, unsigned needed) {
  for (size_t i = 0; i < DL_HELD_OUT_ROWS; i++)
    if (needed >> i & 1 && fit->held_out_residuals[i].n < 2)
      return true;
  return false;
}

/* Residuals of a network on a GPU that others of the auxiliary training data
 * have, with that software: less is new than of another GPU. */

/* Whether both the GPU and the network of row i occur beside each other. gpu,
 * arch: labels of n rows; software: of each, NULL where it is left out. */
static bool is_of_known(const struct dl_labels *gpu,
                        const struct dl_labels *arch,
                        const char *const *software, size_t n, size_t i) {
  bool gpu_known = false, arch_known = false;
  for (size_t k = 0; k < n && software[i]; k++) {
    bool same_gpu = gpu->id[k] == gpu->id[i];
    bool same_arch = arch->id[k] == arch->id[i];
    if (same_gpu == same_arch || !software[k] ||
        strcmp(software[k], software[i]) != 0)
      continue;
    gpu_known = gpu_known || same_gpu;
    arch_known = arch_known || same_arch;
  }
  return gpu_known && arch_known;
}

/* Numbers the pairs of a GPU and a network in folds of n rows. */
static void make_folds(struct dl_folds *folds, const struct dl_labels *gpu,
                       const struct dl_labels *arch,
                       const char *const *software, size_t n) {
  DL_FREED size_t *number =
      dl_calloc(gpu->names.n * arch->names.n, sizeof *number);
  *folds = (struct dl_folds){.n = n,
                             .of_row = dl_calloc(n, sizeof *folds->of_row),
                             .name = dl_calloc(n, sizeof *folds->name)};
  for (size_t i = 0; i < n; i++) {
    size_t pair = gpu->id[i] * arch->names.n + arch->id[i];
    folds->of_row[i] = SIZE_MAX;
    if (!is_of_known(gpu, arch, software, n, i))
      continue;
    if (number[pair] == 0) {
      DL_TEXT(name);
      dl_text_printf(&name, "%s/%s", gpu->names.s[gpu->id[i]],
                     arch->names.s[arch->id[i]]);
      folds->name[folds->k] = dl_strdup(dl_text_str(&name));
      number[pair] = ++folds->k;
    }
    folds->of_row[i] = number[pair] - 1;
  }
}

/* Predicts the rows of each fold without them. */
static void predict(struct dl_fold_predictions *h,
                    const struct dl_hierarchical_problem *q) {
  size_t n_targets = q->physics->n_targets, first = q->rows.n - h->n;
  DL_FREED size_t *config = dl_calloc(q->configs.n, sizeof *config);
  DL_FREED double *y = dl_calloc(q->configs.n * n_targets, sizeof *y);
  for (size_t fold = 0; fold < h->k; fold++) {
    DL_FREED bool *in = dl_calloc(q->configs.n, sizeof *in);
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++) {
      size_t its = q->configs.of_row[first + i];
      if (h->of_row[i] == fold && !in[its])
        config[n++] = its;
      in[its] |= h->of_row[i] == fold;
    }
    dl_leave_out(q, config, n, y);
  }
  for (size_t i = 0; i < h->n; i++)
    memcpy(h->y + i * n_targets, y + q->configs.of_row[first + i] * n_targets,
           n_targets * sizeof *y);
}

/* Adds the residuals of the pairs. */
static enum dl_status add_pairs(struct dl_fit *fit, const struct dl_design *g,
                                const struct dl_folds *folds,
                                struct dl_diag *d) {
  struct dl_hierarchical_problem *q = g->problem;
  DL_TRY(dl_table_problem_make(q, d));
  DL_TRY(dl_full_solution_get(q, false, d));
  DL_FREED double *y = dl_calloc(folds->n * g->physics->n_targets, sizeof *y);
  struct dl_fold_predictions h = {.auxiliary = true,
                                  .n = folds->n,
                                  .k = folds->k,
                                  .of_row = folds->of_row,
                                  .y = y};
  predict(&h, q);
  dl_add_time_residuals(
      fit, &(struct dl_fold_rows){g, DL_HELD_OUT_PAIR, g->y->size, folds, &h});
  return DL_OK;
}

/* Adds the times of these rows with their network on their GPU left out
 * (physics/fold_fit.h). */
static enum dl_status pair_residuals(struct dl_fit *fit,
                                     const struct dl_training *t,
                                     const struct dl_design *g,
                                     struct dl_diag *d) {
  if (!g->rows || g->rows->n_auxiliary == 0 || !dl_keeps_times(g))
    return DL_OK;
  size_t n = t->auxiliary->n;
  const struct dl_labels *gpu = dl_training_labels(t->auxiliary, "gpu");
  const struct dl_labels *arch = dl_training_labels(t->auxiliary, "arch");
  if (!gpu || !arch)
    return DL_OK;
  DL_FREED bool *other = dl_calloc(n, sizeof *other);
  const char **software = dl_calloc(n, sizeof *software);
  dl_mark_other_software(other, t, g);
  for (size_t i = 0; i < n; i++)
    software[i] = other[i] ? dl_software_of(g, g->y->size + i) : NULL;
  DL_SCOPED(dl_folds_free) struct dl_folds folds;
  make_folds(&folds, gpu, arch, software, n);
  free(software);
  return folds.k > 0 ? add_pairs(fit, g, &folds, d) : DL_OK;
}

enum dl_status dl_group_residuals_add(struct dl_fit *fit,
                                      const struct dl_training *t,
                                      const struct dl_choice *c,
                                      const struct dl_design *g,
                                      unsigned needed, struct dl_diag *d) {
  bool any = false;
  enum dl_status status = DL_OK;
  /* Configurations come last: whether they are needed depends on the others. */
  for (size_t i = DL_HELD_OUT_ROWS; i-- > 0 && status == DL_OK;) {
    enum dl_held_out_group left = (enum dl_held_out_group)i;
    if (dl_label_count(t, dl_held_out_group_name(left)) < 2)
      continue;
    any = true;
    if (left == DL_HELD_OUT_CONFIG && falls_back(fit, needed))
      needed |= 1u << left;
    if (!(needed >> left & 1))
      continue;
    struct dl_progress_span outer = dl_progress_enter(
        d->progress, DL_HELD_OUT_ROWS - 1 - i, DL_HELD_OUT_ROWS);
    status = leave_out(fit, left, t, c, g, d);
    if (status == DL_OK)
      status = dl_auxiliary_residuals(fit, left, t, g, d);
    dl_progress_leave(d->progress, outer);
  }
  for (size_t i = 0; i < fit->n_ranges && status == DL_OK && !g->physics; i++)
    status = hold_out_values(fit, i, t, c, g, d);
  if (status == DL_OK && any && needed)
    status = pair_residuals(fit, t, g, d);
  if (status == DL_OK && !any && t->n >= 4)
    status = leave_out(fit, DL_HELD_OUT_ROWS, t, c, g, d);
  return status;
}

/* The residuals of fold k, sorted and thinned. x and spread have room for all
 * rows. */
static void fold_residuals(struct dl_group_residuals *g, double *x,
                           double *spread, const struct dl_out_of_fold *o,
                           size_t k) {
  size_t n = 0;
  for (size_t i = 0; i < o->folds->n; i++) {
    if (o->folds->of_row[i] != k)
      continue;
    x[n] = o->log_target ? log(o->y[i] / o->prediction[i])
                         : o->y[i] - o->prediction[i];
    spread[n] = o->spread ? o->spread[i] : 1;
    n += isfinite(x[n]) != 0;
  }
  dl_residual_quantiles(g, x, o->spread ? spread : NULL, n);
}

static bool is_fold(const struct dl_folds *folds, const char *name) {
  for (size_t k = 0; k < folds->k; k++)
    if (folds->name && strcmp(folds->name[k], name) == 0)
      return true;
  return false;
}

/* The groups of all folds, and groups of `others` that are no folds. */
static struct dl_group_residuals *all_groups(size_t *n,
                                             const struct dl_out_of_fold *o) {
  size_t most = o->folds->k + (o->others ? o->others->n : 0);
  DL_FREED double *x = dl_calloc(o->folds->n, sizeof *x);
  DL_FREED double *spread = dl_calloc(o->folds->n, sizeof *spread);
  struct dl_group_residuals *g = dl_calloc(most, sizeof *g);
  for (size_t k = 0; k < o->folds->k; k++)
    fold_residuals(&g[k], x, spread, o, k);
  *n = o->folds->k;
  for (size_t i = 0; o->others && i < o->others->n; i++)
    if (!is_fold(o->folds, o->others->g[i].name))
      g[(*n)++] = o->others->g[i];
  return g;
}

void dl_out_of_fold_intervals(double *low, double *high,
                              const struct dl_out_of_fold *o, double coverage) {
  size_t n;
  struct dl_residuals but_one = {0};
  but_one.g = all_groups(&n, o);
  but_one.n = n - 1;
  struct dl_group_residuals last = but_one.g[n - 1];
  for (size_t k = 0; k < o->folds->k; k++) {
    double down, up;
    struct dl_group_residuals own = but_one.g[k];
    but_one.g[k] = last; /* in place of its own */
    if (!dl_residual_interval(&but_one, coverage, &down, &up))
      down = up = NAN;
    but_one.g[k] = own;
    for (size_t i = 0; i < o->folds->n; i++) {
      if (o->folds->of_row[i] != k)
        continue;
      double wide = o->spread ? o->spread[i] : 1;
      low[i] = o->log_target ? o->prediction[i] * exp(down * wide)
                             : o->prediction[i] + down;
      high[i] = o->log_target ? o->prediction[i] * exp(up * wide)
                              : o->prediction[i] + up;
    }
  }
  free(but_one.g);
}
