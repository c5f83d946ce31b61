/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Residuals of a network on a GPU that others of the auxiliary training data
 * have, with that software: less is new than of another GPU. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/fitting/group_cv_residuals.h"
#include "model/fitting/held_out_residuals.h"
#include "physics/hold_out.h"

/* Auxiliary rows. */
struct rows {
  size_t n;
  const struct dl_labels *gpu, *arch;
  const char **software; /* n; NULL: not among them; owned */
};

/* Whether both the GPU and the network of row i occur beside each other. */
static bool is_of_known(const struct rows *w, size_t i) {
  bool gpu = false, arch = false;
  for (size_t k = 0; k < w->n && w->software[i]; k++) {
    bool same_gpu = w->gpu->id[k] == w->gpu->id[i];
    bool same_arch = w->arch->id[k] == w->arch->id[i];
    if (same_gpu == same_arch || !w->software[k] ||
        strcmp(w->software[k], w->software[i]) != 0)
      continue;
    gpu = gpu || same_gpu;
    arch = arch || same_arch;
  }
  return gpu && arch;
}

/* Numbers the pairs in folds. */
static void make_folds(struct dl_folds *folds, const struct rows *w) {
  size_t all = w->gpu->names.n * w->arch->names.n;
  DL_FREED size_t *number = dl_calloc(all, sizeof *number);
  *folds = (struct dl_folds){.n = w->n,
                             .of_row = dl_calloc(w->n, sizeof *folds->of_row),
                             .name = dl_calloc(w->n, sizeof *folds->name)};
  for (size_t i = 0; i < w->n; i++) {
    size_t gpu = w->gpu->id[i], arch = w->arch->id[i];
    size_t pair = gpu * w->arch->names.n + arch;
    folds->of_row[i] = SIZE_MAX;
    if (!is_of_known(w, i))
      continue;
    if (number[pair] == 0) {
      DL_TEXT(name);
      dl_text_printf(&name, "%s/%s", w->gpu->names.s[gpu],
                     w->arch->names.s[arch]);
      folds->name[folds->k] = dl_strdup(dl_text_str(&name));
      number[pair] = ++folds->k;
    }
    folds->of_row[i] = number[pair] - 1;
  }
}

/* Predicts the rows of each fold without them. */
static void predict(struct dl_held_out *h,
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
  struct dl_hierarchical_problem *q = &g->table->q;
  DL_TRY(dl_table_problem_make(g->table, d));
  DL_TRY(dl_full_solution_get(q, false, d));
  DL_FREED double *y = dl_calloc(folds->n * g->physics->n_targets, sizeof *y);
  struct dl_held_out h = {.auxiliary = true,
                          .n = folds->n,
                          .k = folds->k,
                          .of_row = folds->of_row,
                          .y = y};
  predict(&h, q);
  dl_add_time_residuals(fit, &(struct dl_held_out_rows){g, DL_HELD_OUT_PAIR,
                                                        g->y->size, folds, &h});
  return DL_OK;
}

enum dl_status dl_pair_residuals(struct dl_fit *fit,
                                 const struct dl_training *t,
                                 const struct dl_design *g, struct dl_diag *d) {
  if (g->rows.n_auxiliary == 0 || !dl_keeps_times(g))
    return DL_OK;
  struct rows w = {.n = t->auxiliary->n,
                   .gpu = dl_training_labels(t->auxiliary, "gpu"),
                   .arch = dl_training_labels(t->auxiliary, "arch")};
  if (!w.gpu || !w.arch)
    return DL_OK;
  DL_FREED bool *other = dl_calloc(w.n, sizeof *other);
  w.software = dl_calloc(w.n, sizeof *w.software);
  dl_mark_other_software(other, t, g);
  for (size_t i = 0; i < w.n; i++)
    w.software[i] = other[i] ? dl_software_of(g, g->y->size + i) : NULL;
  DL_SCOPED(dl_folds_free) struct dl_folds folds;
  make_folds(&folds, &w);
  free(w.software);
  return folds.k > 0 ? add_pairs(fit, g, &folds, d) : DL_OK;
}
