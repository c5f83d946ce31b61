/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest fit: the table with the prediction of each row by a fit without its
 * fold, for dlest plot fit and for programs. */

#ifndef DL_CLI_PASSES_FIT_PREDICTIONS_H
#define DL_CLI_PASSES_FIT_PREDICTIONS_H

#include "base/file.h"
#include "model/model.h"
#include "model/training/choice.h"
#include "model/training/training_table.h"

/* Coverage of the intervals in the table. */
#define DL_PREDICTIONS_COVERAGE 0.9

/* The predictions of a fit; {0} at first. */
struct dl_predictions {
  const char *path;     /* NULL: none requested */
  struct dl_output out; /* open from the first target on; the owner ends it */
};

/* DL_EUSAGE where they are requested without folds, or of a pipe. */
enum dl_status dl_predictions_check(const struct dl_predictions *p,
                                    const char *input, bool no_folds,
                                    struct dl_diag *d);

/* Adds the rows of t for one target: the columns of its table, then target,
 * unit, method, fold, measured, predicted, low, high, spread. Does nothing
 * where none are requested. */
enum dl_status dl_predictions_add(struct dl_predictions *p,
                                  const struct dl_training *t,
                                  const struct dl_fit *fit,
                                  const struct dl_cv *cv,
                                  const struct dl_choice *c, struct dl_diag *d);

#endif
