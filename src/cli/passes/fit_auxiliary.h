/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dlest fit: measured runs of others that the physical method learns from. */

#ifndef DL_CLI_PASSES_FIT_AUXILIARY_H
#define DL_CLI_PASSES_FIT_AUXILIARY_H

#include "cli/command.h"
#include "model/training/training_table.h"

/* Reads the table `path` (NULL: the one that ships; "none": none) into *more
 * and lets t learn from it (dl_training_learn_from). Both are the caller's. */
enum dl_status dl_fit_learn_from(struct dl_cli *cli, struct dl_training *t,
                                 struct dl_training *more, const char *path);

#endif
