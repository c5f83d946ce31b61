/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest fit on tables of means. */

#ifndef DL_CLI_PASSES_FIT_MEANS_H
#define DL_CLI_PASSES_FIT_MEANS_H

#include "cli/command.h"
#include "io/csv.h"
#include "model/fitting/training_table.h"

/* Opens the table of runs, or joins the tables of means that the arguments
 * name; *means tells which. Their values are those of a fit of logarithms
 * (`logs`) or of the target itself. Refuses options that need single runs. */
enum dl_status dl_fit_open(struct dl_cli *cli, bool logs, struct dl_csv **csv,
                           bool *means);

/* Joins tables of means to one in `path`; false in *means, and nothing is
 * written, if they are none. */
enum dl_status dl_fit_join_means(struct dl_cli *cli, const char *path,
                                 bool *means);

/* Adds the formulas that a fit on means needs to those of t. Error: a formula
 * for which the means do not suffice, since it differs from run to run. */
enum dl_status dl_fit_means_formulas(struct dl_training *t,
                                     const struct dl_strlist *targets,
                                     const struct dl_csv *csv,
                                     struct dl_diag *d);

#endif
