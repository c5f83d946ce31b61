/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model that a table of runs calibrates. */

#ifndef DL_CLI_PASSES_CALIBRATED_MODEL_H
#define DL_CLI_PASSES_CALIBRATED_MODEL_H

#include "cli/command.h"
#include "model/model.h"

/* Which runs a table has. */
struct dl_run_kinds {
  bool language; /* trainings of language models */
  bool others;
};

/* Adds a row's kind, by its network or NULL. */
void dl_note_kind(struct dl_run_kinds *kinds,
                  const struct dl_architecture *arch);

/* Whether a fit is of language models. */
bool dl_is_language_fit(const struct dl_fit *fit);

/* Whether a fit of a model is for a network, NULL: of none that is known, or
 * the model has none that is. */
bool dl_fit_is_for(const struct dl_model *m, const struct dl_fit *fit,
                   const struct dl_architecture *arch);

/* Whether a table has runs for a fit: a table without rows has those of others.
 */
bool dl_kinds_have(const struct dl_run_kinds *kinds, const struct dl_fit *fit);

/* Opens the model of `path`, or with NULL the installed one for the runs, into
 * *m, owned by the caller. Fits of runs that it has none of are those that are
 * installed; one that can learn nothing stays as it is. */
enum dl_status dl_open_calibrated(struct dl_cli *cli, const char *path,
                                  const struct dl_run_kinds *kinds,
                                  struct dl_model **m);

#endif
