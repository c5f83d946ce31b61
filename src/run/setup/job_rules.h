/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules for jobs that are estimated, which measured runs need not follow. */

#ifndef DL_RUN_SETUP_JOB_RULES_H
#define DL_RUN_SETUP_JOB_RULES_H

#include "run/row.h"
#include "run/setup/option_words.h"

/* Whether a job cannot run: its network does not take what the data set holds
 * that gives it sizes, if any, or images of that size; a machine does not have
 * that many of its accelerators; or the software does not train such networks.
 * Then appends what is wrong to *to, unless that is NULL. */
bool dl_dataset_check(const struct dl_row *row, const struct dl_dataset *data,
                      struct dl_message_style *to);

#endif
