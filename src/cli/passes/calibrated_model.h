/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model that a table of runs calibrates. */

#ifndef DL_CLI_PASSES_CALIBRATED_MODEL_H
#define DL_CLI_PASSES_CALIBRATED_MODEL_H

#include "cli/command.h"
#include "model/training/training_table.h"
#include "model/model.h"

/* Which runs a table has. */
struct dl_run_kinds {
  bool language; /* trainings of language models */
  bool others;
};

/* Reads a table to its end through a plan, whose columns it is. */
enum dl_status dl_find_kinds(struct dl_run_kinds *kinds, struct dl_row_plan *f,
                             struct dl_csv *csv, struct dl_diag *d);

/* Whether a fit is of language models. */
bool dl_is_language_fit(const struct dl_fit *fit);

/* Whether a fit of other trainings is asked about a language model, as it is
 * where its model has none of such. */
bool dl_fit_is_of_others(const struct dl_fit *fit,
                         const struct dl_architecture *arch);

/* Whether a fit of a model is for a network, NULL: of none that is known, or
 * the model has none that is. */
bool dl_fit_is_for(const struct dl_model *m, const struct dl_fit *fit,
                   const struct dl_architecture *arch);

/* The rows of a table that a fit of a model learns from, as predict estimates
 * them: rows of language models have a fit of their own in the model, or none.
 */
enum dl_training_rows dl_rows_of(const struct dl_model *m,
                                 const struct dl_run_kinds *kinds,
                                 const struct dl_fit *fit);

/* Opens the model of `path`, or with NULL the installed fits for such runs,
 * into *m, owned by the caller, also after a failure. Errors: no installed fit
 * can learn from one of the kinds. */
enum dl_status dl_open_calibrated(struct dl_cli *cli, const char *path,
                                  const struct dl_run_kinds *kinds,
                                  struct dl_model **m);

#endif
