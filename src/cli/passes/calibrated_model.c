/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/passes/calibrated_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "catalog/architecture/token_costs.h"
#include "model/fitting/calibrate.h"

void dl_note_kind(struct dl_run_kinds *kinds,
                  const struct dl_architecture *arch) {
  bool language = arch && dl_is_language_model(arch);
  kinds->language |= language;
  kinds->others |= !language;
}

bool dl_is_language_fit(const struct dl_fit *fit) {
  return fit->method->physics && strcmp(fit->method->name, "language") == 0;
}

bool dl_kinds_have(const struct dl_run_kinds *kinds, const struct dl_fit *fit) {
  return dl_is_language_fit(fit) ? kinds->language
                                 : kinds->others || !kinds->language;
}

/* Whether a model has a fit that can learn from such runs. */
static bool can_learn(const struct dl_model *m, bool language) {
  for (size_t i = 0; i < m->n_fits; i++)
    if (dl_can_be_calibrated(&m->fit[i]) &&
        dl_is_language_fit(&m->fit[i]) == language)
      return true;
  return false;
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

/* Moves all fits of a model, which is freed, behind those of another. */
static void append(struct dl_model *to, struct dl_model *from) {
  to->fit =
      dl_reallocarray(to->fit, to->n_fits + from->n_fits, sizeof *to->fit);
  memcpy(to->fit + to->n_fits, from->fit, from->n_fits * sizeof *to->fit);
  to->n_fits += from->n_fits;
  from->n_fits = 0;
  if (from->citation) {
    struct dl_text t = {0};
    dl_text_printf(&t, "%s%s%s", to->citation ? to->citation : "",
                   to->citation ? "; " : "", from->citation);
    free(to->citation);
    to->citation = t.s;
  }
  dl_model_free(from);
}

enum dl_status dl_open_calibrated(struct dl_cli *cli, const char *path,
                                  const struct dl_run_kinds *kinds,
                                  struct dl_model **m) {
  DL_SCOPED(dl_model_free_local) struct dl_model *installed = NULL;
  bool wanted[] = {kinds->others || !kinds->language, kinds->language};
  *m = NULL;
  if (path)
    DL_TRY(dl_open_model(cli, path, m));
  bool learns = !*m || can_learn(*m, false) || can_learn(*m, true);
  for (int language = 0; language < 2; language++) {
    if (!wanted[language] || !learns || (*m && can_learn(*m, language)))
      continue;
    if (!installed)
      DL_TRY(dl_open_model(cli, NULL, &installed));
    struct dl_model *its = take(&installed, language);
    if (its && *m)
      append(*m, its);
    else if (its)
      *m = its;
  }
  return DL_OK;
}
