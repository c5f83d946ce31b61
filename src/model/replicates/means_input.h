/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of means as the input of a fit. */

#ifndef DL_MODEL_REPLICATES_MEANS_INPUT_H
#define DL_MODEL_REPLICATES_MEANS_INPUT_H

#include "io/csv.h"
#include "model/training/training_table.h"

/* Opens the table of runs, or joins tables of means, as several must be; sets
 * *means to which of them. Their values serve a fit of logarithms (`logs`) or
 * of the target itself. */
enum dl_status dl_means_open(char *const *path, size_t n, bool logs,
                             struct dl_csv **csv, bool *means,
                             struct dl_diag *d);

/* Adds the formulas that a fit on means needs to t. Error: a formula for which
 * the means do not suffice, since it differs from run to run. */
enum dl_status dl_means_formulas(struct dl_training *t,
                                 const struct dl_strlist *targets,
                                 const struct dl_csv *csv, struct dl_diag *d);

#endif
