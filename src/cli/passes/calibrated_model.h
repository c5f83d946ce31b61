/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model that a table of runs calibrates. */

#ifndef DL_CLI_PASSES_CALIBRATED_MODEL_H
#define DL_CLI_PASSES_CALIBRATED_MODEL_H

#include "cli/command.h"
#include "model/training/training_table.h"
#include "model/model.h"

/* Finds which trainings a table has, DL_TRAINS_LANGUAGE, DL_TRAINS_OTHER or
 * both: reads it to its end through a plan, whose columns it is. */
enum dl_status dl_find_kinds(unsigned *kinds, struct dl_row_plan *f,
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
enum dl_training_rows dl_rows_of(const struct dl_model *m, unsigned kinds,
                                 const struct dl_fit *fit);

/* Opens the model of `path`, or with NULL the installed fits for such runs,
 * into *m, owned by the caller, also after a failure. Errors: no installed fit
 * can learn from one of the kinds. */
enum dl_status dl_open_calibrated(struct dl_cli *cli, const char *path,
                                  unsigned kinds, struct dl_model **m);

#endif
