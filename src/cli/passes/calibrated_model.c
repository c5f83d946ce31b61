/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/passes/calibrated_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/architecture/token_costs.h"
#include "model/fitting/calibrate.h"

enum dl_status dl_find_kinds(unsigned *kinds, struct dl_row_plan *f,
                             struct dl_csv *csv, struct dl_diag *d) {
  const struct dl_csv_block *block;
  *kinds = 0;
  DL_TRY(dl_plan_want_descriptors(f, d));
  do {
    DL_TRY(dl_plan_next(f, csv, &block, d));
    for (size_t i = 0; block && i < block->n_rows; i++) {
      const struct dl_architecture *arch = dl_plan_row(f, i)->found.arch;
      *kinds |= arch && dl_is_language_model(arch) ? DL_TRAINS_LANGUAGE
                                                   : DL_TRAINS_OTHER;
    }
  } while (block);
  return DL_OK;
}

bool dl_is_language_fit(const struct dl_fit *fit) {
  return fit->method->physics && strcmp(fit->method->name, "language") == 0;
}

/* Whether a model has a fit that can learn from such runs. */
static bool can_learn(const struct dl_model *m, bool language) {
  for (size_t i = 0; i < m->n_fits; i++)
    if (dl_can_be_calibrated(&m->fit[i]) &&
        dl_is_language_fit(&m->fit[i]) == language)
      return true;
  return false;
}

enum dl_training_rows dl_rows_of(const struct dl_model *m, unsigned kinds,
                                 const struct dl_fit *fit) {
  bool language = dl_is_language_fit(fit);
  if (!language && !can_learn(m, true))
    return DL_ROWS_ALL;
  if (language ? !(kinds & DL_TRAINS_LANGUAGE) : kinds == DL_TRAINS_LANGUAGE)
    return DL_ROWS_NONE;
  return language ? DL_ROWS_LANGUAGE : DL_ROWS_OTHER;
}

bool dl_fit_is_of_others(const struct dl_fit *fit,
                         const struct dl_architecture *arch) {
  return fit->method->physics && !dl_is_language_fit(fit) && arch &&
         dl_is_language_model(arch);
}

bool dl_fit_is_for(const struct dl_model *m, const struct dl_fit *fit,
                   const struct dl_architecture *arch) {
  bool language = arch && dl_is_language_model(arch);
  return dl_is_language_fit(fit) == language || !can_learn(m, language);
}

/* Takes the first model that can learn from such runs out of a list; NULL
 * without. */
static struct dl_model *take(struct dl_model **list, bool language) {
  while (*list && !can_learn(*list, language))
    list = &(*list)->next;
  struct dl_model *m = *list;
  if (m) {
    *list = m->next;
    m->next = NULL;
  }
  return m;
}

/* Moves all fits of a model, which is freed, behind the fits of another. */
static void append(struct dl_model *to, struct dl_model *from) {
  to->fit =
      dl_reallocarray(to->fit, to->n_fits + from->n_fits, sizeof *to->fit);
  memcpy(to->fit + to->n_fits, from->fit, from->n_fits * sizeof *to->fit);
  to->n_fits += from->n_fits;
  from->n_fits = 0;
  if (from->citation) {
    struct dl_text t = {0};
    dl_text_printf(&t, "%s%s%s", dl_text_or(to->citation, ""),
                   to->citation ? "; " : "", from->citation);
    free(to->citation);
    to->citation = t.s;
  }
  dl_model_free(from);
}

static enum dl_status nothing_learns(bool language, struct dl_diag *d) {
  return dl_fail(d, DL_EINPUT,
                 "no installed model can be calibrated by runs of %s; give one "
                 "with --model",
                 language ? "language models"
                          : "other networks than language "
                            "models");
}

enum dl_status dl_open_calibrated(struct dl_cli *cli, const char *path,
                                  unsigned kinds, struct dl_model **m) {
  DL_SCOPED(dl_model_free_local) struct dl_model *installed = NULL;
  bool others = kinds != DL_TRAINS_LANGUAGE;
  if (path)
    return dl_open_model(cli, path, DL_ANY_JOB, m);
  *m = NULL;
  DL_TRY(dl_open_model(cli, NULL, DL_ANY_JOB, &installed));
  *m = take(&installed, !others);
  if (!*m)
    return nothing_learns(!others, &cli->diag);
  if (!others || !(kinds & DL_TRAINS_LANGUAGE))
    return DL_OK;
  struct dl_model *language = take(&installed, true);
  if (!language)
    return nothing_learns(true, &cli->diag);
  append(*m, language);
  return DL_OK;
}
